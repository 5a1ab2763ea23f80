package assembly

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// ramp is a chain whose servos are each at the tick of the line's time in ms, and which has them halted.
type ramp struct {
	servo.Chain
	states [2]servo.State
	halted bool
}

func (r *ramp) State(i int) *servo.State { return &r.states[i] }
func (r *ramp) Halt() []error            { r.halted = true; return make([]error, 2) }

func (r *ramp) at(ms int) {
	for i := range r.states {
		s := &r.states[i]
		s.Time, s.Position, s.Torque = time.Duration(ms)*time.Millisecond, float64(ms), true
	}
}

// TestRehearsed: each fault falsifies the readings of its servo alone, for its time, as that of an emulated servo; the
// torque switch and a stop pass, and a reading that was read twice is the same.
func TestRehearsed(t *testing.T) {
	for _, c := range []struct {
		fault      string
		late, off  int  // of the reading, ms and ticks
		lost, want bool // without a new reading; the fault is accepted
	}{
		{"stale servo 0 by=40ms", 40, 0, false, true},
		{"drop servo 0 p=1", 0, 0, true, true},
		{"dropped servo 0 p=1 from=1h", 0, 0, false, true},
		{"offset servo 0 by=-30", 0, -30, false, true},
		{"wrong servo 0 by=-30 for=500ms", 0, 0, false, true},
		{"crc servo 0", 0, 0, false, false},
		{"power_loss servo 0", 0, 0, false, false},
		{"slipped servo 0", 0, 0, false, false},
	} {
		line := &ramp{}
		r := &rehearsed{Chain: line, servos: make([]rehearsedServo, 2)}
		line.at(0)
		f, err := wire.Parse(c.fault)
		if err == nil {
			err = r.plant(0, f)
		}
		if (err == nil) != c.want || err != nil && !strings.Contains(err.Error(), "want stale, dropped") {
			t.Errorf("%s: got %v", c.fault, err)
		}
		for ms := 10; ms <= 1000; ms += 10 {
			line.at(ms)
			r.State(0)
		}
		s := *r.State(0)
		if again := *r.State(0); again.Position != s.Position || again.Time != s.Time {
			t.Errorf("%s: read twice: got %v and %v", c.fault, s, again)
		}
		switch {
		case c.lost:
			if s.Err == nil || s.Time != 0 || s.Position != 0 {
				t.Errorf("%s: got %v at %v, %v; want no new reading", c.fault, s.Position, s.Time, s.Err)
			}
		case s.Position != float64(1000-c.late+c.off) || s.Time != time.Second || s.Err != nil:
			t.Errorf("%s: got %v at %v, %v", c.fault, s.Position, s.Time, s.Err)
		}
		if !s.Torque || *r.State(1) != line.states[1] {
			t.Errorf("%s: the torque switch or the other servo: got %v, %v", c.fault, s.Torque, *r.State(1))
		}
		if r.Halt(); !line.halted {
			t.Errorf("%s: a stop does not pass", c.fault)
		}
		if r.heal(0); *r.State(0) != line.states[0] {
			t.Errorf("%s: ended: got %v", c.fault, *r.State(0))
		}
	}
}

// TestRehearsedKeepsFaults: a fault of the line itself stays the one that is shown.
func TestRehearsedKeepsFaults(t *testing.T) {
	line, gone := &ramp{}, errors.New("unplugged")
	r := &rehearsed{Chain: line, servos: make([]rehearsedServo, 2)}
	if err := r.plant(0, wire.Fault{Kind: wire.Dropped, P: 1}); err != nil {
		t.Fatal(err)
	}
	line.at(10)
	if line.states[0].Err = gone; r.State(0).Err != gone {
		t.Errorf("got %v, want %v", r.State(0).Err, gone)
	}
}
