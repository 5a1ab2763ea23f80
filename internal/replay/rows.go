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

func (r Row) Cells() report.Cells {
	return report.Cells{{"cycle", r.Cycle}, {"agent", cmp.Or(r.Agent, "-")}, {"value", r.What},
		{"recorded", r.Recorded},
		{"replayed", r.Replayed}, {"cycles", r.Divergence.Cycles}, {"largest", fmt.Sprintf("%.4g", r.Largest)},
		{"rms", r.RMS}}
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
