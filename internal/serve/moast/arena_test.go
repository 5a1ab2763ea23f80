package moast_test

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/protocols/moast"
	"github.com/halyard-robotics/halyard/internal/protocols/moast/echelon"
	servemoast "github.com/halyard-robotics/halyard/internal/serve/moast"
	"github.com/halyard-robotics/halyard/sim/model"
)

// arenaHardware is the boards and devices of configs/p2at.yaml that MOAST needs.
const arenaHardware = `
    hardware:
      base: {bus: base%d, device: p2os, robot: p2at, bumpers: false, turn_center: 0.0187}
      joints:
        camera_pan:  {bus: head%d, id: 1, model: ax-12a}
        camera_tilt: {bus: head%d, id: 2, model: ax-12a}
      sensors:
        scanner1: {bus: laser%d, device: sick-lms200}
        inu:      {bus: main%d, device: bno055}
`

const arenaBuses = `
  base%d:  {type: serial, port: /dev/base%d, baud: 9600}
  laser%d: {type: serial, port: /dev/laser%d, baud: 38400}
  head%d:  {type: dynamixel1, port: /dev/head%d}
  main%d:  {type: i2c, port: /dev/i2c-%d}
`

// starts are where vehicles begin.
var starts = []string{"[4.5, -1.9, -1.8]", "[0.9, -9.1, -1.8]", "[11.7, -9.1, -1.8]"}

// arena is a world with vehicles whose modules are stepped with it.
type arena struct {
	t        *testing.T
	sys      *assembly.System
	all      []*echelon.Hierarchy
	ask      []func()
	walls    []rect
	ground   float64
	now      float64
	serial   int32
	nearest  float64 // m, of a footprint to a wall or to each other
	apart    float64 // m, of two footprints
	touches  []string
	length   float64 // m, of vehicle 1's path
	paths    [][]point
	watching func(at point)
}

type point struct{ x, y, yaw float64 }

// rect is a box from above: its middle, its half sizes, its yaw.
type rect struct {
	point
	hx, hy float64
}

// newArena has so many vehicles, from the first of the starts on.
func newArena(t *testing.T, body string, seed, vehicles, first int) *arena {
	t.Helper()
	text := fmt.Sprintf("name: arena\nclock: {mode: lockstep, period: 10ms}\nworld: {scene: yellow, seed: %d}\n", seed)
	agents, servers, buses := "agents:\n", "servers:\n", ""
	for i := range vehicles {
		agents += fmt.Sprintf("  - name: v%d\n    model: usarsim-pioneer\n    body: %s\n    pose: {position: %s}\n",
			i+1, body, starts[(first+i)%len(starts)])
		if body != "sim" {
			agents += strings.TrimPrefix(strings.ReplaceAll(arenaHardware, "%d", fmt.Sprint(i+1)), "\n")
			buses += strings.TrimPrefix(strings.ReplaceAll(arenaBuses, "%d", fmt.Sprint(i+1)), "\n")
		}
		servers += fmt.Sprintf("  - {protocol: nml, agent: v%d, listen: \"127.0.0.1:%d\"}\n", i+1, 25700+i)
	}
	if buses != "" {
		text += "buses:\n" + buses
	}
	c, err := halyard.Parse("arena", []byte(text+agents+servers))
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Resolve(c, builtin.Catalog())
	if err != nil {
		t.Fatal(err)
	}
	a := &arena{t: t, nearest: math.Inf(1), paths: make([][]point, vehicles), serial: 100}
	if a.sys, err = assembly.Build(p, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.sys.Close() })
	scene, err := a.sys.Scene.Arena()
	if err != nil {
		t.Fatal(err)
	}
	a.ground = scene.GroundZ
	for _, s := range scene.Fixed {
		low, high := s.Pose.Position[2]-s.Half[2], s.Pose.Position[2]+s.Half[2]
		if s.Kind == model.Box && s.Collides && low < a.ground+0.26 && high > a.ground+0.05 {
			a.walls = append(a.walls, rect{point{s.Pose.Position[0], s.Pose.Position[1], s.Pose.RollPitchYaw()[2]},
				s.Half[0], s.Half[1]})
		}
	}
	fleet := &echelon.Fleet{}
	for i := range vehicles {
		h, ask, err := servemoast.NewHierarchy(a.sys, fmt.Sprintf("v%d", i+1), fleet)
		if err != nil {
			t.Fatal(err)
		}
		a.all, a.ask = append(a.all, h), append(a.ask, ask)
	}
	a.pass(0.5)
	return a
}

