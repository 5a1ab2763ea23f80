package hal

import (
	"math"
	"slices"
	"time"
)

const (
	// followBase and followTime make the default following error: a servo's deflection under load, and its lag behind a
	// moving goal.
	followBase = 0.2 // rad or m
	followTime = 100 * time.Millisecond
	// stopTime is the time before it reaches a soft limit at which a joint begins to slow down.
	stopTime = 250 * time.Millisecond
	// brakeShare is the excess over the speed that is allowed near a limit, as a share of the greatest speed, at which
	// the whole torque brakes.
	brakeShare = 0.2
	// brakeGain is the part of a joint's excess of speed that its brake takes away in a cycle: little enough for
	// readings that are up to four cycles old. brakeLearn is how many cycles it takes to learn what a load needs.
	brakeGain  = 0.25
	brakeLearn = 36
	// brakeSeen is the least share of the whole torque from whose effect a brake learns how light a joint is, which it
	// forgets in brakeForget.
	brakeSeen   = 0.05
	brakeForget = 2 * time.Second
	// turnedBase, rad/s, and turnedShare of its greatest speed are how fast a joint must be to be one that is turned
	// back.
	turnedBase  = 0.15
	turnedShare = 0.005
	// leadShare of its goal's speed is how fast a joint may turn towards its goal: it is brought onto the joint then.
	leadShare = 2
	// movedShare of the step that is allowed in a cycle is a goal that still moves.
	movedShare = 0.1
	// nearTime is how much of its speed a joint may be outside its soft limits and be led back to them at once: the
	// position loops of servos turn a step of that into no more than that speed.
	nearTime = 30 * time.Millisecond
	// freshCycles is the greatest age, in cycles, of the reading at which torque is switched on, freshTime the one in
	// true time where that is longer.
	freshCycles = 3
	freshTime   = 50 * time.Millisecond
)

// joint computes the command to a for the next dt seconds. It reports whether it has torque.
func (g *guard) joint(a *Actuator, j *guardJoint, f *Frame, s *Status, now time.Duration, dt float64) bool {
	e := &j.sight
	// An old goal is no place to start from: the joint has moved since. Two clients that disagree within a cycle are
	// one.
	if j.mode != j.lastMode {
		j.lastMode, j.out, j.waits = j.mode, math.NaN(), false
	}
	if j.outside = j.outside && j.mode == PositionMode; g.state != Armed || e.jumped || j.mode == NoMode {
		return false
	}
	if a.TorqueLimit != None {
		if f.Inputs[a.TorqueLimit] = j.limit; g.config.TorqueRamp > 0 {
			f.Inputs[a.TorqueLimit] = g.ramped(a, j, now)
		}
	}
	if j.mode == PositionMode {
		if !g.slew(a, j, f, s, now, dt) {
			// Where no client commands it, it must not get torque again by coming back within its soft limits.
			if j.outside && !j.waiting {
				expired := j.expired
				j.forget(j.limit)
				j.expired = expired
			}
			return false
		}
		if f.Inputs[a.Goal[PositionMode]] = j.out; j.adrift {
			f.Inputs[a.Goal[PositionMode]] = math.NaN()
		}
		return true
	}
	if e.blind && a.Kind != Thruster {
		// It may receive commands although it does not reply: send zero, and after the deadline switch torque off.
		// outward would go on braking by the speed that it had when it was seen last.
		if g.unheard(j, s, now) {
			j.forget(j.limit)
			j.expired = true
			return false
		}
		j.goal, f.Inputs[a.Goal[j.mode]] = 0, 0
		return true
	}
	goal := j.goal
	if j.felt != 0 && j.mode == TorqueMode {
		goal = max(-a.Limits.MaxTorque, min(a.Limits.MaxTorque, goal+j.felt))
	}
	f.Inputs[a.Goal[j.mode]] = g.outward(a, j, goal)
	return true
}

// unheard reports whether j has not replied within the deadline.
func (g *guard) unheard(j *guardJoint, s *Status, now time.Duration) bool {
	most := unheardAfter
	if t := g.config.CommandTimeout; t > 0 {
		most = min(most, t)
	}
	return now-max(j.sight.stamp, s.Time) > most
}

