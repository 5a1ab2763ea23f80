// A session of libplayerc with a Halyard server: session ROBOT PORT. ROBOT is p2at, so101 or rov. It prints one line for each
// check and exits with the number of those that failed.
#include <libplayerc/playerc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static playerc_client_t *client;
static int failed;

static void check(const char *what, double got, double low, double high) {
  int ok = got >= low && got <= high;
  printf("%-4s %-34s %.3f (%g..%g)\n", ok ? "ok" : "FAIL", what, got, low, high);
  failed += !ok;
}

static void done(const char *what, int result) { check(what, result, 0, 0); }

static void reads(int n) {
  for (int i = 0; i < n; i++) playerc_client_read(client);
}

#define OPEN(kind, name)                                     \
  playerc_##kind##_t *name = playerc_##kind##_create(client, 0); \
  done("subscribe " #kind, playerc_##kind##_subscribe(name, PLAYER_OPEN_MODE))

static void p2at(void) {
  OPEN(position2d, base);
  done("position2d geometry", playerc_position2d_get_geom(base));
  done("position2d enable", playerc_position2d_enable(base, 1));
  OPEN(laser, laser);
  done("laser geometry", playerc_laser_get_geom(laser));
  OPEN(sonar, sonar);
  done("sonar geometry", playerc_sonar_get_geom(sonar));
  OPEN(ranger, ranger);
  done("ranger geometry", playerc_ranger_get_geom(ranger));
  OPEN(bumper, bumper);
  done("bumper geometry", playerc_bumper_get_geom(bumper));
  OPEN(power, power);
  OPEN(camera, camera);
  OPEN(ptz, ptz);
  OPEN(dio, dio);
  OPEN(imu, imu);
  OPEN(rfid, rfid);
  OPEN(fiducial, fiducial);
  done("fiducial geometry", playerc_fiducial_get_geom(fiducial));
  OPEN(opaque, opaque);
  OPEN(simulation, simulation);
  reads(300);
  check("laser rays", laser->scan_count, 181, 181);
  check("laser, first ray", laser->ranges[0], 0.1, 21);
  check("sonars", sonar->scan_count, 16, 16);
  check("sonar places", sonar->pose_count, 16, 16);
  check("ranger rays", ranger->ranges_count, 181, 181);
  check("bumpers", bumper->bumper_count, 2, 2);
  check("battery, %", power->percent, 50, 100);
  check("picture width", camera->width, 320, 320);
  check("picture bytes", camera->image_count, 320 * 240 * 3, 320 * 240 * 3);
  check("text of opaque, bytes", opaque->data_count, 100, 1e6);
  double x = base->px;
  for (int i = 0; i < 60; i++) {
    playerc_position2d_set_cmd_vel(base, 0.3, 0, 0, 1);
    reads(5);
  }
  check("speed ahead, m/s", base->vx, 0.27, 0.33);
  check("driven, m", base->px - x, 0.1, 3);
  playerc_position2d_set_cmd_vel(base, 0, 0, 0, 1);
  playerc_ptz_set(ptz, 0.4, 0.2, 0.5);
  reads(300);
  check("stopped, m/s", base->vx, -0.02, 0.02);
  check("pan, rad", ptz->pan, 0.36, 0.44);
  playerc_dio_set_output(dio, 1, 1);
  reads(60);
  check("headlight", dio->digin, 1, 1);
  done("place at a tag", playerc_simulation_set_pose3d(simulation, "p2at", 3.1, -1.9, -1.8, 0, 0, 0));
  reads(100);
  check("tags", rfid->tags_count, 1, 1);
  done("place before a victim", playerc_simulation_set_pose3d(simulation, "p2at", 1.2, -4.35, -1.82, 0, 0, 0));
  reads(200);
  check("victims", fiducial->fiducials_count, 1, 1);
  if (fiducial->fiducials_count) check("victim ahead, m", fiducial->fiducials[0].pose.px, 1.1, 1.3);
}

static void so101(void) {
  OPEN(actarray, joints);
  done("actarray geometry", playerc_actarray_get_geom(joints));
  OPEN(limb, limb);
  OPEN(gripper, gripper);
  reads(20);
  check("joints", joints->actuators_count, 6, 6);
  playerc_actarray_position_cmd(joints, 0, 0.5);
  reads(100);
  check("first joint, rad", joints->actuators_data[0].position, 0.45, 0.55);
  float goals[6] = {0.2, -0.3, 0.3, 0, 0, 0};
  playerc_actarray_multi_position_cmd(joints, goals, 6);
  reads(100);
  check("second joint, rad", joints->actuators_data[1].position, -0.4, -0.2);
  playerc_limb_home_cmd(limb);
  playerc_gripper_open_cmd(gripper);
  reads(100);
  check("gripper is open", gripper->state, 1, 1);
}

static void rov(void) {
  OPEN(position3d, body);
  done("position3d geometry", playerc_position3d_get_geom(body));
  done("position3d enable", playerc_position3d_enable(body, 1));
  OPEN(imu, imu);
  OPEN(camera, camera);
  for (int i = 0; i < 100; i++) {
    playerc_position3d_set_velocity(body, 0.3, 0, -0.05, 0, 0, 0.1, 1);
    reads(3);
  }
  check("speed ahead, m/s", body->vel_x, 0.26, 0.34);
  check("speed up, m/s", body->vel_z, -0.08, -0.02);
  check("turn, rad/s", body->vel_yaw, 0.07, 0.13);
  check("picture bytes", camera->image_count, 1000, 1e7);
  done("reset odometry", playerc_position3d_reset_odom(body));
  for (int i = 0; i < 250; i++) {
    playerc_position3d_set_pose(body, 1, 0.5, -0.3, 0, 0, 1);
    reads(3);
  }
  check("x, m", body->pos_x, 0.9, 1.1);
  check("y, m", body->pos_y, 0.4, 0.6);
  check("z, m", body->pos_z, -0.4, -0.2);
  check("yaw, rad", body->pos_yaw, 0.9, 1.1);
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "session p2at|so101|rov PORT\n");
    return 64;
  }
  client = playerc_client_create(NULL, "127.0.0.1", atoi(argv[2]));
  if (playerc_client_connect(client)) {
    fprintf(stderr, "%s\n", playerc_error_str());
    return 65;
  }
  playerc_client_datamode(client, PLAYER_DATAMODE_PUSH);
  done("device list", playerc_client_get_devlist(client));
  if (!strcmp(argv[1], "p2at")) p2at();
  else if (!strcmp(argv[1], "so101")) so101();
  else rov();
  playerc_client_disconnect(client);
  return failed;
}
