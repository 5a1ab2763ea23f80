package echelon

import (
	"errors"
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/internal/grid"
	"github.com/halyard-robotics/halyard/internal/protocols/moast"
	"github.com/halyard-robotics/halyard/internal/protocols/nml"
)

// The AM echelon's maps: what is kept, and what is published each cycle.
const (
	amCycle    = 0.1  // s
	amCells    = 1000 // 100 m
	amShown    = 100  // 10 m
	resolution = 0.1  // m

	// A vehicle keeps so many cells off obstacles more than it must where it can; in a corridor of 1.1 m none.
	amMargin   = 1.5
	unseenCost = 4
	freed      = grid.Unseen - 0.01 // what no ray has passed is above it
)

// amSP is AMSP: it keeps the scrolling map, and publishes the part about the vehicle, also without GO.
type amSP struct {
	plain
	nav    *nml.Buffer
	points *nml.Buffer // of PrimSP
	out    *nml.Buffer
	others *traffic
	floor  *grid.Map
	list   moast.SensorDataList
	writes int32   // of points, that were seen
	came   float64 // when the last of them did, s
	rays   []grid.Ray
	shown  moast.SensorData2D
}

// Update enters the newest sensor points: in each cycle until the next ones come, as MOAST's probabilities are made
// for, but not those of a source that has become silent.
func (c *amSP) Update(m *Module, now float64) {
	const silent = 1.0 // s
	var nav moast.NavDataExt
	if c.nav.Peek(&nav) != nil {
		return
	}
	if n := c.points.State().Count; n != c.writes && c.points.Peek(&c.list) == nil {
		c.writes, c.came = n, now
	}
	list := &c.list
	c.others.look(now)
	c.floor.Center(nav.Rel.Tran.X, nav.Rel.Tran.Y)
	if now-c.came < silent {
		c.rays = c.rays[:0]
		for _, p := range list.Points {
			if list.Global {
				p.Sensor.X, p.Sensor.Y = local(&nav, p.Sensor.X, p.Sensor.Y)
				p.Hit.X, p.Hit.Y = local(&nav, p.Hit.X, p.Hit.Y)
			}
			if p.Param <= list.MaxRange && c.others.seen(world(&nav, p.Hit.X, p.Hit.Y)) {
				continue
			}
			c.rays = append(c.rays, rayOf(p, list.MaxRange))
		}
		c.floor.Enter(c.rays)
	}
	part(&c.shown, c.floor, nav.Rel.Tran.X, nav.Rel.Tran.Y, amShown)
	c.shown.Time = list.Time
	m.note(c.out.Write(&c.shown))
}

// reach is how far a ray clears the floor: farther cells are a ray's width apart.
const reach = 8.0

// rayOf is a point as a ray of the map.
func rayOf(p moast.SensorPoint, maxRange float64) grid.Ray {
	if p.Param > reach {
		share := reach / p.Param
		return grid.Ray{SX: p.Sensor.X, SY: p.Sensor.Y, HX: p.Sensor.X + share*(p.Hit.X-p.Sensor.X),
			HY: p.Sensor.Y + share*(p.Hit.Y-p.Sensor.Y)}
	}
	return grid.Ray{SX: p.Sensor.X, SY: p.Sensor.Y, HX: p.Hit.X, HY: p.Hit.Y, Hit: p.Param <= maxRange}
}

// part fills d with n by n cells of a map about a point: rows run from west to east (y), each north (x) of the one
// before.
func part(d *moast.SensorData2D, floor *grid.Map, x, y float64, n int) {
	i0, j0 := floor.Cell(x, y)
	i0, j0 = i0-n/2, j0-n/2
	if cap(d.Features) < n*n {
		d.Features = make([]float64, n*n)
	}
	d.Features = d.Features[:n*n]
	for i := range n {
		for j := range n {
			d.Features[i*n+j] = floor.At(i0+i, j0+j)
		}
	}
	d.LowerLeft.X, d.LowerLeft.Y = floor.Middle(i0, j0)
	d.IncrementX, d.IncrementY, d.X, d.Y = floor.Resolution(), floor.Resolution(), int32(n), int32(n)
}

func (c *amSP) Configure(m *Module, config moast.Command) error {
	set := m.settings.(*moast.AMSPSet)
	switch config := config.(type) {
	case *moast.CfgDebug:
		set.Debug = config.Debug
	case *moast.CfgLevel:
		set.DumpLevel = config.Level
	}
	return nil
}

