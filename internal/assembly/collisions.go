package assembly

import (
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim"
)

// collisions raises the events of contacts in every cycle of a contact, as the original: a client that connects later
// also receives a lasting contact. Contacts are computed only after a client has registered for one of the events.
//
//	/humanoid/left_foot/Collision      the body touches anything
//	/humanoid/Collision/Ground         the robot touches a fixed object
//	/humanoid/Collision/ball           the robot touches another one, or itself for its own name
//	/World/stone-3/Collision           a loose object touches any other than its support
//
// It is a hal.World that comes after the one it watches, so that the events are of the cycle.
type collisions struct {
	world  hal.Toucher
	events *hal.Events
	bodies map[hal.Part]hal.EventID
	robots []string
	pairs  map[[2]string]hal.EventID // of robots; "" is the ground
	raise  func(a, b hal.Part)       // made once: the cycle allocates nothing
}

func newCollisions(w hal.Toucher, e *hal.Events) *collisions {
	c := &collisions{world: w, events: e, bodies: map[hal.Part]hal.EventID{}, pairs: map[[2]string]hal.EventID{}}
	c.raise = c.touched
	return c
}

// Advance raises the events of contacts during the last Advance of the world before it.
func (c *collisions) Advance(time.Duration) error {
	c.world.Touches(c.raise)
	return nil
}

func (*collisions) Deferrable() bool { return true }

// touched raises all events of a touch. Events without a registration cost only their mark.
func (c *collisions) touched(a, b hal.Part) {
	c.events.Raise(c.bodies[a])
	c.events.Raise(c.bodies[b])
	// Of things there may be thousands, so that they make no pairs.
	if of(a) && of(b) {
		c.events.Raise(c.pairs[[2]string{a.Agent, b.Agent}])
		if a.Agent != b.Agent {
			c.events.Raise(c.pairs[[2]string{b.Agent, a.Agent}])
		}
	}
}

// of reports whether p is a robot's or the ground.
func of(p hal.Part) bool { return p.Agent != "" || p.Body == "" }

// declareThings declares the events of loose things.
func (c *collisions) declareThings(names []string) {
	for _, name := range names {
		c.bodies[hal.Part{Body: name}] = c.events.DeclareFor("/World/"+name+"/Collision", c.world.WatchTouches)
	}
}

// declareRobot declares the events of a robot, and those of the others with it.
func (c *collisions) declareRobot(b *sim.Body) {
	m := b.Model()
	if len(m.Bodies) == 0 { // robots without bodies have no contacts
		return
	}
	for i := range m.Bodies {
		part := hal.Part{Agent: b.Name(), Body: m.Bodies[i].Name}
		c.bodies[part] = c.events.DeclareFor("/"+part.Agent+"/"+part.Body+"/Collision", c.world.WatchTouches)
	}
	c.pair(b.Name(), "", "Ground")
	c.pair(b.Name(), b.Name(), b.Name())
	// a robot of the same name may return
	c.robots = slices.DeleteFunc(c.robots, func(name string) bool { return name == b.Name() })
	for _, other := range c.robots {
		c.pair(b.Name(), other, other)
		c.pair(other, b.Name(), b.Name())
	}
	c.robots = append(c.robots, b.Name())
}

// pair declares the event of contacts between robot a and b, which the event calls name.
func (c *collisions) pair(a, b, name string) {
	c.pairs[[2]string{a, b}] = c.events.DeclareFor("/"+a+"/Collision/"+name, c.world.WatchTouches)
}
