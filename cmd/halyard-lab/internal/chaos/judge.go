package chaos

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/emulator/reg"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// Invariant is one thing that must always hold. Its name is a violation's.
type Invariant struct{ Name, Promise string }

// Invariants are all that a run is judged by, in the order of Tally.
var Invariants = []Invariant{
	{"unarmed torque", "a reachable joint has no torque 100 ms after its agent was disarmed or stopped"},
	{"late stop", "a reachable joint has no torque 3 cycles after a stop"},
	{"uncommanded torque", "a joint has no torque until a client commands it after its agent was armed"},
	{"goal outside", "the position goal of a motor with torque is within the soft limits, unless its own watchdog " +
		"or error stopped it outside"},
	{"goal step", "the position goal of a motor with torque moves away from the joint no faster than the guard's speed"},
	{"leap", "torque comes on with the goal at the joint's position, or within the following error if its servo has " +
		"just lost its supply"},
	{"speed", "a motor in position mode does not drive its joint beyond twice the guard's speed plus 0.5 rad/s, or " +
		"1.6 times that for 200 ms after a hand has changed; not judged then while the joint is not read"},
	{"escaped", "a joint in position mode that was pushed beyond its soft limits by more than the following error " +
		"has no torque 5 cycles later"},
	{"runs on", "the position goal of a joint stays from 50 ms and two cycles after the deadline of its last " +
		"command, unless it follows a joint that is pushed; 1 s after that command its motor does not turn it"},
	{"ahead", "the position goal is no farther ahead of the joint than the following error, for 5 cycles"},
	{"pressed", "a motor in another mode than position does not drive its joint on, 5 cycles after it was outside its " +
		"soft limits"},
	{"policy", "with on_timeout torque_off a joint has no torque 100 ms and two cycles after the deadline, where its " +
		"client hangs"},
	{"wakes", "torque comes on only while a client commands, or where it was tried meanwhile"},
	{"parted", "after the end a reachable joint has no torque where its policy is torque_off, nor in a mode without " +
		"a position"},
	{"status", "the reported state follows from the operator's orders and the host, and a stopped or disarmed agent " +
		"has no torque"},
	{"back", "a joint is read again within 105 cycles after the last fault of its servo or line"},
	{"cut", "a reachable joint has no torque when a stop returns"},
	{"acknowledged", "a joint that a stop reports as stopped has no torque, and a reachable one is reported so"},
	{"ends", "no panic; the rig does not end by itself, and closes without an error"},
	{"memory", "after a sweep no goroutine is left, and at most 64 MB"},
}

// The indexes of Invariants.
const (
	unarmedTorque = iota
	lateStop
	uncommanded
	goalOutside
	goalStep
	leap
	speed
	escaped
	runsOn
	ahead
	pressed
	policy
	wakes
	parted
	status
	back
	cut
	acknowledged
	ends
	memory
	numInvariants
)

// Bounds of the judge.
const (
	// reachable is how many cycles after a fault a joint counts as reachable: a lost line is opened again, and a lost
	// servo asked again, in as many at most. The invariant back proves it.
	reachable     = 105
	believed      = 5 // cycles after a wrong reading
	offWithin     = 100 * time.Millisecond
	stopCycles    = 3
	stillAfter    = time.Second
	settled       = stillAfter + 100*time.Millisecond // after its last action a schedule is over
	suspended     = 500 * time.Millisecond            // after which a rig stops
	readWithin    = 200 * time.Millisecond
	outside       = 0.01 // rad, and a tick
	leapBound     = 0.1  // rad
	follows       = 0.2  // rad, and what the guard makes in followsTime: the following error by default
	followsTime   = 100 * time.Millisecond
	stepNoise     = 0.01                   // rad, and two ticks
	handSpeed     = 12                     // rad/s
	quickBase     = 0.5                    // rad/s
	homeSpeed     = 0.5                    // rad/s, of a park
	released      = 200 * time.Millisecond // in which a joint that is let go makes up for its following error
	releasedShare = 1.6
	stepShare     = 2 // of the way that the guard's speed allows in the cycles since the goal's last step
)

// Counts are how often each of Invariants could have been broken, by the type of bus. An invariant is exercised once
// for each situation in which it can be broken: a stop of a joint that had torque, a goal beyond the limits that was
// commanded.
type Counts map[string]*[numInvariants]uint64

// Add adds more.
func (c Counts) Add(more Counts) {
	for kind, n := range more {
		if c[kind] == nil {
			c[kind] = &[numInvariants]uint64{}
		}
		for i := range n {
			c[kind][i] += n[i]
		}
	}
}

