package calibrate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/internal/sim/identify"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// Offline is an identification from recordings (Servo and Out), or the comparison of a servo with them (Check).
type Offline struct {
	Servo string   // model of the recorded servo
	Out   string   // servo file to write
	Check string   // servo file, or model
	Data  []string // recordings, or folders of them
}

// Refuse is the error of arguments that do not fit together.
func Refuse(got, want string) error {
	return &hal.Error{Kind: hal.Invalid, Op: "identify", Err: fmt.Errorf("got %s, want %s", got, want),
		Try: "halyard identify --help"}
}

// Run fits or compares, and lists each recording with the servo model's response to its goals. note gets each finished
// step.
func (o *Offline) Run(now func() time.Time, note func(format string, args ...any)) ([]PlayedRow, error) {
	switch {
	case o.Servo == "" && o.Check == "":
		return nil, Refuse("no CONFIG, no --servo and no --check", "one of them")
	case o.Servo != "" && o.Check != "":
		return nil, Refuse("both --servo and --check", "one of them")
	case o.Servo != "" && o.Out == "":
		return nil, Refuse("no --out", "the servo file to write")
	case o.Check != "" && o.Out != "":
		return nil, Refuse("--out with --check, which writes nothing", "one of them")
	case len(o.Data) == 0:
		return nil, Refuse("no --data", "recordings")
	}
	servo, err := ServoNamed(o.Servo+o.Check, o.Check != "")
	if err != nil {
		return nil, err
	}
	runs, err := identify.Load(o.Data)
	if err != nil {
		return nil, err
	}
	if o.Check != "" {
		if err := servo.Matches(runs); err != nil {
			return nil, err
		}
		return PlayedRows(identify.Check(servo, runs)), nil
	}
	spec := servo.Spec
	note("identify %s from %d recordings; this takes some minutes", spec.Name, len(runs))
	if servo, err = identify.Fit(runs, &spec, func(step string) { note("%s", step) }); err != nil {
		return nil, err
	}
	servo.Date = now()
	if err := servo.Save(o.Out); err != nil {
		return nil, err
	}
	note("%s: %s", o.Out, servo.Summary())
	return PlayedRows(servo.Recordings), nil
}

// PlanRows are the motions that would separate what the servo file at path leaves unseparated.
func PlanRows(path string) (rows []PlanRow, err error) {
	s, err := identify.ReadServo(path)
	if err != nil {
		return nil, err
	}
	if s.Band == 0 {
		return nil, Refuse(path+", without identified_over", "a servo file that halyard identify has written")
	}
	for _, m := range s.Plan() {
		rows = append(rows, PlanRow(m))
	}
	return rows, nil
}

// PlanRow is a motion to record in addition.
type PlanRow identify.Motion

func (r PlanRow) Cells() report.Cells {
	return report.Cells{{"motion", r.Name}, {"separates", r.Separates}, {"how", r.How}}
}

// JudgedRow is a model's error on recordings that neither its fit nor its choice has seen.
type JudgedRow struct {
	LeftOut string        `json:"left_out"`
	Model   string        `json:"model"`
	Own     float64       `json:"own_mae_deg"`
	Unseen  float64       `json:"left_out_mae_deg"`
	Inside  report.Number `json:"inside"`
}

func (r JudgedRow) Cells() report.Cells {
	n := func(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }
	return report.Cells{{"left out", r.LeftOut}, {"model", r.Model}, {"own mae deg", n(r.Own)},
		{"left out mae deg", n(r.Unseen)}, {"inside", r.Inside}}
}

// Judge fits without the recordings of each gain and of each motion in turn, and judges on those.
func (o *Offline) Judge(note func(format string, args ...any)) (rows []JudgedRow, err error) {
	if o.Servo == "" || len(o.Data) == 0 || o.Out != "" || o.Check != "" {
		return nil, Refuse("--judge without --servo and --data, or with --out or --check", "--servo MODEL --data FILES")
	}
	servo, err := ServoNamed(o.Servo, false)
	if err != nil {
		return nil, err
	}
	runs, err := identify.Load(o.Data)
	if err != nil {
		return nil, err
	}
	all, err := identify.Judge(runs, servo, func(step string) { note("%s", step) })
	for _, j := range all {
		rows = append(rows, JudgedRow{j.LeftOut, j.Model, j.Own / degree, j.Unseen / degree, report.Number(j.Inside)})
	}
	if err == nil && len(rows) == 0 {
		err = Refuse("recordings of one gain and one motion", "at least two gains, or two motions: one is left out")
	}
	return rows, err
}

// ServoNamed is the servo of a file, where files are allowed, or one of the models.
func ServoNamed(name string, files bool) (*identify.Servo, error) {
	if files && identify.IsFile(name) {
		return identify.ReadServo(name)
	}
	return identify.Known(name)
}

// PlayedRow is one recording with the error of the servo model's response to its goals.
type PlayedRow struct {
	File   string         `json:"file"`
	MAE    float64        `json:"mae_rad"`
	Max    float64        `json:"max_rad"`
	Inside *report.Number `json:"inside,omitempty"` // share of the samples within the servo's band
	Leaves string         `json:"finding,omitempty"`
}

func (r PlayedRow) Cells() report.Cells {
	inside := ""
	if r.Inside != nil {
		inside = strconv.FormatFloat(100*float64(*r.Inside), 'f', 0, 64) + " %"
	}
	return report.Cells{{"file", r.File}, {"mae rad", strconv.FormatFloat(r.MAE, 'f', 4, 64)},
		{"max rad", strconv.FormatFloat(r.Max, 'f', 4, 64)}, {"inside", inside}, {"finding", r.Leaves}}
}

// PlayedRows are the rows of results.
func PlayedRows(all []identify.Result) (rows []PlayedRow) {
	for _, r := range all {
		row := PlayedRow{File: r.File, MAE: r.Error, Max: r.Most, Leaves: r.Leaves}
		if !math.IsNaN(r.Inside) {
			inside := report.Number(r.Inside)
			row.Inside = &inside
		}
		rows = append(rows, row)
	}
	return rows
}

// Check compares the servos of a config with their calibrations: identity, homing offset, firmware, range and, if the
// robot is in its rest pose, drift. It returns the doctor's findings of those checks. No joint moves.
func Check(ctx context.Context, config string, o configs.Options, cat *halyard.Catalog) (*doctor.Examination, error) {
	d, err := doctor.Load(config, o, cat, nil)
	if err != nil {
		return nil, err
	}
	if err := d.Run(ctx); err != nil {
		return nil, err
	}
	d.Found = slices.DeleteFunc(d.Found, func(f doctor.Finding) bool {
		return !slices.Contains([]string{"calibration", "drift", "id", "model", "servo"}, f.Check)
	})
	return d, nil
}

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
