package echelon

import (
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/internal/grid"
	"github.com/halyard-robotics/halyard/internal/protocols/moast"
	"github.com/halyard-robotics/halyard/internal/protocols/nml"
)

// The vehicle echelon's grid, ours: cells of 0.2 m, 40 m about where the vehicle started, in absolute coordinates. AM's
// map is relative: what dead reckoning has lost since a cell was seen is not in the grid.
const (
	vehCycle      = 1.0 // s
	vehResolution = 0.2 // m
	vehCells      = 200
)

// The values of a cell of the vehicle's grid.
const (
	cellUnknown  = 0
	cellFree     = 1
	cellObstacle = 3
)

// VehMapBuffer is the buffer of the vehicle's grid: a SensorData2D of 0 unknown, 1 free, 3 obstacle. The name is ours.
func VehMapBuffer(vehicle int) string { return fmt.Sprintf("vehSPMap%d", vehicle) }

// vehSP is VehSP: it collects AM's maps into a grid of the whole floor.
type vehSP struct {
	plain
	chart // AM's
	out   *nml.Buffer
	floor moast.SensorData2D
}

// chart is a map and where the vehicle is, as their buffers have them.
type chart struct {
	nav, area *nml.Buffer
	at        moast.NavDataExt
	shown     moast.SensorData2D
	known     bool // both are
}

// look reads the buffers, which any client may have written: what is no map, or no place, is not known.
func (c *chart) look() {
	c.known = c.nav.Peek(&c.at) == nil && c.area.Peek(&c.shown) == nil && isMap(&c.shown) && isPlace(&c.at.Abs) &&
		isPlace(&c.at.Rel)
}

// isMap reports whether d has as many cells as its size requires, large enough to plan on.
func isMap(d *moast.SensorData2D) bool {
	const least, most = resolution / 2, 10 // m
	sized := func(v float64) bool { return v >= least && v <= most }
	return d.X > 0 && d.Y > 0 && int64(d.X)*int64(d.Y) == int64(len(d.Features)) && sized(d.IncrementX) &&
		sized(d.IncrementY) && near(d.LowerLeft.X, d.LowerLeft.Y)
}

// isPlace reports whether a vehicle can be there.
func isPlace(m *moast.Motion) bool { return near(m.Tran.X, m.Tran.Y) && !bad(m.RPY.Y) }

// near reports whether a point is not farther away than any vehicle drives.
func near(x, y float64) bool { return math.Max(math.Abs(x), math.Abs(y)) < 1e8 } // m

// place lays the grid about the vehicle.
func (c *vehSP) place() {
	half := vehCells / 2 * vehResolution
	lower := func(x float64) float64 { return math.Round(x/vehResolution)*vehResolution - half }
	c.floor = moast.SensorData2D{LowerLeft: moast.Cartesian{X: lower(c.at.Abs.Tran.X), Y: lower(c.at.Abs.Tran.Y)},
		IncrementX: vehResolution, IncrementY: vehResolution, X: vehCells, Y: vehCells,
		Features: make([]float64, vehCells*vehCells)}
}

// world is a relative point in absolute coordinates, local the other way.
func world(at *moast.NavDataExt, x, y float64) (float64, float64) {
	p := placeOf(at.Rel.Tran, at.Rel.RPY).from(place{x: x, y: y})
	return placeOf(at.Abs.Tran, at.Abs.RPY).of(p.x, p.y)
}

func local(at *moast.NavDataExt, x, y float64) (float64, float64) {
	p := placeOf(at.Abs.Tran, at.Abs.RPY).from(place{x: x, y: y})
	return placeOf(at.Rel.Tran, at.Rel.RPY).of(p.x, p.y)
}

// cellOf is the cell of a point in a map, -1 off the map.
func cellOf(d *moast.SensorData2D, x, y float64) int {
	row, column := int(math.Round((x-d.LowerLeft.X)/d.IncrementX)), int(math.Round((y-d.LowerLeft.Y)/d.IncrementY))
	if row < 0 || column < 0 || row >= int(d.Y) || column >= int(d.X) {
		return -1
	}
	return row*int(d.X) + column
}

// rowOf returns the row and the column of a point in a map, which may be off it.
func rowOf(d *moast.SensorData2D) func(x, y float64) (row, column float64) {
	return func(x, y float64) (float64, float64) {
		return (x - d.LowerLeft.X) / d.IncrementX, (y - d.LowerLeft.Y) / d.IncrementY
	}
}

