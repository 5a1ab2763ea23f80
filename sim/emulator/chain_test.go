package emulator_test

import (
	"errors"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/sim/emulator"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

const period = 10 * time.Millisecond

// driven is a bus with the chain that drives it, as a rig would cycle them.
type driven struct {
	*rig
	chain *servo.GenericChain
	spent time.Duration // of the last Receive
}

func drive(t *testing.T, model string, n int) *driven {
	t.Helper()
	var servos []*emulator.Servo
	var cfg servo.ChainConfig
	for id := 1; id <= n; id++ {
		servos = append(servos, newServo(t, model, id, "return_delay", 0))
		cfg.Servos = append(cfg.Servos, servo.ServoConfig{ID: byte(id), Model: dynamixel.ModelByName(model)})
	}
	if r := dynamixel.ModelByName(model).Register("position_p_gain"); r != nil && r.Setting() && r.Max > 500 {
		cfg.Servos[0].Settings = []servo.Setting{{Register: r.Name, Value: 500}}
	}
	r := newRig(t, emulator.Timing{Reply: emulator.DefaultReply}, servos...)
	cfg.Name, cfg.Line, cfg.Reopen = "bench", r.line, r.bus.Open
	d := &driven{rig: r, chain: dynamixel.NewChain(cfg)}
	t.Cleanup(func() { d.chain.Close() })
	if err := d.chain.Open(); err != nil {
		t.Fatal(err)
	}
	return d
}

// cycles runs n cycles towards a position and returns the errors of the last.
func (d *driven) cycles(n int, enable bool, ticks float64) (send, receive error) {
	return d.towards(n, servo.Goal{Enable: enable, Mode: hal.PositionMode, Position: ticks, Limit: 1})
}

// towards is cycles towards any goal.
func (d *driven) towards(n int, goal servo.Goal) (send, receive error) {
	for range n {
		for i := range d.servos {
			d.chain.SetGoal(i, goal)
		}
		send = d.chain.Send()
		for range 10 {
			for _, s := range d.servos {
				s.Actuator().Step(0.001)
			}
		}
		d.bus.Advance(period)
		start := d.line.Now()
		receive = d.chain.Receive()
		d.spent = d.line.Now() - start
	}
	return send, receive
}

// follows fails unless every servo reports that it is at ticks.
func (d *driven) follows(ticks, tolerance float64) {
	d.Helper()
	for i := range d.servos {
		st := d.chain.State(i)
		if st.Err != nil || math.Abs(st.Position-ticks) > tolerance || !st.Torque {
			d.Errorf("servo %d: got %.0f, torque %v, error %v, want %.0f", i+1, st.Position, st.Torque, st.Err, ticks)
		}
	}
}

func TestChainFollowsGoals(t *testing.T) {
	for model, goal := range map[string]float64{"ax-12a": 700, "mx-28": 3000, "xm430-w350": 3000, "xl330-m288": 1000} {
		t.Run(model, func(t *testing.T) {
			d := drive(t, model, 5)
			d.cycles(20, true, goal)
			d.cycles(200, true, goal)
			d.follows(goal, 0.02*goal)
			if d.bus.Overruns() > 1 { // Open takes longer than a period
				t.Errorf("%d overruns", d.bus.Overruns())
			}
		})
	}
}

func TestSilentServoCostsLittle(t *testing.T) {
	for _, model := range []string{"ax-12a", "mx-28", "xm430-w350"} {
		t.Run(model, func(t *testing.T) {
			d := drive(t, model, 6)
			goal := dynamixel.ModelByName(model).Centre
			d.cycles(50, true, goal)
			var usual time.Duration
			for range 20 {
				d.cycles(1, true, goal)
				usual = max(usual, d.spent)
			}
			x, _ := wire.Parse("off servo 3")
			if err := d.bus.Fault(x); err != nil {
				t.Fatal(err)
			}
			var worst time.Duration
			for k := range 100 {
				d.cycles(1, true, goal)
				worst = max(worst, d.spent)
				for i := range d.servos {
					// In the first cycle the chain cannot know which servo blocked the others.
					if st := d.chain.State(i); k > 0 && i != 2 && st.Err != nil {
						t.Fatalf("servo %d is hidden: %v", i+1, st.Err)
					}
				}
			}
			if d.chain.State(2).Err == nil {
				t.Error("the silent servo has no error")
			}
			t.Logf("usual %v, with a silent servo at most %v", usual, worst)
			// 2 ms in addition to the bytes; in the second cycle those are a request to each single servo.
			if worst > usual+2*time.Millisecond+6*wireOfOne(model) {
				t.Errorf("got %v, want at most 2 ms beyond %v", worst, usual)
			}
		})
	}
}

// wireOfOne is the time of a single read of one servo at 1 Mbaud, with its reply delay.
func wireOfOne(model string) time.Duration {
	bytes := 14 + 11 + 10
	if dynamixel.ModelByName(model).Protocol == 1 {
		bytes = 8 + 6 + 8
	}
	return time.Duration(bytes)*10*time.Microsecond + emulator.DefaultReply
}

func TestChainComesBackAfterUnplug(t *testing.T) {
	d := drive(t, "xm430-w350", 3)
	d.cycles(100, true, 2200)
	d.follows(2200, 20)
	x, _ := wire.Parse("unplug bus for=200ms")
	if err := d.bus.Fault(x); err != nil {
		t.Fatal(err)
	}
	if send, _ := d.cycles(2, true, 2200); hal.KindOf(send) != hal.Absent {
		t.Errorf("unplugged: got %v, want absent", send)
	}
	for n := 0; d.chain.Stats().Reopened == 0; n++ {
		if n > 5000 {
			t.Fatal("never came back")
		}
		d.cycles(1, true, 2200)
		runtime.Gosched() // the line is opened in its own goroutine
	}
	d.cycles(20, false, 2200)
	d.cycles(200, true, 2500)
	d.follows(2500, 20)
}

// A wheel without a watchdog of its own turns on while its line is lost, and is stopped when the line is back; an arm
// holds.
func TestWheelStopsWhenItsLineIsBack(t *testing.T) {
	for _, c := range []struct {
		model  string
		goal   servo.Goal
		driven bool
	}{
		{"ax-12a", servo.Goal{Enable: true, Mode: hal.DutyMode, Duty: 0.5, Limit: 1}, false},
		{"mx-28", servo.Goal{Enable: true, Mode: hal.DutyMode, Duty: 0.5, Limit: 1}, false},
		{"xm430-w350", servo.Goal{Enable: true, Mode: hal.VelocityMode, Velocity: 2, Limit: 1}, false},
		{"ax-12a", servo.Goal{Enable: true, Mode: hal.PositionMode, Position: 600, Limit: 1}, true},
	} {
		d := drive(t, c.model, 2)
		d.towards(100, c.goal)
		if !d.servos[0].Actuator().Enable {
			t.Fatalf("%s: not driven before", c.model)
		}
		x, _ := wire.Parse("unplug bus for=30ms")
		if err := d.bus.Fault(x); err != nil {
			t.Fatal(err)
		}
		for n := 0; d.chain.Stats().Reopened == 0 && n < 5000; n++ {
			d.towards(1, c.goal)
			runtime.Gosched() // the line is opened in its own goroutine
		}
		d.towards(60, c.goal)
		for i, s := range d.servos {
			if s.Actuator().Enable != c.driven || !errors.Is(d.chain.Fault(i), servo.ErrRegained) {
				t.Errorf("%s, mode %v: servo %d: driven %v, want %v: %v", c.model, c.goal.Mode, i+1,
					s.Actuator().Enable, c.driven, d.chain.Fault(i))
			}
		}
	}
}

func TestPowerLossIsNoticedAndRewritten(t *testing.T) {
	d := drive(t, "xm430-w350", 3)
	d.cycles(100, true, 2200)
	if got := d.register(0, "position_p_gain"); got != 500 {
		t.Errorf("setting: got %d, want 500", got)
	}
	x, _ := wire.Parse("brownout servo 1 for=50ms")
	if err := d.bus.Fault(x); err != nil {
		t.Fatal(err)
	}
	d.cycles(200, true, 2600)
	// Nothing moves by itself after a power loss: torque stays off until it has been asked for again.
	if d.servos[0].Actuator().Enable || d.chain.Fault(0) == nil {
		t.Errorf("after power came back: driven %v, fault %v", d.servos[0].Actuator().Enable, d.chain.Fault(0))
	}
	d.cycles(5, false, 2600)
	d.cycles(200, true, 2600)
	d.follows(2600, 20)
	if got := d.register(0, "position_p_gain"); got != 500 {
		t.Errorf("setting after a power loss: got %d, want 500", got)
	}
}

func TestFastReadFallsBack(t *testing.T) {
	d := drive(t, "xm430-w350", 4)
	d.cycles(50, true, 2200)
	if n := d.chain.Stats().Fallbacks; n != 0 {
		t.Errorf("fallbacks before any fault: %d", n)
	}
	preset(t, d.servos[1], "firmware", 44) // too old for fast reads
	d.cycles(90, true, 2200)
	if d.chain.Stats().Fallbacks == 0 {
		t.Error("no fallback")
	}
	d.cycles(5, true, 2300)
	for i := range d.servos {
		if st := d.chain.State(i); st.Err != nil {
			t.Errorf("servo %d suffers: %v", i+1, st.Err)
		}
	}
	d.cycles(200, true, 2200)
	d.follows(2200, 20)
}

func TestClientScansEveryRate(t *testing.T) {
	a := newServo(t, "xm430-w350", 7)
	b := newServo(t, "xl330-m288", 12)
	r := newRig(t, emulator.Timing{Reply: emulator.DefaultReply}, a, b)
	preset(t, b, "baud_rate", 1)
	client := dynamixel.NewClient(r.line, 2)
	for baud, want := range map[int]byte{1000000: 7, 57600: 12} {
		r.line.SetBaud(baud)
		for id := range byte(20) {
			f, err := client.Ping(id)
			if (err == nil) != (id == want) {
				t.Errorf("%d baud, id %d: got %+v, %v", baud, id, f, err)
			}
		}
	}
}
