package calibrate

import (
	"math"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
)

// Residuals sum up how far every shadowed joint was from its simulated twin while a rig ran. It watches the cycles and
// controls nothing.
type Residuals struct {
	session *hal.Session
	joints  []residual
}

type residual struct {
	agent   *hal.Agent
	joint   string
	channel int // in the agent's measured values
	n       int
	squares float64
	worst   float64
	seen    []float64 // scratch
}

// ResidualRow is one joint's.
type ResidualRow struct {
	Joint string        `json:"joint"`
	RMS   report.Number `json:"shadow_rms_rad"`
	Max   report.Number `json:"shadow_max_rad"`
}

func (ResidualRow) Header() []string { return []string{"joint", "shadow rms rad", "shadow max rad"} }

func (r ResidualRow) Cells() []string { return []string{r.Joint, r.RMS.String(), r.Max.String()} }

const shadowSuffix = "/shadow_error"

// WatchResiduals starts to watch; without a shadow there is nothing to see.
func WatchResiduals(r *hal.Rig) *Residuals {
	w := &Residuals{}
	for _, a := range r.Agents() {
		l := a.Layout()
		for i := range l.Infos {
			if joint, ok := strings.CutSuffix(l.Infos[i].Name, shadowSuffix); ok {
				w.joints = append(w.joints, residual{agent: a, joint: a.Name() + "/" + joint, channel: len(l.Outputs) + i})
			}
		}
	}
	if len(w.joints) > 0 {
		w.session = r.NewSession("residuals", w)
	}
	return w
}

// Cycle implements hal.Observer.
func (w *Residuals) Cycle(*hal.Cycle) {
	for i := range w.joints {
		j := &w.joints[i]
		j.seen = j.agent.Measured(j.seen)
		if e := j.seen[j.channel]; !math.IsNaN(e) {
			j.n++
			j.squares += e * e
			j.worst = math.Max(j.worst, math.Abs(e))
		}
	}
}

// Close stops watching and returns what was seen.
func (w *Residuals) Close() []ResidualRow {
	if w.session == nil {
		return nil
	}
	w.session.Close()
	var rows []ResidualRow
	for _, j := range w.joints {
		if j.n > 0 {
			rows = append(rows, ResidualRow{j.joint, report.Number(math.Sqrt(j.squares / float64(j.n))), report.Number(j.worst)})
		}
	}
	return rows
}
