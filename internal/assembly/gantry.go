package assembly

import (
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim"
)

// gantry holds the root of a robot that is not real where it begins, until all its joints have had torque for a while.
type gantry struct {
	scene        *sim.Scene
	body         *sim.Body
	period, ramp time.Duration
	driven       time.Duration // how long all joints have had torque
	holds        bool
}

func (b *Builder) watchGantries() {
	for i := range b.Plan.Agents {
		c := b.Plan.Agents[i].Config
		if c.Start.Hold != "until-armed" || c.Has(configs.Real) || b.Robots[i] == nil {
			continue
		}
		g := &gantry{scene: b.Scene, body: b.Robots[i], period: b.Plan.Config.Clock.Period, ramp: c.Start.Ramp}
		g.toggle()
		b.watch("gantry of "+c.Name, g)
	}
}

func (g *gantry) toggle() {
	if g.scene.ToggleFixed(g.body.Name(), g.body.Root()) == nil {
		g.holds, g.driven = !g.holds, 0
	}
}

func (g *gantry) Cycle(c *hal.Cycle) {
	switch {
	case c.Reset && !g.holds:
		g.toggle()
	case g.holds && g.body.Driven():
		if g.driven += g.period; g.driven > g.ramp {
			g.toggle()
		}
	case g.holds:
		g.driven = 0
	}
}