// amMob is AMMobJA: it plans a path around obstacles in each cycle, and lets prim follow it.
type amMob struct {
	status *moast.AMMobStat
	set    *moast.AMMobSet
	prim   *Link
	chart
	others   *traffic
	waiting  bool // for another vehicle to pass
	points   []moast.Waypoint
	index    int
	stuck    float64 // s without a path
	progress progress
	field    grid.Field
	planner  grid.Planner
	turns    []int
}

func (c *amMob) Update(m *Module, now float64) {
	c.others.look(now)
	c.look()
}

func (c *amMob) Stop(m *Module) {
	m.note(c.prim.Send(&moast.Plain{Kind: c.prim.kind.ID(moast.Cmd, "Stop")}))
}

func (c *amMob) fail(m *Module, code uint32, why string, seeds ...moast.Cartesian) {
	c.status.ErrorCode, c.status.Seeds = code, seeds
	c.Stop(m)
	m.Fail(why)
}

func (c *amMob) Task(m *Module, command moast.Command, changed bool) {
	begin := m.Head.State == moast.NewCommand
	m.Head.State = moast.S1
	switch command := command.(type) {
	case *moast.AMMobCmdMoveWaypoint:
		if begin || changed {
			if begin {
				c.stuck, c.progress, c.waiting = 0, progress{}, false
			}
			if !c.begin(m, command) {
				return
			}
		}
		c.move(m, command)
	case *moast.AMMobCmdSpin:
		if begin {
			m.note(c.prim.Send(&moast.PrimMobCmdRotate{Theta: wrap(command.Angle - c.at.Abs.RPY.Y + c.at.Rel.RPY.Y),
				Tolerance: command.Tolerance, Direction: command.Direction}))
			return
		}
		c.wait(m)
	case *moast.AMMobCmdPrepareMove:
		if c.ready(m) {
			c.horizon(m)
			m.Finish()
		}
	default: // STOP
		if begin {
			c.Stop(m)
			return
		}
		c.wait(m)
	}
}

// wait ends the command as prim ends its own.
func (c *amMob) wait(m *Module) {
	switch c.prim.Status() {
	case moast.Done:
		m.Finish()
	case moast.Error:
		c.status.ErrorCode = moast.AMErrorPrim
		m.Fail("prim: " + c.prim.report.Report().Message)
	}
}

// begin checks the waypoints of a command.
func (c *amMob) begin(m *Module, command *moast.AMMobCmdMoveWaypoint) bool {
	c.points, c.index = command.Waypoints, 0
	c.status.ErrorCode, c.status.Seeds = moast.AMErrorNone, nil
	if len(c.points) == 0 {
		c.fail(m, moast.AMErrorWaypoint, "no waypoints", moast.Cartesian{}, moast.Cartesian{})
		return false
	}
	for i, p := range c.points {
		if bad(p.P.X) || bad(p.P.Y) || bad(p.Speed) || !(p.Neighborhood >= 0) {
			c.fail(m, moast.AMErrorMove, "waypoint is not a number")
			return false
		}
		if i > 0 && distance(p.P.X, p.P.Y, c.points[i-1].P.X, c.points[i-1].P.Y) < resolution {
			c.fail(m, moast.AMErrorWaypoint, "waypoints too close together", c.points[i-1].P, p.P,
				moast.Cartesian{X: resolution})
			return false
		}
	}
	return true
}

// ready reports whether the vehicle's place and the map are known; after a second without them the command fails.
func (c *amMob) ready(m *Module) bool {
	if c.known {
		return true
	}
	if c.stuck += m.Elapsed; c.stuck > 1 {
		c.fail(m, moast.AMErrorPosition, "no position or map")
	}
	return false
}

// grow makes the field of the cycle, and returns the vehicle's cell.
func (c *amMob) grow() (start int) {
	radius := c.set.VehicleWidth / 2 / c.shown.IncrementX
	c.field.Grow(c.shown.Features, int(c.shown.Y), int(c.shown.X), radius, amMargin)
	for i, p := range c.shown.Features {
		if p > freed && p < grid.Maybe && c.field.Cost[i] < unseenCost {
			c.field.Cost[i] = unseenCost // a way that is seen counts before one that is hoped for
		}
	}
	row, column := c.cell(c.at.Rel.Tran.X, c.at.Rel.Tran.Y)
	c.field.Escape(row, column, radius+2)
	start = row*c.field.Columns + column
	there := rowOf(&c.shown)
	c.others.occupy(&c.field, placeOf(c.at.Abs.Tran, c.at.Abs.RPY), start, c.set.VehicleWidth/2, c.shown.IncrementX,
		func(x, y float64) (float64, float64) { return there(local(&c.at, x, y)) })
	return start
}

