package echelon

import (
	"fmt"
	"slices"
	"sync"

	"github.com/halyard-robotics/halyard/internal/grid"
	"github.com/halyard-robotics/halyard/internal/protocols/moast"
)

// Fleet is the vehicles of one process: the section connects to them. They join it in New, all before the first one
// runs.
type Fleet struct {
	mu  sync.Mutex
	all []*buffers
}

func (f *Fleet) join(b *buffers) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.find(int32(b.vehicle)) != nil {
		return fmt.Errorf("vehicle %d: got a second one, want numbers that differ", b.vehicle)
	}
	f.all = append(f.all, b)
	return nil
}

// vehicle is the buffers of a vehicle, nil if absent.
func (f *Fleet) vehicle(id int32) *buffers {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.find(id)
}

// others are the vehicles but one, in the order in which they joined.
func (f *Fleet) others(self *buffers) (all []*buffers) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range f.all {
		if b != self {
			all = append(all, b)
		}
	}
	return all
}

func (f *Fleet) find(id int32) *buffers {
	for _, b := range f.all {
		if b.vehicle == int(id) {
			return b
		}
	}
	return nil
}

const (
	// sectCycle is the section's, s: the specification's 10 s is how long a vehicle waits between two places.
	sectCycle = 1.0
	// apart is how far from another vehicle's goal a place is chosen where there is one, m.
	apart = 3.0
)

// sectMob is SectMobPL: it sends its vehicles to unexplored places until there are none.
type sectMob struct {
	plain
	status  *moast.SectMobStat
	fleet   *Fleet
	radius  float64
	members []*member
	random  uint32
	field   grid.Field
	planner grid.Planner
	chances []float64
}

// member is a connected vehicle.
type member struct {
	chart   // its own floor
	id      int32
	veh     *Link
	floor   moast.SensorData2D // with the cells that the others have seen
	others  *traffic
	goal    int          // cell, -1 = none
	aside   bool         // it goes there to let another one pass
	refused map[int]bool // cells that it did not reach
}

// here is where the vehicle is, in the absolute coordinates of all floors.
func (v *member) here() place { return placeOf(v.at.Abs.Tran, v.at.Abs.RPY) }

// Update reads where the vehicles are and what they have seen.
func (c *sectMob) Update(_ *Module, now float64) {
	for _, v := range c.members {
		v.others.look(now)
		v.look()
	}
	for _, v := range c.members {
		if v.known {
			c.merge(v)
		}
	}
}

// merge fills the cells that v does not know with what the others know.
func (c *sectMob) merge(v *member) {
	features := append(v.floor.Features[:0], v.shown.Features...)
	v.floor = v.shown
	v.floor.Features = features
	for _, other := range c.members {
		if other == v || !other.known {
			continue
		}
		for at, value := range features {
			if value != cellUnknown {
				continue
			}
			x, y := pointOf(&v.floor, at)
			if there := cellOf(&other.shown, x, y); there >= 0 {
				features[at] = other.shown.Features[there]
			}
		}
	}
}

func (c *sectMob) Stop(m *Module) {
	for _, v := range c.members {
		m.note(v.veh.Send(&moast.Plain{Kind: v.veh.kind.ID(moast.Cmd, "Stop")}))
	}
}

func (c *sectMob) Task(m *Module, command moast.Command, _ bool) {
	begin := m.Head.State == moast.NewCommand
	m.Head.State = moast.S1
	switch command := command.(type) {
	case *moast.SectMobCmdConnect:
		c.connect(m, command, begin)
	case *moast.SectMobCmdExplore:
		if len(c.members) == 0 {
			m.Fail("no vehicle connected")
			return
		}
		if bad(command.Distance) || command.Distance <= 0 {
			m.Fail("distance out of range")
			return
		}
		for _, v := range c.members {
			if begin {
				v.goal, v.refused = -1, map[int]bool{}
			}
		}
		c.explore(m, command.Distance)
	default: // DISCONNECT
		c.Stop(m)
		c.members, m.subordinates, c.status.Vehicles = nil, nil, nil
		m.Finish()
	}
}

func (c *sectMob) connect(m *Module, command *moast.SectMobCmdConnect, begin bool) {
	if begin {
		if why := c.check(command.Vehicles); why != "" {
			m.Fail(why)
			return
		}
		m.subordinates, c.members = nil, nil
		c.status.Vehicles = append([]int32(nil), command.Vehicles...)
		for _, id := range command.Vehicles {
			b := c.fleet.vehicle(id)
			c.members = append(c.members, &member{id: id, veh: m.link(b, "vehMobPL", ""), goal: -1,
				others: &traffic{fleet: c.fleet, self: b},
				chart:  chart{nav: b.nav, area: b.byName[VehMapBuffer(b.vehicle)]}})
		}
		if !command.SendInit {
			m.Finish()
			return
		}
		for _, v := range c.members {
			m.note(v.veh.Send(&moast.Plain{Kind: v.veh.kind.ID(moast.Cmd, "Init")}))
		}
		return
	}
	for _, v := range c.members {
		switch v.veh.Status() {
		case moast.Exec:
			return
		case moast.Error:
			m.Fail(fmt.Sprintf("vehicle %d: %s", v.id, v.veh.report.Report().Message))
			return
		}
	}
	m.Finish()
}

