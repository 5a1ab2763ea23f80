package calibrate

import (
	"cmp"
	"math"
	"os"
	"path/filepath"

	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/internal/sim/identify"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// draw prints a plot, and writes it as NAME.svg where the session has a folder for plots.
func (g *Guide) draw(name string, p *report.Plot) error {
	g.printf("%s", p.Text(64, 14))
	if g.Plots == "" {
		return nil
	}
	return cmp.Or(os.MkdirAll(g.Plots, 0o755), os.WriteFile(filepath.Join(g.Plots, name+".svg"), p.SVG(), 0o644))
}

// plot returns the efforts of both directions over the gravity torque, and the fitted line.
func (r *sweepResult) plot(joint string) *report.Plot {
	var hold, up, down []float64
	low, high := math.Inf(1), math.Inf(-1)
	for i := range bins {
		if v := r.hold[i].value(); !math.IsNaN(v) {
			hold, up, down = append(hold, v), append(up, r.effort[0][i].value()), append(down, r.effort[1][i].value())
			low, high = math.Min(low, v), math.Max(high, v)
		}
	}
	return &report.Plot{Title: joint + ": torque", X: "torque against gravity, N m", Y: "effort",
		Series: []report.Series{
			{Name: "fit", X: []float64{low, high}, Y: []float64{low/r.constant + r.zero, high/r.constant + r.zero},
				Line: true},
			{Name: "angle rising", X: hold, Y: up}, {Name: "angle falling", X: hold, Y: down},
		}}
}

// plotRun returns a recording and a servo model's response to its goals.
func plotRun(title string, r *identify.Run, spec *actuator.Spec, b identify.Bench) *report.Plot {
	played := make([]float64, len(r.Samples))
	r.Play(spec, b, played)
	var t, goal, is, model []float64
	for i := range r.Samples {
		s := &r.Samples[i]
		t = append(t, s.Time-r.Samples[0].Time)
		goal, is, model = append(goal, s.Goal/degree), append(is, s.Position/degree), append(model, played[i]/degree)
	}
	return &report.Plot{Title: title, X: "time, s", Y: "angle, degrees", Series: []report.Series{
		{Name: "goal", X: t, Y: goal, Line: true}, {Name: "recorded", X: t, Y: is, Line: true},
		{Name: "model", X: t, Y: model, Line: true},
	}}
}
