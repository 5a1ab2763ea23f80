package hal

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

// LocksChecked is whether the locks of this build check their order, which allocates.
const LocksChecked = locksChecked

// blocker is a body, an observer, a stop input and an autopilot that block for ever where the test says.
type blocker struct {
	*thrusters
	at     string
	inside chan struct{} // closed once it blocks
	end    chan struct{}
	seen   chan struct{} // closed after a cycle
	once   sync.Once
	first  sync.Once
}

func (b *blocker) block(at string) {
	if b.at == at {
		b.once.Do(func() { close(b.inside); <-b.end })
	}
}

func (b *blocker) Write(f *Frame) error { b.block("write"); return b.thrusters.Write(f) }
func (b *blocker) Read(f *Frame) error {
	if f.Time > 0 {
		b.block("read")
	}
	return b.thrusters.Read(f)
}
func (b *blocker) Halt() error { b.block("halt"); return b.thrusters.Halt() }
func (b *blocker) Cycle(*Cycle) {
	b.first.Do(func() { close(b.seen) })
	b.block("observer")
}
func (b *blocker) Update(*Frame, []float64, time.Duration) bool {
	b.block("autopilot")
	return false
}
func (b *blocker) Disengage()                  { b.block("disengage") }
func (b *blocker) Send() error                 { b.block("send"); return nil }
func (b *blocker) Receive() error              { return nil }
func (b *blocker) Advance(time.Duration) error { b.block("advance"); return nil }

// TestStopTakesNoLock: with any lock of the rig held for ever, and with code of others that blocks for ever anywhere in
// the cycle, a stop sends torque off at once, is latched, and answers.
func TestStopTakesNoLock(t *testing.T) {
	locks := map[string]func(*Rig, *Agent, *Journal) sync.Locker{
		"turn":    func(r *Rig, _ *Agent, _ *Journal) sync.Locker { return &r.mu },
		"agent":   func(_ *Rig, a *Agent, _ *Journal) sync.Locker { return &a.mu },
		"events":  func(r *Rig, _ *Agent, _ *Journal) sync.Locker { return &r.events.mu },
		"values":  func(r *Rig, _ *Agent, _ *Journal) sync.Locker { return &r.values.mu },
		"log":     func(r *Rig, _ *Agent, _ *Journal) sync.Locker { return &r.sink.mu },
		"journal": func(_ *Rig, _ *Agent, j *Journal) sync.Locker { return &j.mu },
		"write":   nil, "read": nil, "halt": nil, "observer": nil, "autopilot": nil, "disengage": nil, "send": nil,
		"advance":    nil,
		"stop input": nil, "between cycles": nil,
	}
	for name, held := range locks {
		if locksChecked && held != nil {
			continue // it forbids what is done here
		}
		for _, mode := range []ClockMode{Realtime, Lockstep} {
			r, err := New(Config{Mode: mode, Period: tick})
			if err != nil {
				t.Fatal(err)
			}
			r.edgeTime, r.verifyTime = 10*time.Millisecond, 10*time.Millisecond
			b := &blocker{thrusters: &thrusters{layout: oneJoint()}, at: name, inside: make(chan struct{}),
				end: make(chan struct{}), seen: make(chan struct{})}
			line := &cutLine{make(chan struct{})}
			if err := errors.Join(r.AddBus(line), r.AddBus(b)); err != nil {
				t.Fatal(err)
			}
			a, err := r.Add(AgentConfig{Name: "a", Body: b, World: b, BodyKind: Emulated})
			if err != nil {
				t.Fatal(err)
			}
			a.SetAutopilot(b)
			r.AddStopInput(func() error { b.block("stop input"); return nil })
			r.NewSession("observer", b)
			j := r.OpenJournal(1000)
			ctx, cancel := context.WithCancel(t.Context())
			ran := make(chan struct{})
			go func() { defer close(ran); r.Run(ctx) }()
			release := func() {}
			switch {
			case held != nil:
				waitFor(t, b.seen)
				l := held(r, a, j)
				l.Lock()
				release = l.Unlock
			case name == "between cycles":
				go r.BetweenCycles(func() { b.block(name) })
				waitFor(t, b.inside)
			case name != "halt" && name != "disengage": // which the stop calls
				waitFor(t, b.inside)
			}
			stopped := make(chan struct{})
			go func() {
				if all := r.EmergencyStop("test"); len(all) != 1 {
					t.Errorf("%s: got %v, want an answer for each joint", name, all)
				}
				close(stopped)
			}()
			waitFor(t, line.cut)
			waitFor(t, stopped)
			if !r.Latched() {
				t.Errorf("%s: not latched", name)
			}
			release()
			close(b.end)
			cancel()
			waitFor(t, ran)
		}
	}
}

// waitFor waits until c is closed.
func waitFor(t *testing.T, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		t.Fatal("it hangs")
	}
}