// where is a vehicle, in truth.
func (a *arena) where(i int) point {
	p := a.sys.Scene.Body(fmt.Sprintf("v%d", i+1)).Pose(0)
	return point{p.Position[0], p.Position[1], p.RollPitchYaw()[2]}
}

// pass lets time pass.
func (a *arena) pass(seconds float64) {
	a.t.Helper()
	for range int(math.Round(seconds * 100)) {
		a.now += 0.01
		before := a.sys.Scene.Now()
		for _, h := range a.all {
			if err := h.Step(a.now); err != nil {
				a.t.Fatal(err)
			}
		}
		// a vehicle that drives lets time pass with its sensors' cycle, else here
		for i := 0; i < len(a.ask) && a.sys.Scene.Now() == before; i++ {
			a.ask[i]()
		}
		if a.sys.Scene.Now() == before {
			if err := a.sys.Rig.Step(); err != nil {
				a.t.Fatal(err)
			}
		}
		if int(math.Round(a.now*100))%5 == 0 {
			a.measure()
		}
	}
}

// measure adds to the paths, and measures how near the walls are.
func (a *arena) measure() {
	for i := range a.all {
		at := a.where(i)
		if n := len(a.paths[i]); n > 0 {
			a.length += math.Hypot(at.x-a.paths[i][n-1].x, at.y-a.paths[i][n-1].y)
		}
		a.paths[i] = append(a.paths[i], at)
		foot := rect{at, 0.25, 0.245}
		for n, w := range a.walls {
			if math.Hypot(w.x-at.x, w.y-at.y) < 1.5+math.Hypot(w.hx, w.hy) {
				a.close(i, fmt.Sprint("wall ", n), at, apart(foot, w))
			}
		}
		for k := range i {
			d := apart(foot, rect{a.where(k), 0.25, 0.245})
			a.apart = math.Min(a.apart, d)
			a.close(i, fmt.Sprint("vehicle ", k+1), at, d)
		}
		if i == 0 && a.watching != nil {
			a.watching(at)
		}
	}
}

// close notes how near vehicle i is to something, and that it touches it.
func (a *arena) close(i int, what string, at point, d float64) {
	a.nearest = math.Min(a.nearest, d)
	if d <= 0 && len(a.touches) < 10 {
		a.touches = append(a.touches, fmt.Sprintf("vehicle %d at %.2f, %.2f touches %s by %.3f m at %.1f s", i+1, at.x,
			at.y, what, -d, a.now))
	}
}

func (r rect) corners() (c [4]point) {
	sin, cos := math.Sincos(r.yaw)
	for i, k := range [4][2]float64{{1, 1}, {-1, 1}, {-1, -1}, {1, -1}} {
		x, y := k[0]*r.hx, k[1]*r.hy
		c[i] = point{x: r.x + cos*x - sin*y, y: r.y + sin*x + cos*y}
	}
	return c
}

// outside is how far a point is from a rectangle; below 0 inside.
func (r rect) outside(p point) float64 {
	sin, cos := math.Sincos(r.yaw)
	x, y := math.Abs(cos*(p.x-r.x)+sin*(p.y-r.y))-r.hx, math.Abs(cos*(p.y-r.y)-sin*(p.x-r.x))-r.hy
	if x <= 0 && y <= 0 {
		return math.Max(x, y)
	}
	return math.Hypot(math.Max(x, 0), math.Max(y, 0))
}

// apart is the distance of two rectangles, from corners to the other one; a cross of two is no case of walls and
// robots.
func apart(a, b rect) float64 {
	d := math.Inf(1)
	for _, c := range a.corners() {
		d = math.Min(d, b.outside(c))
	}
	for _, c := range b.corners() {
		d = math.Min(d, a.outside(c))
	}
	return d
}

