package calibrate

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
)

// Angles that bend about the line, as an eccentric magnet makes them, become a table; angles on the line do not.
func TestTable(t *testing.T) {
	bend := func(v float64) float64 { return v + 1.5*math.Sin(v*degree*2) }
	for _, bent := range []bool{false, true} {
		var text strings.Builder
		for v := -90; v <= 90; v += 15 {
			says := float64(v)
			if bent {
				says = bend(says)
			}
			fmt.Fprintf(&text, "hand elbow_flex %d\n%.2f\n", v, says)
		}
		g, out := guide(t, t.TempDir(), text.String()+"\n\n", configs.Options{Body: "emulated"})
		g.Only = []string{"elbow_flex"}
		if err := g.prepare(); err != nil {
			t.Fatal(err)
		}
		c := g.joints[0].nominal()
		c.Date = noon
		c.RangeTicks = [2]float64{946, 3150}
		path := g.path(g.joints[0])
		if _, err := calibration.Save(path, c); err != nil {
			t.Fatal(err)
		}
		if _, err := g.Table(context.Background()); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		c, err := calibration.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bent {
			if c.Version != 1 || len(c.Table) > 0 {
				t.Errorf("a line: got version %d with %d rows, want nothing written", c.Version, len(c.Table))
			}
			continue
		}
		for v := -80.0; v <= 80; v += 10 {
			if got := c.Radians(2048+v*4096/360) / degree; math.Abs(got-bend(v)) > 0.2 {
				t.Errorf("%g degrees of the servo: got %.2f, want %.2f", v, got, bend(v))
			}
		}
	}
	g, _ := guide(t, t.TempDir(), "3\n\n90\nx\n", configs.Options{Body: "emulated"})
	g.Only = []string{"elbow_flex"}
	if _, err := g.Table(context.Background()); err == nil {
		t.Error("without a file: got no error")
	}
}
