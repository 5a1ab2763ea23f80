package assembly

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/servo"
)

// slow is the chain of one servo that is where its goal is, on a line whose exchange takes its time, unless it is a
// recording of one.
type slow struct {
	took         atomic.Int64 // ns
	real         bool
	stats        servo.Stats
	staged, goal servo.Goal
	state        servo.State
}

func (s *slow) Send() error {
	s.wait(1)
	s.goal = s.staged
	return nil
}

func (s *slow) Receive() error {
	s.wait(3)
	s.stats.Cycles++
	s.stats.Spent = time.Duration(s.took.Load())
	if s.goal.Enable && s.goal.Mode == hal.PositionMode {
		s.state.Position = math.Round(s.goal.Position)
	}
	s.state.Torque, s.state.Time = s.goal.Enable, time.Duration(s.stats.Cycles)
	return nil
}

func (s *slow) wait(quarters int64) {
	if s.real {
		time.Sleep(time.Duration(s.took.Load() / 4 * quarters))
	}
}

func (s *slow) Open() error                 { return nil }
func (s *slow) Units(int) servo.Units       { return slowUnits }
func (s *slow) SetGoal(_ int, g servo.Goal) { s.staged = g }
func (s *slow) State(int) *servo.State      { return &s.state }
func (s *slow) Halt() []error               { return []error{nil} }
func (s *slow) Close() error                { return nil }
func (s *slow) Stats() servo.Stats          { return s.stats }
func (s *slow) Inline()                     {}

var slowUnits = servo.Units{Name: "m", TicksPerTurn: 4096, CentreTicks: 2048, MaxTicks: 4095, MaxVelocity: 6,
	TorqueConstant: 2, MaxEffort: 1, NominalVolts: 12, Modes: [hal.NumModes]bool{true}}

type bubble struct{ start time.Time }

func (b bubble) Now() time.Duration         { return time.Since(b.start) }
func (b bubble) SleepUntil(t time.Duration) { time.Sleep(t - b.Now()) }

const pacedPeriod = 10 * time.Millisecond

// onSlowLine is a rig of one real joint on a line whose exchange takes took.
func onSlowLine(t *testing.T, took time.Duration, replay bool) (*hal.Rig, *hal.Agent, *slow, *pacedChain) {
	t.Helper()
	mode := hal.Realtime
	if replay {
		mode = hal.Lockstep
	}
	r, err := hal.New(hal.Config{Name: "rig", Mode: mode, Period: pacedPeriod, Clock: bubble{time.Now()},
		Replay: replay})
	if err != nil {
		t.Fatal(err)
	}
	line := &slow{real: !replay, state: servo.State{Position: 2048, Time: -1}}
	line.took.Store(int64(took))
	paced := newPaced(line, "arm", 1, pacedPeriod, replay)
	u := slowUnits
	x, err := drivers.NewBody(haltest.Layout("x"),
		[]drivers.Joint{{Chain: paced, ID: 1, Calibration: calibration.Nominal(
			"x", calibration.Servo{Model: u.Name, ID: 1}, calibration.Model{TicksPerTurn: u.TicksPerTurn,
				CentreTicks: u.CentreTicks, MaxTicks: u.MaxTicks, TorqueConstant: u.TorqueConstant})}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.AddBus(paced); err != nil {
		t.Fatal(err)
	}
	a, err := r.Add(hal.AgentConfig{Name: "a", Body: x, BodyKind: hal.Real})
	if err != nil {
		t.Fatal(err)
	}
	return r, a, line, paced
}

// goalOf commands the joint.
func goalOf(a *hal.Agent, position float64) []float64 {
	inputs := make([]float64, len(a.Layout().Inputs))
	hal.FillNaN(inputs)
	inputs[a.Layout().Actuators[0].Goal[hal.PositionMode]] = position
	return inputs
}

// TestSlowLineHasItsOwnRate: a line of 14.5 ms in a cycle of 10 ms: the cycle keeps its period after the first few, the
// joint goes where it is commanded, its values have their age, and the journal repeats every cycle. A line that becomes
// fast has an exchange in every cycle again.
func TestSlowLineHasItsOwnRate(t *testing.T) {
	var orders []hal.Order
	type cycle struct {
		missed time.Duration
		text   string
	}
	var cycles []cycle
	textOf := func(c *hal.CycleRecord) string {
		return fmt.Sprint(c.Agents[0].Inputs, c.Agents[0].Measured, c.Agents[0].Status)
	}
	synctest.Test(t, func(t *testing.T) {
		r, a, line, paced := onSlowLine(t, 14500*time.Microsecond, false)
		j := r.OpenJournal(4000)
		ctx, cancel := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() { ran <- r.Run(ctx) }()
		oldest := time.Duration(0)
		var before, after hal.Stats
		time.Sleep(10*pacedPeriod + pacedPeriod*7/10) // the cycle holds its lock while it waits for the line
		for k := range 200 {
			time.Sleep(pacedPeriod)
			if err := a.Override(goalOf(a, math.Sin(float64(k)/20))); err != nil {
				t.Fatal(err)
			}
			s := a.Status(nil)[0]
			r.Stats(&after)
			if k == 30 {
				before = after
			}
			if k > 30 {
				if oldest = max(oldest, after.Time-s.Time); s.Delay != pacedPeriod {
					t.Fatalf("cycle %d: delay: got %v, want %v", k, s.Delay, pacedPeriod)
				}
			}
		}
		if missed := after.Missed - before.Missed; missed > 0 {
			t.Errorf("got %d of 170 cycles missed, want 0", missed)
		}
		if oldest < pacedPeriod || oldest > 3*pacedPeriod {
			t.Errorf("got values up to %v old, want 10 to 30 ms", oldest)
		}
		if at := a.Measured(nil)[0]; math.Abs(at-math.Sin(199./20)) > 0.3 {
			t.Errorf("got the joint at %.3f, want near %.3f", at, math.Sin(199./20))
		}
		line.took.Store(int64(2 * time.Millisecond))
		time.Sleep(5 * time.Second)
		if n := paced.Span(); n != 1 {
			t.Errorf("a fast line: got an exchange every %d cycles, want every one", n)
		}
		cancel()
		if err := errors.Join(<-ran, paced.Close()); err != nil {
			t.Error(err)
		}
		j.Close()
		for c := range j.Records() {
			for _, o := range c.Orders {
				o.Inputs = append([]float64(nil), o.Inputs...)
				orders = append(orders, o)
			}
			cycles = append(cycles, cycle{c.Missed, textOf(c)})
		}
	})
	synctest.Test(t, func(t *testing.T) {
		r, _, _, _ := onSlowLine(t, 14500*time.Microsecond, true)
		j := r.OpenJournal(4000)
		r.BeginReplay()
		for i, want := range cycles {
			for len(orders) > 0 && orders[0].Cycle <= uint64(i+1) {
				if err := r.Replay(&orders[0]); err != nil {
					t.Fatal(err)
				}
				orders = orders[1:]
			}
			if err := r.ReplayCycle(want.missed); err != nil {
				t.Fatal(err)
			}
			c := <-j.Records()
			if got := textOf(c); got != want.text {
				t.Fatalf("cycle %d of %d:\ngot  %s\nwant %s", i+1, len(cycles), got, want.text)
			}
			j.Free(c)
		}
	})
}
