package servo

import (
	"errors"
	"math"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// TestSafety02LostServosAreSentSafeCommands: zero and torque off go to servos that do not answer too; no other goal
// does.
func TestSafety02LostServosAreSentSafeCommands(t *testing.T) {
	b := newStub(t)
	turn := func(velocity float64, enable bool) string {
		t.Helper()
		b.staged = b.staged[:0]
		for i := range b.r.Devices {
			b.r.SetGoal(i, Goal{Enable: enable, Mode: hal.VelocityMode, Velocity: velocity, Limit: 1})
		}
		if err := b.r.Send(); err != nil {
			t.Fatal(err)
		}
		return strings.Join(b.staged, " ")
	}
	for range 3 {
		turn(1, true)
		b.r.Receive()
	}
	b.r.Devices[0].Lost = true
	b.r.Devices[0].Torque = Unknown
	for _, c := range []struct {
		velocity float64
		enable   bool
		want     string
	}{{1, true, "aim1"}, {0, true, "aim0 aim1"}, {-1, true, "aim1"}, {0, false, "off0 off1"}} {
		if got := turn(c.velocity, c.enable); got != c.want {
			t.Errorf("velocity %g, enable %v: got %q, want %q", c.velocity, c.enable, got, c.want)
		}
	}
}

// TestSafety08CutTorque: a stop from any goroutine is sent at once, to lost servos too. Earlier goals do not restore
// torque.
func TestSafety08CutTorque(t *testing.T) {
	b := newStub(t)
	b.cycle(t)
	b.staged = b.staged[:0]
	done := make(chan error)
	go func() { done <- b.r.CutTorque() }()
	if err := <-done; err != nil || strings.Join(b.staged, " ") != "off0 off1" {
		t.Fatalf("cut: got %v, %q", err, b.staged)
	}
	for range 5 {
		if got := b.cycle(t); got != "" {
			t.Fatalf("goals after a cut: got %q, want nothing staged until Enable has been false", got)
		}
	}
	for i := range b.r.Devices {
		b.r.SetGoal(i, Goal{})
	}
	b.r.Send()
	b.r.Receive()
	if got := b.cycle(t); !strings.Contains(got, "arm0") {
		t.Errorf("enabled again: got %q, want torque", got)
	}
	b.r.Devices[0].Lost = true
	b.staged = b.staged[:0]
	if err := b.r.CutTorque(); err != nil || strings.Join(b.staged, " ") != "off0 off1" {
		t.Errorf("cut with a lost servo: got %v, %q, want torque off to both", err, b.staged)
	}
}

// silentPort never answers; its time passes while it is waited for.
type silentPort struct {
	echoing
	now     time.Duration
	waiting chan struct{}
}

func (p *silentPort) Now() time.Duration { return p.now }
func (p *silentPort) Read(b []byte, timeout time.Duration) (int, error) {
	p.now += timeout
	select {
	case p.waiting <- struct{}{}:
	default:
	}
	return 0, os.ErrDeadlineExceeded
}

// TestSafety08ExchangeGivesWay: a stop does not wait for the answer of a silent servo.
func TestSafety08ExchangeGivesWay(t *testing.T) {
	p := &silentPort{waiting: make(chan struct{}, 1)}
	x := NewExchange(p, 10, 64, 64)
	x.Latency = time.Hour
	var c cut
	x.Abort = &c.wanted
	if err := x.Request(10, 0); err != nil {
		t.Fatal(err)
	}
	go func() { <-p.waiting; c.wanted.Store(true) }()
	if _, err := x.More(); err != ErrNoReply {
		t.Errorf("got %v, want %v", err, ErrNoReply)
	}
	if p.now >= time.Hour {
		t.Errorf("waited %v, want it to give way", p.now)
	}
	// Without a stop the whole time is waited for, and no longer.
	c.wanted.Store(false)
	x.Latency, p.now = 5*time.Millisecond, 0
	x.Request(10, 0)
	if _, err := x.More(); err != ErrNoReply || math.Abs((p.now-x.deadline).Seconds()) > 1e-9 {
		t.Errorf("got %v after %v, want %v at %v", err, p.now, ErrNoReply, x.deadline)
	}
}

// A stop also ends the exchanges of the cycle in which a lost line is opened again.
func TestStopEndsExchangesOfAReopenedLine(t *testing.T) {
	b := newStub(t)
	b.r.reopen.Open, b.r.reopen.Inline = func() (Line, error) { return &echoing{}, nil }, true
	b.r.Send()
	b.r.line = nil
	b.r.reopen.Lose(ErrDisconnected)
	b.r.Send() // it begins to open the line
	if err := b.r.Send(); err != nil {
		t.Fatal(err)
	}
	if b.r.x.Abort != &b.r.cut.wanted {
		t.Errorf("the exchange on the new line cannot be ended")
	}
}

// asking is a stub whose servos are asked over the line.
type asking struct {
	*stub
	before func() // the first question
}

func (a *asking) ReadHealth(i int) error {
	if a.before != nil {
		a.before()
		a.before = nil
	}
	x := a.r.x
	x.Out = append(x.Out, byte(i))
	if err := x.Request(1, 0); err != nil {
		return err
	}
	if _, err := x.More(); err != nil {
		return err
	}
	return a.stub.ReadHealth(i)
}

// A second stop, from another goroutine while the first one asks the servos, does not make it report that they have not
// acknowledged.
func TestSafety08SecondStopLeavesTheFirstItsAnswers(t *testing.T) {
	b := newStub(t)
	b.cycle(t)
	done := make(chan error)
	b.r.protocol = &asking{b, func() {
		go func() { done <- b.r.CutTorque() }()
		for !b.r.cut.wanted.Load() {
			runtime.Gosched()
		}
	}}
	if err := errors.Join(b.r.Halt()...); err != nil {
		t.Errorf("got %v, want both to acknowledge", err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if b.r.cut.wanted.Load() {
		t.Error("the line is still wanted")
	}
}

// Two robots of one line are halted at once: each takes its own goals back meanwhile. The race detector sees what they
// share.
func TestHaltsOfOneLineAtOnce(t *testing.T) {
	b := newStub(t)
	b.cycle(t)
	var all sync.WaitGroup
	for i := range b.r.Devices {
		all.Go(func() {
			b.r.SetGoal(i, Goal{})
			if err := errors.Join(b.r.Halt()...); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// TestSafety18PausedSend: a process that was stopped in the middle of a Send writes neither torque on nor a goal of
// before, since its supervisor may have switched the torque off; the next Send does. A stop is always written.
func TestSafety18PausedSend(t *testing.T) {
	port := &echoing{}
	x := NewExchange(port, 10, 64, 64)
	send := func(pause time.Duration) error {
		x.begin()
		defer x.end()
		port.now += pause
		x.Out = append(x.Out[:0], 1, 2, 3)
		return x.Write()
	}
	if err := send(maxPause); err != nil || len(port.in) != 3 {
		t.Errorf("a late host: got %v, % x", err, port.in)
	}
	port.in = nil
	if err := send(maxPause + 1); !errors.Is(err, errPaused) || len(port.in) > 0 || len(x.Out) > 0 {
		t.Errorf("stopped before a write: got %v, % x", err, port.in)
	}
	if err := send(0); err != nil || len(port.in) != 3 {
		t.Errorf("the next Send: got %v, % x", err, port.in)
	}
	x.begin() // stopped while it waits for a reply of the same Send
	x.Out = append(x.Out[:0], 1)
	if err := x.Request(1, time.Second); err != nil { // a wait may be long
		t.Fatal(err)
	}
	port.in = nil
	if _, err := x.More(); err == nil {
		t.Fatal("no reply: got nil")
	}
	x.Out = append(x.Out[:0], 2)
	if err := x.Write(); err != nil {
		t.Errorf("after a long wait: %v", err)
	}
	port.now += time.Second
	x.Out = append(x.Out[:0], 3)
	if err := x.Write(); !errors.Is(err, errPaused) {
		t.Errorf("stopped between two writes: got %v", err)
	}
	x.end()
	port.in, x.Out = nil, append(x.Out[:0], 4)
	if err := x.Write(); err != nil || len(port.in) != 1 {
		t.Errorf("a stop: got %v, % x", err, port.in)
	}
}
