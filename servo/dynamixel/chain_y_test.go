package dynamixel

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// named are the writes of a log in their order, as names and values of registers.
func named(m *Model, writes []Instruction) (all []string) {
	add := func(addr uint16, data []byte) {
		if r := m.RegisterAt(addr); r != nil && len(data) >= int(r.Size) {
			all = append(all, servo.Fields(m, int(addr), data))
		}
	}
	for _, in := range writes {
		switch in.Op {
		case Write:
			add(in.Addr, in.Data)
		case SyncWrite, BulkWrite:
			for _, b := range in.Blocks {
				add(max(in.Addr, b.Addr), b.Data)
			}
		}
	}
	return all
}

func TestYArming(t *testing.T) {
	r := openedRig(t, func(c *servo.ChainConfig) { c.Servos[0].Velocity = 1 }, "ym070-210-r099")
	s := r.servos[0]
	s.set("present_position", 5000)
	r.p.devices[0].safeStop = 0
	s.set("velocity_offset", 300) // left by another program: torque would turn it
	r.run(3)
	r.writes = r.writes[:0]
	r.goal(servo.Goal{Enable: true, Mode: hal.PositionMode, Position: 9000, Limit: 0.5})
	if err := r.Send(); err != nil {
		t.Fatal(err)
	}
	got := named(s.m, r.writes)
	on := slices.IndexFunc(got, func(w string) bool { return strings.HasPrefix(w, "torque_enable 1") })
	before := func(name string, v int64) {
		t.Helper()
		if at := slices.IndexFunc(got, func(w string) bool { return strings.HasPrefix(w, name+" ") }); at < 0 ||
			at > on {
			t.Errorf("%s: written at %d, want before torque at %d: %q", name, at, on, got)
		}
		if s.get(name) != v {
			t.Errorf("%s: got %d, want %d", name, s.get(name), v)
		}
	}
	before("pwm_offset", 0)
	before("current_offset", 0)
	before("velocity_offset", 0)
	before("goal_pwm", 1000)
	before("goal_velocity", 2020)
	before("goal_current", 1040)
	before("goal_position", 5000)
	// A profile written before would replace the owner's.
	if at := slices.IndexFunc(got, func(w string) bool { return strings.HasPrefix(w, "profile_velocity") }); at < on {
		t.Errorf("profile: written at %d, want behind torque at %d: %q", at, on, got)
	}
	// The brake is not open yet: its first goals are where it is, and it has no torque as far as is known.
	s.set("controller_state", StateProcessOn)
	r.run(30)
	if r.State(0).Torque || s.get("goal_position") != 5000 {
		t.Errorf("brake: got torque %v and goal %d, want false and 5000", r.State(0).Torque, s.get("goal_position"))
	}
	s.set("controller_state", StateRunning)
	r.run(30)
	if !r.State(0).Torque || s.get("goal_position") != 9000 || s.get("bus_watchdog") != 10 {
		t.Errorf("running: got torque %v, goal %d, watchdog %d", r.State(0).Torque, s.get("goal_position"),
			s.get("bus_watchdog"))
	}
	// A lost limit is written again.
	s.set("goal_pwm", 0)
	s.set("goal_velocity", 0)
	s.set("goal_current", 0)
	r.run(30)
	if s.get("goal_pwm") != 1000 || s.get("goal_velocity") != 2020 || s.get("goal_current") != 1040 {
		t.Errorf("lost limits: got %d, %d, %d", s.get("goal_pwm"), s.get("goal_velocity"), s.get("goal_current"))
	}
	// No limit is ever 0, which could mean none.
	r.goal(servo.Goal{Enable: true, Mode: hal.PositionMode, Position: 9000, Limit: 0})
	r.run(3)
	if s.get("goal_current") != 1 {
		t.Errorf("limit 0: got %d, want 1", s.get("goal_current"))
	}
}

