package emulator_test

import (
	"math"
	"regexp"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/servo/feetech"
	"github.com/halyard-robotics/halyard/servo/hiwonder"
	"github.com/halyard-robotics/halyard/servo/kondo"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// upper are the registers that bound what a servo does from above, and lower those from below.
var upper, lower = regexp.MustCompile(`limit|max_|protection_current`), regexp.MustCompile(`min_`)

// ownLimits are the values of the bounds of a servo, by the names of their registers.
type ownLimits map[string]int64

// narrow makes each bound in EEPROM narrower, as an owner does who wants less than the model can. Motors keep theirs
// where it is read again before every arming.
func narrow(s *emulator.Servo, motor bool) ownLimits {
	own := ownLimits{}
	for i := range s.Table {
		r := &s.Table[i]
		was, _ := s.Register(r.Name)
		to := was * 6 / 10
		if most := r.Raw(s.Actuator().Spec.MaxCurrent); was == math.MaxInt32 { // it came without a limit
			to = most / 4
		}
		if lower.MatchString(r.Name) {
			to = was + was/10 + 1
		} else if !upper.MatchString(r.Name) {
			continue
		}
		if r.Access == servo.EEPROM || motor && r.Access != servo.ReadOnly {
			if to != was && s.Preset(r.Name, to) {
				own[r.Name] = to
			}
		}
	}
	return own
}

// widened names a bound that has become wider than own, "" if there is none.
func (own ownLimits) widened(s *emulator.Servo) string {
	for name, bound := range own {
		if v, _ := s.Register(name); lower.MatchString(name) && v < bound || !lower.MatchString(name) && v > bound {
			return name
		}
	}
	// What acts at once has its bound in EEPROM; a motor holds its goals within its limit itself.
	for goal, bound := range map[string]string{"torque_limit": "max_torque", "goal_current": "current_limit",
		"goal_pwm": "pwm_limit", "goal_velocity": "velocity_limit"} {
		v, have := s.Register(goal)
		if most, is := own[bound]; have && is && v > most && len(own) > 1 {
			return goal
		}
	}
	return ""
}

// limited is a vendor's model, how it is emulated, and how it is driven.
type limited struct {
	model string
	rig   func(t testing.TB, timing emulator.Timing, servos ...*emulator.Servo) *rig
	servo func(t *testing.T, id int) *emulator.Servo
	chain func(cfg servo.ChainConfig) opened
	of    servo.Model
}

type opened interface {
	servo.Chain
	Open() error
	Close() error
	Fault(i int) error
}

func dynamixelOf(model string) limited {
	return limited{model, newRig, func(t *testing.T, id int) *emulator.Servo { return newServo(t, model, id) },
		func(c servo.ChainConfig) opened { return dynamixel.NewChain(c) }, dynamixel.ModelByName(model)}
}

// watchedLine calls after behind each write, when the servos have executed it.
type watchedLine struct {
	servo.Line
	after func()
}

func (l *watchedLine) Write(p []byte) (int, error) {
	n, err := l.Line.Write(p)
	if l.after != nil {
		l.after()
	}
	return n, err
}

// TestBrandsKeepOwnLimits: whatever is commanded, no register that bounds a servo becomes wider than it was when the
// servo was met, not even for one packet: not by opening, arming, a change of mode, a torque limit and its end, a
// reset, a halt, or closing.
func TestBrandsKeepOwnLimits(t *testing.T) {
	for _, c := range []limited{
		{"sts3215", newRig, func(t *testing.T, id int) *emulator.Servo { return newFeetech(t, "sts3215", id) },
			func(c servo.ChainConfig) opened { return feetech.NewChain(c) }, feetech.ModelByName("sts3215")},
		{"hls3915", newRig, func(t *testing.T, id int) *emulator.Servo { return newFeetech(t, "hls3915", id) },
			func(c servo.ChainConfig) opened { return feetech.NewChain(c) }, feetech.ModelByName("hls3915")},
		{"scs0009", newRig, func(t *testing.T, id int) *emulator.Servo { return newFeetech(t, "scs0009", id) },
			func(c servo.ChainConfig) opened { return feetech.NewChain(c) }, feetech.ModelByName("scs0009")},
		{"lx-16a", slowRig, func(t *testing.T, id int) *emulator.Servo { return newHiwonder(t, id) },
			func(c servo.ChainConfig) opened { return hiwonder.NewChain(c) }, hiwonder.ModelByName("lx-16a")},
		{"krs-2552", kondoRig, func(t *testing.T, id int) *emulator.Servo { return newKondo(t, id) },
			func(c servo.ChainConfig) opened { return kondo.NewChain(c) }, kondo.ModelByName("krs-2552")},
		dynamixelOf("ax-12a"), dynamixelOf("mx-28"), dynamixelOf("xl-320"), dynamixelOf("xl330-m288"),
		dynamixelOf("xm430-w350"),
	} {
		t.Run(c.model, func(t *testing.T) {
			s := c.servo(t, 1)
			own := narrow(s, c.model == "krs-2552") // whose limits are in RAM
			r := c.rig(t, emulator.Timing{Reply: emulator.DefaultReply}, s)
			line := &watchedLine{Line: r.line, after: func() {
				if name := own.widened(s); name != "" && !t.Failed() {
					t.Errorf("written: %s is wider than its own", name)
				}
			}}
			k := c.chain(servo.ChainConfig{Name: "bench", Period: 2 * period, Line: line, Reopen: r.bus.Open,
				Servos: []servo.ServoConfig{{ID: 1, Model: c.of}}})
			if err := k.Open(); err != nil {
				t.Fatal(err)
			}
			keepsLimits(t, &rostered{rig: r, Chain: k, fault: k.Fault}, own)
			if err := k.Close(); err != nil {
				t.Error(err)
			}
			if name := own.widened(s); name != "" {
				t.Errorf("closed: %s is wider than its own", name)
			}
		})
	}
	motors(t, func(t *testing.T, d *rostered) {
		d.cycles(20, servo.Goal{})
		own := narrow(d.servos[0], true)
		d.watched.after = func() {
			if name := own.widened(d.servos[0]); name != "" && !t.Failed() {
				t.Errorf("written: %s is wider than its own", name)
			}
		}
		keepsLimits(t, d, own)
		if err := d.close(); err != nil {
			t.Error(err)
		}
	})
}

// keepsLimits drives a servo through all that may write its bounds.
func keepsLimits(t *testing.T, d *rostered, own ownLimits) {
	t.Helper()
	if len(own) == 0 {
		t.Fatal("it has no bounds")
	}
	half := servo.Goal{Enable: true, Mode: hal.PositionMode, Limit: 0.5}
	for _, c := range []struct {
		when string
		goal servo.Goal
	}{
		{"torque off", servo.Goal{}}, {"torque on", servo.Goal{Enable: true, Mode: hal.NoMode, Limit: 1}},
		{"position", to(700)}, {"velocity", servo.Goal{Enable: true, Mode: hal.VelocityMode, Velocity: 1e3, Limit: 1}},
		{"torque", servo.Goal{Enable: true, Mode: hal.TorqueMode, Effort: 1e6, Limit: 1}}, {"half", half},
		{"nothing", servo.Goal{Enable: true, Mode: hal.PositionMode}}, {"all again", to(900)}, {"off", servo.Goal{}},
		{"on again", to(700)}, {"after a reset", to(750)}, {"after a halt", to(800)},
	} {
		switch c.when {
		case "after a halt":
			d.Halt()
		case "after a reset":
			d.servos[0].Alarm |= actuator.AlarmOverload
			d.cycles(20, servo.Goal{Enable: true, Mode: hal.NoMode, Limit: 1})
			d.cycles(20, servo.Goal{}) // one with torque keeps its alarm
			d.Chain.(interface{ ClearAlarms() []error }).ClearAlarms()
		}
		for range 40 {
			d.cycles(1, c.goal)
			if name := own.widened(d.servos[0]); name != "" {
				v, _ := d.servos[0].Register(name)
				t.Fatalf("%s: %s is %d, wider than its own: %v", c.when, name, v, own)
			}
		}
	}
	t.Logf("%v", own)
}
