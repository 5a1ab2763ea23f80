package chaos

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// Invariant is one thing that must always hold. Its name is a violation's.
type Invariant struct{ Name, Promise string }

// Invariants are all that a run is judged by, in the order of Tally.
var Invariants = []Invariant{
	{"unarmed torque", "a reachable joint has no torque 100 ms after its agent was disarmed or stopped"},
	{"late stop", "a reachable joint has no torque 3 cycles after a stop"},
	{"uncommanded torque", "a joint has no torque until a client commands it after its agent was armed; one that a " +
		"reset " +
		"found lost, until it is armed"},
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
	{"limit", "the current limit of a motor is no greater than its client's torque limit, 10 cycles later"},
	{"kept", "a joint that one client commands keeps its torque while nothing disturbs it"},
	{"arrives", "the position goal of a joint that one client commands reaches the command, or its soft limit, " +
		"while nothing " +
		"disturbs it"},
	{"parks", "with on_timeout park a joint goes to its default pose at the end and after the deadline of the last " +
		"joint, no " +
		"faster than the home speed, and not before"},
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
	limit
	kept
	arrives
	parks
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
	limitNoise    = 0.1 // of the greatest torque: a limit follows from a speed that was read
	stepShare     = 2   // of the way that the guard's speed allows in the cycles since the goal's last step
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
	unread    int           // cycle in which it was last not read
	moved     bool          // it answers at another id
	movedAt   int           // since this cycle
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
	share     float64    // of its torque that it was limited to; < 0 = none
	shared    int        // cycle of that
	target    float64    // position that it was commanded last, within its limits; NaN = none
	from      float64    // where it was then
	aimed     int        // cycle of that
	troubled  int        // cycle in which more than one client's command acted on it
	barred    bool       // a reset met it without an answer, and no operator has armed it since
	left      bool       // the holder of the lease that commanded it has left
	home      float64    // its goal when its park may have begun
	homeSince time.Duration

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
		r.watches[i] = watch{stopped: -1, spoiled: -longest, lied: -longest, unread: -longest, command: -time.Hour,
			letGo: -longest,
			share: -1, target: math.NaN(), home: math.NaN()}
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
	case to == hal.Expired, rule.state == hal.Stopped, // a stop is latched
		to == hal.Armed && r.agents[i].Passive(): // a leader is only read
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
		if told := a.Condition().State; told != r.rules[i].state &&
			!(told == hal.Expired && r.rules[i].state == hal.Armed) {
			r.violated(status, r.first(i), "its condition is %v, want %v", told, r.rules[i].state)
		}
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
