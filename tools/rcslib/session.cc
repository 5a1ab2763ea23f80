// A program on NIST's rcslib: session FILE.nml servo|prim reads where the vehicle is and a scan, sends commands to one level and
// waits for their statuses. It prints a line a check, and ends with 1 if one failed. Messages, ids and the order of their
// fields are those of the published headers (shared by their users as servoMobJA.hh, primMobJA.hh, navDataExt.hh, sensorData.hh).
#include <cmath>
#include <cstdio>
#include <cstring>
#include <unistd.h>

#include "rcs.hh"
#include "stat_msg_v2.hh"

struct Motion {
  PM_CARTESIAN tran, tranRate;
  PM_RPY rpy, rpyRate;
  void update(CMS *c) {
    c->update(tran);
    c->update(rpy);
    c->update(tranRate);
    c->update(rpyRate);
  }
};

class NavDataExt : public NMLmsg {
public:
  NavDataExt() : NMLmsg(1001, sizeof(NavDataExt)) {}
  double time;
  char zone, letter;
  Motion abs, rel, truth;
  PM_POSE absToRel;
  double speed, curvature, crab;
  void update(CMS *c) {
    c->update(time);
    c->update(zone);
    c->update(letter);
    abs.update(c);
    rel.update(c);
    truth.update(c);
    c->update(absToRel);
    c->update(speed);
    c->update(curvature);
    c->update(crab);
  }
};

class SensorData1D : public NMLmsg {
public:
  SensorData1D() : NMLmsg(14004, sizeof(SensorData1D)) {}
  bool global;
  double start, increment, maxRange, minRange;
  DECLARE_NML_DYNAMIC_LENGTH_ARRAY(double, features, 762)
  double time, duration;
  void update(CMS *c) {
    c->update(global);
    c->update(start);
    c->update(increment);
    c->update(maxRange);
    c->update(minRange);
    c->update_dla_length_with_name("features_length", features_length);
    c->update_dla_with_name("features", features, features_length, 762);
    c->update(time);
    c->update(duration);
  }
};

// Command is any command: its head, and up to two numbers behind it.
class Command : public RCS_CMD_MSG {
public:
  Command(NMLTYPE type) : RCS_CMD_MSG(type, sizeof(Command)) {}
  double a, b;
  void update(CMS *c, int numbers) {
    update_cmd_msg_base(c);
    if (numbers > 0) c->update(a);
    if (numbers > 1) c->update(b);
  }
};

enum { SERVO_INIT = 4001, SERVO_SKID = 4006, PRIM_INIT = 8002, PRIM_VEL = 8010, PRIM_STOP = 8011 };

static int format(NMLTYPE type, void *buffer, CMS *c) {
  switch (type) {
  case 1001: ((NavDataExt *)buffer)->update(c); break;
  case 14004: ((SensorData1D *)buffer)->update(c); break;
  case SERVO_SKID: case PRIM_VEL: ((Command *)buffer)->update(c, 2); break;
  case 4001: case 4002: case 4003: case 4004: case 8001: case 8002: case 8003: case 8004: case 8005: case PRIM_STOP:
    ((Command *)buffer)->update(c, 0);
    break;
  case 4101: case 4102: case 8101: ((RCS_STAT_MSG_V2 *)buffer)->update(c); break; // what is behind the head is not read
  default: return 0;
  }
  return 1;
}

static int failed;

static void check(const char *what, bool ok, const char *got) {
  std::printf("%-4s %s: %s\n", ok ? "ok" : "FAIL", what, got);
  failed += !ok;
}

// Level is the channels of a module.
struct Level {
  NML command, status;
  int serial;
  Level(const char *c, const char *s, const char *file)
      : command(format, c, "session", file), status(format, s, "session", file), serial(1000) {}

  // send sends m and reports whether its status became EXEC, and whether it became DONE, within the time.
  bool send(const char *name, Command &m, bool wantDone) {
    m.serial_number = ++serial;
    char got[120];
    if (command.write(&m) != 0) {
      check(name, false, "not written");
      return false;
    }
    bool exec = false, done = false;
    for (int k = 0; k < 300 && !(done || (exec && !wantDone)); k++) {
      usleep(20000);
      if (status.peek() < 0) continue;
      RCS_STAT_MSG_V2 *s = (RCS_STAT_MSG_V2 *)status.get_address();
      if (!s || s->echo_serial_number != serial) continue;
      exec = exec || s->status == RCS_EXEC;
      done = done || s->status == RCS_DONE;
    }
    std::snprintf(got, sizeof got, "%s%s", exec ? "EXEC " : "", done ? "DONE" : "");
    bool ok = done || (exec && !wantDone);
    check(name, ok, got);
    return ok;
  }
};

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: session FILE.nml servo|prim\n");
    return 2;
  }
  const char *file = argv[1];
  char got[120];
  NML nav(format, "navDataExt1", "session", file), scan(format, "servoSPLinescan1_1", "session", file);
  NavDataExt *n = 0;
  SensorData1D *s = 0;
  for (int k = 0; k < 250 && !(n && s); k++) {
    usleep(20000);
    if (!n && nav.peek() == 1001) n = (NavDataExt *)nav.get_address();
    if (!s && scan.peek() == 14004) s = (SensorData1D *)scan.get_address();
  }
  std::snprintf(got, sizeof got, n ? "at %.2f, %.2f, time %.1f s" : "none", n ? n->truth.tran.x : 0, n ? n->truth.tran.y : 0, n ? n->time : 0);
  check("navDataExt1", n && n->time > 0 && std::fabs(n->truth.tran.x) < 100, got);
  std::snprintf(got, sizeof got, s ? "%d ranges, the middle one %.2f m" : "none", s ? s->features_length : 0, s ? s->features[s->features_length / 2] : 0);
  check("line scan", s && s->features_length == 181 && s->features[90] > 0 && s->features[90] < 90, got);
  if (failed) return 1;
  if (std::strcmp(argv[2], "servo") == 0) {
    Level servo("servoMobJACmd1", "servoMobJAStat1", file);
    Command init(SERVO_INIT), skid(SERVO_SKID);
    servo.send("servo INIT", init, true);
    double yaw = n->truth.rpy.y;
    skid.a = 1, skid.b = -1;
    servo.send("servo SKID", skid, false);
    usleep(1000000);
    nav.peek();
    std::snprintf(got, sizeof got, "%.2f rad", n->truth.rpy.y - yaw);
    check("it turned", std::fabs(n->truth.rpy.y - yaw) > 0.1, got);
    skid.a = skid.b = 0;
    servo.send("servo SKID 0", skid, true);
  } else {
    Level prim("primMobJACmd1", "primMobJAStat1", file);
    Command init(PRIM_INIT), vel(PRIM_VEL), stop(PRIM_STOP);
    prim.send("prim INIT", init, true);
    double x = n->truth.tran.x, y = n->truth.tran.y;
    vel.a = 0.3, vel.b = 0;
    prim.send("prim VEL", vel, false);
    usleep(1000000);
    nav.peek();
    double way = std::hypot(n->truth.tran.x - x, n->truth.tran.y - y);
    std::snprintf(got, sizeof got, "%.2f m", way);
    check("it drove", way > 0.15 && way < 0.6, got);
    prim.send("prim STOP", stop, true);
  }
  return failed != 0;
}