// do sends a command to vehicle 1's module and lets time pass to its end; enough ends it earlier.
func (a *arena) do(module string, c moast.Command, limit float64, enough func() bool) moast.Status {
	a.t.Helper()
	m := moast.ModuleNamed(module)
	a.serial++
	c.Head().Serial = a.serial
	if err := a.all[0].Buffer(m.Buffer(moast.Cmd, 1, 0)).Write(c); err != nil {
		a.t.Fatal(err)
	}
	for end := a.now + limit; a.now < end; {
		a.pass(0.1)
		if enough != nil && int(a.now*10)%20 == 0 && enough() {
			return moast.Done
		}
		got, _, err := a.all[0].Buffer(m.Buffer(moast.Stat, 1, 0)).Read(moast.New, 0)
		if err != nil {
			a.t.Fatal(err)
		}
		if h := got.(moast.Reporter).Report(); h.EchoSerial == a.serial && h.Status != moast.Exec {
			if h.Status != moast.Done {
				a.t.Logf("%s: %v %q at %+v", moast.Symbol(c.MessageType()), h.Status, h.Message, a.where(0))
			}
			return h.Status
		}
	}
	return moast.Exec
}

func (a *arena) init(module string) {
	a.t.Helper()
	m := moast.ModuleNamed(module)
	if got := a.do(module, &moast.Plain{Kind: m.ID(moast.Cmd, "Init")}, 40, nil); got != moast.Done {
		a.t.Fatalf("%s: INIT: got %v", module, got)
	}
	a.nearest, a.apart, a.touches, a.length, a.paths = math.Inf(1), math.Inf(1), nil, 0, make([][]point, len(a.all))
}

// floor is the share of the floor, where the middle of a robot can be, that the vehicles' grids have as free.
func (a *arena) floor() float64 {
	const step, clear = 0.2, 0.36
	free := map[[2]int]bool{}
	var stack [][2]int
	open := func(c [2]int) bool {
		p := point{x: float64(c[0]) * step, y: float64(c[1]) * step}
		for _, w := range a.walls {
			if w.outside(p) < clear {
				return false
			}
		}
		return p.x > 0.3 && p.x < 12.3 && p.y > -9.7 && p.y < -0.1
	}
	at := a.paths[0][0]
	stack = append(stack, [2]int{int(math.Round(at.x / step)), int(math.Round(at.y / step))})
	free[stack[0]] = true
	for len(stack) > 0 {
		c := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, d := range [][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}} {
			if n := [2]int{c[0] + d[0], c[1] + d[1]}; !free[n] && open(n) {
				free[n] = true
				stack = append(stack, n)
			}
		}
	}
	seen := map[[2]int]bool{}
	for i, h := range a.all {
		var d moast.SensorData2D
		if h.Buffer(echelon.VehMapBuffer(i+1)).Peek(&d) != nil {
			continue
		}
		for c := range free {
			x, y := float64(c[0])*step, -float64(c[1])*step
			row, column := int(math.Round((x-d.LowerLeft.X)/d.IncrementX)),
				int(math.Round((y-d.LowerLeft.Y)/d.IncrementY))
			if row >= 0 && column >= 0 && row < int(d.Y) && column < int(d.X) && d.Features[row*int(d.X)+column] == 1 {
				seen[c] = true
			}
		}
	}
	return float64(len(seen)) / float64(len(free))
}

// draw writes a picture: what the grids have as free and as obstacles, the true walls, the paths.
func (a *arena) draw(name string) {
	const scale, width, height = 50, 630, 510 // pixels a metre
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	fill := func(x0, y0, x1, y1 float64, c color.RGBA) {
		for py := int((0.1 - y1) * scale); py <= int((0.1-y0)*scale); py++ {
			for px := int(x0 * scale); px <= int(x1*scale); px++ {
				m.SetRGBA(px, py, c)
			}
		}
	}
	fill(0, -10.2, 13, 0.2, color.RGBA{150, 150, 150, 255})
	colours := []color.RGBA{{200, 30, 30, 255}, {30, 60, 200, 255}}
	for i, h := range a.all {
		var d moast.SensorData2D
		if h.Buffer(echelon.VehMapBuffer(i+1)).Peek(&d) != nil {
			continue
		}
		for x := 0.1; x < 12.6; x += 0.1 {
			for y := -10.1; y < 0.1; y += 0.1 {
				rx, ry := x, -y
				row, column := int(math.Round((rx-d.LowerLeft.X)/d.IncrementX)),
					int(math.Round((ry-d.LowerLeft.Y)/d.IncrementY))
				if row < 0 || column < 0 || row >= int(d.Y) || column >= int(d.X) {
					continue
				}
				switch d.Features[row*int(d.X)+column] {
				case 1:
					fill(x-0.05, y-0.05, x+0.05, y+0.05, color.RGBA{245, 245, 240, 255})
				case 3:
					fill(x-0.05, y-0.05, x+0.05, y+0.05, color.RGBA{230, 170, 60, 255})
				}
			}
		}
	}
	for _, w := range a.walls {
		fill(w.x-w.hx, w.y-w.hy, w.x+w.hx, w.y+w.hy, color.RGBA{40, 40, 40, 255})
	}
	for i, path := range a.paths {
		for _, p := range path {
			fill(p.x-0.03, p.y-0.03, p.x+0.03, p.y+0.03, colours[i])
		}
	}
	f, err := os.Create(name)
	if err != nil {
		a.t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, m); err != nil {
		a.t.Fatal(err)
	}
}

