package emulator_test

import (
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// rostered is an emulated bus with a chain of any vendor that drives it.
type rostered struct {
	*rig
	servo.Chain
	stats func() servo.Stats
	fault func(i int) error
	close func() error
	spent time.Duration // of the last Receive and Send

	watched *watchedLine // of motors
}

// cycles runs n cycles towards goal and returns the errors of the last.
func (d *rostered) cycles(n int, goal servo.Goal) (send, receive error) {
	for range n {
		for i := range d.servos {
			d.SetGoal(i, goal)
		}
		start := d.line.Now()
		send = d.Send()
		d.spent = d.line.Now() - start
		for range 10 {
			for _, s := range d.servos {
				s.Actuator().Step(0.001)
			}
		}
		d.bus.Advance(period)
		start = d.line.Now()
		receive = d.Receive()
		d.spent += d.line.Now() - start
	}
	return send, receive
}

// to is a position goal.
func to(ticks float64) servo.Goal {
	return servo.Goal{Enable: true, Mode: hal.PositionMode, Position: ticks, Limit: 1}
}

// follows fails unless every servo reports that it is at ticks.
func (d *rostered) follows(what string, ticks, tolerance float64) {
	d.Helper()
	for i := range d.servos {
		st := d.State(i)
		if st.Err != nil || math.Abs(st.Position-ticks) > tolerance || !st.Torque {
			d.Errorf("%s: servo %d: got %.0f, torque %v, error %v, fault %v; want %.0f", what, i+1, st.Position,
				st.Torque, st.Err, d.fault(i), ticks)
		}
	}
}

func (d *rostered) plant(text string) {
	d.Helper()
	x, err := wire.Parse(text)
	if err != nil {
		d.Fatal(err)
	}
	if err := d.bus.Fault(x); err != nil {
		d.Fatal(err)
	}
}

// vendors are the chains that servo.GenericChain drives, with a goal off the centre and how near they come to it.
func brands(t *testing.T, test func(t *testing.T, open func(n int) *rostered, goal, near float64)) {
	for _, b := range []struct {
		model      string
		goal, near float64
		open       func(t *testing.T, model string, n int) *rostered
	}{
		{"sts3215", 2600, 20, openFeetech}, {"hls3915", 2600, 20, openFeetech}, {"scs0009", 600, 8, openFeetech},
		{"lx-16a", 600, 8, openHiwonder}, {"krs-2552", 8500, 60, openKondo},
		{"vesc-6", 9500, 60, openVESC}, {"odrive-s1", 1500, 60, openODriveCAN}, {"cybergear", 1500, 60, openCyberGear},
	} {
		t.Run(b.model, func(t *testing.T) {
			test(t, func(n int) *rostered { return b.open(t, b.model, n) }, b.goal, b.near)
		})
	}
}

func TestBrandsFollowGoals(t *testing.T) {
	brands(t, func(t *testing.T, open func(int) *rostered, goal, near float64) {
		d := open(5)
		d.cycles(20, servo.Goal{})
		start := d.State(0).Position
		d.cycles(10, servo.Goal{Enable: true, Mode: hal.NoMode, Limit: 1})
		d.follows("torque on", start, 3)
		d.cycles(150, to(goal))
		d.follows("goal", goal, near)
		// A limit of zero switches torque off: it follows no goal.
		limp := to(start)
		limp.Limit = 0
		d.cycles(100, limp)
		for i := range d.servos {
			if st := d.State(i); math.Abs(st.Position-goal) > 2*near {
				t.Errorf("limit 0: servo %d moved to %.0f", i+1, st.Position)
			}
		}
		d.cycles(150, to(start))
		d.follows("limit back", start, near)
	})
}

func TestBrandsSilentServoCostsLittle(t *testing.T) {
	brands(t, func(t *testing.T, open func(int) *rostered, goal, near float64) {
		d := open(6)
		d.cycles(60, to(goal))
		usual := time.Duration(0)
		for range 20 {
			d.cycles(1, to(goal))
			usual = max(usual, d.spent)
		}
		d.plant("off servo 3")
		worst, stale := time.Duration(0), 0
		for range 100 {
			d.cycles(1, to(goal))
			worst = max(worst, d.spent)
			for i := range d.servos {
				if st := d.State(i); i != 2 && st.Err != nil {
					stale++
				}
			}
		}
		if d.State(2).Err == nil || d.State(2).Torque {
			t.Error("the silent servo has no error, or torque")
		}
		// In the first cycle the chain cannot know which servo blocked the others.
		if stale > 3 {
			t.Errorf("the others: %d values missing, want those of one cycle at most", stale)
		}
		// 2 ms in addition to the bytes; in the second cycle those are a request to each single servo.
		limit := usual + servo.Slack + 6*(30*10*time.Microsecond+emulator.DefaultReply)
		if d.servos[0].Name() == "vesc-6" {
			limit += 4 * time.Millisecond // each behind the first is given 2.5 ms on their CAN bus, and needs 1.8
		}
		if worst > limit {
			t.Errorf("a cycle with a silent servo took %v, want at most %v; usual is %v", worst, limit, usual)
		}
		t.Logf("usual %v, with a silent servo at most %v", usual, worst)
		d.bus.ClearFaults()
		d.cycles(60, to(goal))
		// It lost its power: no motion without a new command.
		if d.State(2).Err != nil || d.State(2).Torque || d.fault(2) == nil {
			t.Errorf("back: got %v, torque %v, fault %v; want it limp with a fault", d.State(2).Err, d.State(2).Torque,
				d.fault(2))
		}
		d.cycles(5, servo.Goal{})
		d.cycles(150, to(goal))
		d.follows("enabled again", goal, near)
	})
}

func TestBrandsComeBackAfterUnplug(t *testing.T) {
	brands(t, func(t *testing.T, open func(int) *rostered, goal, near float64) {
		d := open(3)
		d.cycles(100, to(goal))
		d.plant("unplug bus for=200ms")
		if send, _ := d.cycles(2, to(goal)); hal.KindOf(send) != hal.Absent {
			t.Errorf("unplugged: got %v, want absent", send)
		}
		for start := time.Now(); d.stats().Reopened == 0; {
			if time.Since(start) > time.Minute {
				t.Fatal("never came back")
			}
			d.cycles(1, to(goal))
			runtime.Gosched() // the line is opened in its own goroutine
		}
		// Goals from before the loss do not count: no servo gets torque until Enable has been false once.
		d.cycles(5, to(goal))
		for i := range d.servos {
			if !errors.Is(d.fault(i), servo.ErrRegained) {
				t.Errorf("back: servo %d: got %v, want %v", i+1, d.fault(i), servo.ErrRegained)
			}
		}
		d.cycles(20, servo.Goal{})
		d.cycles(150, to(goal))
		d.follows("back", goal, near)
		d.plant("unplug bus")
		d.cycles(2, to(goal))
		for i, err := range d.Halt() {
			if hal.KindOf(err) != hal.Absent {
				t.Errorf("halt of servo %d without a line: got %v", i+1, err)
			}
		}
	})
}

func TestBrandsNoticePowerLoss(t *testing.T) {
	brands(t, func(t *testing.T, open func(int) *rostered, goal, near float64) {
		d := open(3)
		d.cycles(100, to(goal))
		d.plant("brownout servo 1 for=50ms")
		d.cycles(100, to(goal))
		if d.servos[0].Actuator().Enable || d.fault(0) == nil || d.fault(1) != nil {
			t.Errorf("torque %v, faults %v and %v; want torque off and a fault of the first only",
				d.servos[0].Actuator().Enable,
				d.fault(0), d.fault(1))
		}
		d.cycles(5, servo.Goal{})
		d.cycles(150, to(goal))
		d.follows("enabled again", goal, near)
	})
}

func TestBrandsHalt(t *testing.T) {
	brands(t, func(t *testing.T, open func(int) *rostered, goal, near float64) {
		d := open(4)
		d.cycles(50, to(goal))
		d.plant("off servo 2")
		for range 2 {
			faults := d.Halt()
			for i, err := range faults {
				if want := i == 1; (err != nil) != want || want && hal.KindOf(err) != hal.Timeout {
					t.Errorf("halt: servo %d: got %v", i+1, err)
				}
				if d.servos[i].Actuator().Enable {
					t.Errorf("halt: servo %d is driven", i+1)
				}
			}
		}
		d.cycles(30, to(goal))
		for i, s := range d.servos {
			if s.Actuator().Enable || d.fault(0) == nil {
				t.Errorf("after halt: servo %d is driven, or has no fault", i+1)
			}
		}
	})
}

// Every fault of a servo or of the wire, one after the other, at random: no panic, no wrong value is accepted, the
// other servos continue, and all recover within a second of its end.
func TestBrandsFaults(t *testing.T) {
	brands(t, func(t *testing.T, open func(int) *rostered, goal, near float64) {
		for _, text := range []string{"crc servo 2 p=0.5", "truncate servo 2 p=0.5", "intermittent servo 2 p=0.3",
			"duplicate_id servo 2", "slow servo 2 by=1ms", "slow servo 2 by=8ms", "crc bus p=0.2",
			"truncate bus p=0.2"} {
			d := open(4)
			if name := d.servos[0].Name(); name == "odrive-s1" || name == "cybergear" {
				// A fifth of all frames destroyed takes a controller off its bus, which is another matter.
				text = strings.Replace(text, "p=0.5", "p=0.08", 1)
				text = strings.Replace(text, "bus p=0.2", "bus p=0.08", 1)
			}
			d.cycles(100, to(goal))
			d.plant(text + " for=2s")
			for range 200 {
				d.cycles(1, to(goal))
				for i := range d.servos {
					st := d.State(i)
					if st.Err == nil && math.Abs(st.Position-goal) > 2*near {
						t.Fatalf("%s: servo %d: got %.0f for right, want near %.0f", text, i+1, st.Position, goal)
					}
				}
			}
			if g := d.State(0); g.Err != nil && !strings.Contains(text, " bus ") {
				t.Errorf("%s: servo 1 suffers: %v", text, g.Err)
			}
			d.cycles(2, servo.Goal{})
			d.cycles(98, to(goal))
			d.follows(text+": a second later", goal, near)
		}
	})
}

func TestBrandsAllocateNothing(t *testing.T) {
	brands(t, func(t *testing.T, open func(int) *rostered, goal, near float64) {
		d := open(6)
		d.cycles(60, to(goal))
		g := to(goal)
		if n := testing.AllocsPerRun(100, func() { d.cycles(1, g) }); n != 0 {
			t.Errorf("a cycle: got %g allocations, want 0", n)
		}
		d.plant("off servo 2")
		d.cycles(20, g)
		if n := testing.AllocsPerRun(100, func() { d.cycles(1, g) }); n != 0 {
			t.Errorf("a cycle with a silent servo: got %g allocations, want 0", n)
		}
	})
}

// A servo that missed packets for a moment keeps its torque or reports a fault. The latter are motors with their own
// watchdog, and those without a sign that they kept their power.
func TestBrandsKeepTorqueOverSilence(t *testing.T) {
	brands(t, func(t *testing.T, open func(int) *rostered, goal, near float64) {
		d := open(3)
		d.cycles(150, to(goal))
		d.plant("intermittent servo 2 p=1 for=40ms")
		unsaid, most := 0, 0
		if d.servos[1].Name() == "odrive-s1" {
			most = 11 // its heartbeat reports it, every tenth cycle
		}
		for range 80 {
			d.cycles(1, to(goal))
			// While it is lost its state is unknown.
			if st := d.State(1); st.Err == nil && !d.servos[1].Actuator().Enable && d.fault(1) == nil {
				unsaid++
			}
		}
		if unsaid > most {
			t.Errorf("%d cycles it was limp and nothing said why, want %d at most", unsaid, most)
		}
		if d.fault(0) != nil || d.State(1).Err != nil {
			t.Errorf("afterwards: got %v and %v", d.fault(0), d.State(1).Err)
		}
	})
}
