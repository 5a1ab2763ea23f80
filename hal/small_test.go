package hal

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

func TestErrorText(t *testing.T) {
	cause := errors.New("no answer, want 14 bytes")
	for _, c := range []struct {
		err  Error
		want string
	}{
		{Error{Bus: "upper", ID: 7, Joint: "elbow", Op: "read", Err: cause, Try: "halyard scan"},
			`bus "upper": id 7: joint "elbow": read: no answer, want 14 bytes (try: halyard scan)`},
		{Error{Kind: Absent, Op: "open"}, "open: absent"},
		{Error{}, "unexpected"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	wrapped := errors.Join(errors.New("first"), &Error{Kind: Busy, Err: cause})
	if KindOf(wrapped) != Busy || !errors.Is(wrapped, cause) || KindOf(cause) != Unexpected {
		t.Error("kind of a wrapped error: not found")
	}
}

func TestLayoutFaultsComeTogether(t *testing.T) {
	l := oneJoint()
	if err := l.Validate(); err != nil {
		t.Fatal(err)
	}
	l.Inputs[0].Min = 9
	l.Inputs[1].Name = l.Inputs[2].Name
	l.Actuators[0].Goal[1] = 99
	l.Actuators[0].Default = 5
	l.Actuators[0].Limits.MaxTorque = math.NaN()
	err := l.Validate()
	if n := strings.Count(err.Error(), "\n") + 1; n != 5 {
		t.Errorf("five faults: got %d:\n%v", n, err)
	}
}

func TestChannelFraction(t *testing.T) {
	c := Channel{Min: -2, Max: 6}
	for _, x := range []struct{ v, f float64 }{{-2, 0}, {6, 1}, {0, 0.25}, {99, 1}, {-99, 0}} {
		if got := c.Fraction(x.v); got != x.f {
			t.Errorf("fraction of %g: got %g, want %g", x.v, got, x.f)
		}
	}
	if c.FromFraction(0.25) != 0 || !math.IsNaN(c.Fraction(math.NaN())) {
		t.Error("fraction: not its own inverse, or NaN lost")
	}
}

func TestHistogram(t *testing.T) {
	var h, other Histogram
	for i := 1; i <= 1000; i += 2 {
		h.Add(time.Duration(i) * time.Microsecond)
		other.Add(time.Duration(i+1) * time.Microsecond)
	}
	other.Add(-5 * time.Millisecond)
	h.Join(&other)
	for _, c := range []struct{ q, want float64 }{{0.5, 500e3}, {0.99, 990e3}, {1, 5e6}} {
		if got := float64(h.Quantile(c.q)); math.Abs(got/c.want-1) > 0.04 {
			t.Errorf("quantile %g: got %g ns, want %g within 4 %%", c.q, got, c.want)
		}
	}
	if h.Count() != 1001 || h.Max() != 5*time.Millisecond {
		t.Errorf("got %d, max %v", h.Count(), h.Max())
	}
	for _, ns := range []uint64{0, 31, 32, 33, 1000, math.MaxInt64} {
		if b := bucket(ns); b < 0 || b >= len(h.counts) {
			t.Errorf("bucket of %d: got %d", ns, b)
		}
	}
}

func TestWallClockNeverWakesEarly(t *testing.T) {
	c := WallClock()
	for _, d := range []time.Duration{-time.Second, 0, 50 * time.Microsecond, 2 * time.Millisecond} {
		until := c.Now() + d
		c.SleepUntil(until)
		if c.Now() < until {
			t.Errorf("sleep of %v: woke %v early", d, until-c.Now())
		}
		until = c.Now() + d
		c.(dozer).DozeUntil(until)
		if c.Now() < until {
			t.Errorf("doze of %v: woke %v early", d, until-c.Now())
		}
	}
}

func TestDutyLimit(t *testing.T) {
	a := Actuator{Limits: Limits{MaxTorque: 2, MaxVelocity: 5}}
	for _, c := range []struct{ limit, velocity, towards, want float64 }{
		{1, 0, 1, 0.5},   // standing still
		{1, 1, 1, 0.7},   // moving on: the back-EMF takes a fifth of the supply
		{1, -1, -1, 0.7}, // and so the other way
		{1, 1, -1, 0.5},  // braking: the back-EMF helps
		{1, 4, 1, 1},     // no more than there is
		{0, 4, 1, 0},     // limp
		{2, math.NaN(), 1, 1},
	} {
		if got := a.DutyLimit(c.limit, c.velocity, c.towards); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%g N·m at %g rad/s towards %g: got %g, want %g", c.limit, c.velocity, c.towards, got, c.want)
		}
	}
}

// DeclareFor of a costly event calls its function at the first lookup, and not before.
func TestEventThatIsAskedFor(t *testing.T) {
	e, asked := newEvents(), 0
	id := e.DeclareFor("/robot/foot/Collision", func() { asked++ })
	e.Declare("/robot/other")
	e.Lookup("/robot/other")
	if asked != 0 {
		t.Errorf("before it was looked up: asked %d times", asked)
	}
	if got, ok := e.Lookup("/robot/foot/Collision"); !ok || got != id || asked != 1 {
		t.Errorf("looked up: got %d, %v, asked %d times; want %d, asked once", got, ok, asked, id)
	}
}
