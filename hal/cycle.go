package hal

import (
	"context"
	"slices"
	"time"
)

// runPending runs the steps that every lease has requested, in lock-step. Under the lock.
func (r *Rig) runPending() {
	for r.config.Mode == Lockstep && !r.paused && !r.ending && r.leases > 0 {
		step := r.allAsked(askStep)
		switch {
		case !step && !r.allAsked(askReset):
			return
		case r.journal.Load().lags():
			r.wait()
			continue // others may have run it
		case step:
			r.run()
		default:
			r.reset()
		}
		return
	}
}

func (r *Rig) allAsked(what request) bool {
	for _, p := range r.sessions {
		for _, l := range p.leases {
			if l.asked != what && !p.inner {
				return false
			}
		}
	}
	return true
}

// run is one cycle: the commands go to the bodies, and their measurements to the observers.
func (r *Rig) run() {
	defer r.survive()
	r.checkStopInputs()
	r.pace()
	r.deciding = r.total + 1
	r.write()
	r.exchange()
	r.step++
	r.total++
	r.label()
	for _, a := range r.agents {
		if !r.config.MeasureFirst {
			r.read(a)
		}
		a.publish()
		r.watchFaults(a)
		a.watchGuard()
	}
	r.rate.tick(r.clock.Now())
	r.events.Raise(r.known.nextStep)
	r.events.Raise(r.known.stepCompleted)
	if r.steps > 0 && int64(r.step) == r.steps {
		r.events.Raise(r.known.tryCompleted)
	}
	r.finishReset()
	r.notify(askStep)
	r.ended.Store(r.total)
	if j := r.journal.Load(); j != nil {
		j.push(r)
	}
	if r.alive != nil {
		callOut("a beat")
		r.alive()
	}
}

// pace lets slow buses have their own rates. One that is slower than MaxPace keeps the cycle waiting.
func (r *Rig) pace() {
	if r.config.Replay {
		return
	}
	for i := range r.paces {
		p := &r.paces[i]
		n := p.bus.Pace(r.config.Period)
		if n == p.wish {
			continue
		}
		p.wish = n
		most := MaxPace(r.config.Period)
		if n > most {
			r.log.Error("bus is too slow: the cycle waits for it", "bus", p.bus.BusName(), "exchange",
				time.Duration(n)*r.config.Period, "want", time.Duration(most)*r.config.Period, "try", "halyard plan")
		}
		if n = min(n, most); n == p.span {
			continue
		}
		r.enter(Order{Kind: paceOrder, Name: p.bus.BusName(), Seed: int64(n)})
		p.span = n
		p.bus.SetPace(n, r.config.Period)
		r.log.Warn("bus has its own rate", "bus", p.bus.BusName(), "cycles", n, "try", "halyard plan")
	}
}

// paced is a bus with the number of cycles that its exchange spans, and would span.
type paced struct {
	bus        pacer
	span, wish int
}

// write gives every body its command of this cycle.
func (r *Rig) write() {
	for _, a := range r.agents {
		a.look()
		a.decide(r.time, r.elapsed(), r.config.Period, true)
		r.note(a, "write", a.body.Write(a.frame))
	}
}

// exchange sends the commands, lets a period pass and receives the replies.
func (r *Rig) exchange() {
	r.eachBus(Bus.Send)
	if r.config.MeasureFirst {
		r.eachBus(Bus.Receive)
		r.time += r.config.Period
		for _, a := range r.agents {
			r.read(a)
		}
	}
	for _, w := range r.worlds {
		r.note(nil, "advance", w.Advance(r.config.Period))
	}
	if !r.config.MeasureFirst {
		r.eachBus(Bus.Receive)
		r.time += r.config.Period
	}
}

// read reads a's body at the present rig time.
func (r *Rig) read(a *Agent) {
	a.frame.Time = r.time
	r.note(a, "read", a.body.Read(a.frame))
}

// notify answers every lease that requested what, and passes the cycle to the observers.
func (r *Rig) notify(what request) {
	for _, p := range r.sessions {
		for _, l := range p.leases {
			l.done = askNothing
			if l.asked == what {
				l.done, l.asked = what, askNothing
			}
		}
	}
	r.occurred = r.events.drain(r.occurred)
	r.cycle = Cycle{Step: r.step, Reset: what == askReset, Events: r.occurred, Time: r.time,
		Elapsed: r.elapsed()}
	for _, p := range r.sessions {
		if p.observer != nil {
			callOut("an observer")
			p.observer.Cycle(&r.cycle)
		}
	}
}

// reset starts the reset that every lease has asked for. Worlds that can are reset at once and exactly; real bodies
// are sent to their default poses, and finishReset completes it when they are there. Under the lock.
func (r *Rig) reset() {
	defer r.survive()
	r.enter(Order{Kind: ResetOrder, Seed: r.seed})
	r.events.Raise(r.known.reset)
	for _, a := range r.agents {
		if r.exact(a.world) {
			r.relax(a)
			continue
		}
		a.mu.Lock()
		a.rest()
		if a.guard.active() {
			a.guard.home(true)
			a.guard.reset = true
		}
		a.mu.Unlock()
	}
	r.eachBus(Bus.Send)
	for _, w := range r.worlds {
		if r.exact(w) {
			r.note(nil, "reset", w.(Resetter).Reset(r.seed))
		}
	}
	r.step = 0
	r.tries++
	r.resetting = true
	r.forget()
	r.eachBus(Bus.Receive)
	for _, a := range r.agents {
		if r.exact(a.world) {
			FillNaN(a.frame.Measured) // what is not read again at once was of before
		}
		r.note(a, "read", a.body.Read(a.frame))
		a.publish()
		if r.exact(a.world) {
			a.moved()
		}
	}
	r.finishReset()
}

