package assembly

import (
	"slices"

	"github.com/halyard-robotics/halyard/configs"
)

// UsedLine is a line of a chip that the config uses, and what for.
type UsedLine struct {
	Bus, Line, Device string
	Body              configs.BodyKind
}

// Used lists the lines of the plan, in its order.
func (p *Plan) Used() (list []UsedLine) {
	for _, s := range p.Sensors {
		if s.Kind.On == nil {
			continue
		}
		for _, line := range s.Config.Lines {
			list = append(list, UsedLine{s.Config.Bus, string(line), s.Name, s.Body})
		}
	}
	wires := slices.Concat(p.Estops, p.lights)
	for _, g := range p.Gates {
		wires = append(wires, &g.WirePlan)
	}
	for _, w := range wires {
		list = append(list, UsedLine{w.Bus, w.Line, w.Name, w.Body})
	}
	return list
}
