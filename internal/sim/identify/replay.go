package identify

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// Bench holds the properties of a recording's bench, not of the servo.
type Bench struct {
	ArmOffset float64 // rad; the arm hangs down at the position -ArmOffset
	// s from a sample's time until the servo follows its goal: the recorder's order of writing and reading, and the
	// servo's latency
	GoalDelay float64
	Play      float64 // rad, the whole dead zone between gear and load
	// s by which a sample's torque takes effect later than its goal: recorders and drivers switch torque on another
	// path
	TorqueDelay float64
}

// fineStep and coarseStep are steps of the simulation, s. The fine one is that of simulated robots; a search begins
// with the coarse one.
const (
	fineStep   = 0.001
	coarseStep = 0.002
)

// Play gives the goals of r to the servo spec on bench b, from the first recorded position, and stores its position at
// the time of each sample, rad, in positions, which is as long as r.Samples.
func (r *Run) Play(spec *actuator.Spec, b Bench, positions []float64) {
	r.play(spec, b, fineStep, positions)
}

func (r *Run) play(spec *actuator.Spec, b Bench, step float64, positions []float64) {
	s := actuator.NewServo(spec)
	// The arm is a rod: half of its mass pulls at the end, a third of it resists there.
	s.Load = actuator.Load{
		Mass: r.Mass + r.ArmMass/2, Inertia: r.Inertia - r.ArmMass/6*r.Length*r.Length, Length: r.Length,
		Down: r.Down - b.ArmOffset, Backlash: b.Play,
	}
	s.Supply = actuator.NewSupply(r.Volts, 0)
	s.Gains.P, s.Gains.I, s.Gains.D = r.P, r.I, r.D
	s.Shutdown = 0 // benches go beyond the rated voltage
	first := &r.Samples[0]
	s.Reset(first.Position)
	s.GoalPosition, s.Mode, s.Enable = first.Goal, hal.PositionMode, first.Torque
	now, goal, torque := first.Time, 0, 0 // the samples with the next goal and the next torque
	due := func(next int, delay float64) float64 {
		if next == len(r.Samples) {
			return math.Inf(1)
		}
		return r.Samples[next].Time + delay
	}
	for i := range r.Samples {
		at := r.Samples[i].Time
		for {
			g, t := due(goal, b.GoalDelay), due(torque, b.GoalDelay+b.TorqueDelay)
			change := math.Min(g, t)
			if change > at {
				break
			}
			change = math.Max(now, change)
			advance(s, change-now, step)
			if now = change; g <= t {
				s.GoalPosition = r.Samples[goal].Goal
				goal++
			} else {
				s.Enable = r.Samples[torque].Torque
				torque++
			}
		}
		advance(s, at-now, step)
		now = math.Max(now, at)
		positions[i] = s.Position
	}
}

// advance lets seconds pass in equal steps of at most step.
func advance(s *actuator.Servo, seconds, step float64) {
	if !(seconds > 1e-9) {
		return
	}
	n := math.Ceil(seconds/step - 1e-6)
	for range int(n) {
		s.Step(seconds / n)
	}
}

// coarse is the step with which searches of runs begin. A gain D answers each new goal by a kick that is cut at the
// full drive, which a coarse step makes another one.
func coarse(runs []*Run) float64 {
	for _, r := range runs {
		if r.D != 0 {
			return fineStep
		}
	}
	return coarseStep
}