// row prints a row of the table.
func (a *arena) row(what, body string, seed int, begun float64, more string) {
	a.t.Logf("| %s | %s, %d | %.0f s | %.1f m | %.2f m | %s |", what, body, seed, a.now-begun, a.length, a.nearest,
		more)
}

// off is how far p is from the broken line of points.
func off(p point, line []point) float64 {
	best := math.Inf(1)
	for i := 1; i < len(line); i++ {
		ax, ay, bx, by := line[i-1].x, line[i-1].y, line[i].x, line[i].y
		t := ((p.x-ax)*(bx-ax) + (p.y-ay)*(by-ay)) / math.Max(1e-9, (bx-ax)*(bx-ax)+(by-ay)*(by-ay))
		t = math.Max(0, math.Min(1, t))
		best = math.Min(best, math.Hypot(p.x-ax-t*(bx-ax), p.y-ay-t*(by-ay)))
	}
	return best
}

// TestArena measures MOAST's levels in the yellow arena, simulated and emulated, three seeds each: HALYARD_ARENA names
// the folder of its pictures. It takes minutes.
func TestArena(t *testing.T) {
	folder := os.Getenv("HALYARD_ARENA")
	if folder == "" {
		t.Skip("HALYARD_ARENA: got none, want a folder for the pictures")
	}
	for _, body := range []string{"sim", "emulated"} {
		for seed := 1; seed <= 3; seed++ {
			t.Run(fmt.Sprint(body, seed), func(t *testing.T) {
				t.Run("arcs", func(t *testing.T) { arcs(t, body, seed) })
				t.Run("waypoints", func(t *testing.T) { waypoints(t, body, seed) })
				t.Run("am", func(t *testing.T) { maze(t, body, seed, folder) })
				t.Run("explore", func(t *testing.T) { explore(t, body, seed, 1, folder) })
				t.Run("section", func(t *testing.T) { explore(t, body, seed, 2, folder) })
			})
		}
	}
}

// follow drives prim along line and checks its deviation from it.
func follow(t *testing.T, what, body string, seed int, c moast.Command, line []point, tolerance float64) {
	a := newArena(t, body, seed, 1, 0)
	a.init("primMobJA")
	most := 0.0
	a.watching = func(at point) { most = math.Max(most, off(at, line)) }
	begun := a.now
	if got := a.do("primMobJA", c, 120, nil); got != moast.Done {
		t.Errorf("%s: got %v, want %v", what, got, moast.Done)
	}
	a.row(what, body, seed, begun, fmt.Sprintf("%.2f m off, tolerance %.2f", most, tolerance))
	if most > tolerance || a.nearest <= 0 {
		t.Errorf("%s: got %.3f m off, nearest %.3f m, want at most %.2f, above 0", what, most, a.nearest, tolerance)
	}
}

