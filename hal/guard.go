package hal

import (
	"math"
	"time"
)

// Policy is the action of a guard after its command timeout.
type Policy uint8

// The policies.
const (
	Hold      Policy = iota // keep the position, or zero velocity, torque or duty
	TorqueOff               // torque off; an arm falls
	Park                    // move to the default pose within the guard's home speed, then hold
)

func (p Policy) String() string { return [...]string{"hold", "torque_off", "park"}[min(p, Park)] }

// GuardConfig holds the settings of a guard. The zero GuardConfig has no command timeout and full speed.
type GuardConfig struct {
	CommandTimeout time.Duration // since the last command; 0 = none
	OnTimeout      Policy
	Slew           float64 // position goals move at most at this share of Limits.MaxVelocity; 0 = 1
	HomeSpeed      float64 // rad/s of park and of a real body's reset; 0 = 0.5
	Disarmed       bool    // starts disarmed: torque off until an operator arms it
	Arming         Arming  // which requests may arm it
	// Passive: its joints are only read, as those of a leader, which a person moves. It is never armed, so that no
	// joint ever has torque.
	Passive bool
	// FollowingError is the greatest distance of a position goal from the measured position, rad or m. 0 = by the
	// actuator: followBase plus the lag of a servo at the slew limit.
	FollowingError float64
	// Direct passes commands on unchanged, within their ranges and limits: goals are not slewed, and efforts may press
	// a joint against its stops. For simulated robots whose controllers were written for a simulator without a guard.
	Direct bool
	// TorqueRamp is how long the torque limit rises after a joint's torque went on; 0 = at once.
	TorqueRamp time.Duration
	// Fall is what becomes of a robot that is tilted too far for too long; with a Tilt of 0 no fall is detected.
	Fall struct {
		Tilt     float64       // rad between the robot's z axis and the vertical
		For      time.Duration // how long
		Then     Policy        // Hold and Park refuse commands until it stands; TorqueOff disarms it
		Attitude int           // of Frame.Measured: the first of w, x, y, z
	}
	// OnLoss lists devices, of Frame.Status, by what becomes of the robot when one is lost: it has had a fault and no
	// good reading for LossAge. Stop is the emergency stop, which cannot be reset while the device is lost.
	OnLoss struct{ Hold, TorqueOff, Stop []int }
	// Couple lists actuators that feel a simulated load in torque mode: Gain times the torque of Load, at most Max, is
	// added to their goals, within all limits. Load is called in each cycle, under the rig's lock; it returns the
	// torque on the twin after the last Advance, N·m, and the twin's position, or NaN where they are not known: it then
	// feels nothing. The torque rises and falls in 50 ms and gives no more energy than the load does, beyond 30 mJ a
	// N·m of Max.
	Couple []struct {
		Actuator  int
		Gain, Max float64
		Load      func() (torque, position float64)
	}
	// Interlock lists the devices without which the robot must not move; the zero Interlock is empty.
	Interlock Interlock
}

// Arming defines which requests may arm a guard. An operator always may. After a stop, after an operator's Disarm, and
// if the guard starts disarmed, only an operator may.
type Arming uint8

// The rules of arming.
const (
	ClientArms   Arming = iota // a client's own command may arm as well
	OperatorArms               // a client's arm command is a request: granted if an operator has armed, else refused
)

func (a Arming) String() string { return [...]string{"client", "operator"}[min(a, OperatorArms)] }

// GuardState determines whether commands pass.
type GuardState uint8

// The states of a guard, and further ones of a single joint.
const (
	Armed    GuardState = iota // commands pass
	Disarmed                   // no torque, commands are dropped; Arm leads out
	Stopped                    // the emergency stop is latched; reset, then arm, leads out
	Expired                    // armed, but the command deadline has passed; a new command leads out
	// the joint's readings jumped, or it is outside its soft limits; reset, then arm, leads out
	Faulty
)

func (s GuardState) String() string {
	return [...]string{"armed", "disarmed", "stopped", "expired", "fault"}[min(s, Faulty)]
}