// check reports what is wrong with the vehicles of a command.
func (c *sectMob) check(ids []int32) string {
	for i, id := range ids {
		if c.fleet.vehicle(id) == nil || slices.Contains(ids[:i], id) {
			return fmt.Sprintf("vehicle: got %d, want a vehicle of the fleet", id)
		}
	}
	if len(ids) == 0 {
		return "no vehicles"
	}
	return ""
}

// explore sends each vehicle that waits to its next place. It ends when none has one and none is on its way.
func (c *sectMob) explore(m *Module, reach float64) {
	busy := false
	for _, v := range c.members {
		if !v.known {
			busy = true
			continue
		}
		if v.goal >= 0 {
			switch v.veh.Status() {
			case moast.Exec:
				busy = true
				if !v.aside || !c.open(v, reach) {
					continue
				}
			case moast.Error:
				if !v.others.near(v.here()) { // else it may be reached when the other one has gone
					v.refused[v.goal] = true
				}
			}
			v.goal = -1
		}
		places, seen := c.frontier(v, reach, c.radius, true)
		c.status.Explored = seen
		if len(places) == 0 {
			places, _ = c.frontier(v, reach, min(c.radius, tight), true)
		}
		if v.aside = len(places) == 0; v.aside {
			places = c.away(v, reach)
		}
		if len(places) == 0 {
			continue
		}
		busy = true
		places = c.unclaimed(v, places)
		c.random = c.random*1664525 + 1013904223 // the same places on every machine
		v.goal = places[int(c.random>>8)%len(places)]
		x, y := pointOf(&v.floor, v.goal)
		m.note(v.veh.Send(&moast.VehMobCmdMoveWaypoint{Neighborhood: 2 * vehResolution, Speed: 0.5,
			Waypoints: []moast.Waypoint{{P: moast.Cartesian{X: x, Y: y}}}}))
	}
	if !busy {
		m.Finish()
	}
}

// unclaimed are the places that are far from where other vehicles are going, or all if absent.
func (c *sectMob) unclaimed(v *member, places []int) (free []int) {
	for _, at := range places {
		x, y := pointOf(&v.floor, at)
		claimed := false
		for _, other := range c.members {
			if other == v || other.goal < 0 || !other.known {
				continue
			}
			ox, oy := pointOf(&other.floor, other.goal)
			claimed = claimed || distance(x, y, ox, oy) < apart
		}
		if !claimed {
			free = append(free, at)
		}
	}
	if len(free) == 0 {
		return places
	}
	return free
}

// open reports whether v can reach a place to explore.
func (c *sectMob) open(v *member, reach float64) bool {
	places, _ := c.frontier(v, reach, c.radius, true)
	return len(places) > 0
}

// away is where a vehicle goes whose remaining places are blocked by another one, which may have to pass: the nearest
// cell that it can reach and that is far from the others.
func (c *sectMob) away(v *member, reach float64) (places []int) {
	if hidden, _ := c.frontier(v, reach, min(c.radius, tight), false); len(hidden) == 0 || !c.costs(v, c.radius, true) {
		return nil
	}
	for at, value := range v.floor.Features {
		x, y := pointOf(&v.floor, at)
		if cost := c.planner.Cost(at); value == cellFree && cost >= 0 && v.others.free(x, y) &&
			(places == nil || cost < c.planner.Cost(places[0])) {
			places = []int{at}
		}
	}
	return places
}

// costs plans from v to all cells for a vehicle of a radius, m, where crowded is set around the other vehicles.
func (c *sectMob) costs(v *member, radius float64, crowded bool) bool {
	c.chances = growFloor(&c.field, c.chances, &v.floor, radius)
	here := v.here()
	start := cellOf(&v.floor, here.x, here.y)
	if start < 0 {
		return false
	}
	columns := int(v.floor.X)
	c.field.Escape(start/columns, start%columns, c.radius/vehResolution+2)
	if crowded {
		v.others.occupy(&c.field, here, start, c.radius, vehResolution, rowOf(&v.floor))
	}
	c.planner.Costs(&c.field, start)
	return true
}

// frontier is the cells that v can reach within a distance, as costs plans, and that have an unknown neighbour, and the
// share of the reachable floor that has none.
func (c *sectMob) frontier(v *member, reach, radius float64, crowded bool) (places []int, seen float64) {
	if !c.costs(v, radius, crowded) {
		return nil, 0
	}
	here := v.here()
	columns, rows := int(v.floor.X), int(v.floor.Y)
	reachable, open := 0, 0
	for at, value := range v.floor.Features {
		row, column := at/columns, at%columns
		if value != cellFree || c.planner.Cost(at) < 0 || row == 0 || column == 0 || row == rows-1 ||
			column == columns-1 {
			continue
		}
		reachable++
		unknown := false
		for _, step := range [...]int{-1, 1, -columns, columns} {
			// two in a row: a sliver between the floor and a wall hides nothing
			far := at + 2*step
			unknown = unknown || v.floor.Features[at+step] == cellUnknown && far >= 0 && far < len(v.floor.Features) &&
				v.floor.Features[far] == cellUnknown
		}
		if !unknown {
			continue
		}
		open++
		x, y := pointOf(&v.floor, at)
		if !v.refused[at] && distance(here.x, here.y, x, y) <= reach {
			places = append(places, at)
		}
	}
	if reachable > 0 {
		seen = 1 - float64(open)/float64(reachable)
	}
	return places, seen
}