func arcs(t *testing.T, body string, seed int) {
	up := moast.Cartesian{Z: 1}
	const tolerance = 0.2
	c := &moast.PrimMobCmdMoveArcSegment{Arcs: []moast.ArcSegment{
		{End: moast.Cartesian{X: 1.8}, AnnularTolerance: tolerance, Speed: 0.4},
		{Center: moast.Cartesian{X: 1.8, Y: 0.6}, End: moast.Cartesian{X: 2.4, Y: 0.6}, Normal: up, Theta: math.Pi / 2,
			AnnularTolerance: tolerance, Speed: 0.3, IsArc: 1},
		{End: moast.Cartesian{X: 2.4, Y: 1.8}, AnnularTolerance: tolerance, Speed: 0.4},
		{Center: moast.Cartesian{X: 3, Y: 1.8}, End: moast.Cartesian{X: 3, Y: 2.4}, Normal: moast.Cartesian{Z: -1},
			Theta: math.Pi / 2, AnnularTolerance: tolerance, Speed: 0.3, IsArc: 1},
		{End: moast.Cartesian{X: 3.6, Y: 2.4}, AnnularTolerance: tolerance, Speed: 0.4},
	}}
	line := []point{{x: 4.5, y: -1.9}}
	add := func(x, y float64) { line = append(line, point{x: 4.5 + x, y: -1.9 - y}) }
	add(1.8, 0)
	for d := 0.0; d <= 90; d += 5 {
		s, k := math.Sincos(d * math.Pi / 180)
		add(1.8+0.6*s, 0.6-0.6*k)
	}
	for d := 0.0; d <= 90; d += 5 {
		s, k := math.Sincos(d * math.Pi / 180)
		add(3-0.6*k, 1.8+0.6*s)
	}
	add(3.6, 2.4)
	follow(t, "prim, arcs", body, seed, c, line, tolerance)
}

func waypoints(t *testing.T, body string, seed int) {
	line := []point{{x: 4.5, y: -1.9}}
	c := &moast.PrimMobCmdMoveWaypoint{}
	for _, p := range [][2]float64{{2.4, 0}, {2.4, 2.4}, {3.6, 2.4}, {3.6, 4.8}} {
		c.Waypoints = append(c.Waypoints, moast.Waypoint{P: moast.Cartesian{X: p[0], Y: p[1]}, Neighborhood: 0.15,
			Speed: 0.4})
		line = append(line, point{x: 4.5 + p[0], y: -1.9 - p[1]})
	}
	follow(t, "prim, waypoints", body, seed, c, line, 0.3)
}

func maze(t *testing.T, body string, seed int, folder string) {
	a := newArena(t, body, seed, 1, 0)
	a.init("amMobJA")
	a.pass(2)
	begun := a.now
	c := &moast.AMMobCmdMoveWaypoint{Neighborhood: 0.3, Speed: 0.4,
		Waypoints: []moast.Waypoint{{P: moast.Cartesian{X: 3.6, Y: 4.8}, Neighborhood: 0.2, Speed: 0.4}}}
	if got := a.do("amMobJA", c, 200, nil); got != moast.Done {
		t.Errorf("am: got %v, want %v", got, moast.Done)
	}
	at := a.where(0)
	miss := math.Hypot(at.x-8.1, at.y+6.7)
	a.row("AM, a goal behind walls", body, seed, begun, fmt.Sprintf("%.2f m from it", miss))
	if miss > 0.4 || a.nearest <= 0 {
		t.Errorf("am: got %.2f m from the goal, nearest %.3f m, want at most 0.4, above 0", miss, a.nearest)
	}
	if seed == 1 && body == "sim" {
		a.draw(filepath.Join(folder, "moast-am.png"))
	}
}

func explore(t *testing.T, body string, seed, vehicles int, folder string) {
	a := newArena(t, body, seed, vehicles, seed-1) // each seed from another start
	a.init("sectMobPL")
	connect := &moast.SectMobCmdConnect{SendInit: true}
	for i := range vehicles {
		connect.Vehicles = append(connect.Vehicles, int32(i+1))
	}
	if got := a.do("sectMobPL", connect, 60, nil); got != moast.Done {
		t.Fatalf("connect: got %v", got)
	}
	a.pass(3)
	begun, most := a.now, 0.9
	got := a.do("sectMobPL", &moast.SectMobCmdExplore{Distance: 30}, 900, func() bool { return a.floor() >= most })
	share := a.floor()
	what := "section, one vehicle"
	if vehicles == 2 {
		what = "section, two vehicles"
	}
	a.row(what, body, seed, begun, fmt.Sprintf("%.0f %% seen", 100*share))
	if vehicles > 1 {
		t.Logf("%.2f m between the vehicles", a.apart)
	}
	if got != moast.Done || share < most || a.nearest <= 0 {
		t.Errorf("%s: got %v, %.2f seen, nearest %.3f m, want %.2f, above 0", what, got, share, a.nearest, most)
		for _, touch := range a.touches {
			t.Log(touch)
		}
	}
	if seed == 1 || t.Failed() {
		a.draw(filepath.Join(folder, fmt.Sprintf("moast-explore-%s-%d-%d.png", body, vehicles, seed)))
	}
}