// GuardCounts counts the commands that a guard refused or changed, and its stops, since the rig started.
type GuardCounts struct {
	Refused uint64 // infinite commands, commands of a second mode in one message, and all while not armed
	Clamped uint64 // commands outside their range or limits
	Expired uint64 // times that the command deadline ran out
	Locked  uint64 // times that the interlock lost a device
	Jumped  uint64 // joints whose readings jumped
	Stops   uint64 // times that a stop, an operator or a client disarmed it
}

// guard checks every command to one body. Its agent's lock protects it.
//
// accept stores a controller's command at any time; apply, once a cycle, computes the command to the body: one mode
// a joint, within soft limits, position goals slewed from the present position and never far ahead of it. It uses only
// trusted readings (see sight).
//
// Two times are passed in: rig time, which readings carry, and elapsed time, which deadlines and the age of readings
// count. Elapsed time is rig time plus the periods that the rig missed, also while the process was stopped or the
// machine suspended.
type guard struct {
	layout *Layout
	config GuardConfig
	behind bool // the body is read before a command of the same cycle acts: it is real, or measures first
	exact  bool // the body is simulated: its readings are exact, and may jump when its world is reset
	real   bool
	state  GuardState
	joints []guardJoint
	gains  []guardGain // that can be commanded, of all joints

	couplings []coupling // one an entry of config.Couple
	counts    GuardCounts

	last     time.Duration // elapsed time of the last command or renewal
	waiting  bool          // a command deadline runs
	expired  bool          // it has passed without a command since
	operator bool          // only an operator may arm it
	homing   bool          // on the way to the default pose
	reset    bool          // because of a reset: commands wait; a parking body follows its controller again
	ending   bool          // the rig ends: no command passes any more
	// the cycle stood still for too long: no command passes and no torque comes on until an operator arms
	stalled    bool
	gap        time.Duration // of a cycle that stood still for too long, to be reported
	missed     time.Duration // periods missed, as of the last cycle
	clock      time.Duration // elapsed time; of an exact body, whose world stands still with the cycle, rig time
	arrived    time.Duration // when the goals reached the pose; < 0 = not yet
	locked     bool          // a device of the interlock is lost
	measured   []bool        // its position is measured, not estimated
	tilted     time.Duration // since when it has been tilted too far; < 0 = it is not
	fallen     bool          // for too long: the policy was applied
	fell       bool          // to be reported
	period     time.Duration // of the cycle
	seconds    float64       // the same
	rate       float64       // cycles a second
	approaches []Approach    // of the watch, in this cycle
}

type guardJoint struct {
	mode     Mode
	lastMode Mode    // mode of the last cycle
	goal     float64 // requested goal, clamped; NaN in position mode = the joint's position when it starts
	before   float64 // out of the last cycle
	out      float64 // goal commanded to the body, slewed; NaN = none, always if lastMode is not PositionMode
	limit    float64 // torque limit; NaN = never commanded
	enabled  bool
	moved    bool // out moved in this cycle
	away     bool // without a trusted reading in the last cycle
	noTorque bool // by a torque limit of 0
	adrift   bool // its drive was lost, and there was no trusted reading since
	begins   bool // its torque was switched on, and its drive was not read since
	waits    bool // enabled without a trusted reading: it has no goal yet
	homes    bool // its goal is the default pose, of a park or a reset: it moves at the home speed
	off      bool // disarmed on its own, by a reset, until armed
	outside  bool // not enabled: it is outside its soft limits
	coasts   bool // at the end of the rig: its torque must be seen to be off

	last    time.Duration // elapsed time of its last command
	begun   time.Duration // rig time at which its torque was switched on
	from    float64       // its goal then
	brake   brake
	felt    float64       // N·m of its simulated load, in this cycle; see coupling
	waiting bool          // its deadline runs
	expired bool          // it has passed without a command since
	since   time.Duration // rig time of its torque-on, of a TorqueRamp

	sight sight
}

// guardGain is one gain: it goes from its value at power-up, or where that is not known from its first command, to the
// one that is commanded, across its range in gainTime at most: a jump would be one of the torque.
type guardGain struct {
	at        int     // input
	powerUp   float64 // NaN = the actuator's own law
	goal, out float64 // NaN = never commanded
	perSecond float64
}

const gainTime = time.Second

