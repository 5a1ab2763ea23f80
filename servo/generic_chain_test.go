package servo

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// stub is a vendor whose servos answer everything; it records the staged commands.
type stub struct {
	r      *GenericChain
	refuse error // by servo 0, of a setting that torque requires
	fits   bool  // servo 1's mode is its goal's
	staged []string
}

func (b *stub) record(what string, i int) { b.staged = append(b.staged, what+string(rune('0'+i))) }

func (b *stub) Connect(*Exchange)             {}
func (b *stub) Identify(i int) error          { b.r.Devices[i].Torque = Off; return nil }
func (b *stub) StageTorqueOff(i int)          { b.record("off", i) }
func (b *stub) StageTorqueOn(i, _ int)        { b.record("arm", i) }
func (b *stub) Steps() int                    { return 1 }
func (b *stub) Stage()                        {}
func (b *stub) Flush() error                  { return nil }
func (b *stub) SyncRead(Level, []int) error   { return nil }
func (b *stub) Invalidate(int)                {}
func (b *stub) Clear(int) error               { return nil }
func (b *stub) ParserStats() (uint64, uint64) { return 0, 0 }

func (b *stub) Ready(i int) (bool, error) {
	if i == 0 && b.refuse != nil {
		return false, b.refuse
	}
	return b.r.Resting(i), nil
}

func (b *stub) StageGoal(i int) bool {
	if i == 1 && !b.fits {
		return false
	}
	b.record("aim", i)
	return true
}

func (b *stub) ReadState(i int) error {
	b.r.Devices[i].State.Position = 7
	return nil
}

// ReadHealth reports torque as last commanded.
func (b *stub) ReadHealth(i int) error {
	torque := Off
	if b.r.Devices[i].Stage == TorqueOn {
		torque = On
	}
	b.r.Devices[i].SawTorque(torque, false)
	return nil
}

func newStub(t *testing.T) *stub {
	t.Helper()
	b := &stub{fits: true}
	b.r = NewGenericChain(ChainConfig{Line: &echoing{}, Health: 1,
		Servos: []ServoConfig{{ID: 1, Joint: "hip", Model: turning{}}, {ID: 2, Joint: "knee", Model: turning{}}}},
		ChainSpec{LastID: 9, Bits: 10, Out: 64, In: 64, Known: func(int) bool { return true }}, b)
	if err := errors.Join(b.r.Open(), b.r.Receive()); err != nil {
		t.Fatal(err)
	}
	return b
}

// cycle is one cycle with both enabled; it returns what was staged.
func (b *stub) cycle(t *testing.T) string {
	t.Helper()
	b.staged = b.staged[:0]
	for i := range b.r.Devices {
		b.r.SetGoal(i, Goal{Enable: true, Mode: hal.PositionMode, Limit: 1})
	}
	if err := errors.Join(b.r.Send(), b.r.Receive()); err != nil {
		t.Fatal(err)
	}
	return strings.Join(b.staged, " ")
}

// A servo that refuses a setting that torque requires does not affect the others: they get their goals. After three
// refusals it reports the reason.
func TestChainRefusal(t *testing.T) {
	b := newStub(t)
	b.refuse = errors.Join(errors.New("mode"), ErrDiffers)
	for k, want := range []string{"arm1", "aim1", "aim1", "aim1"} {
		if got := b.cycle(t); got != want {
			t.Errorf("cycle %d: got %q, want %q", k, got, want)
		}
		if held := b.r.Fault(0) != nil; held != (k >= 2) {
			t.Errorf("cycle %d: held: got %v", k, b.r.Fault(0))
		}
	}
	if err := b.r.Fault(0); !errors.Is(err, ErrDiffers) || !strings.Contains(err.Error(), "hip") {
		t.Errorf("got %v", err)
	}
	// Silence is no refusal, and trouble of the line is the line's.
	b = newStub(t)
	b.refuse = ErrNoReply
	for range 5 {
		b.cycle(t)
	}
	if b.r.Fault(0) != nil {
		t.Errorf("silent: got %v", b.r.Fault(0))
	}
	b.refuse = errors.New("short circuit")
	if err := b.r.Send(); hal.KindOf(err) != hal.BusFault {
		t.Errorf("line: got %v", err)
	}
}

// One servo a Send is prepared, and only with its torque seen off; a goal of another mode takes the torque first.
func TestChainPreparesOne(t *testing.T) {
	b := newStub(t)
	for k, want := range []string{"arm0", "arm1 aim0", "aim0 aim1"} {
		if got := b.cycle(t); got != want {
			t.Errorf("cycle %d: got %q, want %q", k, got, want)
		}
	}
	b.cycle(t) // both are seen to have torque
	b.fits = false
	if got := b.cycle(t); got != "aim0 off1" || b.r.Devices[1].Stage != TorqueOff {
		t.Errorf("another mode: got %q, stage %d", got, b.r.Devices[1].Stage)
	}
	b.r.Devices[1].Torque = On
	if b.r.Resting(1) {
		t.Error("resting with torque")
	}
}