// slew moves j's goal towards the requested one, from where it is. It reports false where
// the joint must not have torque: it is not known where it is, or it is outside its soft limits.
func (g *guard) slew(a *Actuator, j *guardJoint, f *Frame, s *Status, now time.Duration, dt float64) bool {
	known := !j.sight.blind && !math.IsNaN(j.sight.at)
	// A joint that had torque and a goal and was seen, in the last cycle and now, goes on. start decides for all
	// others.
	if !known || j.away || !j.enabled || j.noTorque || j.limit == 0 || j.waits || j.begins || math.IsNaN(j.out) ||
		a.Wraps || s.Drive != Follows || s.Err != nil {
		if torque, moves := g.start(a, j, f, s, known, now, dt); !moves {
			j.before = j.out
			return torque
		}
	}
	speed := g.speed(a)
	j.outside = (j.sight.at < a.Limits.MinPosition || j.sight.at > a.Limits.MaxPosition) &&
		g.escaped(a, &j.sight, speed)
	if j.outside {
		return false
	}
	if j.homes {
		speed = min(speed, g.config.HomeSpeed)
	}
	// Nearly always the goal is within a step, and so near the joint that no bound is less: comparisons in place of two
	// calls.
	next := j.goal
	if a.Wraps || !(math.Abs(next-j.out) <= speed*dt) {
		next = approach(a, j.out, next, speed*dt)
	}
	near := !a.Wraps && math.Abs(next-j.sight.at) <= followBase && math.Abs(j.sight.speed) <= speed &&
		g.config.FollowingError == 0
	if !near && (!g.config.Direct || j.homes) {
		next = g.lead(a, &j.sight, speed, next)
	}
	next = soft(a, next)
	j.before = j.out
	j.moved = g.homing && math.Abs(difference(a, next, j.out)) > movedShare*speed*dt
	j.out = next
	return true
}

// start decides whether j has torque, and whether its goal moves in this cycle. Where it had no goal, or missed it, its
// goal is the position where it is. known is whether that is known.
func (g *guard) start(a *Actuator, j *guardJoint, f *Frame, s *Status, known bool, now time.Duration,
	dt float64) (torque, moves bool) {
	// Torque is switched on only with a fresh reading: in a tenth of a second a person can move the joint far away.
	// One of a slow line comes some cycles late.
	fresh := known && j.sight.seen <= j.sight.time &&
		now-j.sight.stamp <= max(freshCycles*g.period, min(freshTime, 2*s.Delay)) &&
		g.clock-j.sight.time <= max(freshCycles*g.period, freshTime)
	j.moved = false
	// A joint found far from its commanded position has missed its goals, and starts again; one whose drive was lost
	// holds the position where it was found.
	missed := known && j.away && (j.adrift || math.Abs(difference(a, j.out, j.sight.at)) > g.following(a, 0))
	j.away = !known
	// A drive that was lost may have lost its torque, and the joint may have moved: until it is known where it is, the
	// drive gets no goal of before, and holds it where it finds it.
	j.adrift = !known && (j.adrift || s.Drive == Waiting)
	// A wheel that turns by more than a quarter in a cycle is nowhere: its goal would be before it and behind it.
	if a.Wraps && a.Velocity != None && math.Abs(f.Measured[a.Velocity])*dt > math.Pi/2 {
		j.out, j.waits = math.NaN(), false
		return false, false
	}
	// While the joint's position is not known, torque is switched on without a goal: the drive holds the present
	// position. The last goal may be far from it.
	if !fresh && j.enabled && !j.noTorque && s.Drive == Switching {
		j.waits, j.out = true, math.NaN()
		if !j.waiting && !g.homing { // no client commands it any more: it stays where it is found
			j.goal = math.NaN()
		}
	}
	if j.waits = j.waits && !fresh; j.waits {
		return true, false
	}
	// Start at the present position: no jump at torque-on, nor when a limit of 0 is raised.
	if !j.enabled || j.noTorque || math.IsNaN(j.out) || missed {
		if !fresh {
			return false, false
		}
		if j.outside = !g.near(a, j.sight.at); j.outside {
			return false, false
		}
		if j.out = soft(a, j.sight.at); math.IsNaN(j.goal) { // it was held before it began
			j.goal = j.out
		}
		if !j.enabled && g.behind {
			j.begins, j.begun, j.from = true, now, j.out
		}
	}
	if j.noTorque = j.limit == 0; j.noTorque || !known {
		return true, false // it stays: no motion with an old reading
	}
	// A drive that is being switched on or to another mode does not follow goals yet. What it said before its torque
	// came on does not count: its goal would run ahead of it.
	j.begins = j.begins && s.Time <= j.begun+g.period
	switch {
	case s.Drive == Switching:
		j.out = soft(a, j.sight.at)
		j.from = j.out // its drive takes it for its goal now
		return true, false
	// it continues from its last commanded position
	case j.begins && j.begun < now, s.Drive == Waiting, s.Err != nil && s.Time < now:
		return true, false
	}
	return true, true
}

// speed is how fast a's position goals move at most.
func (g *guard) speed(a *Actuator) float64 {
	if g.config.Direct {
		return math.Inf(1)
	}
	return a.Limits.MaxVelocity * g.config.Slew
}

// following is how far a goal that moves at speed may be ahead of actuator i.
func (g *guard) following(a *Actuator, speed float64) float64 {
	if g.config.FollowingError > 0 {
		return g.config.FollowingError
	}
	most := followBase + min(speed, a.Limits.MaxVelocity)*followTime.Seconds()
	if a.Wraps { // half a turn ahead is half a turn behind
		most = min(most, math.Pi/2)
	}
	return most
}