// cell is the cell of a point, the nearest one where it is off the map.
func (c *amMob) cell(x, y float64) (row, column int) {
	row = int(math.Round((x - c.shown.LowerLeft.X) / c.shown.IncrementX))
	column = int(math.Round((y - c.shown.LowerLeft.Y) / c.shown.IncrementY))
	return max(0, min(int(c.shown.Y)-1, row)), max(0, min(int(c.shown.X)-1, column))
}

// walled reports whether the map has an obstacle between the vehicle and an absolute point.
func (c *amMob) walled(x, y float64) bool {
	r0, c0 := c.cell(c.at.Rel.Tran.X, c.at.Rel.Tran.Y)
	r1, c1 := c.cell(local(&c.at, x, y))
	steps := max(r1-r0, r0-r1, c1-c0, c0-c1)
	for k := 1; k < steps; k++ {
		row, column := r0+(r1-r0)*k/steps, c0+(c1-c0)*k/steps
		if c.shown.Features[row*int(c.shown.X)+column] >= grid.Obstacle {
			return true
		}
	}
	return false
}

// inside reports whether a point is on the map.
func (c *amMob) inside(x, y float64) bool {
	row, column := (x-c.shown.LowerLeft.X)/c.shown.IncrementX, (y-c.shown.LowerLeft.Y)/c.shown.IncrementY
	return row >= 0 && column >= 0 && row < float64(c.shown.Y) && column < float64(c.shown.X)
}

const (
	noPathTime     = 3.0  // s without a path after which the command fails
	noProgressTime = 45.0 // s in which the path has not become shorter, likewise
	mostDetours    = 100  // times that the path may become longer
)

// move plans to the waypoint at work and sends the path to prim. It is done when prim has reached the last waypoint.
func (c *amMob) move(m *Module, command *moast.AMMobCmdMoveWaypoint) {
	if !c.ready(m) || c.passed(m) {
		return
	}
	there := placeOf(c.at.Abs.Tran, c.at.Abs.RPY)
	if c.others.waits(there, m.Now, c.walled) {
		if c.progress.gained += m.Elapsed; !c.waiting {
			c.waiting = true
			c.Stop(m)
		}
		return
	}
	c.waiting = false
	goal := &c.points[c.index]
	path, left, err := c.plan(goal)
	switch {
	case err != nil:
		c.fail(m, moast.AMErrorWaypoint, err.Error(), goal.P)
		return
	case len(path) == 0:
		if c.stuck == 0 {
			c.Stop(m) // what prim follows leads into what is in the way now
		}
		if c.stuck += m.Elapsed; c.stuck > noPathTime {
			c.fail(m, moast.AMErrorPlanPrim, "no path")
		}
		return
	case c.progress.ended(m.Now, left, noProgressTime, mostDetours):
		c.fail(m, moast.AMErrorPlanPrim, "no progress")
		return
	}
	c.stuck = 0
	c.follow(m, path, goal, c.others.slow(there))
	if command.HorizonCosts {
		c.horizon(m)
	}
}

// passed reports whether nothing is left to plan in this cycle: the waypoint at work has just been reached, and the
// next one comes in the next cycle, or the command is finished.
func (c *amMob) passed(m *Module) bool {
	goal := &c.points[c.index]
	if distance(c.at.Rel.Tran.X, c.at.Rel.Tran.Y, goal.P.X, goal.P.Y) > reachedWithin(goal) {
		return false
	}
	if c.index+1 < len(c.points) {
		c.index++
		c.progress = progress{}
		return true
	}
	if c.prim.Status() != moast.Done {
		return false
	}
	m.Finish()
	return true
}

// reachedWithin is the distance at which a waypoint counts as reached, m.
func reachedWithin(p *moast.Waypoint) float64 { return math.Max(p.Neighborhood, resolution) }

// follow sends prim the path to goal, at the goal's speed and at most at that of the vehicle ahead, m/s.
func (c *amMob) follow(m *Module, path []moast.Waypoint, goal *moast.Waypoint, ahead float64) {
	path[len(path)-1].Neighborhood = math.Min(reachedWithin(goal), resolution)
	speed := goal.Speed
	if !math.IsInf(ahead, 1) && (speed <= 0 || speed > ahead) {
		speed = ahead
	}
	for i := range path {
		path[i].Speed = speed
	}
	m.note(c.prim.Order(&moast.PrimMobCmdMoveWaypoint{Waypoints: path}))
	if c.prim.Failed() {
		c.status.ErrorCode = moast.AMErrorPrim
		m.Fail("prim: " + c.prim.report.Report().Message)
	}
}

