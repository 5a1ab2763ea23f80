package assembly

import (
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/sim"
)

// field lets the simulated sensors that p is fill one. A robot that is not simulated, or a monitor, has an empty one.
func (b *Builder) field(p *catalog.SensorPlan, t *catalog.GroundTruth) *catalog.Field {
	f := &catalog.Field{GroundTruth: t}
	body, ok := b.Simulated(p.Agent).(*sim.Body)
	for _, u := range p.Uses {
		if i := catalog.SensorIndex(t.Layout, u.Sensor); ok && i != hal.None {
			// Refused if there is a listener already: then the field stays empty.
			_ = body.Listen(i, f.Find)
		}
	}
	return f
}