// Another offset than 0 that cannot be written, or a limit, keeps torque off.
func TestYTorqueNeedsItsLimits(t *testing.T) {
	for _, name := range []string{"velocity_offset", "goal_pwm", "goal_current", "goal_velocity", "goal_position"} {
		r := openedRig(t, nil, "ym070-210-r099")
		s := r.servos[0]
		reg := s.m.Register(name)
		s.stuck = reg
		s.set(name, reg.Min)
		if name == "goal_position" {
			s.set(name, 100000)
		}
		r.run(3)
		r.goal(servo.Goal{Enable: true, Mode: hal.PositionMode, Limit: 1})
		r.run(20)
		if err := r.Fault(0); s.get("torque_enable") != 0 || !errors.Is(err, servo.ErrDiffers) {
			t.Errorf("%s: got torque %d, %v, want 0 and %v", name, s.get("torque_enable"), err, servo.ErrDiffers)
		}
	}
}

func TestYRefusesAtOpen(t *testing.T) {
	for _, c := range []struct {
		name  string
		value int64
		want  string
	}{
		{"current_limit", 0, "current_limit: got 0, want above 0"}, {"pwm_limit", 0, "pwm_limit: got 0, want above 0"},
		{"velocity_limit", 0, "velocity_limit: got 0, want above 0"},
		{"gear_numerator", 1, "got 1 and 1, want 51 and 1"},
		{"gear_denominator", 2, "got 51 and 2, want 51 and 1"}, {"max_position", -262144, "want them to rise"},
	} {
		r := newRig(t, nil, "ym080-230-r051")
		s := r.servos[0]
		s.set(c.name, c.value)
		if err := r.Open(); hal.KindOf(err) != hal.Unsafe || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
		r.goal(servo.Goal{Enable: true, Mode: hal.PositionMode, Limit: 1})
		r.run(120)
		if s.get("torque_enable") != 0 || r.State(0).Torque {
			t.Errorf("%s: got torque", c.name)
		}
		if faults := r.Halt(); faults[0] != nil {
			t.Errorf("%s: halt: got %v", c.name, faults[0])
		}
	}
}

// Each error code ends torque or goals, by its name, and stays until it is cleared.
func TestYErrors(t *testing.T) {
	for _, c := range []struct {
		code byte
		text string
		want error
	}{
		{5, "error code 5, overload", servo.ErrLatched}, {13, "error code 13, encoder", servo.ErrLatched},
		{17, "error code 17, following", servo.ErrLatched},
		{20, "error code 20, position limit reached", servo.ErrLatched}, {6, "error code 6, unknown", servo.ErrLatched},
		{18, "bus watchdog has tripped", errTripped}, {9, "", nil},
	} {
		r := openedRig(t, nil, "ym070-210-r099")
		s := r.servos[0]
		s.set("controller_state", StateRunning)
		r.run(3)
		r.goal(servo.Goal{Enable: true, Mode: hal.PositionMode, Limit: 1})
		r.run(10)
		if !r.State(0).Torque {
			t.Fatalf("code %d: got no torque: %v", c.code, r.Fault(0))
		}
		e := s.m.ErrorCode(c.code)
		s.set("error_code", int64(c.code))
		s.errors = alertBit
		if !e.Torque {
			s.set("torque_enable", 0)
			s.set("controller_state", StateFault)
		}
		r.run(3)
		err := r.Fault(0)
		if (err != nil) != (c.want != nil) || err != nil &&
			(!errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text)) || r.State(0).Alarm != e.Alarm {
			t.Errorf("code %d: got %v, alarm %v; want %q, %v", c.code, err, r.State(0).Alarm, c.text, e.Alarm)
		}
		if c.want == nil {
			continue
		}
		// Enabled again it does not get torque, as long as the error is there.
		r.goal(servo.Goal{Mode: hal.PositionMode, Limit: 1})
		r.run(10)
		if e.Code != codeWatchdog {
			r.goal(servo.Goal{Enable: true, Mode: hal.PositionMode, Limit: 1})
			r.run(10)
			if s.get("torque_enable") != 0 || !errors.Is(r.Fault(0), servo.ErrLatched) {
				t.Errorf("code %d: enabled again: got torque %d, %v", c.code, s.get("torque_enable"), r.Fault(0))
			}
		}
	}
}

