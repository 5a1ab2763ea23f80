package servo

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// Single errors that no other test here notices; see halyard-lab mutants.

// following returns a stub whose servos both have torque and follow goals.
func following(t *testing.T) *stub {
	t.Helper()
	b := newStub(t)
	for range 4 {
		b.cycle(t)
	}
	if got := b.cycle(t); got != "aim0 aim1" {
		t.Fatalf("got %q, want both to follow", got)
	}
	b.staged = b.staged[:0]
	return b
}

func (b *stub) count(what string) (n int) {
	for _, s := range b.staged {
		if s == what {
			n++
		}
	}
	return n
}

// TestHaltSendsTwice: a stop sends torque off twice to every servo but a foreign one, and torque does not come back
// until Enable has been false once.
func TestHaltSendsTwice(t *testing.T) {
	b := following(t)
	if err := errors.Join(b.r.Halt()...); err != nil || b.count("off0") != 2 || b.count("off1") != 2 {
		t.Errorf("got %q, %v, want torque off twice to both", b.staged, err)
	}
	for range 3 {
		if got := b.cycle(t); strings.Contains(got, "arm") || strings.Contains(got, "aim") {
			t.Errorf("still enabled: got %q, want no torque", got)
		}
	}
	for i := range b.r.Devices {
		b.r.SetGoal(i, Goal{})
	}
	if err := errors.Join(b.r.Send(), b.r.Receive()); err != nil {
		t.Fatal(err)
	}
	if got := b.cycle(t); !strings.Contains(got, "arm0") {
		t.Errorf("enabled again: got %q, want torque", got)
	}

	b = following(t)
	b.r.Devices[0].Barred = true
	if faults := b.r.Halt(); !errors.Is(faults[0], errForeign) || faults[1] != nil ||
		slices.Contains(b.staged, "off0") {
		t.Errorf("a foreign servo: got %v, staged %q, want it left alone and reported", faults, b.staged)
	}
}

// stuck is a vendor whose servo 1 keeps its torque.
type stuck struct{ *stub }

func (b *stuck) ReadHealth(i int) error {
	b.r.Devices[i].SawTorque(SwitchOf(i == 1), false)
	return nil
}

// TestHaltReportsTorque: a servo that reads back torque after a stop is no acknowledgement.
func TestHaltReportsTorque(t *testing.T) {
	b := &stuck{&stub{fits: true}}
	b.r = NewGenericChain(ChainConfig{Line: &echoing{}, Health: 1,
		Servos: []ServoConfig{{ID: 1, Joint: "hip"}, {ID: 2, Joint: "knee"}}},
		ChainSpec{LastID: 9, Bits: 10, Out: 64, In: 64, Known: func(int) bool { return true }}, b)
	if err := b.r.Open(); err != nil {
		t.Fatal(err)
	}
	if faults := b.r.Halt(); faults[0] != nil || !errors.Is(faults[1], errStillOn) {
		t.Errorf("got %v, want only servo 1 to keep torque", faults)
	}
}

// TestOutsideItsLimitsGivesUp: a servo that is outside its limits is not tried for ever.
func TestOutsideItsLimitsGivesUp(t *testing.T) {
	b := newStub(t)
	b.refuse = ErrOutOfLimits
	for range maxRefusals {
		if got := b.cycle(t); strings.Contains(got, "arm0") {
			t.Errorf("got %q, want no torque", got)
		}
		if got := b.r.Devices[0].State.Drive; got != hal.Switching {
			t.Errorf("without torque: got drive %v, want %v: it follows no goal", got, hal.Switching)
		}
	}
	if !errors.Is(b.r.Fault(0), ErrOutOfLimits) {
		t.Errorf("after %d refusals: got %v, want the reason", maxRefusals, b.r.Fault(0))
	}
}

// TestClearAlarmTakesTorque: clearing an alarm of a servo with torque leaves it without, until it is enabled again, and
// cannot be done for ever.
func TestClearAlarmTakesTorque(t *testing.T) {
	b := following(t)
	if err := b.r.ClearAlarm(0); err != nil || !errors.Is(b.r.Fault(0), ErrLatched) {
		t.Errorf("got %v, fault %v, want it to wait for Enable", err, b.r.Fault(0))
	}
	if got := b.cycle(t); strings.Contains(got, "aim0") || strings.Contains(got, "arm0") {
		t.Errorf("cleared: got %q, want no goal of before", got)
	}
	for range MaxClears - 1 {
		if err := b.r.ClearAlarm(0); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.r.ClearAlarm(0); err == nil {
		t.Errorf("cleared %d times: got no error, want it refused", MaxClears+1)
	}
}

// leaving is a vendor whose servo 0 can be silent, or answer only what is asked for its state.
type leaving struct {
	*stub
	silent, mute bool
}

func (b *leaving) ReadState(i int) error {
	if i == 0 && b.silent {
		return ErrNoReply
	}
	return b.stub.ReadState(i)
}

func (b *leaving) ReadHealth(i int) error {
	if i == 0 && (b.silent || b.mute) {
		return ErrNoReply
	}
	return b.stub.ReadHealth(i)
}

// TestReturnedGetsNoGoals: a servo that was lost may have lost its power and its settings: when it is back it gets no
// goal until its torque switch was read.
func TestReturnedGetsNoGoals(t *testing.T) {
	b, line := &leaving{stub: &stub{fits: true}}, &echoing{}
	b.r = NewGenericChain(ChainConfig{Line: line, Health: 1,
		Servos: []ServoConfig{{ID: 1, Joint: "hip"}, {ID: 2, Joint: "knee"}}},
		ChainSpec{LastID: 9, Bits: 10, Out: 64, In: 64, Known: func(int) bool { return true }}, b)
	if err := errors.Join(b.r.Open(), b.r.Receive()); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		b.cycle(t)
	}
	b.silent, b.mute = true, true
	for k := 0; !b.r.Devices[0].Lost; k++ {
		if line.now += 10 * time.Millisecond; k > 1000 {
			t.Fatal("the servo is not given up")
		}
		b.cycle(t)
	}
	drives := func(when string, want hal.Drive) {
		t.Helper()
		if got := b.r.Devices[0].State.Drive; got != want || b.r.Devices[1].State.Drive != hal.Follows {
			t.Errorf("%s: got drive %v, %v, want %v and servo 1 to follow", when, got, b.r.Devices[1].State.Drive, want)
		}
	}
	b.cycle(t)
	drives("lost", hal.Waiting)
	b.silent = false
	for k := 0; b.r.Devices[0].Lost; k++ {
		if b.cycle(t); k > 1000 {
			t.Fatal("the servo is not found")
		}
	}
	for range 20 {
		if got := b.cycle(t); strings.Contains(got, "aim0") || !strings.Contains(got, "aim1") {
			t.Fatalf("back, its switch not read: got %q, want a goal for servo 1 alone", got)
		}
	}
	drives("back, its switch not read", hal.Waiting)
	b.mute = false
	b.cycle(t)
	b.cycle(t)
	drives("its switch read", hal.Follows)
	if got := b.cycle(t); !strings.Contains(got, "aim0") {
		t.Errorf("its switch read: got %q, want it to go on", got)
	}
}