// forget tells the buses of emulated devices that their world was reset.
func (r *Rig) forget() {
	for _, b := range r.buses {
		if f, ok := b.(Forgetter); ok {
			f.Forget()
		}
	}
}

// relax makes a forget its commands: torque off, sent like every command, so that drivers of emulated servos send it
// too.
func (r *Rig) relax(a *Agent) {
	a.mu.Lock()
	a.rest()
	a.guard.clear()
	a.mu.Unlock()
	a.decide(r.time, r.elapsed(), r.config.Period, false)
	r.note(a, "write", a.body.Write(a.frame))
}

// exact reports whether w may be reset at once: it can, and no body in it is real, not even in a part.
func (r *Rig) exact(w World) bool {
	_, ok := w.(Resetter)
	for _, a := range r.agents {
		ok = ok && (a.world != w || a.bodyKind != Real)
	}
	return ok
}

// finishReset notifies the observers when all bodies have arrived.
func (r *Rig) finishReset() {
	if !r.resetting || r.ending { // the end interrupts a reset, whose bodies are not there
		return
	}
	for _, a := range r.agents {
		a.mu.Lock()
		moving := a.guard.reset
		a.mu.Unlock()
		if moving {
			return
		}
	}
	r.resetting = false
	r.events.Raise(r.known.resetDone)
	r.notify(askReset)
}

// eachBus calls f for every bus: concurrently in real time, one after another in lock-step, where lines are in memory
// and cost no time.
func (r *Rig) eachBus(f func(Bus) error) {
	if r.pool == nil || r.config.Mode == Lockstep || len(r.buses) < 2 {
		for _, b := range r.buses {
			r.note(nil, "bus", f(b))
		}
		return
	}
	r.pool.each(f)
	for _, h := range r.pool.hands {
		r.note(nil, "bus", h.err)
	}
}

// loop ticks on the clock every period: always in real time; in lock-step while there is no lease. Each tick is a
// whole cycle: it writes the commands received since the last one, then reads the bodies.
func (r *Rig) loop(ctx context.Context) {
	// another clock waits for no kernel, and its cycles change hands faster unbound
	if _, wall := r.clock.(wallClock); wall {
		defer lockThread()()
	}
	next := r.clock.Now() + r.Period()
	for ctx.Err() == nil {
		if after, ok := r.nap(next); ok {
			next = after
			continue
		}
		if d, ok := r.clock.(dozer); ok && r.unhurried() {
			d.DozeUntil(next)
		} else {
			r.clock.SleepUntil(next)
		}
		next = r.tick(ctx, next)
	}
	r.park(next)
}

// unhurried reports whether a cycle may begin some microseconds late: all lines and bodies are in this process, and in
// real time no session controls a robot. Such a rig uses no processor time between its cycles.
func (r *Rig) unhurried() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.config.Mode == Lockstep || r.leases == 0 && len(r.buses) == 0 && r.simulated()
}

// simulated reports whether all bodies are. Under the lock.
func (r *Rig) simulated() bool {
	return !slices.ContainsFunc(r.agents, func(a *Agent) bool { return a.bodyKind != Simulated })
}

// tick runs the cycle that was due at deadline and returns the next deadline. A late loop never catches up: it skips
// missed cycles. While a session controls time in lock-step, or the rig is paused, it waits.
func (r *Rig) tick(ctx context.Context, deadline time.Duration) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	period, now := r.config.Period, r.clock.Now() // under the lock, for which it may have waited
	for (r.resting() || !r.ending && r.journal.Load().lags()) && ctx.Err() == nil {
		r.wait()
		now = r.clock.Now()
		deadline = now // the grid begins again
	}
	r.stats.Late.Add(now - deadline)
	if missed := (now - deadline) / period; missed > 0 {
		r.stats.Missed += uint64(missed)
		r.missed += missed * period
		deadline += missed * period
	}
	r.missed += r.noticeSuspend()
	if r.config.Mode == Realtime && !r.resetting && !r.ending && r.leases > 0 && r.allAsked(askReset) {
		r.reset()
	}
	r.beat(now)
	return deadline + period
}

// beat runs one cycle of the loop, from now on.
func (r *Rig) beat(now time.Duration) {
	r.stats.Ticks++
	r.run()
	r.stats.Work.Add(r.clock.Now() - now)
}

// resting reports whether the loop must not advance time.
func (r *Rig) resting() bool {
	return !r.ending && (r.paused || r.config.Mode == Lockstep && r.leases > 0)
}

// park moves bodies with the Park policy to their default poses before the rig ends, up to a timeout.
func (r *Rig) park(next time.Duration) {
	const timeout = 10 * time.Second
	parking := func() (any bool) {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, a := range r.agents {
			any = any || a.Homing()
		}
		return any
	}
	r.mu.Lock()
	r.enter(Order{Kind: ParkOrder})
	r.goHome()
	r.mu.Unlock()
	for end := next + timeout; parking() && next < end; {
		r.clock.SleepUntil(next)
		next = r.tick(context.Background(), next)
	}
}

// goHome begins the end: every body holds, but those with the Park policy go to their default poses, and no command
// passes any more. Under the lock.
func (r *Rig) goHome() {
	r.ending = true
	for _, a := range r.agents {
		a.mu.Lock()
		a.guard.hold()
		a.guard.ending = true
		if a.bodyKind != Simulated && a.guard.config.OnTimeout == Park && a.guard.active() {
			a.guard.home(false) // an arm without torque stays so
		}
		a.mu.Unlock()
	}
}
