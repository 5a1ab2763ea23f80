package chaos

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// Invariant is one thing that must always hold. Its name is a violation's.
type Invariant struct{ Name, Promise string }

// Invariants are all that a run is judged by, in the order of Result.Exercised.
var Invariants = []Invariant{
	{"unarmed torque", "no torque 300 ms after its agent was disarmed or stopped, on a joint that can be reached"},
	{"late stop", "torque is off within 3 cycles of a stop, on a joint that can be reached"},
	{"goal outside", "no position goal of a motor with torque lies outside the soft limits by more than 0.06 rad"},
	{"goal step", "the position goal of a motor with torque moves by no more than the guard's speed allows, but to where the joint is"},
	{"leap", "torque comes on with the goal within 0.1 rad of where the joint is"},
	{"speed", "a joint in position mode turns no faster than twice the guard's speed and 1 rad/s, but where a hand or a part without torque moves it"},
	{"runs on", "1 s after its last command a joint in another mode does not turn"},
	{"status", "what status reports as stopped or disarmed has no torque, what reports torque is armed"},
	{"panic", "no panic, and the rig does not end by itself"},
}

// The indexes of Invariants.
const (
	unarmedTorque = iota
	lateStop
	goalOutside
	goalStep
	leap
	speed
	runsOn
	status
	panics
	numInvariants
)

// Bounds of the judge.
const (
	// reachable is how many cycles after a fault a joint counts as reachable: a lost line is opened again, and a lost servo
	// asked again, in as many at most.
	reachable  = 105
	offWithin  = 300 * time.Millisecond
	stopCycles = 3
	restless   = 700 * time.Millisecond
	ends       = time.Second
	outside    = 0.06 // rad
	leapBound  = 0.1  // rad
	stepNoise  = 0.06 // rad: a tick of a coarse servo, and what a joint that was pushed away drags its goal by
)

// watch is what the judge keeps of a joint.
type watch struct {
	on       bool // torque, in the last cycle
	mode     hal.Mode
	goal     float64
	command  time.Duration // when it was last commanded
	spoiled  int           // cycle in which a fault of its servo or line was last active
	unarmed  time.Duration // since when its agent is not armed; < 0 = it is
	stopped  int           // cycles since a stop; < 0 = none
	released time.Duration // when it was last given torque
}

// judge looks at the motors after a cycle.
func (r *run) judge() {
	l := r.agent.Layout()
	state, _, _ := r.agent.Guard()
	now := r.clock.now
	whole := true // no part of the robot falls
	for i := range r.joints {
		s, a := r.joints[i].truth, &l.Actuators[r.joints[i].index]
		// A hand moves the other joints too. What it has turned round beyond a turn the emulator drives back by whole turns.
		if s.External != 0 || math.Abs(s.Position) > math.Pi {
			r.handAt = now
		}
		if !a.Wraps && (s.Position > a.Limits.MaxPosition && s.External > 0 || s.Position < a.Limits.MinPosition && s.External < 0) {
			s.External = 0 // a mechanical stop, which the model does not have
		}
		whole = whole && s.Enable && s.Limit > 0
	}
	for i := range r.joints {
		j, w := &r.joints[i], &r.watches[i]
		a, s := &l.Actuators[j.index], j.truth
		reach := r.cycle-w.spoiled > reachable
		if r.spoiled(j) {
			w.spoiled, reach = r.cycle, false
		}
		on := s.Enable && s.Limit > 0
		switch {
		case state == hal.Armed:
			w.unarmed = -1
		case w.unarmed < 0:
			w.unarmed = now
		}
		if w.stopped >= 0 {
			w.stopped++
		}
		free := now-r.handAt > restless
		period := r.sys.Rig.Period()

		if w.unarmed >= 0 && reach && now-w.unarmed > offWithin {
			r.check(unarmedTorque, i, !on, "torque while %v", state)
		}
		if w.stopped > stopCycles && w.stopped < stopCycles+10 && reach && r.agent.JointState(j.index) == hal.Stopped {
			r.check(lateStop, i, !on, "torque %d cycles after a stop", w.stopped)
		}
		position := on && s.Mode == hal.PositionMode
		if position && !a.Wraps {
			goal := s.GoalPosition
			if r.handAt >= 0 { // a hand may have turned it round: its encoder knows no turns
				goal = math.Remainder(goal, 2*math.Pi)
			}
			r.check(goalOutside, i, goal > a.Limits.MinPosition-outside && goal < a.Limits.MaxPosition+outside,
				"goal %.3f rad, want %.3f..%.3f", goal, a.Limits.MinPosition, a.Limits.MaxPosition)
		}
		most := slew * a.Limits.MaxVelocity
		step := math.Abs(s.GoalPosition - w.goal)
		if a.Wraps {
			step = math.Abs(math.Remainder(step, 2*math.Pi))
		}
		if position && w.on && w.mode == hal.PositionMode && reach && free {
			r.check(goalStep, i, step <= 3*most*period.Seconds()+stepNoise || math.Abs(s.GoalPosition-s.Position) < leapBound, "goal went by %.3f rad in a cycle, want %.3f", step, most*period.Seconds())
		}
		if position && (!w.on || w.mode != hal.PositionMode) {
			w.released = now
			if reach && free && !a.Wraps {
				d := math.Abs(math.Remainder(s.GoalPosition-s.Position, 2*math.Pi))
				r.check(leap, i, d <= leapBound+math.Abs(s.Velocity)*2*period.Seconds(), "torque came on %.3f rad from the goal", d)
			}
		}
		if position && whole && reach && free && now-w.released > restless {
			r.check(speed, i, math.Abs(s.Velocity) <= 2*most+1, "%.2f rad/s, want %.2f", s.Velocity, most)
		}
		if on && !position && reach && free && now-w.command > ends {
			r.check(runsOn, i, math.Abs(s.Velocity) < 0.2 || s.Mode != hal.VelocityMode && s.Velocity*effort(s) <= 0, "turns at %.2f rad/s %v after its last command", s.Velocity, now-w.command)
		}
		if shown := r.agent.JointState(j.index); reach && (shown == hal.Stopped || shown == hal.Disarmed) && w.unarmed >= 0 && now-w.unarmed > offWithin {
			r.check(status, i, !on, "status says %v, and it has torque", shown)
		}
		w.on, w.mode, w.goal = on, s.Mode, s.GoalPosition
	}
	var stats hal.Stats
	r.sys.Rig.Stats(&stats)
	r.check(panics, 0, !strings.HasPrefix(stats.LastFault, "panic"), "%s", stats.LastFault)
}

// effort is what s is told to push with, in a mode that has no speed.
func effort(s *actuator.Servo) float64 {
	if s.Mode == hal.DutyMode {
		return s.GoalDuty
	}
	return s.GoalCurrent
}

// spoiled tells whether a fault acts on j's servo or line now.
func (r *run) spoiled(j *joint) bool {
	for _, f := range r.acting {
		if r.clock.now < f.until && f.line == j.line && (f.id < 0 || f.id == j.id) {
			return true
		}
	}
	return false
}

// check counts an invariant that was exercised, and keeps the first violation.
func (r *run) check(which, joint int, holds bool, format string, args ...any) {
	r.result.Exercised[which]++
	if holds || r.result.Violated != "" {
		return
	}
	r.result.Violated = Invariants[which].Name
	r.result.Cycle = r.cycle
	r.result.What = r.agent.Layout().Actuators[r.joints[joint].index].Name + ": " + fmt.Sprintf(format, args...)
}
