package calibrate

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/halyard-robotics/halyard/calibration"
)

// The share by which the travel of a joint may differ from its model's without a gear being suspected.
const gearDoubt = 0.08

// confirm builds the calibrations, asks about those that contradict the robot's model, and writes them.
func (g *Guide) confirm(ctx context.Context) error {
	list := g.missing(func(m *measured) bool { return !m.Saved })
	if len(list) == 0 {
		return nil
	}
	g.screen(5, "check", list)
	var made []*calibration.Joint
	for _, j := range list {
		m := g.notes.of(j.Name)
		if err := g.gear(ctx, j, m); err != nil {
			return err
		}
		c := g.made(j, m)
		for _, doubt := range j.Doubts(c) {
			g.printf("  %s", doubt)
			text, err := g.choose(ctx, "Enter measures "+j.Name+" again, y writes it as it is", "y", "")
			if err != nil {
				return err
			}
			if text == "" {
				*m = measured{Firmware: m.Firmware, Homing: m.Homing}
				return g.byHand(ctx)
			}
		}
		g.compare(j, c, *m.Reference, m.Angle)
		made = append(made, c)
	}
	if _, err := g.choose(ctx, "Enter writes these calibrations; the files before are kept as versions",
		""); err != nil {
		return err
	}
	for i, j := range list {
		if err := os.MkdirAll(filepath.Dir(g.path(j)), 0o755); err != nil {
			return err
		}
		if _, err := calibration.Save(g.path(j), made[i]); err != nil {
			return err
		}
		g.notes.of(j.Name).Saved = true
	}
	return g.keep()
}

// byHand makes the measurements that are missing, and confirms them.
func (g *Guide) byHand(ctx context.Context) error {
	for _, step := range []func(context.Context) error{g.reference, g.direction, g.sweep, g.rest, g.confirm} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// gear asks for the gear of a joint whose servo turned by another angle than the joint of the model.
func (g *Guide) gear(ctx context.Context, j *Joint, m *measured) error {
	if m.Gear != 0 {
		return nil
	}
	m.Gear = 1
	want := j.Limits.MaxPosition - j.Limits.MinPosition
	turned := (*m.High - *m.Low) / j.Model.Units().TicksPerTurn * 2 * math.Pi
	ratio := turned / want
	if !(want > 0) || want >= 2*math.Pi || math.Abs(ratio-1) <= gearDoubt {
		return nil
	}
	guess := likelyGear(ratio)
	g.printf("  %s: its servo turned %.1f degrees, the model's joint %.1f: either a gear of about %.3f, or it was "+
		"not at both ends.", j.Name, turned/degree, want/degree, ratio)
	for {
		text, err := g.ask(ctx, "Enter for 1 (no gear), or turns of the servo a turn of the joint, as %g", guess)
		if err != nil {
			return err
		}
		if text == "" {
			return g.keep()
		}
		if v, err := strconv.ParseFloat(text, 64); err == nil && v >= 0.01 && v <= 1000 {
			m.Gear = v
			return g.keep()
		}
		g.printf("got %q, want Enter or a number above 0.01", text)
	}
}

// likelyGear is the ratio of two numbers of up to 24 that is nearest to v, where one is within 0.3 %; else v.
func likelyGear(v float64) float64 {
	best := v
	off := 0.003 * v
	for b := 1.0; b <= 24; b++ {
		if a := math.Round(v * b); math.Abs(a/b-v) < off {
			best, off = a/b, math.Abs(a/b-v)/2 // a simpler one wins over one that is little better
		}
	}
	return best
}

// made returns the calibration of the measurements.
func (g *Guide) made(j *Joint, m *measured) *calibration.Joint {
	c := j.nominal()
	old := g.old[j.Name]
	c.Method, c.Date, c.Direction, c.Gear = calibration.ByManual, g.Now(), m.Direction, m.Gear
	if m.Stops {
		c.Method = calibration.ByEndstops
	}
	c.ZeroTicks = *m.Reference - float64(m.Direction)*m.Angle*c.TicksPerTurn*m.Gear/(2*math.Pi)
	c.RangeTicks = [2]float64{*m.Low, *m.High}
	c.Servo.Firmware, c.Servo.HomingOffset = m.Firmware, m.Homing
	if m.Rest != nil {
		at := c.Unwrap(*m.Rest)
		c.RestTicks = &at
	}
	c.Torque.Constant *= m.Gear
	if old.Method != calibration.ByNominal && old.Torque.Constant != 0 {
		c.Torque = old.Torque
	}
	return c
}

// compare prints the reference pose by the previous calibration and by the new one.
func (g *Guide) compare(j *Joint, c *calibration.Joint, ticks, angle float64) {
	old, low, high := g.old[j.Name], c.Radians(c.RangeTicks[0]), c.Radians(c.RangeTicks[1])
	g.printf("  %s: the reference pose of %.1f degrees reads %.1f by the file before (%s), %.1f now; travel "+
		"%.1f..%.1f degrees", j.Name, angle/degree,
		old.Radians(ticks)/degree, old.Method, c.Radians(ticks)/degree, math.Min(low, high)/degree,
		math.Max(low, high)/degree)
	if c.RangeTicks[1]-c.RangeTicks[0] >= c.TicksPerTurn {
		g.printf("  %s: its servo turns more than once over this travel: after power-on it cannot tell in which "+
			"turn it is", j.Name)
	}
}
