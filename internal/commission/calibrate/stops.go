package calibrate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/hal"
)

// How a session finds mechanical stops. Angles and speeds are those of the servo's shaft.
const (
	stopSpeed   = 0.35        // rad/s
	stopAhead   = 3 * degree  // the goal must be at least this far ahead of a joint that does not move
	stopLead    = 15 * degree // and is at most so far ahead
	stopStill   = 0.12        // s without motion that are a stop
	stopMoved   = 0.3 * degree
	stopRetreat = 5 * degree
	stopMargin  = 1 * degree // the range ends this far before the stop, so that no goal presses against it
	stopEffort  = 0.2        // share of the servo's torque above the gravity torque
	stopMost    = 0.6        // share of the servo's torque at most
	stopGravity = 1.5        // factor of the gravity torque
	stopReach   = 2.5        // how many times the model's range a stop is looked for in: its gear is not known yet
)

// stops makes the servos find the ends of their travel, with low torque, one joint after the other, each after its own
// Enter: those of list in names, or all without names. A joint whose stops are not found, or that is left out, must be
// moved by hand.
func (g *Guide) stops(ctx context.Context, list []*Joint, names []string) (err error) {
	for _, n := range names {
		if !slices.Contains(namesOf(list), n) {
			g.printf("got joint %q, want one of %s", n, strings.Join(namesOf(list), ", "))
			return nil
		}
	}
	if len(names) > 0 {
		list = slices.DeleteFunc(slices.Clone(list), func(j *Joint) bool { return !slices.Contains(names, j.Name) })
	}
	g.printf("The servos look for the stops, one joint after the other, with little torque. Hold the robot so that " +
		"they have a free way to both of their ends.")
	if text, err := g.choose(ctx, "Torque goes on, and the robot holds where it is. Enter; n leaves this out", "",
		"n"); err != nil || text == "n" {
		return err
	}
	dir, remove, err := scratch()
	if err != nil {
		return err
	}
	defer remove()
	raw := g.stand
	ended := raw.end()
	raw.end = func() error { return nil } // the opener ends it
	if ended != nil {
		return ended
	}
	defer func() {
		if g.stand = raw; err == nil {
			err = g.reopen(ctx)
		}
	}()
	var unsaved error
	c, err := g.sessionConfig(func(j *Joint) string {
		if g.written(j) == "" {
			return ""
		}
		path := filepath.Join(dir, j.Name+".yaml")
		_, fault := calibration.Save(path, g.wide(j))
		unsaved = errors.Join(unsaved, fault)
		return path
	})
	if err = errors.Join(err, unsaved); err != nil {
		return err
	}
	m, err := g.arm(ctx, c, g.wide)
	if hal.KindOf(err) == hal.Uncalibrated {
		g.printf("  left out: every joint of %s needs a calibration file first. %v", g.robot.Name, err)
		return nil
	} else if err != nil {
		return err
	}
	weigh := newGravity(g.robot.plan, g.robot.Config.World.Gravity)
	for _, j := range list {
		if err := g.findStops(ctx, m, weigh, j); err != nil {
			return errors.Join(err, m.end())
		}
	}
	return errors.Join(g.beforeTorqueOff(ctx, m), m.end())
}

// reopen opens the robot again as the session watches it, torque off.
func (g *Guide) reopen(ctx context.Context) error {
	s, err := g.openRaw(ctx, nil)
	if err == nil {
		g.stand = s
	}
	return err
}

// narrow returns a preliminary calibration of j, without a gear, for the ticks of the session.
func (g *Guide) narrow(j *Joint) *calibration.Joint {
	c, m := j.nominal(), g.notes.of(j.Name)
	c.Direction, c.Date = m.Direction, g.Now()
	c.ZeroTicks = *m.Reference - float64(c.Direction)*m.Angle*c.TicksPerTurn/(2*math.Pi)
	return c
}

// wide is narrow with a gear so large that the model's limits lie beyond the stops, around the middle of the model's
// range.
func (g *Guide) wide(j *Joint) *calibration.Joint {
	c := g.narrow(j)
	middle := (j.Limits.MinPosition + j.Limits.MaxPosition) / 2
	at := c.ZeroTicks + float64(c.Direction)*middle*c.TicksPerTurn/(2*math.Pi)
	c.Gear = stopReach
	c.ZeroTicks = at - float64(c.Direction)*middle*c.TicksPerTurn*c.Gear/(2*math.Pi)
	return c
}

