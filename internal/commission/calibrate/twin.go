package calibrate

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/internal/sim/identify"
	"github.com/halyard-robotics/halyard/internal/sim/twin"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// TwinRow is why one joint differs from its simulated twin.
type TwinRow struct {
	Joint     string        `json:"joint"`
	Cause     twin.Cause    `json:"cause"`
	Size      report.Number `json:"size"`
	Residual  report.Number `json:"residual_rad"`
	Explained report.Number `json:"explained"`
	Found     string        `json:"found"`
	And       twin.Cause    `json:"and,omitempty"` // of two causes that only together explain the difference
	Second    twin.Cause    `json:"or,omitempty"`
}

func (r TwinRow) Cells() report.Cells {
	return report.Cells{{"joint", r.Joint}, {"cause", r.Cause}, {"residual rad", r.Residual},
		{"explained", r.Explained},
		{"found", r.Found}, {"and", r.And}, {"or", r.Second}}
}

func rowOfTwin(joint string, v twin.Verdict) TwinRow {
	return TwinRow{joint, v.Cause, report.Number(v.Size), report.Number(v.Residual), report.Number(v.Explained),
		v.Words, v.And, v.Second}
}

// testMotion is a slow reversal, sines and steps of 3 s each, in -1..1.
func testMotion(t float64) (float64, bool) {
	switch {
	case t < 3:
		return math.Asin(math.Sin(2*t)) / (math.Pi / 2), true
	case t < 6:
		return 0.65*math.Sin(2*(t-3)) + 0.35*math.Sin(6*t), true
	}
	return [...]float64{-0.9, 0.9, 0.3, -0.5}[int((t-6)/0.8)%4], true
}

const testSeconds = 9

// Twin moves each joint by a short motion and reports the cause of a difference from its model. The motion passes the
// guard.
func (g *Guide) Twin(ctx context.Context) (rows []TwinRow, err error) {
	g.command = "twin"
	if err := g.prepare(); err != nil {
		return nil, err
	}
	m, err := g.lively(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { g.stand = nil; err = errors.Join(err, m.end()) }()
	weigh := newGravity(g.robot.plan, g.robot.Config.World.Gravity)
	for _, j := range g.joints {
		i := m.watched(j.Name).index
		spec := g.robot.plan.Robot.Joints[i].Servo
		if spec == nil || spec.PositionGain == 0 {
			g.printf("%s: the simulator has no model of the position mode of a %s", j.Name, j.Model.Units().Name)
			continue
		}
		low, high := weigh.bestSweep(m.q, i, j.Limits)
		low, high, yes, err := g.agree(ctx, j, low, high, fmt.Sprintf("for %d s", testSeconds), nil)
		if err != nil {
			return rows, err
		}
		if !yes {
			continue
		}
		at := m.goals[j.Name]
		a := &m.agent.Layout().Actuators[i]
		slew := slewShare * a.Limits.MaxVelocity * m.slew
		r := g.bench(m, weigh, j, spec)
		r.Name = j.Name
		if volts := g.robot.plan.Robot.SupplyOf(i).Volts; volts > 0 {
			r.Volts = volts // as it should be
		}
		if err := m.excite(ctx, &r, j.Name, testSeconds, (low+high)/2, (high-low)/2, slew, testMotion); err != nil {
			return rows, err
		}
		efforts(&r, g.old[j.Name], spec)
		v := twin.Judge([]*identify.Run{&r}, spec, twin.Noise{})
		rows = append(rows, rowOfTwin(j.Name, v))
		if v.Cause != twin.None {
			if err := g.draw(j.Name+"-twin", plotRun(j.Name+": "+v.Words, &r, spec, identify.Bench{})); err != nil {
				return rows, err
			}
		}
		if err := m.to(ctx, j.Name, at, math.Min(goSpeed, slew), nil); err != nil {
			return rows, err
		}
	}
	return rows, g.beforeTorqueOff(ctx, m)
}

// efforts converts the torques of a recording, by the calibration c, to the unit of the servo's model: share of the
// drive, or A.
func efforts(r *identify.Run, c *calibration.Joint, spec *actuator.Spec) {
	for i := range r.Samples {
		s := &r.Samples[i]
		s.Load = s.Load/c.Torque.Constant + float64(c.Direction)*c.Torque.Offset
		if spec.SupplyCurrent || c.Torque.Constant == 0 {
			s.Load = math.NaN()
		}
	}
}

// TwinOf reports why a recorded servo differs from its model.
func TwinOf(runs []*identify.Run, servo *identify.Servo) (rows []TwinRow, err error) {
	if err := servo.Matches(runs); err != nil {
		return nil, err
	}
	if servo.Spec.PositionGain == 0 {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "twin",
			Err: fmt.Errorf("got a %s, want a servo whose position mode has P, I and D", servo.Model)}
	}
	for _, r := range runs {
		one := *r
		one.Down -= servo.Bench.ArmOffset
		one.Samples = append([]identify.Sample(nil), r.Samples...)
		for i := range one.Samples {
			one.Samples[i].Load = one.Samples[i].Duty(&servo.Spec)
		}
		rows = append(rows, rowOfTwin(r.Name,
			twin.Judge([]*identify.Run{&one}, &servo.Spec, twin.Noise{Band: servo.Band})))
	}
	return rows, nil
}