func newGuard(l *Layout, c GuardConfig) *guard {
	if !(c.Slew > 0 && c.Slew <= 1) {
		c.Slew = 1
	}
	if !(c.HomeSpeed > 0) {
		c.HomeSpeed = defaultHomeSpeed
	}
	g := &guard{layout: l, config: c, joints: make([]guardJoint, len(l.Actuators)),
		measured: make([]bool, len(l.Actuators)), couplings: make([]coupling, len(c.Couple))}
	for i := range l.Actuators {
		at := l.Actuators[i].Position
		g.measured[i] = at != None && !l.Measured(at).Estimate
		for _, k := range l.Actuators[i].Gains {
			if k.Input != None {
				c := &l.Inputs[k.Input]
				g.gains = append(g.gains, guardGain{at: k.Input, powerUp: k.PowerUp, goal: math.NaN(), out: math.NaN(),
					perSecond: (c.Max - c.Min) / gainTime.Seconds()})
			}
		}
	}
	if c.Disarmed || c.Passive {
		g.state, g.operator = Disarmed, true
	}
	g.tilted = -1
	g.blindfold(1)
	g.clear()
	return g
}

// clear discards all commands; no joint is enabled until a new command.
func (g *guard) clear() {
	for i := range g.joints {
		g.joints[i].forget(math.NaN())
	}
	for i := range g.gains {
		if k := &g.gains[i]; !math.IsNaN(k.goal) {
			k.goal, k.out = k.powerUp, k.powerUp // at once: there is no torque
		}
	}
	g.homing, g.reset, g.waiting, g.expired = false, false, false, false
}

// forget switches torque off for j until a new command. Its trusted position readings stay.
func (j *guardJoint) forget(limit float64) {
	*j = guardJoint{mode: NoMode, lastMode: NoMode, goal: math.NaN(), out: math.NaN(), limit: limit, off: j.off,
		sight: j.sight}
}

// adopt makes every joint of h that has torque hold its position, before any controller commands it. A joint far
// outside its soft limits loses its torque: no goal outside them is written, and a goal within them would make it jump.
func (g *guard) adopt(h TorqueReporter, f *Frame) {
	for i := range g.joints {
		a, j := &g.layout.Actuators[i], &g.joints[i]
		if g.state != Armed || a.Goal[PositionMode] == None || a.Position == None || !h.Holding(i) {
			continue
		}
		if v := f.Measured[a.Position]; !math.IsNaN(v) && g.near(a, v) {
			// It has torque, and keeps it without a goal until its readings are trusted.
			j.mode, j.lastMode, j.goal, j.enabled, j.waits = PositionMode, PositionMode, soft(a, v), true, true
		}
	}
}

// active reports whether commands may move the body.
func (g *guard) active() bool { return g.state == Armed && !g.stalled }

// set changes the state. It discards old commands.
func (g *guard) set(s GuardState) {
	for i := range g.joints { // arming confirms a jumped position
		if e := &g.joints[i].sight; s == Armed && e.jumped {
			*e = blindfolded(trustSamples)
		}
	}
	g.state, g.stalled = s, false
	g.clear()
	g.admit()
}

// admit arms the joints that were disarmed individually.
func (g *guard) admit() {
	for i := range g.joints {
		g.joints[i].off = false
	}
}

// disarmFaulty disarms each joint with a fault, before the cause of its lost torque is cleared. It clears a jump: the
// joint's next consistent readings are trusted.
func (g *guard) disarmFaulty(f *Frame) {
	for i := range g.joints {
		if j := &g.joints[i]; f.Status[i].Err != nil && !f.Status[i].Warns || j.sight.jumped {
			if j.sight.jumped {
				j.sight = blindfolded(trustSamples)
			}
			j.forget(j.limit)
			j.off = true
		}
	}
}

// accept stores the commands of one message at elapsed time now. NaN keeps the last command, and so does a missing
// element of a short slice. The first mode of a joint with a goal wins. Only a joint's own goal renews its deadline.
func (g *guard) accept(inputs []float64, now time.Duration) {
	if !g.active() || g.reset || g.ending || g.fallen {
		g.counts.Refused++
		return
	}
	for i := range g.joints {
		if j := &g.joints[i]; g.acceptJoint(i, inputs) {
			j.last, j.waiting, j.expired = now, true, false
			g.last, g.waiting, g.expired = now, true, false
			g.homing = false
		}
	}
	g.acceptGains(inputs)
}

