package replay

import (
	"cmp"
	"fmt"

	"github.com/halyard-robotics/halyard/internal/record"
	"github.com/halyard-robotics/halyard/internal/report"
)

// Row is one value that a replay has otherwise than its recording.
type Row struct {
	record.Divergence
	RMS report.Number `json:"rms"` // of the difference, over all cycles
}

func (Row) Header() []string {
	return []string{"cycle", "agent", "value", "recorded", "replayed", "cycles", "largest", "rms"}
}

func (r Row) Cells() []string {
	return []string{fmt.Sprint(r.Cycle), cmp.Or(r.Agent, "-"), r.What, r.Recorded, r.Replayed, fmt.Sprint(r.Divergence.Cycles), fmt.Sprintf("%.4g", r.Largest), r.RMS.String()}
}

// Rows are the divergences, the first first.
func (r *Result) Rows() []Row {
	rows := make([]Row, len(r.Divergences))
	for i := range rows {
		d := r.Divergences[i]
		rows[i] = Row{d, report.Number(r.RMS(&d))}
	}
	return rows
}

// First is the first divergence in words.
func (r *Result) First() string {
	if len(r.Divergences) == 0 {
		return "none"
	}
	d := &r.Divergences[0]
	return fmt.Sprintf("in cycle %d: %s %s: recorded %s, now %s", d.Cycle, d.Agent, d.What, d.Recorded, d.Replayed)
}