// findStops moves j to both ends and keeps where they are.
func (g *Guide) findStops(ctx context.Context, m *mover, weigh *gravity, j *Joint) error {
	text, err := g.choose(ctx, fmt.Sprintf("%s moves to both of its stops, with %.0f %% of its torque beyond what "+
		"gravity asks for. Enter moves it, n leaves it out", j.Name, 100*stopEffort), "", "n")
	if err != nil || text == "n" {
		return err
	}
	w := m.watched(j.Name)
	from, found := m.goals[j.Name], 0
	toDegrees := 360 / w.by.TicksPerTurn
	var ends [2]float64 // ticks
	for way, sign := range [2]float64{-1, 1} {
		at, stop, err := g.press(ctx, m, weigh, j, sign, nil)
		if err != nil {
			return err
		}
		if !stop {
			g.printf("  %s: no stop %s: it came %.0f degrees far, to the end of its encoder or of what a gear of "+
				"its model could need", j.Name,
				[2]string{"downward", "upward"}[way], math.Abs(at-w.by.Ticks(from))*toDegrees)
			break
		}
		ends[way] = at - sign*float64(w.by.Direction)*stopMargin/degree/toDegrees
		found++
	}
	m.ease(j.Name)
	if err := m.to(ctx, j.Name, from, stopSpeed/stopReach, nil); err != nil {
		return err
	}
	low, high := math.Min(ends[0], ends[1]), math.Max(ends[0], ends[1])
	switch {
	case found < 2:
		g.printf("  %s: move it by hand", j.Name)
		return nil
	case !((high-low)*toDegrees >= leastTurn/degree):
		g.printf("  %s did not move: it is blocked, or this torque does not lift what it carries. Move it by hand",
			j.Name)
		return nil
	}
	n := g.notes.of(j.Name)
	// the turns that this session's count began with
	shift := w.by.TicksPerTurn * math.Round((*n.Reference-(low+high)/2)/w.by.TicksPerTurn)
	low, high = low+shift, high+shift
	n.Low, n.High, n.Stops = &low, &high, true
	g.printf("  %s: stops at ticks %.0f and %.0f, %.1f degrees of the servo", j.Name, low, high, (high-low)*toDegrees)
	return g.keep()
}

// press moves a joint slowly towards its end of that sign, with low torque, until it meets an obstacle or has no travel
// left, and moves back at once. It returns the ticks at the end, and whether there was a stop. It presses for stopStill
// and a cycle.
func (g *Guide) press(ctx context.Context, m *mover, weigh *gravity, j *Joint, sign float64,
	seen func(halyard.JointState)) (ticks float64, stop bool, err error) {
	w := m.watched(j.Name)
	end := j.Limits.MaxPosition
	if sign < 0 {
		end = j.Limits.MinPosition
	}
	dt := m.period.Seconds()
	at := m.agent.State(j.Name).Position
	progress, still := at, 0.0
	u := j.Model.Units()
	for sign*(end-m.goals[j.Name]) > 0 && still < stopStill {
		g.weaken(m, j.Name, weigh)
		// The goal stays slightly ahead: the torque limit determines the force, not a growing error.
		if sign*(m.goals[j.Name]-at) < stopLead/stopReach {
			m.goals[j.Name] += sign * math.Min(stopSpeed/stopReach*dt, sign*(end-m.goals[j.Name]))
		}
		if err := m.cycle(ctx); err != nil {
			return 0, false, err
		}
		s := m.agent.State(j.Name)
		if err := m.fault(s, true); err != nil {
			return 0, false, &hal.Error{Kind: hal.Unsafe, Op: "find the stop of " + j.Name, Joint: j.Name, Err: err,
				Try: "halyard doctor"}
		}
		if seen != nil {
			seen(s)
		}
		if math.IsNaN(s.Position) {
			continue
		}
		at = s.Position
		switch ahead := sign * (m.goals[j.Name] - at); {
		case sign*(at-progress) > stopMoved/stopReach:
			progress, still = at, 0
		case ahead > stopAhead/stopReach:
			still += dt
		}
	}
	ticks = w.by.Ticks(at)
	near := stopLead * u.TicksPerTurn / (2 * math.Pi) // the driver sends no goal beyond the encoder's range
	if still < stopStill || ticks < u.MinTicks+near || ticks > u.MaxTicks-near {
		return ticks, false, nil
	}
	m.goals[j.Name] = at - sign*stopRetreat/stopReach
	return ticks, true, m.wait(ctx, settleTime)
}

// weaken limits the torque of a joint to the gravity torque plus a margin.
func (g *Guide) weaken(m *mover, joint string, weigh *gravity) {
	w := m.watched(joint)
	most := m.agent.Layout().Actuators[w.index].Limits.MaxTorque
	hold := 0.0
	if len(m.q) > 0 {
		q := append([]float64(nil), m.q...)
		for _, o := range m.joints {
			q[o.index] = g.narrow(o.Joint).Radians(o.by.Ticks(q[o.index]))
		}
		if hold = math.Abs(weigh.hold(q, w.index)); math.IsNaN(hold) {
			hold = 0
		}
	}
	m.limits[joint] = math.Min(stopMost*most, stopEffort*most+stopGravity*hold)
}

// ease restores a joint's full torque.
func (m *mover) ease(joint string) {
	m.limits[joint] = m.agent.Layout().Actuators[m.watched(joint).index].Limits.MaxTorque
}
