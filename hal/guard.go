package hal

import (
	"math"
	"time"
)

// Policy is what a guard does when commands stop coming.
type Policy uint8

// The policies.
const (
	Hold      Policy = iota // stay where it is: the present position, or zero velocity, torque or duty
	TorqueOff               // no torque; an arm falls
	Park                    // move to the default pose within the guard's home speed, then hold
)

func (p Policy) String() string { return [...]string{"hold", "limp", "park"}[min(p, Park)] }

// GuardConfig is what a user may set of a guard. The zero GuardConfig has no deadline and full speed.
type GuardConfig struct {
	CommandTimeout time.Duration // since the last command; 0 = none
	OnTimeout      Policy
	Slew           float64 // position goals move at most at this share of Limits.MaxVelocity; 0 = 1
	HomeSpeed      float64 // rad/s of park and of a real body's reset; 0 = 0.5
	Disarmed       bool    // starts disarmed: limp until armed
	// Direct hands commands on as they come, within their ranges and limits: goals are not slewed, and efforts may press
	// a joint against its stops. For simulated robots whose controllers know them without a guard.
	Direct bool
	// Interlock says which devices the robot does not move without; the zero Interlock is none.
	Interlock Interlock
}

// GuardState says whether commands pass.
type GuardState uint8

// The states of a guard.
const (
	Armed    GuardState = iota // commands pass
	Disarmed                   // no torque, commands are dropped; Arm leads out
	Stopped                    // the emergency stop is latched; reset, then arm, leads out
)

func (s GuardState) String() string {
	return [...]string{"armed", "disarmed", "stopped"}[min(s, Stopped)]
}

// GuardCounts are what a guard did not let through as it came, since the rig started.
type GuardCounts struct {
	Refused uint64 // infinite commands, commands of a second mode in one message, and all while not armed
	Clamped uint64 // commands outside their range or limits
	Expired uint64 // times that the command deadline ran out
	Locked  uint64 // times that the interlock lost a device
}

// guard stands between every command and one body. Its agent's lock protects it.
//
// accept takes what a controller asks, at any time; apply, once a cycle, turns it into what the body is told: one mode
// a joint, within soft limits, position goals slewed from where the joint is.
type guard struct {
	layout *Layout
	config GuardConfig
	state  GuardState
	joints []guardJoint
	counts GuardCounts

	last    time.Duration // rig time of the last command
	waiting bool          // a deadline runs
	homing  bool          // on the way to the default pose
	reset   bool          // because of a reset: commands wait; a parking body follows its controller again
	arrived time.Duration // when the goals reached the pose; < 0 = not yet
	locked  bool          // a device of the interlock is lost
}

type guardJoint struct {
	mode    Mode
	goal    float64 // as asked, clamped
	out     float64 // as told to the body: the goal, slewed
	limit   float64 // torque limit; NaN = never commanded
	enabled bool
	limp    bool // by a torque limit of 0
	blind   bool // it has not been seen for long
	off     bool // disarmed alone, by a reset, until armed
}

// blindAfter is how long a joint may go unseen without being taken for one that stands elsewhere when it is back.
const blindAfter = 100 * time.Millisecond

func newGuard(l *Layout, c GuardConfig) *guard {
	if !(c.Slew > 0 && c.Slew <= 1) {
		c.Slew = 1
	}
	if !(c.HomeSpeed > 0) {
		c.HomeSpeed = defaultHomeSpeed
	}
	g := &guard{layout: l, config: c, joints: make([]guardJoint, len(l.Actuators))}
	if c.Disarmed {
		g.state = Disarmed
	}
	g.clear()
	return g
}

// clear forgets every command; nothing is enabled until a new one comes.
func (g *guard) clear() {
	for i := range g.joints {
		g.joints[i].forget(math.NaN())
	}
	g.homing, g.reset, g.waiting = false, false, false
}

// forget makes j limp until a new command comes.
func (j *guardJoint) forget(limit float64) {
	*j = guardJoint{mode: NoMode, goal: math.NaN(), out: math.NaN(), limit: limit, blind: j.blind, off: j.off}
}

// adopt makes every joint of h that has torque hold where it is; it is commanded before any controller comes.
func (g *guard) adopt(h TorqueReporter, f *Frame) {
	for i := range g.joints {
		a, j := &g.layout.Actuators[i], &g.joints[i]
		if g.state == Armed && a.Goal[PositionMode] != None && a.Position != None && h.Holding(i) {
			j.mode, j.goal = PositionMode, f.Measured[a.Position]
			if math.IsNaN(j.goal) {
				j.mode = NoMode
			}
		}
	}
}

// set changes the state. Whatever it becomes, old commands are forgotten.
func (g *guard) set(s GuardState) {
	g.state = s
	g.clear()
	g.admit()
}

// admit lets commands reach the joints that were disarmed alone.
func (g *guard) admit() {
	for i := range g.joints {
		g.joints[i].off = false
	}
}

// disarmFaulty disarms each joint that gives way: what has cut its torque is about to be cleared.
func (g *guard) disarmFaulty(f *Frame) {
	for i := range g.joints {
		if f.Status[i].Err != nil {
			g.joints[i].forget(g.joints[i].limit)
			g.joints[i].off = true
		}
	}
}