// Torque waits for the stop of the torque-off before, and a servo with an error does not get it at all.
func TestYReady(t *testing.T) {
	r := openedRig(t, nil, "ym070-210-a051")
	s := r.servos[0]
	r.p.devices[0].safeStop = 0
	s.set("controller_state", StateProcessOff)
	r.run(3)
	r.goal(servo.Goal{Enable: true, Mode: hal.PositionMode, Limit: 1})
	r.run(40)
	if s.get("torque_enable") != 0 || r.Fault(0) != nil {
		t.Errorf("stopping: got torque %d, %v", s.get("torque_enable"), r.Fault(0))
	}
	s.set("controller_state", StateOff)
	r.run(1)
	if s.get("torque_enable") != 1 {
		t.Errorf("stopped: got torque %d", s.get("torque_enable"))
	}
	r = openedRig(t, nil, "ym070-210-a051")
	s = r.servos[0]
	s.set("controller_state", StateFault)
	s.set("error_code", 4)
	s.errors = alertBit
	r.run(3)
	r.goal(servo.Goal{Enable: true, Mode: hal.PositionMode, Limit: 1})
	r.run(3)
	if err := r.Fault(0); s.get("torque_enable") != 0 || !errors.Is(err, servo.ErrLatched) ||
		!strings.Contains(err.Error(), "motor overheating") {
		t.Errorf("fault: got torque %d, %v", s.get("torque_enable"), err)
	}
}

// The factory's safe_stop_time would keep a motor driven for 0.2 s after torque off. It is set to 0 before the first
// torque.
func TestYStopsAtOnce(t *testing.T) {
	r := openedRig(t, nil, "ym070-210-r051")
	s := r.servos[0]
	r.run(3)
	if s.get("safe_stop_time") != 200 {
		t.Errorf("open: got %d, want 200", s.get("safe_stop_time"))
	}
	r.goal(servo.Goal{Enable: true, Mode: hal.PositionMode, Limit: 1})
	r.run(5)
	if s.get("safe_stop_time") != 0 || s.get("torque_enable") != 1 {
		t.Errorf("torque on: got %d, torque %d, want 0, 1", s.get("safe_stop_time"), s.get("torque_enable"))
	}
	// One that has torque already keeps it.
	r = newRig(t, nil, "ym070-210-r051")
	s = r.servos[0]
	s.set("torque_enable", 1)
	s.set("controller_state", StateRunning)
	if err := r.Open(); err != nil {
		t.Fatal(err)
	}
	r.goal(servo.Goal{Enable: true, Mode: hal.PositionMode, Limit: 1})
	for range 10 {
		r.run(1)
		if s.get("torque_enable") != 1 {
			t.Fatal("torque that was there: got off")
		}
	}
}

// A braked servo refuses torque off until its brake is open: a stop restarts it.
func TestYStopWhileTheBrakeOpens(t *testing.T) {
	for _, halts := range []bool{false, true} {
		r := openedRig(t, nil, "ym070-210-a051")
		s := r.servos[0]
		r.run(3)
		r.goal(servo.Goal{Enable: true, Mode: hal.PositionMode, Limit: 1})
		r.run(3)
		s.set("controller_state", StateProcessOn)
		s.stuck = s.m.Register("torque_enable")
		r.writes = r.writes[:0]
		if halts {
			if faults := r.Halt(); faults[0] != nil {
				t.Errorf("halt: got %v", faults[0])
			}
		} else {
			r.goal(servo.Goal{Mode: hal.PositionMode, Limit: 1})
			r.run(3)
		}
		if !slices.Contains(r.ops(), Reboot) || s.get("torque_enable") != 0 {
			t.Errorf("halt %v: got no restart, torque %d", halts, s.get("torque_enable"))
		}
	}
}