// watch is what the judge keeps of a joint.
type watch struct {
	on        bool // torque, in the last cycle
	mode      hal.Mode
	goal      float64
	fast      [3]float64    // rad/s, of the last cycles
	at        [3]float64    // rad, at the end of the last cycles; see dead
	stepped   time.Duration // when its goal last moved
	command   time.Duration // when it was last commanded
	commanded bool          // since its agent was armed
	far       bool          // beyond its limits, or to their edge
	spoiled   int           // cycle in which a fault of its servo or line was last active
	lied      int           // cycle in which what it measures was last wrong
	moved     bool          // it answers at another id
	sags      bool
	hand      float64    // that pushes, as a share of the stall torque
	letGo     int        // cycle in which it changed last
	out       int        // cycles far outside its soft limits, since it was there in position mode
	way       [3]float64 // of its goal since its last command, and where that has been until its deadline passed
	stopped   int        // cycles since a stop; < 0 = none
	beyond    int        // cycles outside its soft limits in a mode without a position
	pressed   int        // of those that its motor drove it on
	off       int        // cycles without torque
	ahead     int        // cycles that its goal is too far ahead
	chance    bool       // it could have been seen while it was commanded, without torque
	held      bool       // a client left since it was commanded
	torque    bool       // it had torque then

	judged [numInvariants]bool // the situation was counted
}

// passed is how much time the world has passed: less than the clock, by what the host was late.
func (r *run) passed() time.Duration { return time.Duration(r.cycle) * r.sys.Rig.Period() }

// rule is what an agent's state must be by what happened to it.
type rule struct {
	state    hal.GuardState
	since    time.Duration
	operator bool // only an operator may arm it
	stalled  bool // the host was late for the deadline since an operator armed it
}

func (r *run) begin() {
	r.watches = make([]watch, len(r.joints))
	for i := range r.watches {
		r.watches[i] = watch{stopped: -1, spoiled: -longest, lied: -longest, command: -time.Hour, letGo: -longest}
	}
	r.status = make([][]hal.Status, len(r.agents))
	for _, a := range r.agents {
		state, _, _ := a.Guard()
		r.rules = append(r.rules, rule{state: state, since: -time.Hour, operator: state == hal.Disarmed})
	}
}

// ruled notes what happened to all agents. Expired is a reset: what was stopped is disarmed.
func (r *run) ruled(to hal.GuardState) {
	for i := range r.rules {
		r.rule(i, to)
	}
	if to == hal.Expired {
		for k := range r.watches {
			r.watches[k].stopped = -1
		}
	}
}

// rule notes what happened to agent i.
func (r *run) rule(i int, to hal.GuardState) {
	rule := &r.rules[i]
	next := to
	switch {
	case to == hal.Expired && rule.state == hal.Stopped:
		next = hal.Disarmed
	case to == hal.Expired, rule.state == hal.Stopped: // a stop is latched
		next = rule.state
	}
	if (next == hal.Armed) != (rule.state == hal.Armed) {
		rule.since = r.clock.now
		for k := range r.watches {
			r.watches[k].commanded = r.watches[k].commanded && r.joints[k].agent != i
		}
	}
	rule.state = next
}

// judgeStop judges what a stop has done when it returns, and what it reports.
func (r *run) judgeStop(stops []hal.JointStop) {
	for i, a := range r.agents {
		if told, state := a.Condition().State, a.State(); told != hal.Stopped || state != hal.Stopped {
			r.violated(status, r.first(i), "%v and %v when a stop has returned", told, state)
		}
	}
	for i := range r.joints {
		j, w := &r.joints[i], &r.watches[i]
		bad, _ := r.spoiled(j)
		reach := r.cycle-w.spoiled > reachable && !bad && !w.moved && !w.sags
		on := j.truth.Enable && j.truth.Limit > 0 && !j.servo.Dark
		if w.judged[cut] = false; r.broken(cut, i, reach, w.on, !on) {
			r.violated(cut, i, "torque when a stop has returned")
		}
		name := r.actuator(j).Name
		at := slices.IndexFunc(stops, func(s hal.JointStop) bool {
			return s.Agent == r.agents[j.agent].Name() && s.Joint == name
		})
		w.judged[acknowledged] = false
		if at < 0 {
			r.violated(acknowledged, i, "a stop says nothing of it")
		} else if err := stops[at].Err; r.broken(acknowledged, i, err == nil || reach, w.on, !on && err == nil) {
			r.violated(acknowledged, i, "a stop reports %v, torque is on: %v", err, on)
		}
	}
}

// watchSag notes that the supply s sags, or not any more.
func (r *run) watchSag(s *actuator.Supply, sags bool) {
	for i := range r.joints {
		if r.joints[i].truth.Supply == s {
			r.watches[i].sags = sags
		}
	}
}

// judge checks the motors after a cycle.
func (r *run) judge() {
	r.push()
	for i, a := range r.agents {
		r.status[i] = a.Status(r.status[i])
	}
	for i := range r.joints {
		r.judgeJoint(i)
	}
	for i, a := range r.agents {
		if state, _, _ := a.Guard(); state != r.rules[i].state {
			r.violated(status, r.first(i), "the rig reports %v, want %v", state, r.rules[i].state)
		}
	}
	if r.sys.Rig.Stats(&r.stats); strings.HasPrefix(r.stats.LastFault, "panic") && !r.panicked {
		r.violated(ends, 0, "%s", r.stats.LastFault)
	}
}

