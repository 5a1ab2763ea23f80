package assembly

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
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

// slow is the protocol and the line of one servo that is where its goal is; an exchange takes its time, unless it is a
// recording of one.
type slow struct {
	chain *servo.GenericChain
	took  atomic.Int64 // ns
	real  bool
	start time.Time
	reads atomic.Int64
	fault atomic.Bool // the next exchange panics
	on    bool
	cuts  atomic.Int64 // torque off, sent
}

func (s *slow) Connect(*servo.Exchange) {}
func (s *slow) Identify(int) error {
	s.chain.Devices[0].SawTorque(servo.Off, false)
	return nil
}
func (s *slow) Ready(i int) (bool, error) { return s.chain.Resting(i), nil }
func (s *slow) StageTorqueOff(int)        { s.cuts.Add(1); s.on = false }
func (s *slow) StageTorqueOn(int, int)    { s.on = true }
func (s *slow) StageGoal(int) bool        { return true }
func (s *slow) Steps() int                { return 1 }
func (s *slow) Stage()                    {}
func (s *slow) Flush() error              { s.wait(1); return nil }
func (s *slow) SyncRead(_ servo.Level, list []int) error {
	if s.fault.Swap(false) {
		panic("a fault of the protocol")
	}
	s.wait(3)
	return s.ReadState(0)
}

func (s *slow) ReadState(int) error {
	s.reads.Add(1)
	d := &s.chain.Devices[0]
	if d.State.Velocity, d.State.Effort = math.NaN(), math.NaN(); d.Goal.Enable && d.Goal.Mode == hal.PositionMode {
		d.State.Position = math.Round(d.Goal.Position)
	}
	s.chain.MarkReceived(0)
	return s.ReadHealth(0)
}

func (s *slow) ReadHealth(int) error {
	s.chain.Devices[0].SawTorque(map[bool]servo.Switch{true: servo.On, false: servo.Off}[s.on], false)
	s.chain.Devices[0].State.Torque = s.on
	return nil
}
func (s *slow) Invalidate(int)                {}
func (s *slow) Clear(int) error               { return nil }
func (s *slow) ParserStats() (uint64, uint64) { return 0, 0 }

func (s *slow) wait(quarters int64) {
	if s.real {
		time.Sleep(time.Duration(s.took.Load() / 4 * quarters))
	}
}

// slowWire is its line.
type slowWire struct{ *slow }

func (s slowWire) Write(p []byte) (int, error)                 { return len(p), nil }
func (s slowWire) Read(_ []byte, d time.Duration) (int, error) { return 0, os.ErrDeadlineExceeded }
func (s slowWire) Discard() error                              { return nil }
func (s slowWire) Baud() int                                   { return 1000000 }
func (s slowWire) SetBaud(int) error                           { return nil }
func (s slowWire) Close() error                                { return nil }
func (s slowWire) Now() time.Duration {
	if !s.real {
		return time.Duration(s.reads.Load())
	}
	return time.Since(s.start)
}

// newSlow is the chain.
func newSlow(t *testing.T, took time.Duration, replay bool) (*servo.GenericChain, *slow) {
	t.Helper()
	s := &slow{real: !replay, start: time.Now()}
	s.chain = servo.NewGenericChain(servo.ChainConfig{Name: "arm", Line: slowWire{s}, Period: pacedPeriod, Health: -1,
		Spans: true, Inside: replay, Servos: []servo.ServoConfig{{ID: 1, Model: slowModel{}}}},
		servo.ChainSpec{LastID: 9, Bits: 10, Out: 64, In: 64, Known: func(int) bool { return true },
			Base: func(int) servo.Level { return servo.SyncReads }}, s)
	s.chain.Devices[0].State.Position = 2048
	if err := s.chain.Open(); err != nil {
		t.Fatal(err)
	}
	s.took.Store(int64(took))
	return s.chain, s
}

type slowModel struct{ servo.Model }

func (slowModel) Units() servo.Units              { return slowUnits }
func (slowModel) Register(string) *servo.Register { return nil }
func (slowModel) Setting(string) *servo.Register  { return nil }

var slowUnits = servo.Units{Name: "m", TicksPerTurn: 4096, CentreTicks: 2048, MaxTicks: 4095, MaxVelocity: 6,
	TorqueConstant: 2, MaxEffort: 1, NominalVolts: 12, Modes: [hal.NumModes]bool{true}}

type bubble struct{ start time.Time }

func (b bubble) Now() time.Duration         { return time.Since(b.start) }
func (b bubble) SleepUntil(t time.Duration) { time.Sleep(t - b.Now()) }

const pacedPeriod = 10 * time.Millisecond

// onSlowLine is a rig of one real joint on a line whose exchange takes took.
func onSlowLine(t *testing.T, took time.Duration, replay bool) (*hal.Rig, *hal.Agent, *slow, *servo.GenericChain) {
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
	paced, line := newSlow(t, took, replay)
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
		cancel()
		err := <-ran
		if n := paced.Stats().Span; n != 1 {
			t.Errorf("a fast line: got an exchange every %d cycles, want every one", n)
		}
		if err := errors.Join(err, paced.Close()); err != nil {
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

// TestStopOfASlowLine: while an exchange of five cycles is under way torque off is sent, from any goroutine, and Halt
// proves it; a panic of the exchange is the cycle's.
func TestStopOfASlowLine(t *testing.T) {
	c, line := newSlow(t, 2*time.Millisecond, false)
	c.SetPace(5, pacedPeriod)
	cycle := func(n int) (err error) {
		for range n {
			err = errors.Join(err, c.Send(), c.Receive())
		}
		return err
	}
	c.SetGoal(0, servo.Goal{Enable: true, Mode: hal.PositionMode, Position: 2000, Limit: 1})
	if err := cycle(20); err != nil || !c.State(0).Torque {
		t.Fatalf("got %v, %+v, want torque", err, c.State(0))
	}
	if err := c.Send(); err != nil {
		t.Fatal(err)
	}
	before := line.cuts.Load()
	if err := c.CutTorque(); err != nil || line.cuts.Load() == before {
		t.Errorf("cut: got %v, %d sent, want one", err, line.cuts.Load()-before)
	}
	if faults := c.Halt(); faults[0] != nil || c.State(0).Torque {
		t.Errorf("halt: got %v, torque %v", faults, c.State(0).Torque)
	}
	line.fault.Store(true)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a panic of the exchange is not the cycle's")
			}
		}()
		cycle(10)
	}()
	if err := errors.Join(cycle(5), c.Close()); err != nil {
		t.Error(err)
	}
}
