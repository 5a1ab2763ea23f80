package policy

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
)

// Open reads the files of the policies of c and prepares each for the layout of its agent, nil if there is none. The
// drivers are in the order of their names. All faults are returned together.
func Open(c *configs.Config, layout func(agent string) *hal.Layout) (list []*Driver, err error) {
	for _, name := range report.SortedKeys(c.Policies) {
		d, fault := open(c, name, layout)
		if err = errors.Join(err, fault); fault == nil {
			list = append(list, d)
		}
	}
	return list, err
}

func open(c *configs.Config, name string, layout func(agent string) *hal.Layout) (*Driver, error) {
	p := c.Policies[name]
	net, err := Load(c.Resolve(p.File))
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", name, err)
	}
	l := layout(p.Agent)
	if l == nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "policy " + name, Err: fmt.Errorf("got agent %q, want one of %s",
			p.Agent, c.Source)}
	}
	simulated := true
	for i := range c.Agents {
		if a := &c.Agents[i]; a.Name == p.Agent {
			simulated = !a.Has(configs.Real) && !a.Has(configs.Emulated)
		}
	}
	return NewDriver(name, net, p, l, c.Clock.Period, c.World.Seed, simulated)
}

// Load reads an ONNX file from a path.
func Load(path string) (*Network, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "policy", Err: err}
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "policy", Err: err}
	}
	return Read(data)
}
