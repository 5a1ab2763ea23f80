package lab

import (
	"time"

	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// usualCounts are the chains of hardware.md's table.
func usualCounts() []int { return []int{6, 12, 18, 20} }

// TableLines are the long list of lines: all cells of hardware.md's table, and its rows below it. Their health is not
// read, so that the figures are the cells.
func TableLines() []benchLine { return linesOf(true) }

// linesOf are the lines that the drivers are measured by, each chain as shipped but for its config.
func linesOf(long bool) (all []benchLine) {
	for _, kind := range catalog.BuiltinBuses().Names() {
		for _, b := range catalog.BuiltinBuses().Of(kind).Benchmarks {
			if b.Long != long {
				continue
			}
			l := benchLine{kind: kind, model: b.Model, how: b.Name, counts: b.Counts, first: int(b.First),
				config: b.Config, settings: b.Settings}
			if l.counts == nil {
				l.counts = usualCounts()
			}
			if b.FTDI > 0 {
				l.timing = emulator.FTDI(b.FTDI)
			}
			delays := b.Delays
			if delays == nil {
				delays = []time.Duration{0}
			}
			for _, delay := range delays {
				for _, baud := range b.Bauds {
					l := l
					l.baud, l.delay = baud, delay
					l.bound = func(n int) time.Duration { return b.Bound(n, baud, delay) }
					all = append(all, l)
				}
			}
		}
	}
	return all
}
