package servo

import (
	"slices"
	"sync"
	"time"
)

// flight is a real line's own rate: an exchange that takes longer than the cycle spans several. The first one's Send
// begins it, the last one's Receive ends it, and the cycles between go on without it. The states keep their time
// meanwhile; State.Delay is by how much they are older than those of a fast line.
//
// It is a part of the chain's own loop and not a wrapper, so that it hides nothing of what a chain can do.
type flight struct {
	mu      sync.Mutex // guards what follows, but the cycle's own; CutTorque does not take it
	cycles  int        // an exchange spans
	waits   bool       // of a replay: it has begun, and runs when it ends
	orders  chan struct{}
	done    chan flown
	running bool  // the goroutine has it
	result  error // of the exchange that is over
	panic   any   // of it, which the next Receive passes on; nil = none

	begun bool   // the cycle's: there is one
	age   int    // of the exchange, cycles
	goals []Goal // of the exchange, as they were when it began
	shown []State
	stats Stats
	taken uint64 // exchanges that Pace has seen
	took  [paceSamples]time.Duration
	fits  int // exchanges in a row that a faster pace has time for
}

// flown is the end of an exchange in the goroutine.
type flown struct {
	err   error
	panic any // nil = none
}

const (
	paceSamples = 8   // the last exchanges, of which
	paceSlow    = 3   // so many must have been too long
	paceFast    = 100 // exchanges in a row must have had time to spare for a faster pace
)

// long reports whether an exchange spans several cycles. It is called between SetPace and the next one.
func (f *flight) long() bool { return f.cycles > 1 }

// BusName is the bus's, as the config has it.
func (r *GenericChain) BusName() string { return r.cfg.Name }

// Pace reports how many cycles of period an exchange takes by the last ones: rising after a few that were too long,
// falling after many that had time to spare. The rig calls it between two cycles. It is 1 unless ChainConfig.Spans.
func (r *GenericChain) Pace(period time.Duration) int {
	f, s := &r.flight, r.Stats()
	if s.Cycles == f.taken || f.shown == nil {
		return s.Span
	}
	f.took[f.taken%paceSamples] = s.Spent
	f.taken = s.Cycles
	sorted := f.took
	slices.Sort(sorted[:])
	if long := sorted[paceSamples-paceSlow]; long > time.Duration(s.Span)*period {
		f.fits = 0
		return int(long/period) + 1
	}
	if f.fits++; s.Span == 1 || s.Spent > time.Duration(s.Span-1)*period*9/10 {
		f.fits = 0
	}
	if f.fits >= paceFast {
		f.fits = 0
		return s.Span - 1
	}
	return s.Span
}

// SetPace lets an exchange span n cycles of period from the next one on, where ChainConfig.Spans. It waits for the one
// under way. The rig calls it between two cycles.
func (r *GenericChain) SetPace(n int, period time.Duration) {
	f := &r.flight
	if f.shown == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	r.land()
	f.begun, f.cycles, r.cfg.Period = false, n, time.Duration(n)*period
	r.collect(period)
}

// launch is the Send of an exchange that spans cycles: it does not block.
func (r *GenericChain) launch() {
	f := &r.flight
	if f.begun {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.begun, f.age, f.result = true, 0, nil
	r.latchGoals()
	if r.cfg.Inside {
		f.waits = true
		return
	}
	if f.orders == nil {
		f.orders, f.done = make(chan struct{}, 1), make(chan flown, 1)
		go func() {
			defer close(f.done)
			for range f.orders {
				f.done <- r.fly()
			}
		}()
	}
	f.running = true
	f.orders <- struct{}{}
}

// latchGoals makes the goals as they are now those of the next exchange.
func (r *GenericChain) latchGoals() {
	r.cut.goals.Lock()
	copy(r.flight.goals, r.staged)
	r.cut.goals.Unlock()
}

// fly is an exchange.
func (r *GenericChain) fly() (end flown) {
	defer func() { end.panic = recover() }()
	if end.err = r.sendCycle(); end.err == nil {
		end.err = r.receiveCycle()
	}
	return end
}

// alight is the Receive of an exchange that spans cycles. It blocks in the last of them.
func (r *GenericChain) alight() error {
	f := &r.flight
	if f.age++; !f.begun || f.age < f.cycles {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.begun = false
	r.land()
	r.collect(r.cfg.Period / time.Duration(f.cycles))
	if p := f.panic; p != nil {
		f.panic = nil
		panic(p)
	}
	return f.result
}

// land waits for the exchange under way. Under flight.mu.
func (r *GenericChain) land() {
	f := &r.flight
	var end flown
	switch {
	case f.waits:
		f.waits, end = false, r.fly()
	case f.running:
		f.running, end = false, <-f.done
	default:
		return
	}
	if f.result = end.err; end.panic != nil {
		f.panic = end.panic
	}
}

// settle waits for the exchange under way and lets no other begin before release, which shows its states.
func (r *GenericChain) settle() (release func()) {
	f := &r.flight
	f.mu.Lock()
	r.land()
	return func() {
		if f.long() {
			r.collect(r.cfg.Period / time.Duration(f.cycles))
		}
		f.mu.Unlock()
	}
}

// collect makes the states those that are shown, in cycles of period. Under flight.mu, without an exchange under way.
func (r *GenericChain) collect(period time.Duration) {
	f := &r.flight
	for i := range f.shown {
		f.shown[i] = r.Devices[i].State
		f.shown[i].Delay = time.Duration(f.cycles-1) * period
	}
	f.stats = r.stats
}

// ground ends the goroutine of the exchanges.
func (r *GenericChain) ground() {
	f := &r.flight
	defer r.settle()()
	if f.orders != nil {
		close(f.orders)
		<-f.done
		f.orders = nil
	}
}