// acceptGains stores the commands of gains, which renew no deadline.
func (g *guard) acceptGains(inputs []float64) {
	for i := range g.gains {
		k := &g.gains[i]
		v, ok := g.command(inputs, k.at)
		if !ok {
			continue
		}
		if k.goal = v; math.IsNaN(k.out) {
			if k.out = k.powerUp; math.IsNaN(k.out) {
				k.out = v
			}
		}
	}
}

// acceptJoint stores the commands for actuator i. It reports whether a goal passed: a torque limit alone renews no
// deadline.
func (g *guard) acceptJoint(i int, inputs []float64) (commanded bool) {
	a, j := &g.layout.Actuators[i], &g.joints[i]
	taken, kept := false, j.off || j.sight.jumped || g.kept(i)
	for m := PositionMode; m < NumModes; m++ {
		at := a.Goal[m]
		if at == None {
			continue
		}
		v, ok := g.command(inputs, at)
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
		j.mode, j.goal, j.homes = m, v, false
	}
	if v, ok := g.command(inputs, a.TorqueLimit); ok {
		j.limit = v
	}
	return taken
}

// steer stores the commands of an autopilot. They do not renew a deadline.
func (g *guard) steer(inputs []float64) {
	for i := range g.joints {
		g.acceptJoint(i, inputs)
	}
	g.acceptGains(inputs)
}

// renew counts as a command for every joint with an active one, at elapsed time now: the controller is alive and keeps
// its command. It does not revive an expired joint.
func (g *guard) renew(now time.Duration) {
	if !g.active() || g.reset || g.ending {
		return
	}
	g.last, g.waiting, g.expired = now, true, false
	for i := range g.joints {
		if j := &g.joints[i]; j.waiting {
			j.last = now
		}
	}
}

// command is input at, clamped to its channel's range; false if absent.
func (g *guard) command(inputs []float64, at int) (float64, bool) {
	if at == None || at >= len(inputs) {
		return 0, false
	}
	v := inputs[at]
	if v-v != 0 { // NaN or an infinity
		if v == v {
			g.counts.Refused++
		}
		return 0, false
	}
	c := &g.layout.Inputs[at]
	return g.clamp(v, c.Min, c.Max), true
}

func (g *guard) clamp(v, low, high float64) float64 {
	if v < low || v > high {
		g.counts.Clamped++
		return min(high, max(low, v))
	}
	return v
}

// apply fills f.Inputs and f.Enable for the cycle at rig time now that lasts dt; elapsed is the same time with the
// missed periods. f.Measured is of the last cycle.
func (g *guard) apply(f *Frame, now, elapsed, dt time.Duration) {
	if dt != g.period {
		g.period, g.seconds, g.rate = dt, dt.Seconds(), 1/dt.Seconds()
	}
	before := g.missed
	if g.missed = elapsed - now; g.missed-before > g.patience() && !g.exact {
		g.stall(f, g.missed-before)
	}
	if g.clock = elapsed; g.exact {
		g.clock, before = now, 0
	}
	for i := range g.joints {
		g.watch(i, f, now, before, dt)
	}
	g.expire(elapsed)
	if g.config.Fall.Tilt > 0 {
		g.watchFall(f, now)
	}
	g.lock(f, now)
	g.feel(f)
	FillNaN(f.Inputs)
	for i := range g.joints {
		a, j := &g.layout.Actuators[i], &g.joints[i]
		if j.enabled = g.joint(a, j, f, &f.Status[i], now, g.seconds); !j.enabled {
			for _, at := range [...]int{a.Goal[PositionMode], a.Goal[VelocityMode], a.Goal[TorqueMode],
				a.Goal[DutyMode], a.TorqueLimit} {
				if at != None {
					f.Inputs[at] = math.NaN()
				}
			}
		}
		f.Enable[i] = j.enabled
	}
	for i := range g.gains {
		k := &g.gains[i]
		step := k.perSecond * g.seconds
		k.out += max(-step, min(step, k.goal-k.out))
		f.Inputs[k.at] = k.out
	}
	if len(g.approaches) > 0 {
		g.keepAway(f)
	}
	g.watchHoming(f, now)
}
