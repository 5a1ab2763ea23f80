package bodies

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/budget"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/report"
)

// Row compares a run with that of the first body through the same door.
type Row struct {
	Door     string        `json:"door"`
	Body     string        `json:"body"`
	Line     string        `json:"line"`
	Samples  int           `json:"samples"`
	Lag      report.Number `json:"lag_ms"`       // from goals to positions
	Shift    report.Number `json:"shift_ms"`     // of the positions behind the first body's
	Position report.Number `json:"position_rad"` // RMS of the difference after the shift
	Torque   report.Number `json:"torque_share"` // likewise, of the RMS of the torque
	Step     report.Number `json:"step_ms"`      // of a cycle by the wall clock
	Missed   report.Number `json:"missed"`       // share of the cycles that this computer began too late
	Told     string        `json:"told"`
	Resets   int           `json:"resets"`
	Out      int           `json:"out"`
	Differs  report.Number `json:"differs_rad"`
	Ends     string        `json:"ends"`
}

func (r Row) Cells() report.Cells {
	return report.Cells{{"door", r.Door}, {"body", r.Body}, {"line", r.Line}, {"lag ms", r.Lag}, {"shift ms", r.Shift},
		{"position rad", r.Position}, {"torque share", r.Torque}, {"step ms", r.Step}, {"missed", r.Missed},
		{"resets", r.Resets},
		{"out", r.Out}, {"differs rad", r.Differs}, {"told", r.Told}, {"ends", r.Ends}}
}

// at interpolates column i of rows at t; NaN outside.
func at(time []float64, rows [][]float64, i int, t float64, from int) (v float64, next int) {
	k := from
	for k+1 < len(time) && time[k+1] < t {
		k++
	}
	if k+1 >= len(time) || t < time[k] {
		return math.NaN(), k
	}
	f := (t - time[k]) / (time[k+1] - time[k])
	return rows[k][i] + f*(rows[k+1][i]-rows[k][i]), k
}

// rms is that of the difference of a, shift s later, from b, and that of b, over all columns.
func rms(a, b *Track, of func(*Track) [][]float64, shift float64) (difference, size float64) {
	ra, rb := of(a), of(b)
	n := 0
	for i := range joints {
		from := 0
		for k, t := range b.Time {
			var v float64
			if v, from = at(a.Time, ra, i, t+shift, from); math.IsNaN(v) || math.IsNaN(rb[k][i]) {
				continue
			}
			n++
			difference += (v - rb[k][i]) * (v - rb[k][i])
			size += rb[k][i] * rb[k][i]
		}
	}
	if n == 0 {
		return math.NaN(), math.NaN()
	}
	return math.Sqrt(difference / float64(n)), math.Sqrt(size / float64(n))
}

func positions(t *Track) [][]float64 { return t.Position }
func torques(t *Track) [][]float64   { return t.Torque }

// smooth averages a track's torques over 0.2 s: friction at rest and the steps of goals make single ones noisy.
func smooth(t *Track) *Track {
	const span = 0.2
	s := &Track{Time: t.Time, Torque: make([][]float64, len(t.Torque))}
	for k, at := range t.Time {
		s.Torque[k] = make([]float64, len(joints))
		n := 0.
		for m := range t.Time {
			if math.Abs(t.Time[m]-at) <= span/2 {
				n++
				for i, v := range t.Torque[m] {
					s.Torque[k][i] += v
				}
			}
		}
		for i := range s.Torque[k] {
			s.Torque[k][i] /= n
		}
	}
	return s
}

func goals(t *Track) [][]float64 { return t.Goal }

// shiftOf is by how much a is behind b, s: where their difference is least.
func shiftOf(a, b *Track, of, from func(*Track) [][]float64) float64 {
	x, y := &Track{Time: a.Time, Position: of(a)}, &Track{Time: b.Time, Position: from(b)}
	best, least := math.NaN(), math.Inf(1)
	for step, width := 0.005, 0.15; step > 1e-5; step, width = step/5, 2*step {
		centre := best
		if math.IsNaN(centre) {
			centre = 0.1
		}
		for s := centre - width; s <= centre+width; s += step {
			if d, _ := rms(x, y, positions, s); d < least {
				best, least = s, d
			}
		}
	}
	return best
}

// Compare is run beside first, the run of the first body through the same door.
func Compare(run, first *Run, line string) Row {
	const ms = 1e3
	shift := shiftOf(&run.Motion, &first.Motion, positions, positions)
	p, _ := rms(&run.Motion, &first.Motion, positions, shift)
	d, size := rms(smooth(&run.Motion), smooth(&first.Motion), torques, shift)
	told := ""
	if len(run.Told) > 0 {
		told = run.Told[0]
	}
	step := math.NaN()
	if run.Step > 0 {
		step = float64(run.Step) / float64(time.Millisecond)
	}
	return Row{Door: run.Door, Body: run.Body, Line: line, Samples: len(run.Motion.Time),
		Lag:   report.Number(ms * shiftOf(&run.Motion, &run.Motion, positions, goals)),
		Shift: report.Number(ms * shift), Position: report.Number(p), Torque: report.Number(d / size),
		Step: report.Number(step), Missed: report.Number(run.Missed), Told: told, Resets: run.Resets.Done,
		Out:     run.Resets.Out,
		Differs: report.Number(run.Resets.Differs), Ends: run.Ends}
}

