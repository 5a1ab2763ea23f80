package assembly

import (
	"strconv"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/protocols/gamebots"
	"github.com/halyard-robotics/halyard/sim"
)

// field lets the simulated sensors that p is fill one. A robot that is not simulated, or a monitor, has an empty one.
func (b *Builder) field(p *catalog.SensorPlan, t *catalog.GroundTruth) *catalog.Field {
	f := &catalog.Field{GroundTruth: t}
	body, ok := b.Simulated(p.Agent).(*sim.Body)
	for _, u := range p.Uses {
		if i := catalog.SensorIndex(t.Layout, u.Sensor); ok && i != hal.None {
			// Refused where somebody listens already: then the field stays empty, which shows.
			_ = body.Listen(i, f.Find)
		}
	}
	return f
}

// Listen lets the readers of agent i that are devices tell a client of r what they read, in the place of the scene. A
// reader knows a tag's number alone: not how far away it is, and neither the name nor the state of a victim.
func (sys *System) Listen(i int, r *gamebots.Robot) {
	for k := range r.Sensors {
		s := &r.Sensors[k]
		source, ok := sys.Sources[plan.JointRef{Agent: i, Joint: s.Index}].(catalog.Tagged)
		if !ok {
			continue
		}
		hits := &gamebots.Hits{}
		if source.Listen(func(tag int) { hits.Put(gamebots.Hit{Tag: tag, ID: strconv.Itoa(tag), State: "None"}) }) {
			s.Hits = hits
		}
	}
}
