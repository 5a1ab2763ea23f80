package lab

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/report"
)

// The course of a cell, in virtual time.
const (
	calm   = 1200 * time.Millisecond // all is well
	storm  = 1000 * time.Millisecond // the fault strikes now and then
	outage = 1500 * time.Millisecond // it strikes wholly, and longer with three seeds of four
	longer = 700 * time.Millisecond
	after  = 2000 * time.Millisecond // it is over

	// backIn is how soon a device must be recovered.
	backIn = time.Second
	// unreported is the maximum age of values before the device must be reported as faulty.
	unreported = 700 * time.Millisecond
	// inFlight is how long a value may have been on its way: a scan is sent in a tenth of a second and turned in
	// another.
	inFlight = 250 * time.Millisecond
	// maxBehind is how far a joint may be behind its goal, rad.
	maxBehind = 0.25
	// neighbourAge is how old the values of its neighbours may become.
	neighbourAge = 300 * time.Millisecond
)

// TryCell tries a fault on a device once. A panic is an outcome.
func TryCell(r *FaultRow, w *FaultWord, seed int64) (c Cell) {
	c = Cell{MaxAge: report.Number(math.NaN()), Detect: report.Number(math.NaN()), Recover: report.Number(math.NaN())}
	fail := func(what string, args ...any) {
		if !c.Failed {
			c.Outcome, c.Failed = fmt.Sprintf(what, args...), true
		}
	}
	defer func() {
		if p := recover(); p != nil {
			c.Failed = false
			fail("panic: %v", p)
		}
	}()
	row := *r
	row.Values = map[string][]float64{} // the right values of this rig only
	s, err := newTestRig(&row, seed)
	if err != nil {
		fail("%v", err)
		return c
	}
	defer s.Close()
	t := trial{s: s, w: w, c: &c, fail: fail, seed: seed, detected: -1, back: make([]time.Duration, len(row.names))}
	if row.Try != nil {
		row.Try(&t, w.Plant(&row))
	} else {
		t.Run()
	}
	if c.Outcome == "" {
		switch c.Outcome = "no effect"; {
		case row.missed && t.detected < 0:
			c.Outcome = knownSilent
		case t.held:
			c.Outcome = "detected, latched"
		case t.detected >= 0:
			c.Outcome = "detected"
		}
	}
	return c
}

// trial is one run of a cell.
type trial struct {
	s    *TestRig
	w    *FaultWord
	c    *Cell
	fail func(string, ...any)

	detected time.Duration   // when its event came; < 0: not
	held     bool            // it answers again, but waits to be enabled
	farest   float64         // of a joint from its goal, in the end; rad
	back     []time.Duration // when each of its names was well after the fault, 0 while it is not
	begin    time.Duration   // of the fault
	wholly   time.Duration   // when it began to strike wholly
	over     time.Duration   // when it was over; 0 before
	ends     time.Duration   // when all must be well; 0 before
	seed     int64
}

// must reports whether err is nil; otherwise it fails the trial.
func (t *trial) must(err error) bool {
	if err != nil {
		t.fail("%v", err)
	}
	return err == nil
}

// pass lets a span pass and calls look after every cycle. It reports whether the trial goes on.
func (t *trial) pass(span time.Duration, look func()) bool {
	for until := t.s.now + span; t.s.now < until; {
		if !t.must(t.s.Step()) {
			return false
		}
		look()
	}
	return true
}

// Run is the course of a device that reports its faults.
func (t *trial) Run() {
	s, plant := t.s, t.w.Plant(t.s.Row)
	must, pass := t.must, func(span time.Duration) bool { return t.pass(span, t.Look) }
	s.Row.calm = true
	if !pass(calm) || t.c.Failed {
		return
	}
	t.begin, s.Row.calm = s.now, false
	if !must(plant(s, false)) || !pass(storm) {
		return
	}
	t.wholly = s.now
	if !must(plant(s, true)) || !pass(outage+time.Duration(t.seed%4)*longer) {
		return
	}
	t.over = s.now
	if !must(s.heal()) || !pass(after) {
		return
	}
	// A person sees what is held and, when there is nothing in the way, enables it again.
	if t.held {
		s.agent.Disarm()
		if !pass(100 * time.Millisecond) {
			return
		}
		s.arrives = s.now + after/2
		if !must(s.agent.Arm()) || !pass(after/2) {
			return
		}
	}
	t.ends = s.now
	if pass(swingTime / 4) {
		t.finish()
	}
}

