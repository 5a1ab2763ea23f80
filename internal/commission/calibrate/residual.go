package calibrate

import (
	"cmp"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync/atomic"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/internal/sim/twin"
)

// Residuals sums up the difference of every shadowed joint from its simulated twin while a rig runs, logs each joint
// that differs for longer than chance, and names the cause. It reads the cycles and does not change the control.
type Residuals struct {
	rig     *hal.Rig
	session *hal.Session
	joints  []residual
	log     *slog.Logger
	source  string  // of the config, for the command to type next
	period  float64 // s
	judges
}

// A joint differs from its twin where the root mean square of the last second stays above alarmAbove for alarmAfter,
// and no more where it stays below half of that as long. A healthy joint of an emulated arm is below 1 degree.
const (
	alarmAbove = 1.5 * degree
	alarmOver  = 1.0 // s, time constant of the mean
	alarmAfter = 0.5 // s
)

type residual struct {
	agent   *hal.Agent
	joint   string
	index   int  // of the actuator
	loose   bool // its robot's base moves: no cause is looked for
	channel int  // in the agent's measured values
	n       int
	squares float64
	moment  float64 // of the squares about the time since the start, rad² s
	clock   float64 // s since the start
	worst   float64
	seen    []float64 // scratch

	recent float64 // rad², mean over the last second
	since  float64 // s for which it has been beyond the alarm's bound
	alarm  bool

	// when the first alarm came, s since the start, as bits, until it is judged to be healthy; 0 = none
	differs atomic.Uint64
	verdict atomic.Pointer[twin.Verdict] // nil while it is not known why
}

// ResidualRow is one joint's.
type ResidualRow struct {
	Joint  string        `json:"joint"`
	RMS    report.Number `json:"shadow_rms_rad"`
	Max    report.Number `json:"shadow_max_rad"`
	Trend  report.Number `json:"shadow_trend_rad_per_h"` // of the root mean square: it grows with wear
	Recent report.Number `json:"residual_rad"`           // root mean square of the last second
	// since the start: its first alarm; null while it does not differ
	Since report.Number `json:"differs_since_s"`

	Cause     twin.Cause    `json:"cause"` // none while it does not differ, "" while the cause is not known
	Size      report.Number `json:"size"`
	Explained report.Number `json:"explained"` // share of the difference
	Found     string        `json:"found"`
	Second    twin.Cause    `json:"or,omitempty"`
}

func (r ResidualRow) Cells() report.Cells {
	return report.Cells{{"joint", r.Joint}, {"shadow rms rad", r.RMS}, {"shadow max rad", r.Max},
		{"trend rad/h", r.Trend},
		{"residual rad", r.Recent}, {"cause", cmp.Or(string(r.Cause), "?")}, {"explained", r.Explained},
		{"found", r.Found},
		{"or", r.Second}}
}

// trend is by how much the root mean square grows in an hour: the slope of a line through the squares.
func (j *residual) trend() float64 {
	mean, middle := j.squares/float64(j.n), j.clock/2
	spread := float64(j.n) * j.clock * j.clock / 12
	if !(spread > 0 && mean > 0) {
		return math.NaN()
	}
	return (j.moment - middle*j.squares) / spread / (2 * math.Sqrt(mean)) * 3600
}

const shadowSuffix = "/shadow_error"

// WatchResiduals starts to watch; without a shadow it returns no rows.
func WatchResiduals(r *hal.Rig, c *configs.Config, cat *halyard.Catalog, log *slog.Logger) *Residuals {
	w := &Residuals{rig: r, log: log, source: c.Source, period: c.Clock.Period.Seconds()}
	for _, a := range r.Agents() {
		l := a.Layout()
		for i := range l.Infos {
			if joint, ok := strings.CutSuffix(l.Infos[i].Name, shadowSuffix); ok {
				w.joints = append(w.joints, residual{agent: a, joint: a.Name() + "/" + joint, index: l.Actuator(joint),
					channel: len(l.Outputs) + i})
			}
		}
	}
	if len(w.joints) > 0 {
		w.watchCauses(r, c, cat)
		w.session = r.NewSession("residuals", w)
	}
	return w
}

func (w *Residuals) Cycle(*hal.Cycle) {
	for i := range w.joints {
		j := &w.joints[i]
		j.seen = j.agent.Measured(j.seen)
		j.clock += w.period
		if e := j.seen[j.channel]; !math.IsNaN(e) {
			j.n++
			j.squares += e * e
			j.moment += e * e * j.clock
			j.worst = math.Max(j.worst, math.Abs(e))
			w.judge(j, e)
		}
	}
	for _, c := range w.causes {
		c.cycle(c.joints[0].clock, w.full)
	}
}

// judge raises and clears the alarm of j by the residual e.
func (w *Residuals) judge(j *residual, e float64) {
	j.recent += w.period / alarmOver * (e*e - j.recent)
	bound := alarmAbove * alarmAbove
	if beyond := j.recent > bound; j.alarm && j.recent > bound/4 || !j.alarm && !beyond {
		j.since = 0
		return
	}
	if j.since += w.period; j.since < alarmAfter {
		return
	}
	j.since, j.alarm = 0, !j.alarm
	if !j.alarm {
		w.log.Info("joint is as its twin again", "joint", j.joint)
		return
	}
	if j.differs.CompareAndSwap(0, math.Float64bits(j.clock)) {
		j.verdict.Store(nil)
	}
	_, name, _ := strings.Cut(j.joint, "/")
	w.log.Warn("joint differs from its twin", "joint", j.joint, "rms_rad", math.Sqrt(j.recent), "try",
		"halyard twin "+w.source+" --joint "+name)
}

// Rows are the joints as they are now. It may be called from any goroutine but the cycle's, before Close.
func (w *Residuals) Rows() (rows []ResidualRow) {
	w.rig.BetweenCycles(func() { rows = w.rows() })
	return rows
}

// Answer is Rows, or nil where no joint has a shadow.
func (w *Residuals) Answer() any {
	if w.session == nil {
		return nil
	}
	return w.Rows()
}

func (w *Residuals) rows() (rows []ResidualRow) {
	for i := range w.joints {
		j := &w.joints[i]
		if j.n == 0 {
			continue
		}
		r := ResidualRow{Joint: j.joint, RMS: report.Number(math.Sqrt(j.squares / float64(j.n))),
			Max: report.Number(j.worst), Trend: report.Number(j.trend()),
			Recent: report.Number(math.Sqrt(j.recent)), Since: report.Number(math.NaN()), Cause: twin.None,
			Size: report.Number(math.NaN()), Explained: report.Number(math.NaN())}
		switch v := j.verdict.Load(); {
		case j.differs.Load() == 0:
		case j.loose:
			r.Cause, r.Found = "", "it differs; its robot's base moves, and its motion turns its joints too: no "+
				"cause is reported"
		case v == nil:
			r.Cause, r.Found = "", fmt.Sprintf("it differs; its motion is recorded for %d s, then judged", testSeconds)
		default:
			r.Cause, r.Size, r.Explained, r.Found, r.Second = v.Cause, report.Number(v.Size),
				report.Number(v.Explained), v.Words, v.Second
		}
		if j.differs.Load() != 0 {
			r.Since = report.Number(math.Float64frombits(j.differs.Load()))
		}
		rows = append(rows, r)
	}
	return rows
}

// Close stops watching and returns the result. It waits for the judging of one joint at most, a second or two.
func (w *Residuals) Close() []ResidualRow {
	if w.session == nil {
		return nil
	}
	w.session.Close()
	w.close()
	return w.rows()
}
