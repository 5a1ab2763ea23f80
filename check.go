package halyard

import (
	"context"
	"math"

	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/report"
)

// Check is Load, and also resolves every name in the config: models, devices, calibrations, protocols. It opens no
// device. All faults are returned together, in the order of the file.
func Check(nameOrPath string, settings ...Setting) (*Config, error) {
	p, err := plan.Load(nameOrPath, optionsOf(settings), builtin.Catalog())
	if err != nil {
		return nil, err
	}
	return p.Config, nil
}

// Finding is the result of one check of Examine: its state ("ok", "warn" or "fail"), the finding, and the fix.
type Finding = doctor.Finding

// Examine runs the checks of halyard doctor before a first motion: ports, lines, servos, devices and calibrations. A
// joint with body "sim" is checked as if it were real. It moves nothing and writes no register. The worst findings come
// first. It returns an error if the config cannot be checked. It blocks for seconds, until ctx ends at most.
func Examine(ctx context.Context, nameOrPath string, settings ...Setting) ([]Finding, error) {
	x, err := doctor.Load(nameOrPath, optionsOf(settings), builtin.Catalog(), nil)
	if err != nil {
		return nil, err
	}
	err = x.Run(ctx)
	return x.Found, err
}

// Item is a part of a robot, or a server, of a config: its kind, unit and range, and its connection.
type Item = plan.Thing

// List lists the actuators, sensors, cameras, bodies and servers of cfg; of each class that has hardware, one robot.
func List(cfg *Config, with ...Option) ([]Item, error) {
	p, err := plan.Resolve(cfg, newOptions(with).catalog)
	if err != nil {
		return nil, err
	}
	if p, err = p.Stationed(); err != nil {
		return nil, err
	}
	var items []Item
	for i := range p.Agents {
		items = p.Agents[i].Things(items)
	}
	none := report.Number(math.NaN())
	for _, s := range cfg.Servers {
		items = append(items, Item{Kind: "server", Agent: s.Agent, Name: s.Protocol, Min: none, Max: none,
			On: s.Listen})
	}
	return items, nil
}