// Look judges one cycle.
func (t *trial) Look() {
	s, row := t.s, t.s.Row
	for i, name := range row.names {
		r := s.Read(name)
		if r.wrong != "" {
			t.fail("wrong: %s at %v: %s", name, s.now, r.wrong)
		}
		if t.begin == 0 {
			// Sensors take a moment to be what they are.
			if s.now > calm/2 && (r.err != nil || r.at < 0) {
				t.fail("not well from the start: %s: %v", name, r.err)
			}
			continue
		}
		age := s.now - r.at
		if t.over == 0 {
			t.c.MaxAge = worst(t.c.MaxAge, report.Number(age.Milliseconds()))
		}
		mine := row.only == "" || name == row.only || t.w.Name != "power_loss"
		switch {
		case t.over > 0:
			t.well(i, name, r)
		case t.wholly > 0 && t.w.Dead && mine && r.at > t.wholly+inFlight && !r.none:
			t.fail("lies: %s has a value of %v, but nothing since %v", name, r.at, t.wholly)
		case age > unreported && r.err == nil:
			t.fail("undetected: a value of %s is %v old and has no fault", name, age)
		}
		// On one line a servo that falls silent in the middle of an answer for all costs those behind it a cycle.
		if !mine && age > neighbourAge {
			t.fail("affected: %s, another device: %v old, %v", name, age, r.err)
		}
	}
	t.closed()
	t.neighbours()
	t.Listen()
}

// well sees how a device comes back.
func (t *trial) well(i int, name string, r reading) {
	s := t.s
	var why *hal.Error
	held := errors.As(r.err, &why) && why.Op == "torque"
	t.held = t.held || held
	if t.back[i] == 0 && (r.err == nil || held) && r.at > t.over && !r.none {
		t.back[i] = s.now
	}
	if t.ends == 0 {
		return
	}
	if r.err != nil || r.none {
		t.fail("not well in the end: %s: %v", name, r.err)
	}
	if k := s.agent.Layout().Actuator(name); k >= 0 {
		t.farest = max(t.farest, math.Abs(s.truth[len(s.truth)-1][k]-s.goals[k]))
	}
}

// neighbours checks the neighbouring devices.
func (t *trial) neighbours() {
	s, row := t.s, t.s.Row
	if t.begin == 0 {
		return
	}
	for _, name := range row.neighbours {
		// A bus that is held low blocks all its devices.
		if (row.Bus == catalog.I2CBus || row.own != nil) && t.w.Name == "delayed" &&
			(name == "imu" || name == "pulse") {
			continue
		}
		if r := s.Read(name); r.err != nil || s.now-r.at > neighbourAge {
			t.fail("harmed: %s: %v old, %v", name, s.now-r.at, r.err)
		}
	}
}

// Listen waits for the event.
func (t *trial) Listen() {
	for _, e := range t.s.events {
		name, fault := strings.CutSuffix(strings.TrimPrefix(e, "/stand/"), "/Fault")
		if fault && t.detected < 0 && t.begin > 0 && slices.Contains(t.s.Row.names, name) {
			t.detected = t.s.now
			t.c.Detect = report.Number((t.s.now - max(t.begin, min(t.wholly, t.s.now))).Milliseconds())
			if t.wholly == 0 {
				t.c.Detect = report.Number((t.s.now - t.begin).Milliseconds())
			}
		}
	}
	t.s.events = t.s.events[:0]
}

// finish judges the end: everything is recovered, and follows.
func (t *trial) finish() {
	s, row := t.s, t.s.Row
	for i, name := range row.names {
		if t.back[i] == 0 {
			t.fail("not back: %s: %v", name, s.Read(name).err)
			return
		}
		span := t.back[i] - t.over
		if t.c.Recover = worst(t.c.Recover, report.Number(span.Milliseconds())); span > backIn+t.w.stalls(row) {
			t.fail("back late: %s after %v", name, span)
		}
	}
	if t.farest > maxBehind {
		t.fail("does not follow: %.2f rad from its goal", t.farest)
	}
	if t.w.Dead && t.detected < 0 && !(row.mute && t.w.Name == "power_loss") {
		t.fail("no event")
	}
}