// pointOf is the middle of a cell of a map.
func pointOf(d *moast.SensorData2D, cell int) (x, y float64) {
	return d.LowerLeft.X + float64(cell/int(d.X))*d.IncrementX, d.LowerLeft.Y + float64(cell%int(d.X))*d.IncrementY
}

// Update enters AM's map of the moment: an obstacle in any of its cells is one, what has been passed is free.
func (c *vehSP) Update(m *Module, _ float64) {
	if c.look(); !c.known {
		return
	}
	if c.floor.Features == nil {
		c.place()
	}
	const passed = grid.Unseen - 0.01
	// free cells first, so that an obstacle in the same large cell wins
	for i, p := range c.shown.Features {
		if p <= passed {
			c.put(i, cellFree)
		}
	}
	for i, p := range c.shown.Features {
		if p >= grid.Obstacle {
			c.put(i, cellObstacle)
		}
	}
	c.floor.Time = c.shown.Time
	m.note(c.out.Write(&c.floor))
}

// put enters cell i of AM's map.
func (c *vehSP) put(i int, value float64) {
	x, y := pointOf(&c.shown, i)
	x, y = world(&c.at, x, y)
	if at := cellOf(&c.floor, x, y); at >= 0 {
		c.floor.Features[at] = value
	}
}

func (c *vehSP) Configure(m *Module, config moast.Command) error {
	if config.MessageType() == m.kind.ID(moast.Cfg, "ClearWM") {
		c.floor.Features = nil
	}
	return nil
}

// vehMob is VehMobPL: it plans on the grid and leads AM along the path.
type vehMob struct {
	plain
	chart
	am          *Link
	radius      float64 // m, of the vehicle
	others      *traffic
	tight       bool // there was no other way when the point at work was begun
	points      []place
	near, speed float64
	index       int
	faults      int // cycles without a path or with an error of AM, in a row
	way         progress
	field       grid.Field
	planner     grid.Planner
	chances     []float64
}

func (c *vehMob) Update(_ *Module, now float64) {
	c.others.look(now)
	c.look()
}

func (c *vehMob) Stop(m *Module) {
	m.note(c.am.Send(&moast.Plain{Kind: c.am.kind.ID(moast.Cmd, "Stop")}))
}

func (c *vehMob) Task(m *Module, command moast.Command, changed bool) {
	begin := m.Head.State == moast.NewCommand
	m.Head.State = moast.S1
	move, ok := command.(*moast.VehMobCmdMoveWaypoint)
	if !ok { // STOP
		if begin {
			c.Stop(m)
		} else if c.am.Status() != moast.Exec {
			m.Finish()
		}
		return
	}
	if begin || changed {
		if why := c.begin(move); why != "" {
			c.Stop(m)
			m.Fail(why)
			return
		}
	}
	c.move(m)
}

// begin takes the points of a command, in absolute coordinates.
func (c *vehMob) begin(command *moast.VehMobCmdMoveWaypoint) string {
	c.points, c.index, c.faults, c.way = c.points[:0], 0, 0, progress{}
	c.near, c.speed = math.Max(command.Neighborhood, vehResolution), command.Speed
	if len(command.Waypoints) == 0 {
		return "no waypoints"
	}
	for _, w := range command.Waypoints {
		p := place{x: w.P.X, y: w.P.Y}
		if bad(p.x) || bad(p.y) || bad(command.Speed) || bad(c.near) {
			return "waypoint is not a number"
		}
		if command.Local {
			if !c.known {
				return "no position"
			}
			p.x, p.y = world(&c.at, p.x, p.y)
		}
		c.points = append(c.points, p)
	}
	return ""
}

// growFloor makes the field of a map: unknown cells are passable.
func growFloor(f *grid.Field, chances []float64, floor *moast.SensorData2D, radius float64) []float64 {
	chances = append(chances[:0], floor.Features...)
	for i, v := range chances {
		chances[i] = 0
		if v == cellObstacle {
			chances[i] = 1
		}
	}
	f.Grow(chances, int(floor.Y), int(floor.X), radius/floor.IncrementX, 2)
	return chances
}

// tight is the radius, m, where there is no way to a point otherwise: obstacles close no cells but their own. They fill
// whole cells here, and estimates drift, so that a passage may be a single cell of the grid; AM, whose cells are
// smaller, finds out.
const tight = 1.3 * vehResolution