var errInObstacle = errors.New("waypoint in an obstacle")

// plan returns the path to a waypoint, as its turning points, and its length, m. If the waypoint is off the map or not
// reachable on it, the path leads to the edge nearest the waypoint; if the vehicle cannot leave the map, to the nearest
// reachable cell. The path is empty where the vehicle is already as near as it can get.
func (c *amMob) plan(goal *moast.Waypoint) (path []moast.Waypoint, left float64, err error) {
	start := c.grow()
	row, column := c.cell(goal.P.X, goal.P.Y)
	inside := c.inside(goal.P.X, goal.P.Y)
	if inside && c.shown.Features[row*c.field.Columns+column] >= grid.Obstacle {
		return nil, 0, errInObstacle
	}
	end := row*c.field.Columns + column
	cells, found := c.planner.Plan(&c.field, start, end)
	left = c.planner.Cost(end)
	if !inside || !found {
		beyond := func(cell int) float64 {
			x, y := pointOf(&c.shown, cell)
			return distance(x, y, goal.P.X, goal.P.Y) / c.shown.IncrementX
		}
		if out, cost := c.planner.Leave(&c.field, start, beyond); out != nil {
			cells, left = out, cost
		} else {
			cells, found = c.planner.Plan(&c.field, start, end)
			if len(cells) > 0 {
				left = beyond(cells[len(cells)-1])
			}
		}
	}
	left *= c.shown.IncrementX
	switch {
	case len(cells) == 0:
		return nil, 0, fmt.Errorf("vehicle off the map")
	case len(cells) <= 2 && !found:
		return nil, 0, nil
	}
	c.turns = c.field.Straighten(c.turns, cells)
	for _, cell := range c.turns[1:min(len(c.turns), moast.MaxWaypoints)] {
		x, y := pointOf(&c.shown, cell)
		path = append(path, moast.Waypoint{P: moast.Cartesian{X: x, Y: y}, Neighborhood: 1.5 * resolution})
	}
	if n := len(path); found && inside && n > 0 {
		path[n-1].P = goal.P // not the middle of its cell
	}
	if found && len(path) == 0 {
		path = []moast.Waypoint{{P: goal.P}}
	}
	return path, left, nil
}

// horizon computes the cost of points along the edge of the map, as seeds for a planner above.
func (c *amMob) horizon(m *Module) {
	const every = 4 // cells
	start := c.grow()
	c.planner.Costs(&c.field, start)
	c.status.Seeds = c.status.Seeds[:0]
	add := func(cell int) {
		if x, y := pointOf(&c.shown, cell); len(c.status.Seeds) < moast.MaxSeeds-1 {
			cost := c.planner.Cost(cell)
			if cost >= 0 {
				cost *= c.shown.IncrementX
			}
			c.status.Seeds = append(c.status.Seeds, moast.Cartesian{X: x, Y: y, Z: cost})
		}
	}
	rows, columns := c.field.Rows, c.field.Columns
	for i := 0; i < columns; i += every {
		add(i)
		add((rows-1)*columns + i)
	}
	for i := every; i < rows; i += every {
		add(i * columns)
		add(i*columns + columns - 1)
	}
	c.status.Seeds = append(c.status.Seeds, moast.Cartesian{X: c.at.Rel.Tran.X, Y: c.at.Rel.Tran.Y})
}

func (c *amMob) Configure(m *Module, config moast.Command) error {
	switch config := config.(type) {
	case *moast.CfgDebug:
		c.set.Debug = uint32(config.Debug)
	case *moast.CfgSwitch:
		c.set.DumpWM = config.On
	case *moast.CfgValue:
		if !(config.Value >= 0 && config.Value <= 100) {
			return fmt.Errorf("value: got %g, want 0..100 m", config.Value)
		}
		switch config.Kind {
		case moast.CfgPlanHorizon:
			c.set.PlanHorizon = config.Value
		case moast.CfgMinTurnRadius:
			c.set.MinTurnRadius = config.Value
		case moast.CfgVehicleWidth:
			c.set.VehicleWidth = config.Value
		default:
			return fmt.Errorf("cell resolution is fixed at %g m", resolution)
		}
	}
	return nil
}