// verifying is a stub whose servos go to their goals at torque-on: a goal is a step of its own, and read back.
type verifying struct {
	*stub
	took [2]error
	slow time.Duration // of reading a goal back
}

func (b *verifying) Steps() int                { return 2 }
func (b *verifying) Ready(int) (bool, error)   { return true, nil }
func (b *verifying) TorqueStep() int           { return 1 }
func (b *verifying) StageTorqueOn(i, step int) { b.record([...]string{"goal", "torque"}[step], i) }
func (b *verifying) TookGoal(i int) error {
	b.r.x.Port.(*echoing).now += b.slow
	return b.took[i]
}

// turning is a model of 4096 ticks a turn.
type turning struct{ Model }

func (turning) Units() Units { return Units{TicksPerTurn: 4096} }

func newVerifying() *verifying {
	b := &verifying{stub: &stub{fits: true}}
	b.r = NewGenericChain(ChainConfig{Line: &echoing{}, Health: 1, Period: time.Millisecond,
		Servos: []ServoConfig{{ID: 1, Joint: "hip", Model: turning{}}, {ID: 2, Joint: "knee", Model: turning{}}}},
		ChainSpec{LastID: 9, Bits: 10, Out: 64, In: 64, Known: func(int) bool { return true }}, b)
	for i := range b.r.Devices {
		s := &b.r.Devices[i]
		s.met, s.State.Position, s.State.Err = true, 7, nil
	}
	return b
}

// A servo that did not receive the goal of its torque-on gets no torque: it would go to the goal before. One lost
// packet costs a cycle; a servo that never takes its goal is held; reading back takes no more than the period.
func TestTorqueOnVerifiesTheGoal(t *testing.T) {
	b := newVerifying()
	b.took[0] = ErrNoReply
	if got := b.cycle(t); got != "goal0 goal1 torque1" {
		t.Errorf("a lost packet: got %q", got)
	}
	b.took[0] = nil
	if got := b.cycle(t); got != "goal0 torque0 aim1" {
		t.Errorf("the next cycle: got %q", got)
	}

	b = newVerifying()
	b.took[1] = ErrDiffers
	for k := range maxAttempts {
		if b.r.Fault(1) != nil {
			t.Fatalf("cycle %d: got %v", k, b.r.Fault(1))
		}
		b.cycle(t)
	}
	if got := b.cycle(t); got != "aim0" || !errors.Is(b.r.Fault(1), ErrDiffers) {
		t.Errorf("held: got %q, %v", got, b.r.Fault(1))
	}

	b = newVerifying()
	b.slow = 2 * time.Millisecond
	for k, want := range []string{"goal0 goal1 torque0", "goal1 torque1 aim0", "aim0 aim1"} {
		if got := b.cycle(t); got != want {
			t.Errorf("slow, cycle %d: got %q, want %q", k, got, want)
		}
	}

	b = newVerifying()
	b.took[0] = errors.New("short circuit")
	b.r.SetGoal(0, Goal{Enable: true, Mode: hal.PositionMode, Limit: 1})
	if err := b.r.Send(); hal.KindOf(err) != hal.BusFault {
		t.Errorf("line: got %v", err)
	}
}

// A joint that turned when its line was lost is stopped when the line is back, for any mode commanded since, and so is
// one that was pushed far from its goal: no other reaches it. One that gives way under its load is held.
func TestRegainedStopsWhatTurnsOrStrays(t *testing.T) {
	for _, c := range []struct {
		last hal.Mode
		at   float64 // ticks, of a goal of 7
		want bool
	}{{hal.DutyMode, 7, true}, {hal.PositionMode, 7, false}, {hal.PositionMode, 150, false},
		{hal.PositionMode, 300, true}, {hal.PositionMode, -300, true}, {hal.PositionMode, 4096, false},
		{hal.PositionMode, math.NaN(), false}} {
		b := newVerifying()
		s := &b.r.Devices[0]
		s.Goal = Goal{Enable: true, Mode: c.last, Position: 7, Limit: 1}
		s.Arm()
		s.Position(false, false, 0, 4095)
		s.Regained()
		s.Goal.Mode = hal.PositionMode
		if c.last == hal.PositionMode {
			s.Goal.Mode = hal.DutyMode
		}
		s.State.Position = c.at
		if got := b.r.runsOn(0); got != c.want {
			t.Errorf("last goal in mode %v, at %v: runs on: got %v, want %v", c.last, c.at, got, c.want)
		}
	}
}
