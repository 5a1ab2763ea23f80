package assembly

import (
	"log/slog"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// lineWatch logs, once a line, that its exchanges take longer than the period: goals and readings come more rarely than
// the cycle does.
type lineWatch struct {
	log    *slog.Logger
	source string
	lines  []slowLine
	period time.Duration
	cycles int
}

type slowLine struct {
	line
	real bool
	seen uint64 // overruns as of the last look
	told bool
}

// lineCycles is how often a line is looked at, lineShare the share of its cycles that are too long of one that is told:
// switching torque on may take longer.
const (
	lineCycles = 100
	lineShare  = 0.2
)

func (b *Builder) watchLines() {
	w := &lineWatch{log: b.Log, source: b.Plan.Config.Source, period: b.Plan.Config.Clock.Period}
	for _, l := range b.Lines {
		w.lines = append(w.lines, slowLine{line: l, real: l.Emu == nil})
	}
	if len(w.lines) > 0 {
		b.watch("lines", w)
	}
}

func (w *lineWatch) Cycle(*hal.Cycle) {
	if w.cycles++; w.cycles%lineCycles != 0 {
		return
	}
	for i := range w.lines {
		l := &w.lines[i]
		s := l.Chain.Stats()
		over := s.Overran - l.seen
		if l.seen = s.Overran; l.told || s.Spent <= w.period || float64(over) < lineShare*lineCycles/math.Ceil(
			float64(s.Spent)/float64(w.period)) {
			continue
		}
		l.told = true
		each := (s.Spent + w.period - 1) / w.period * w.period
		what := "its goals and readings come more rarely than the cycle does"
		if l.real {
			what = "every cycle of the rig waits for it"
		}
		w.log.Warn("bus is slower than the cycle: "+what, "bus", l.Name, "exchange", s.Spent.Round(10*time.Microsecond),
			"period", w.period, "every", each, "try", "halyard plan "+w.source)
	}
}