// lead bounds how far goal is ahead of where a is: a joint that was held back and is released would make up for all of
// it at once. One that is faster than the goal may move has its goal drawn near, which brakes it.
func (g *guard) lead(a *Actuator, e *sight, speed, goal float64) float64 {
	ahead := difference(a, goal, e.at)
	most := g.following(a, speed)
	if v := e.speed * math.Copysign(1, ahead); v > speed {
		most *= max(0, (leadShare*speed-v)/((leadShare-1)*speed))
	}
	if math.Abs(ahead) <= most {
		return goal
	}
	return e.at + math.Copysign(most, ahead)
}

// near reports whether position is within a's soft limits or so little outside that the way back is no leap.
func (g *guard) near(a *Actuator, position float64) bool {
	out := math.Abs(position - soft(a, position))
	return out == 0 || g.config.Direct || out <= min(noise, g.speed(a)*nearTime.Seconds())
}

// escaped reports whether a, which has torque, was pushed so far outside its soft limits that it must lose torque. No
// goal outside the limits is written, so the joint would move to the limit at once. It is true if the joint is farther
// outside than the following error, or comes back too fast.
func (g *guard) escaped(a *Actuator, e *sight, speed float64) bool {
	out := e.at - soft(a, e.at)
	if g.near(a, e.at) {
		return false
	}
	return math.Abs(out) > g.following(a, speed) || -e.speed*math.Copysign(1, out) > leadShare*speed
}

// soft is position within a's soft limits.
func soft(a *Actuator, position float64) float64 {
	switch {
	case a.Wraps || a.Kind == Thruster:
		return position
	case position < a.Limits.MinPosition:
		return a.Limits.MinPosition
	case position > a.Limits.MaxPosition:
		return a.Limits.MaxPosition
	}
	return position
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

// outward prevents velocity, torque and duty from pushing a joint beyond its soft limits. The speed towards a limit is
// bounded so that the way there always takes at least stopTime: the joint reaches it at zero speed. Torque and duty are
// bounded to those that bring the joint to that speed.
func (g *guard) outward(a *Actuator, j *guardJoint, v float64) float64 {
	e := &j.sight
	if a.Wraps || a.Kind == Thruster || a.Position == None || g.config.Direct || math.IsNaN(e.at) {
		return v
	}
	high := max(0, a.Limits.MaxPosition-e.at) / stopTime.Seconds()
	low := min(0, a.Limits.MinPosition-e.at) / stopTime.Seconds()
	if j.mode == VelocityMode {
		return min(high, max(low, v))
	}
	full := 1.0
	if j.mode == TorqueMode {
		full = a.Limits.MaxTorque
	}
	unit, b := brakeShare*a.Limits.MaxVelocity, &j.brake
	upper, lower, gain := (high-e.speed)/unit, (low-e.speed)/unit, b.gain(g.seconds)
	out := min(full*bounded(upper*gain-b.held), max(full*bounded(lower*gain-b.held), v))
	b.note(out/full, out != v, upper, lower, e.speed/unit, (turnedBase+turnedShare*a.Limits.MaxVelocity)/unit,
		g.seconds)
	return out
}

func bounded(v float64) float64 { return max(-1, min(1, v)) }

// brake is the brake of a joint in torque and duty mode: in proportion to the excess of its speed, and what its load
// was found to need. A reading is some cycles old when the motor acts on it. A brake that is too strong for that turns
// a light joint back, and then to and fro, faster each time: its gain follows from how fast the joint was seen to
// answer.
type brake struct {
	light  float64    // the greatest acceleration that the whole torque was seen to make, in units of speed a second
	held   float64    // share of the whole torque that the load needs; > 0 at the upper limit
	speeds [2]float64 // of the last cycles, in units
	shares [6]float64 // of the whole torque, in the last cycles
	cycles int
}

// gain is the share of the whole torque that an excess of one unit gets.
func (b *brake) gain(dt float64) float64 { return min(1, brakeGain/(b.light*dt)) }

// note notes that share of the whole torque was commanded in a cycle of dt seconds. upper and lower are by how much
// less than allowed a joint of that speed turns, in units of speed.
func (b *brake) note(share float64, brakes bool, upper, lower, speed, turned, dt float64) {
	if math.IsNaN(share + upper + lower) { // of a joint that can neither turn nor push
		return
	}
	rate := b.gain(dt) / brakeLearn
	switch {
	case upper < 0 || b.held > 0:
		b.held = min(1, max(0, b.held-rate*min(1, upper)))
	case lower > 0 || b.held < 0:
		b.held = max(-1, min(0, b.held-rate*max(-1, lower)))
	}
	if math.Abs(speed) > turned && b.held*speed < 0 { // it is turned back: what held it out is gone
		b.held = 0
	}
	old := &b.speeds[b.cycles%len(b.speeds)]
	b.shares[b.cycles%len(b.shares)] = math.Abs(share)
	b.cycles++
	most := slices.Max(b.shares[:])
	if most > brakeSeen && b.cycles > len(b.speeds) {
		b.light = max(b.light, math.Abs(speed-*old)/(float64(len(b.speeds))*dt*most))
	} else if !brakes && b.held == 0 {
		b.light *= 1 - dt/brakeForget.Seconds()
	}
	*old = speed
}