// push lets hands push. A hand is no faster than handSpeed, nor than a joint is believed to move.
func (r *run) push() {
	for i := range r.joints {
		s, w := r.joints[i].truth, &r.watches[i]
		a := r.actuator(&r.joints[i])
		fast := math.Min(2*a.Limits.MaxVelocity, handSpeed)
		s.External = w.hand * a.Limits.MaxTorque * math.Min(1, math.Max(0, 1-s.Velocity*math.Copysign(1, w.hand)/fast))
	}
}

// first is the first joint of an agent that is judged.
func (r *run) first(agent int) int {
	for i := range r.joints {
		if r.joints[i].agent == agent {
			return i
		}
	}
	return 0
}

func (r *run) judgeJoint(i int) {
	j, w := &r.joints[i], &r.watches[i]
	a, s := r.actuator(j), j.truth
	now, period, passed := r.clock.now, r.sys.Rig.Period(), r.passed()
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
	if r.broken(uncommanded, i, !w.commanded && reach && now-rule.since > offWithin, r.cycle > 1, !on) {
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
		loose = r.cycle-w.spoiled <= believed // a joint that is not seen is not braked
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
	after := deadline + 50*time.Millisecond + 2*period
	ahead := difference(a, s.Position, s.GoalPosition)
	for _, at := range w.at[:r.dead()] { // a goal that brakes a joint is brought to where it was seen
		if seen := difference(a, at, s.GoalPosition); seen*step > ahead*step {
			ahead = seen
		}
	}
	copy(w.at[1:], w.at[:])
	w.at[0] = s.Position
	still := w.stays(step, ahead, stepNoise+2*j.tick, !held || now-w.command <= period, now-w.command <= after)
	if j.policy == "park" && (!held || near || math.Abs(step) <= stepShare*homeSpeed*(passed-w.stepped).Seconds()+
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
	st := &r.status[j.agent][j.index]
	age := time.Duration(r.cycle)*period - st.Time
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
	if w.off++; r.broken(wakes, i, began, true, since <= after || w.chance) {
		r.violated(wakes, i, "torque came on %v after its last command", since)
	}
	switch {
	case on:
		w.chance, w.off = false, 0
	case since <= after && r.cycle-w.spoiled > 0:
		w.chance = true
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
	}
}

// stays reports whether a goal stays where it was between its last command and the deadline: it goes from there only to
// a joint that a load or a hand has moved, and comes back. ahead is how far the joint, where it was seen, is from the
// goal. runs is while it is commanded, passes until what follows from it is done.
func (w *watch) stays(step, ahead, noise float64, runs, passes bool) bool {
	at, low, high := &w.way[0], &w.way[1], &w.way[2]
	switch *at += step; {
	case runs:
		*at, *low, *high = 0, 0, 0
	case passes:
		*low, *high = min(*low, *at), max(*high, *at)
	}
	up, down := *at > *high+noise && step > 0 && ahead <= noise, *at < *low-noise && step < 0 && ahead >= -noise
	return !up && !down
}

// difference is to - from, within half a turn where the joint turns without end.
func difference(a *hal.Actuator, to, from float64) float64 {
	if a.Wraps {
		return math.Remainder(to-from, 2*math.Pi)
	}
	return to - from
}

// towards reports whether a goal that went from one place to another came nearer to where the joint is, and not beyond
// by more than lag: the motor pulls no more, and not the other way, than before.
func towards(a *hal.Actuator, to, from, joint, lag float64) bool {
	was, is := difference(a, from, joint), difference(a, to, joint)
	if math.Abs(is) <= lag {
		return true
	}
	return math.Signbit(was) == math.Signbit(is) && math.Abs(is) <= math.Abs(was)
}

// effort is what s is commanded to push with, in a mode that has no speed.
func effort(s *actuator.Servo) float64 {
	if s.Mode == hal.DutyMode {
		return s.GoalDuty
	}
	return s.GoalCurrent
}

// spoiled reports whether a fault acts on j's servo or line now, and whether what it measures is wrong.
func (r *run) spoiled(j *joint) (bad, lies bool) {
	for _, f := range r.acting {
		if r.passed() < f.until && f.line == j.line && (f.id == wire.All || f.id == j.id) {
			bad, lies = true, lies || f.lies
		}
	}
	return bad, lies
}

// broken judges an invariant of a joint while it is in force. It is counted as exercised once each time that comes to
// be, where it might have been broken: with bite.
func (r *run) broken(which, joint int, in, bite, holds bool) bool {
	w := &r.watches[joint]
	if in && bite && !w.judged[which] {
		r.count(which, joint)
	}
	w.judged[which] = in && (w.judged[which] || bite)
	return in && !holds
}

// count counts an invariant of a joint as exercised.
func (r *run) count(which, joint int) {
	kind := r.lines[r.joints[joint].line].kind
	if r.result.Exercised[kind] == nil {
		r.result.Exercised[kind] = &[numInvariants]uint64{}
	}
	r.result.Exercised[kind][which]++
}

// violated keeps the first violation.
func (r *run) violated(which, joint int, format string, args ...any) {
	if r.result.Violated == "" {
		r.result.Violated, r.result.Cycles = Invariants[which].Name, r.cycle
		r.result.What = r.actuator(&r.joints[joint]).Name + ": " + fmt.Sprintf(format, args...)
	}
}
