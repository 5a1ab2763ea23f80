package lab

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/internal/report"
)

// DeviceNames are the devices on trial as a person reads them.
func DeviceNames() string {
	var names []string
	for _, r := range FaultRows() {
		names = append(names, r.Device)
	}
	return strings.Join(slices.Compact(names), ", ")
}

// Cell is what one fault does to one device, over all seeds: the worst of each.
type Cell struct {
	Device  string        `json:"device"`
	Bus     string        `json:"bus"`
	Fault   string        `json:"fault"`
	Outcome string        `json:"outcome"` // unharmed, told, n/a, or what is wrong
	Oldest  report.Number `json:"oldest_ms"`
	Told    report.Number `json:"told_ms"`
	Back    report.Number `json:"back_ms"`
	Seeds   int           `json:"seeds"`

	Failed bool
}

func (Cell) Header() []string {
	return []string{"device", "bus", "fault", "outcome", "oldest ms", "told ms", "back ms", "seeds"}
}

func (c Cell) Cells() []string {
	return []string{c.Device, c.Bus, c.Fault, c.Outcome, c.Oldest.String(), c.Told.String(), c.Back.String(), fmt.Sprint(c.Seeds)}
}

// rank orders the outcomes: the worst seed speaks for the cell, and what is known outweighs what went well.
func rank(outcome string) int {
	if i := slices.Index([]string{"unharmed", "told", "told, held"}, outcome); i >= 0 {
		return i
	}
	return 3
}

// RunCell tries a fault on a device with each seed.
func RunCell(ctx context.Context, r *FaultRow, w *FaultWord, seeds int) (Cell, error) {
	c := Cell{Device: r.Device, Bus: r.Bus, Fault: w.Name, Outcome: "n/a", Oldest: report.Number(math.NaN()), Told: report.Number(math.NaN()), Back: report.Number(math.NaN())}
	if w.Plant(r) == nil {
		return c, nil
	}
	c.Outcome, c.Seeds = "unharmed", seeds
	for seed := range seeds {
		if err := ctx.Err(); err != nil {
			return c, err
		}
		one := TryCell(r, w, int64(seed+1))
		c.Oldest, c.Told, c.Back = worst(c.Oldest, one.Oldest), worst(c.Told, one.Told), worst(c.Back, one.Back)
		switch known, ok := r.known[w.Name]; {
		case one.Failed && ok && (strings.HasPrefix(one.Outcome, "wrong: ") || strings.HasPrefix(one.Outcome, "does not obey")):
			c.Outcome = known // and nothing else: what is known to believe noise is not known to break
		case one.Failed && !c.Failed:
			c.Outcome, c.Failed = fmt.Sprintf("%s (seed %d)", one.Outcome, seed+1), true
		case !c.Failed && rank(one.Outcome) > rank(c.Outcome):
			c.Outcome = one.Outcome
		}
	}
	return c, nil
}

// worst is the greater of two numbers, either of which may be none.
func worst(a, b report.Number) report.Number {
	if math.IsNaN(float64(a)) || b > a {
		return b
	}
	return a
}
