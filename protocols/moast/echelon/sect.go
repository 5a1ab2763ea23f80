package echelon

import (
	"fmt"

	"github.com/halyard-robotics/halyard/hal/grid"
	"github.com/halyard-robotics/halyard/protocols/moast"
	"github.com/halyard-robotics/halyard/protocols/nml"
)

// sectCycle is the section's, s: the specification's 10 s is how long a vehicle waits between two places.
const sectCycle = 1.0

// sectMob is SectMobPL: it sends its vehicle to unexplored places until there are none. One vehicle of a process; several
// are connected where their buffers are (not yet).
type sectMob struct {
	status  *moast.SectMobStat
	buffers *buffers
	nav     *nml.Buffer
	area    *nml.Buffer
	radius  float64
	veh     *Link
	at      moast.NavDataExt
	floor   moast.SensorData2D
	known   bool
	random  uint32
	field   grid.Field
	planner grid.Planner
	chances []float64
	refused map[int]bool // cells that the vehicle did not reach
	goal    int
}

func (c *sectMob) Update(*Module, float64) {
	c.known = c.nav.Peek(&c.at) == nil && c.area.Peek(&c.floor) == nil && len(c.floor.Features) == int(c.floor.X*c.floor.Y)
}

func (c *sectMob) Stop(m *Module) {
	if c.veh != nil {
		m.note(c.veh.Send(&moast.Plain{Kind: c.veh.kind.ID(moast.Cmd, "Stop")}))
	}
}

func (c *sectMob) Task(m *Module, command moast.Command, _ bool) {
	begin := m.Head.State == moast.NewCommand
	m.Head.State = moast.S1
	switch command := command.(type) {
	case *moast.SectMobCmdConnect:
		c.connect(m, command, begin)
	case *moast.SectMobCmdExplore:
		if c.veh == nil {
			m.Fail("no vehicle connected")
			return
		}
		if bad(command.Distance) || command.Distance <= 0 {
			m.Fail("distance out of range")
			return
		}
		if begin {
			c.goal, c.refused = -1, map[int]bool{}
		}
		c.explore(m, command.Distance)
	default: // DISCONNECT
		c.Stop(m)
		c.veh, m.subordinates, c.status.Vehicles = nil, nil, nil
		m.Finish()
	}
}

func (c *sectMob) connect(m *Module, command *moast.SectMobCmdConnect, begin bool) {
	if begin {
		if len(command.Vehicles) != 1 || int(command.Vehicles[0]) != c.buffers.vehicle {
			m.Fail(fmt.Sprintf("vehicles: got %v, want %d", command.Vehicles, c.buffers.vehicle))
			return
		}
		m.subordinates = nil
		c.veh, c.status.Vehicles = m.link(c.buffers, "vehMobPL", ""), command.Vehicles
		if !command.SendInit {
			m.Finish()
			return
		}
		m.note(c.veh.Send(&moast.Plain{Kind: c.veh.kind.ID(moast.Cmd, "Init")}))
		return
	}
	switch c.veh.Status() {
	case moast.Done:
		m.Finish()
	case moast.Error:
		m.Fail("vehicle: " + c.veh.report.Report().Message)
	}
}

// explore waits for the vehicle, and sends it to the next place.
func (c *sectMob) explore(m *Module, reach float64) {
	if !c.known {
		return
	}
	if c.goal >= 0 {
		switch c.veh.Status() {
		case moast.Exec:
			return
		case moast.Error:
			c.refused[c.goal] = true
		}
	}
	places, seen := c.frontier(reach)
	c.status.Explored = seen
	if len(places) == 0 {
		m.Finish()
		return
	}
	c.random = c.random*1664525 + 1013904223 // the same places on every machine
	c.goal = places[int(c.random>>8)%len(places)]
	x, y := pointOf(&c.floor, c.goal)
	m.note(c.veh.Send(&moast.VehMobCmdMoveWaypoint{Local: true, Neighborhood: 2 * vehResolution, Speed: 0.5,
		Waypoints: []moast.Waypoint{{P: moast.Cartesian{X: x, Y: y}}}}))
}

// frontier is the cells that can be reached within a distance and have an unknown neighbour, and the share of the
// reachable floor that has none.
func (c *sectMob) frontier(reach float64) (places []int, seen float64) {
	c.chances = growFloor(&c.field, c.chances, &c.floor, c.radius)
	start := cellOf(&c.floor, c.at.Rel.Tran.X, c.at.Rel.Tran.Y)
	if start < 0 {
		return nil, 0
	}
	columns, rows := int(c.floor.X), int(c.floor.Y)
	c.field.Escape(start/columns, start%columns, c.radius/vehResolution+2)
	c.planner.Costs(&c.field, start)
	reachable, open := 0, 0
	for at, v := range c.floor.Features {
		row, column := at/columns, at%columns
		if v != cellFree || c.planner.Cost(at) < 0 || row == 0 || column == 0 || row == rows-1 || column == columns-1 {
			continue
		}
		reachable++
		unknown := false
		for _, next := range [...]int{at - 1, at + 1, at - columns, at + columns} {
			unknown = unknown || c.floor.Features[next] == cellUnknown
		}
		if !unknown {
			continue
		}
		open++
		x, y := pointOf(&c.floor, at)
		if !c.refused[at] && distance(c.at.Rel.Tran.X, c.at.Rel.Tran.Y, x, y) <= reach {
			places = append(places, at)
		}
	}
	if reachable > 0 {
		seen = 1 - float64(open)/float64(reachable)
	}
	return places, seen
}

func (c *sectMob) Configure(m *Module, _ moast.Command) error {
	m.settings.(*moast.PlainSet).CycleTime = m.cycle
	return nil
}