// move leads AM to a point of the path that is on AM's map. A fault of AM, whose map is newer, is planned around.
func (c *vehMob) move(m *Module) {
	const patience = 10 // cycles
	if !c.known {
		if c.faults++; c.faults > patience {
			m.Fail("no position or map")
		}
		return
	}
	here := placeOf(c.at.Abs.Tran, c.at.Abs.RPY)
	if goal := c.points[c.index]; distance(here.x, here.y, goal.x, goal.y) <= c.near {
		if c.index++; c.index == len(c.points) {
			c.index--
			c.Stop(m)
			m.Finish()
			return
		}
		c.way = progress{}
	}
	next, left, ok := c.next(here)
	if ok && c.way.ended(m.Now, left, 15, 3) {
		c.Stop(m)
		m.Fail("no progress")
		return
	}
	failed := c.am.look() && c.am.Failed() && c.am.last != nil
	if !ok || failed {
		if c.faults++; c.faults > patience {
			c.Stop(m)
			m.Fail("no path")
			return
		}
	} else {
		c.faults = 0
	}
	if !ok {
		return
	}
	next.x, next.y = local(&c.at, next.x, next.y)
	w := moast.Waypoint{P: moast.Cartesian{X: next.x, Y: next.y}, Neighborhood: c.near, Speed: c.speed}
	command := &moast.AMMobCmdMoveWaypoint{Neighborhood: c.near, Speed: c.speed, Waypoints: []moast.Waypoint{w}}
	m.note(c.am.Order(command))
}

// progress is the shortest rest of a path so far: a planner leads as near to a point as it can, and cannot detect that
// nearer is impossible.
type progress struct {
	left   float64 // m, at least so far
	gained float64 // when, s
	longer int     // times that the path has become much longer: what it led through is an obstacle
}

// ended reports whether the path, of which so much is left, has not become shorter for long, s. It may become longer so
// many times.
func (p *progress) ended(now, left, long float64, times int) bool {
	const (
		step   = 0.3 // m that count as progress
		detour = 1.0 // m by which a path becomes longer where an obstacle was found
	)
	switch {
	case p.left == 0:
		p.left, p.gained, p.longer = left, now, 0
	case left < p.left-step:
		p.left, p.gained = left, now
	case left > p.left+detour && p.longer < times:
		p.left, p.gained, p.longer = left, now, p.longer+1
	}
	return now-p.gained > long
}

// lead is how far along the path AM is led, m: well within its map, and so near that AM finds the same way.
const lead = 3.0

// next plans to the point at work, and returns the path's point at lead, and the path's length, m.
func (c *vehMob) next(here place) (next place, left float64, ok bool) {
	start, goal := cellOf(&c.shown, here.x, here.y), cellOf(&c.shown, c.points[c.index].x, c.points[c.index].y)
	if start < 0 || goal < 0 {
		return place{}, 0, false
	}
	if c.way.left == 0 { // it begins
		_, found := c.plan(here, start, goal, c.radius)
		c.tight = !found
	}
	radius := c.radius
	if c.tight {
		radius = min(radius, tight)
	}
	path, found := c.plan(here, start, goal, radius)
	if len(path) == 0 || !found && len(path) < 2 {
		return place{}, 0, false
	}
	next = here
	for i, cell := range path {
		x, y := pointOf(&c.shown, cell)
		if found && i == len(path)-1 {
			x, y = c.points[c.index].x, c.points[c.index].y
		}
		if left <= lead {
			next = place{x: x, y: y}
		}
		if i > 0 {
			ax, ay := pointOf(&c.shown, path[i-1])
			left += distance(ax, ay, x, y)
		}
	}
	// as near as it leads, and the point is farther: it cannot be reached
	return next, left, found || left > c.near
}

// plan is a path between two cells for a vehicle of a radius, or one as near to the goal as it leads.
func (c *vehMob) plan(here place, start, goal int, radius float64) (path []int, found bool) {
	c.chances = growFloor(&c.field, c.chances, &c.shown, radius)
	columns := int(c.shown.X)
	c.field.Escape(start/columns, start%columns, c.radius/vehResolution+2)
	c.others.occupy(&c.field, here, start, c.radius, vehResolution, rowOf(&c.shown))
	return c.planner.Plan(&c.field, start, goal)
}
