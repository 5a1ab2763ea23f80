package chaos

import (
	"math"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/emulator/reg"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

func (r *run) judgeJoint(i int) {
	j, w := &r.joints[i], &r.watches[i]
	a, s := r.actuator(j), j.truth
	now, period, passed := r.clock.now, r.sys.Rig.Period(), r.passed()
	st := &r.status[j.agent][j.index]
	age := passed - st.Time
	if age > 2*period {
		w.unread = r.cycle
	}
	if bad, lies := r.spoiled(j); bad || w.moved || w.sags {
		w.spoiled = r.cycle
		if lies {
			w.lied = r.cycle
		}
	}
	reach, honest := r.cycle-w.spoiled > reachable, r.cycle-w.lied > believed
	on := s.Enable && s.Limit > 0 && !j.servo.Dark
	rule := r.rules[j.agent]
	calm := rule.state != hal.Armed && now-rule.since > offWithin && reach
	if w.stopped >= 0 {
		w.stopped++
	}

	if r.broken(unarmedTorque, i, calm, rule.since > 0, !on) {
		r.violated(unarmedTorque, i, "torque while %v", rule.state)
	}
	if r.broken(lateStop, i, w.stopped > stopCycles && reach, w.torque, !on) {
		r.violated(lateStop, i, "torque %d cycles after a stop", w.stopped)
	}
	if r.broken(uncommanded, i, (!w.commanded && now-rule.since > offWithin || w.barred) && reach, r.cycle > 1, !on) {
		r.violated(uncommanded, i, "torque without a command")
	}

	position := on && s.Mode == hal.PositionMode
	low, high := a.Limits.MinPosition-outside-j.tick, a.Limits.MaxPosition+outside+j.tick
	frozen := j.servo != nil && j.servo.Has(reg.Watchdog) && j.servo.Get(reg.Watchdog) < 0
	frozen = frozen || j.servo != nil && j.servo.Get(reg.ErrorCode) != 0
	if r.broken(goalOutside, i, position && !a.Wraps && !frozen, w.far, s.GoalPosition >= low &&
		s.GoalPosition <= high) {
		r.violated(goalOutside, i, "goal %.3f rad, want %.3f..%.3f", s.GoalPosition, a.Limits.MinPosition,
			a.Limits.MaxPosition)
	}
	most := slew * a.Limits.MaxVelocity
	step := difference(a, s.GoalPosition, w.goal)
	w.fast = [3]float64{math.Abs(s.Velocity), w.fast[0], w.fast[1]}
	// what is known of a joint is a cycle old, and a goal as well
	lag := leapBound + 3*slices.Max(w.fast[:])*period.Seconds()
	near := towards(a, s.GoalPosition, w.goal, s.Position, lag)
	held := position && w.on && w.mode == hal.PositionMode
	allowed := stepShare*most*(passed-w.stepped).Seconds() + stepNoise + 2*j.tick
	if r.broken(goalStep, i, held && honest, step != 0, math.Abs(step) <= allowed || near) {
		r.violated(goalStep, i, "goal went by %.3f rad to %.3f, the joint at %.3f, want %.3f", step, s.GoalPosition,
			s.Position, allowed)
	}
	if began := position && !held; began {
		d := math.Abs(difference(a, s.GoalPosition, s.Position))
		way := lag + most*period.Seconds()
		// a servo that answers does not report that it has no torque for want of voltage
		if r.cycle-w.spoiled <= believed {
			way += j.error
		}
		if r.broken(leap, i, honest, true, d <= way) {
			r.violated(leap, i, "torque came on %.3f rad from the goal", d)
		}
	} else {
		w.judged[leap] = false
	}
	quick, loose := 2*most+quickBase, false
	if time.Duration(r.cycle-w.letGo)*period <= released {
		quick *= releasedShare
		loose = r.cycle-max(w.spoiled, w.unread) <= believed // a joint that is not read is not braked
	}
	fast := math.Abs(s.Velocity) > quick
	if r.broken(speed, i, position && honest && !loose, true, !fast || s.Torque*s.Velocity <= 0) {
		r.violated(speed, i, "%.2f rad/s and driven on by %.2f N·m, want %.2f", s.Velocity, s.Torque, quick)
	}
	far := !a.Wraps && math.Max(a.Limits.MinPosition-s.Position, s.Position-a.Limits.MaxPosition) > j.error+outside
	// Some motor controllers report another mode when their torque is off: they were pushed out in position mode all
	// the same.
	if w.out++; !far || s.Mode != hal.PositionMode && (on || w.out == 1) {
		w.out = 0
	}
	if r.broken(escaped, i, w.out > believed && honest && reach, w.commanded, !on) {
		r.violated(escaped, i, "torque at %.3f rad, want none outside %.3f..%.3f", s.Position, a.Limits.MinPosition,
			a.Limits.MaxPosition)
	}
	r.judgeAbsence(i, on, reach, honest)
	r.judgePresence(i, on, reach && honest && st.Err == nil)
	after := deadline + 50*time.Millisecond + 2*period
	if w.left {
		after = 3 * period
	}
	ahead := difference(a, s.Position, s.GoalPosition)
	for _, at := range w.at[:r.dead()] { // a goal that brakes a joint is brought to where it was seen
		if seen := difference(a, at, s.GoalPosition); seen*step > ahead*step {
			ahead = seen
		}
	}
	copy(w.at[1:], w.at[:])
	w.at[0] = s.Position
	still := w.stays(step, ahead, stepNoise+2*j.tick, !held || now-w.command <= period, now-w.command <= after)
	if j.policy == "park" && r.idle(j.agent) > deadline &&
		(!held || near || math.Abs(step) <= stepShare*homeSpeed*(passed-w.stepped).Seconds()+
			stepNoise+
			2*j.tick) {
		still = true
	}
	if !position {
		after = stillAfter
		// It is braked, or it is not driven. A controller that has braked a fast motor swings a little.
		driven := effort(s)
		if s.Mode == hal.VelocityMode {
			driven = s.Torque
		}
		still = math.Abs(s.Velocity) < 0.2+0.01*a.Limits.MaxVelocity || s.Velocity*driven <= 0
	}
	if r.broken(runsOn, i, on && w.on && now-w.command > after && r.cycle-r.woke > 2 && reach, true, still) {
		r.violated(runsOn, i, "%v, %.2f rad/s and its goal by %.3f rad, %v after its last command", s.Mode, s.Velocity,
			step, now-w.command)
	}
	shown := r.agents[j.agent].JointState(j.index)
	if r.broken(status, i, calm, true, shown != hal.Armed && shown != hal.Expired) {
		r.violated(status, i, "status says %v while %v", shown, rule.state)
	}
	if r.broken(back, i, r.cycle > reachable && reach, w.spoiled > 0, age <= readWithin) {
		r.violated(back, i, "read %v ago: %v", age, st.Err)
	}
	if w.on, w.mode = on, s.Mode; step != 0 {
		w.goal, w.stepped = s.GoalPosition, passed
	}
}

// dead is how many cycles ago a joint may have been where its guard saw it when a goal of now was made: it was read at
// the end of the cycle before, and on a real line at its beginning.
func (r *run) dead() int {
	if r.real {
		return 3
	}
	return 2
}

// judgeAbsence judges a joint by what its clients do not command any more, or must not.
func (r *run) judgeAbsence(i int, on, reach, honest bool) {
	j, w := &r.joints[i], &r.watches[i]
	a, s, since := r.actuator(j), j.truth, r.clock.now-w.command
	after := deadline + 50*time.Millisecond + 2*r.sys.Rig.Period()
	far := max(a.Limits.MinPosition-s.Position, s.Position-a.Limits.MaxPosition)
	if w.beyond++; a.Wraps || !on || s.Mode == hal.PositionMode || far <= outside+2*j.tick || !reach || !honest {
		w.beyond = 0
	}
	goal, out := effort(s), math.Copysign(1, s.Position-a.Limits.MaxPosition)
	if s.Mode == hal.VelocityMode {
		goal = s.GoalVelocity
	}
	if w.pressed++; !(goal*out > 0 && s.Velocity*out > 0.2) { // one that comes back is braked
		w.pressed = 0
	}
	if r.broken(pressed, i, w.beyond > believed, true, w.pressed <= believed) {
		r.violated(pressed, i, "%v: %.3f at %.3f rad, want nothing outwards of %.3f..%.3f", s.Mode, goal, s.Position,
			a.Limits.MinPosition, a.Limits.MaxPosition)
	}
	if r.broken(policy, i, j.policy == "torque_off" && since > after+offWithin && reach && !w.held &&
		r.cycle-r.woke > 2*believed, w.commanded, !on) {
		r.violated(policy, i, "torque %v after its last command", since)
	}
	lag := leapBound + 3*slices.Max(w.fast[:])*r.sys.Rig.Period().Seconds()
	lead := math.Abs(difference(a, s.GoalPosition, s.Position))
	if w.ahead++; !on || s.Mode != hal.PositionMode || !reach || !honest || lead <= j.error+lag {
		w.ahead = 0
	}
	if r.broken(ahead, i, on && s.Mode == hal.PositionMode, lead > j.error/2, w.ahead <= believed) {
		r.violated(ahead, i, "goal %.3f rad, the joint at %.3f, want at most %.3f", s.GoalPosition, s.Position, j.error)
	}
	// A drive without current reports no torque, and a change of mode takes it for some cycles.
	began := on && (reach || j.policy != "park") && s.Mode == hal.PositionMode && w.off > 2*believed
	if w.off++; r.broken(wakes, i, began, true, r.began-w.command <= after || w.chance) {
		r.violated(wakes, i, "torque came on %v after its last command", since)
	}
	switch {
	case on:
		w.chance, w.off = false, 0
	case since <= after && r.cycle-w.spoiled > 0:
		w.chance = true
	}
}

// idle is how long no client has commanded a joint of agent.
func (r *run) idle(agent int) time.Duration {
	least := time.Duration(math.MaxInt64)
	for i := range r.joints {
		if r.joints[i].agent == agent {
			least = min(least, r.clock.now-r.watches[i].command)
		}
	}
	return least
}

// calmCycles is how long nothing must have disturbed a joint of which is judged what it does, not what it must not do.
const calmCycles = 30

// judgePresence judges a joint by what its client commands, and by its park.
func (r *run) judgePresence(i int, on, good bool) {
	j, w := &r.joints[i], &r.watches[i]
	a, s, period := r.actuator(j), j.truth, r.sys.Rig.Period()
	clients := 0
	for k := range r.clients {
		if c := &r.clients[k]; c.talks && c.joints[i] {
			clients++
		}
	}
	rule := &r.rules[j.agent]
	far := !a.Wraps && (s.Position < a.Limits.MinPosition-outside || s.Position > a.Limits.MaxPosition+outside)
	if clients > 1 || !good || far || w.barred || w.hand != 0 || r.cycle == w.letGo || rule.state != hal.Armed ||
		rule.stalled ||
		r.ended ||
		r.cycle <= r.woke+1 {
		w.troubled, w.from = r.cycle, s.Position
	}
	calm := r.cycle-w.troubled > calmCycles && r.clock.now-w.command <= period && w.commanded
	position := s.Mode == hal.PositionMode && w.mode == hal.PositionMode
	bounded := position && w.on && s.Spec.CurrentControl && s.Spec.Firmware != actuator.FOC && clients == 1
	if r.broken(limit, i, on && bounded && w.share >= 0 && r.cycle-w.shared > 10 && good, w.share < 1,
		s.Limit <= w.share+limitNoise) {
		r.violated(limit, i, "torque limit %.3f, want %.3f", s.Limit, w.share)
	}
	if r.broken(kept, i, calm && w.on && position && r.cycle-w.aimed > calmCycles, true, on) {
		r.violated(kept, i, "no torque though it is commanded and nothing disturbs it")
	}
	way := 0.5 + 1.5*math.Abs(w.target-w.from)/(slew*a.Limits.MaxVelocity)
	late := time.Duration(r.cycle-max(w.aimed, w.troubled))*period > time.Duration(way*float64(time.Second))
	off := math.Abs(s.GoalPosition - w.target)
	held := math.Abs(s.GoalPosition-s.Position) > j.error/2 // by a joint that lags
	if r.broken(arrives, i, calm && late && !math.IsNaN(w.target) && w.share < 0, true, on && position &&
		(off < 0.05+2*j.tick || held)) {
		r.violated(arrives, i, "torque %v, %v, goal %.3f rad, want %.3f", on, s.Mode, s.GoalPosition, w.target)
	}
	r.judgePark(i, on && position, good)
}

// judgePark judges the way of a joint to its default pose, and its place there.
func (r *run) judgePark(i int, on, good bool) {
	j, w := &r.joints[i], &r.watches[i]
	a, s, now := r.actuator(j), j.truth, r.clock.now
	after := deadline + 50*time.Millisecond + 2*r.sys.Rig.Period()
	idle := r.idle(j.agent)
	if j.policy != "park" || !on || !w.on || !good || math.IsNaN(w.target) || w.held || w.hand != 0 ||
		r.cycle-w.letGo <= calmCycles ||
		r.cycle <= r.woke+1 ||
		r.rules[j.agent].state != hal.Armed || r.rules[j.agent].stalled || idle <= after || r.ended {
		w.home, w.homeSince = s.GoalPosition, now
		return
	}
	most := homeSpeed*(now-w.homeSince).Seconds()*1.1 + 0.05 + 2*j.tick
	way, need := math.Abs(s.GoalPosition-w.home), 1+1.5*math.Abs(w.home-a.Default)/homeSpeed
	there := math.Abs(s.GoalPosition-a.Default) < 0.05+2*j.tick
	if r.broken(parks, i, true, true, way <= most && (there || (now-w.homeSince).Seconds() < need)) {
		r.violated(parks, i, "goal %.3f rad, %.3f from where it was %v ago, want %.3f within %.1f s and no faster",
			s.GoalPosition,
			way, now-w.homeSince, a.Default, need)
	}
}

// judgeEnd checks the motors when the rig has ended.
func (r *run) judgeEnd() {
	for i := range r.joints {
		j, w := &r.joints[i], &r.watches[i]
		on := j.truth.Enable && j.truth.Limit > 0 && !j.servo.Dark
		free := j.policy == "torque_off" || j.truth.Mode != hal.PositionMode
		if r.broken(parted, i, r.cycle-w.spoiled > reachable && free, w.on, !on) {
			r.violated(parted, i, "torque in mode %v after the end", j.truth.Mode)
		}
		a := r.actuator(j)
		parking := r.ended && j.policy == "park" && on && w.on && w.mode == hal.PositionMode && !a.Wraps &&
			w.hand == 0 &&
			r.cycle-w.spoiled > reachable && max(w.spoiled, r.woke) < r.endAt && r.rules[j.agent].state == hal.Armed &&
			!r.rules[j.agent].stalled
		if r.broken(parks, i, parking, true, math.Abs(j.truth.GoalPosition-a.Default) < 0.05+2*j.tick) {
			r.violated(parks, i, "goal %.3f rad at the end, want %.3f", j.truth.GoalPosition, a.Default)
		}
	}
}
