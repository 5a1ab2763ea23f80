package lab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/drivers/serial"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/servo"
)

// DeviceNames are the devices under test, in the order of the matrix; each is one word.
func DeviceNames() []string {
	var names []string
	for _, r := range FaultRows() {
		names = append(names, r.Device)
	}
	return slices.Compact(names)
}

// Cell is what one fault does to one device, over all seeds: the worst of each.
type Cell struct {
	Device  string        `json:"device"`
	Bus     string        `json:"bus"`
	Fault   string        `json:"fault"`
	Outcome string        `json:"outcome"` // no effect, detected, "detected, latched", n/a, or what is wrong
	MaxAge  report.Number `json:"max_age_ms"`
	Detect  report.Number `json:"detect_ms"`
	Recover report.Number `json:"recover_ms"`
	Seeds   int           `json:"seeds"`

	Failed bool
}

func (c Cell) Cells() report.Cells {
	return report.Cells{{"device", c.Device}, {"bus", c.Bus}, {"fault", c.Fault}, {"outcome", c.Outcome},
		{"max age ms", c.MaxAge}, {"detect ms", c.Detect}, {"recover ms", c.Recover}, {"seeds", c.Seeds}}
}

// rank orders the outcomes: a cell has that of its worst seed.
func rank(outcome string) int {
	if i := slices.Index([]string{"no effect", "detected", "detected, latched"}, outcome); i >= 0 {
		return i
	}
	return 3
}

// RunCell tries a fault on a device with each seed.
func RunCell(ctx context.Context, r *FaultRow, w *FaultWord, seeds int) (Cell, error) {
	c := Cell{Device: r.Device, Bus: r.Bus, Fault: w.Name, Outcome: "n/a", MaxAge: report.Number(math.NaN()),
		Detect: report.Number(math.NaN()), Recover: report.Number(math.NaN())}
	if w.Plant(r) == nil {
		return c, nil
	}
	c.Outcome, c.Seeds = "no effect", seeds
	for seed := range seeds {
		if err := ctx.Err(); err != nil {
			return c, err
		}
		one := TryCell(r, w, int64(seed+1))
		c.MaxAge, c.Detect, c.Recover = worst(c.MaxAge, one.MaxAge), worst(c.Detect, one.Detect),
			worst(c.Recover, one.Recover)
		switch known, ok := r.known[w.Name]; {
		case one.Failed && ok && (strings.HasPrefix(one.Outcome, "wrong: ") ||
			strings.HasPrefix(one.Outcome, "does not follow")):
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

// sockets are the ports of a test rig's adapters: an imitation of /dev in which a stable name links to the node of the
// adapter. The node's number changes with each plugging, and an old number opens no adapter.
type sockets struct {
	root  string            // "/" of the made-up tree
	nodes map[string]string // by the adapter's stable name: "ttyUSB3"; none while it is not plugged in
	count int               // numbers assigned so far
}

// plug gives the adapter called name the next number.
func (s *sockets) plug(name string) error {
	node := fmt.Sprintf("ttyUSB%d", s.count)
	link := filepath.Join(s.root, name)
	if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
		return err
	}
	to := filepath.Join(s.root, "dev", node)
	s.count++
	s.nodes[name] = node
	return errors.Join(os.WriteFile(to, nil, 0o600), os.Symlink(to, link))
}

// unplug takes its node and its name away.
func (s *sockets) unplug(name string) error {
	node := s.nodes[name]
	delete(s.nodes, name)
	return errors.Join(os.Remove(filepath.Join(s.root, name)), os.Remove(filepath.Join(s.root, "dev", node)))
}

// follow returns an opener that finds the adapter by its stable name, as for a real port.
func (s *sockets) follow(name string, open servo.Opener) servo.Opener {
	return serial.Named(s.root, name, func(_, node string) (servo.Line, error) {
		if filepath.Base(node) != s.nodes[name] {
			return nil, &hal.Error{Kind: hal.Absent, Bus: node, Op: "open", Err: servo.ErrDisconnected}
		}
		return open()
	})
}
