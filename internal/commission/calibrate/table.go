package calibrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
)

// A joint whose angles are within straight of a line needs no table. A table has tablePoints at least.
const (
	straight    = 0.3 * degree
	tablePoints = 4
)

// Table compares a joint with angles that a person measures, by a protractor or a second encoder, and writes them as
// its table where a line is not enough. The joint must have a calibration file.
func (g *Guide) Table(ctx context.Context) (rows []Row, err error) {
	if err := g.prepare(); err != nil {
		return nil, err
	}
	if len(g.joints) != 1 {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "calibrate --table",
			Err: fmt.Errorf("got %d joints, want one joint", len(g.joints)), Try: "--joint " + g.joints[0].Name}
	}
	j := g.joints[0]
	c, err := calibration.Load(g.path(j))
	if err != nil {
		return nil, err
	}
	points, err := g.points(ctx, j)
	if err != nil {
		return nil, err
	}
	before := *c
	if err := tabled(c, points); err != nil {
		return nil, err
	}
	worst, off := 0.0, []float64{}
	var ticks []float64
	before.Table = nil
	for _, p := range points {
		off, ticks = append(off, (p.Radians-before.Radians(p.Ticks))/degree), append(ticks, p.Ticks)
		worst = math.Max(worst, math.Abs(off[len(off)-1]*degree))
	}
	if err := g.draw(j.Name+"-table", &report.Plot{Title: j.Name + ": measured angle minus the line's", X: "ticks",
		Y:      "degrees",
		Series: []report.Series{{Name: "measured", X: ticks, Y: off}}}); err != nil {
		return nil, err
	}
	if worst < straight {
		g.printf("%s: within %.2f degrees of the line: it needs no table, and nothing was written", j.Name,
			worst/degree)
		return []Row{rowOf(g.path(j), &before)}, nil
	}
	g.printf("%s: up to %.2f degrees from the line", j.Name, worst/degree)
	if _, err := g.choose(ctx, "Enter writes the table; the file before is kept as a version", ""); err != nil {
		return nil, err
	}
	c.Date = g.Now()
	if _, err := calibration.Save(g.path(j), c); err != nil {
		return nil, err
	}
	return []Row{rowOf(g.path(j), c)}, nil
}

// points prompts for angles, and stores the joint's ticks at each.
func (g *Guide) points(ctx context.Context, j *Joint) (points []calibration.Point, err error) {
	if g.stand, err = g.openRaw(ctx, nil); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.stand.end()); g.stand = nil }()
	g.printf("%s: its torque is off. Hold it at angles that you can measure, %d or more, over its whole travel.",
		j.Name, tablePoints)
	for {
		text, err := g.ask(ctx, "The angle in degrees; Enter after the last (%d so far)", len(points))
		if err != nil {
			return nil, err
		}
		v, bad := strconv.ParseFloat(text, 64)
		switch {
		case text == "" && len(points) >= tablePoints:
			return points, nil
		case bad != nil || !(math.Abs(v) <= 360):
			g.printf("got %q, want degrees, of %d angles at least", text, tablePoints)
		case g.well([]*Joint{j}):
			points = append(points, calibration.Point{Ticks: g.stand.seen()[0].ticks, Radians: v * degree})
			g.printf("  tick %.0f is %.2f degrees", points[len(points)-1].Ticks, v)
		}
	}
}

// tabled sets points as the table of c, and moves the zero to that of the table.
func tabled(c *calibration.Joint, points []calibration.Point) error {
	c.Table = slices.Clone(points)
	for i := range c.Table {
		c.Table[i].Ticks = c.Unwrap(c.Table[i].Ticks)
	}
	slices.SortFunc(c.Table, func(a, b calibration.Point) int { return cmp.Compare(a.Ticks, b.Ticks) })
	c.ZeroTicks = c.Ticks(0)
	return c.Validate()
}