// accept takes the commands of one message at rig time now. NaN keeps what was; a slice shorter than the inputs
// leaves the rest. The first mode of a joint that has a goal wins.
func (g *guard) accept(inputs []float64, now time.Duration) {
	if g.state != Armed || g.reset {
		g.counts.Refused++
		return
	}
	g.homing = false
	g.last, g.waiting = now, true
	for i := range g.joints {
		a, j := &g.layout.Actuators[i], &g.joints[i]
		taken, kept := false, j.off || g.kept(i)
		for m := PositionMode; m < NumModes; m++ {
			v, ok := g.command(inputs, a.Goal[m])
			if !ok {
				continue
			}
			if taken || kept {
				g.counts.Refused++
				continue
			}
			taken = true
			if m == PositionMode && !a.Wraps && a.Kind != Thruster {
				v = g.clamp(v, a.Limits.MinPosition, a.Limits.MaxPosition)
			}
			if m != j.mode {
				j.out = math.NaN() // an old goal is no place to start from: the joint has moved since
			}
			j.mode, j.goal = m, v
		}
		if v, ok := g.command(inputs, a.TorqueLimit); ok {
			j.limit = v
		}
	}
}

// command is input at, clamped to its channel's range; false where there is none.
func (g *guard) command(inputs []float64, at int) (float64, bool) {
	if at == None || at >= len(inputs) || math.IsNaN(inputs[at]) {
		return 0, false
	}
	if math.IsInf(inputs[at], 0) {
		g.counts.Refused++
		return 0, false
	}
	c := &g.layout.Inputs[at]
	return g.clamp(inputs[at], c.Min, c.Max), true
}

func (g *guard) clamp(v, low, high float64) float64 {
	if v < low || v > high {
		g.counts.Clamped++
		return math.Min(high, math.Max(low, v))
	}
	return v
}

// apply fills f.Inputs and f.Enable for the cycle at rig time now that lasts dt. f.Measured is of the last cycle.
func (g *guard) apply(f *Frame, now, dt time.Duration) {
	if g.waiting && g.config.CommandTimeout > 0 && now-g.last > g.config.CommandTimeout {
		g.counts.Expired++
		g.stop(f)
	}
	g.lock(f, now)
	fillNaN(f.Inputs)
	for i := range g.joints {
		g.joint(i, f, now, dt.Seconds())
	}
	g.watchHoming(f, now)
}

// joint decides what actuator i is told for dt seconds from now on.
func (g *guard) joint(i int, f *Frame, now time.Duration, dt float64) {
	a, j := &g.layout.Actuators[i], &g.joints[i]
	position := math.NaN()
	if a.Position != None {
		position = f.Measured[a.Position]
	}
	// One that was away starts from where it is found: the goals of meanwhile never reached it.
	if s := &f.Status[i]; s.Err == nil && j.blind {
		j.blind, j.out = false, math.NaN()
	} else if s.Err != nil && now-s.Time > blindAfter {
		j.blind = true
	}
	if g.state != Armed || j.mode == NoMode || j.mode == PositionMode && !j.enabled && math.IsNaN(position) {
		j.enabled, f.Enable[i] = false, false // a joint whose place is not known is not switched on
		return
	}
	if j.mode == PositionMode {
		if !j.enabled || j.limp || math.IsNaN(j.out) {
			j.out = position // from where it is: nothing jumps at torque-on, nor when a limit of 0 is raised
		}
		j.limp = j.limit == 0
		if math.IsNaN(j.out) {
			j.enabled, f.Enable[i] = false, false
			return
		}
		speed := a.Limits.MaxVelocity * g.config.Slew
		if g.config.Direct {
			speed = math.Inf(1)
		}
		if g.homing {
			speed = math.Min(speed, g.config.HomeSpeed)
		}
		if !j.limp {
			j.out = approach(a, j.out, j.goal, speed*dt)
		}
		f.Inputs[a.Goal[PositionMode]] = j.out
	} else {
		f.Inputs[a.Goal[j.mode]] = g.outward(a, j.goal, position)
	}
	if a.TorqueLimit != None {
		f.Inputs[a.TorqueLimit] = j.limit
	}
	j.enabled, f.Enable[i] = true, true
}

// approach moves from towards goal by step at most, the short way round where the joint wraps.
func approach(a *Actuator, from, goal, step float64) float64 {
	d := difference(a, goal, from)
	if math.Abs(d) <= step {
		return goal
	}
	return from + math.Copysign(step, d)
}

// difference is goal - from, within half a turn where the joint wraps.
func difference(a *Actuator, goal, from float64) float64 {
	if a.Wraps {
		return math.Remainder(goal-from, 2*math.Pi)
	}
	return goal - from
}

// outward lets no velocity, torque or duty push a joint beyond its soft limits.
func (g *guard) outward(a *Actuator, v, position float64) float64 {
	if a.Wraps || g.config.Direct || math.IsNaN(position) {
		return v
	}
	if position >= a.Limits.MaxPosition && v > 0 || position <= a.Limits.MinPosition && v < 0 {
		return 0
	}
	return v
}