// CompareDoors plays on all bodies through the doors called names; without names, through all doors.
func CompareDoors(ctx context.Context, names []string, o Options) (rows []Row, err error) {
	for _, name := range names {
		if !slices.ContainsFunc(Doors(), func(d Door) bool { return d.Name == name }) {
			return nil, &hal.Error{Kind: hal.Invalid, Op: "--door", Err: fmt.Errorf("got %q, want one of %s", name,
				strings.Join(doorNames(), ", "))}
		}
	}
	for _, d := range Doors() {
		if len(names) > 0 && !slices.Contains(names, d.Name) {
			continue
		}
		var first *Run
		for _, b := range Bodies() {
			if !o.has(b) {
				continue
			}
			run, err := Play(ctx, &d, b, lines[0], o)
			if err != nil {
				return rows, fmt.Errorf("%s, %s: %w", d.Name, b.Name, err)
			}
			if first == nil {
				first = run
			}
			rows = append(rows, Compare(run, first, lines[0].Name))
		}
	}
	return rows, nil
}

// has reports whether b is to be run; the first body is what the others are compared with.
func (o *Options) has(b Body) bool {
	return len(o.Bodies) == 0 || b.Name == bodies[0].Name || slices.Contains(o.Bodies, b.Name)
}

func doorNames() (names []string) {
	for _, d := range Doors() {
		names = append(names, d.Name)
	}
	return names
}

// LineRow is a line on which the robot was emulated and real, beside the plan of its bus.
type LineRow struct {
	Line    string        `json:"line"`
	Body    string        `json:"body"`
	Planned report.Number `json:"planned_ms"` // the same, as the plan has it
	Every   report.Number `json:"every_ms"`   // between two readings of a joint
	Off     report.Number `json:"off_share"`
	Step    report.Number `json:"step_ms"`
	Lag     report.Number `json:"lag_ms"`
}

func (r LineRow) Cells() report.Cells {
	return report.Cells{{"line", r.Line}, {"body", r.Body}, {"planned ms", r.Planned}, {"every ms", r.Every},
		{"off", r.Off}, {"step ms", r.Step}, {"lag ms", r.Lag}}
}

// CompareLines plays through the batch door on each line, and compares the plan with what happens.
func CompareLines(ctx context.Context, o Options) (rows []LineRow, err error) {
	o.Resets, o.LockstepResets = 0, 0
	door := Doors()[slices.Index(doorNames(), "batch")]
	for _, l := range lines {
		planned, err := planOf(l)
		if err != nil {
			return rows, err
		}
		for _, b := range bodies[1:] {
			if !o.has(b) {
				continue
			}
			run, err := Play(ctx, &door, b, l, o)
			if err != nil {
				return rows, fmt.Errorf("%s, %s: %w", l.Name, b.Name, err)
			}
			const ms = 1e3
			every := run.Motion.every()
			rows = append(rows, LineRow{Line: l.Name, Body: b.Name, Planned: report.Number(ms * planned),
				Every: report.Number(ms * every), Off: report.Number(every/planned - 1),
				Step: report.Number(float64(run.Step) / float64(time.Millisecond)),
				Lag:  report.Number(ms * shiftOf(&run.Motion, &run.Motion, positions, goals))})
		}
	}
	return rows, nil
}

// planOf is what the plan says of the time between two readings, s.
func planOf(l Line) (float64, error) {
	dir, err := os.MkdirTemp("", "bodies")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	r, err := NewRobot(dir, l, "")
	if err != nil {
		return 0, err
	}
	p, err := plan.Load(r.Path, configs.Options{}, builtin.Catalog())
	if err != nil {
		return 0, err
	}
	buses, err := budget.Of(p, budget.Options{})
	if err != nil {
		return 0, err
	}
	return float64(buses[0].Every) / 1e3, nil
}

// every is the mean time between two changes of a joint's values while all move.
func (t *Track) every() float64 {
	first, last, n := math.NaN(), 0., 0
	for k := 1; k < len(t.Time); k++ {
		if !slices.Equal(t.Position[k], t.Position[k-1]) || !slices.Equal(t.Torque[k], t.Torque[k-1]) {
			if n++; n == 1 {
				first = t.Time[k]
			}
			last = t.Time[k]
		}
	}
	return (last - first) / float64(n-1)
}
