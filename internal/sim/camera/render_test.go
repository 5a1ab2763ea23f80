package camera

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sim/r3"
	"github.com/halyard-robotics/halyard/sim/collide"
)

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s: got %.6g, want %.6g within %.2g", what, got, want, within)
	}
}

// TestDepth: a wall across the axis has one depth in every pixel, along the axis and not along the ray.
func TestDepth(t *testing.T) {
	wall := box(5.1, 0, 0, 0.1, 50, 50)
	s := &Scene{Geoms: []collide.Geom{wall, ball(2, 0, 0, 0.5)}, Paints: make([]Paint, 2)}
	c := depth
	c.Mask = 0
	st := studio(t, s, 2, c)
	p := shoot(t, st, 0, at(0, 0, 0, 0, 0))
	for k, d := range p.Depth {
		x, y := k%p.Width, k/p.Width
		if middle := x >= 62 && x < 66 && y >= 34 && y < 38; middle {
			near(t, "ball", float64(d), 1.5, 0.01)
		} else if x < 10 || y < 5 {
			near(t, "wall", float64(d), 5, 1e-6)
		}
	}
	// What is nearer than Near is looked through, what is beyond Far is not there.
	p = shoot(t, st, 0, at(1.3, 0, 0, 0, 0))
	near(t, "from 0.2 m of the ball, its far side", float64(p.Depth[36*128+64]), 1.2, 0.01)
	p = shoot(t, st, 0, at(-16, 0, 0, 0, 0))
	if d := p.Depth[0]; !math.IsInf(float64(d), 1) {
		t.Errorf("a wall at 21 m through a camera of 20: got %g m, want +Inf", d)
	}
}

// TestPinhole: where a point appears follows from the field of view, left is left and up is up.
func TestPinhole(t *testing.T) {
	c := front
	c.Detects, c.Mask = true, 0
	half := math.Tan(c.FieldOfView / 2)
	for _, to := range [][2]float64{{0, 0}, {1, 0}, {-1, 0}, {0, 0.5}, {0, -0.5}, {-1.5, 0.9}} {
		s := &Scene{Geoms: []collide.Geom{ball(4, to[0], to[1], 0.1)}, Paints: make([]Paint, 1),
			Things: []Object{{"ball", "b", []int{0}}}}
		p := shoot(t, studio(t, s, 2, c), 0, at(0, 0, 0, 0, 0))
		b := p.Detections[0].Box
		near(t, "across", (b[0]+b[2])/2, 0.5-to[0]/4/half/2, 0.002)
		near(t, "down", (b[1]+b[3])/2, 0.5-to[1]/4/half/2*640/360, 0.003)
	}
}

// TestSight holds the detector against geometry and Beer and Lambert.
func TestSight(t *testing.T) {
	things := []Object{{"ball", "one", []int{0}}}
	dry := Scene{Geoms: []collide.Geom{ball(4, 0, -5, 0.5)}, Paints: make([]Paint, 1), Things: things}
	look := func(s Scene, pose []collide.Pose) hal.Detection {
		c := front
		c.Mask = 0
		return shoot(t, studio(t, &s, 2, c), 0, pose).Detections[0]
	}
	whole := look(dry, at(0, 0, -5, 0, 0))
	near(t, "visible", whole.Visible, 1, 0)
	near(t, "distance", whole.Distance, 4, 1e-12)
	near(t, "colour in air", whole.Colour, 1, 0)
	// The cone around a ball of radius r at distance d has the half angle asin(r/d).
	half := math.Tan(math.Asin(0.5/4)) / math.Tan(front.FieldOfView/2) / 2
	near(t, "left", whole.Box[0], 0.5-half, 0.002)
	near(t, "right", whole.Box[2], 0.5+half, 0.002)
	near(t, "fill", whole.Fill, 2*half*2*half*16/9, 0.001)

	wet := dry
	wet.Water = &Water{Turbidity: 0.1}
	got := look(wet, at(0, 0, -5, 0, 0))
	sum := 0.0
	for _, a := range absorption.Array() {
		sum += math.Exp(-(a + 0.1) * 3.6) // about the mean distance of the near side
	}
	near(t, "colour through water", got.Colour, sum/3, 0.01)

	hidden := dry
	hidden.Geoms, hidden.Paints = []collide.Geom{dry.Geoms[0], box(2, 0.5, -5, 0.01, 0.5, 2)}, make([]Paint, 2)
	got = look(hidden, at(0, 0, -5, 0, 0))
	near(t, "half behind a board", got.Visible, 0.5, 0.06)
	near(t, "its left", got.Box[0], 0.5, 0.002)
	edge := look(dry, at(0, 0, -5, front.FieldOfView/2, 0))
	near(t, "half out of the picture", edge.Visible, 0.5, 0.06)
	near(t, "its right", edge.Box[2], 1, 0)
	away := look(dry, at(0, 0, -5, math.Pi, 0))
	if away.Visible != 0 || away.Box != ([4]float64{}) || math.Abs(away.Distance-4) > 1e-12 {
		t.Errorf("behind the camera: got %+v, want not visible, at 4 m", away)
	}
}

// TestLight: what is deeper is darker and bluer, what is farther is more like the water, and a lamp helps against both.
func TestLight(t *testing.T) {
	white := Paint{Colour: [3]float64{1, 1, 1}}
	pixel := func(s *Scene, pose []collide.Pose) r3.Vec {
		c := front
		c.Width, c.Height, c.Mask = 3, 3, 0
		p := shoot(t, studio(t, s, 1, c), 0, pose)
		return r3.XYZ(float64(p.RGB[12]), float64(p.RGB[13]), float64(p.RGB[14]))
	}
	board := func(x, z float64) *Scene {
		return &Scene{Geoms: []collide.Geom{box(x+0.01, 0, z, 0.01, 1, 1)}, Paints: []Paint{white},
			Water: &Water{Turbidity: 0.05}}
	}
	shallow, deep := pixel(board(1, -1), at(0, 0, -1, 0, 0)), pixel(board(1, -8), at(0, 0, -8, 0, 0))
	if !(deep.X < 0.5*shallow.X && deep.Z > 0.7*shallow.Z) {
		t.Errorf("at 8 m: got %v, at 1 m %v, want less red and most of the blue", deep, shallow)
	}
	far, open := pixel(board(40, -1), at(0, 0, -1, 0, 0)), pixel(board(1e3, -1), at(0, 0, -1, 0, math.Pi))
	if far.Sub(open).Norm() > 12 {
		t.Errorf("a board at 40 m: got %v, want about the open water's %v", far, open)
	}
	s := board(1, -8)
	s.Lights = []Light{{Body: 0, Direction: [3]float64{1, 0, 0}, Half: 0.5, Power: 1}}
	if lit := pixel(s, at(0, 0, -8, 0, 0)); !(lit.X > 2*deep.X) {
		t.Errorf("with a lamp: got %v, without %v, want more red", lit, deep)
	}
	if lit := pixel(s, at(0, 0, -8, 0, math.Pi)); lit.X > shallow.X {
		t.Errorf("with the back to it: got %v", lit)
	}
}

// TestPattern: fields change every Size, and a face that lies between two fields is of one colour.
func TestPattern(t *testing.T) {
	c := coat{colour: r3.XYZ(1, 0, 0), second: r3.XYZ(0, 1, 0), pattern: Checks, size: 0.5}
	up := r3.XYZ(0, 0, 1)
	for _, p := range []r3.Vec{r3.XYZ(0.2, 0.2, 0), r3.XYZ(0.3, 0.4, 0), r3.XYZ(0.7, 0.7, 0)} {
		if c.at(p, up) != c.at(r3.XYZ(0.1, 0.1, 0), up) || c.at(p, up) == c.at(p.Add(r3.XYZ(0.5, 0, 0)), up) {
			t.Errorf("checks at %v: got %v", p, c.at(p, up))
		}
	}
	c.pattern = Bands
	if c.at(r3.XYZ(9, 9, 0.1), r3.Vec{X: 1}) != c.colour || c.at(r3.XYZ(9, 9, 0.6), r3.Vec{X: 1}) != c.second {
		t.Error("bands: want the first colour from 0 to 0.5 m, then the second")
	}
	var f fall
	f.fill()
	for x := 0.0; x < 14; x += 0.01 {
		near(t, "fall", f.of(x), math.Exp(-x), 1e-5)
	}
	var s screen
	s.fill()
	for k := range 256 {
		if got := s.of(linear([3]float64{float64(k) / 255, 0, 0}).X); math.Abs(float64(got)-float64(k)) > 1 {
			t.Errorf("screen: got %d, want %d", got, k)
		}
	}
}

// TestSurface: from below the sky fills a cone of 48.6 degrees about the zenith, beyond it the water is mirrored.
func TestSurface(t *testing.T) {
	s := pool(0.05)
	o := s.optics()
	rim := math.Asin(1 / refraction)
	ray := func(a float64) r3.Vec { return o.window(r3.XYZ(math.Sin(a), 0, math.Cos(a)), nil) }
	if in, out := ray(rim-0.1), ray(rim+0.01); !(in.Z > 2*out.Z) || out != o.glow(0, -math.Cos(rim+0.01), math.Inf(1)) {
		t.Errorf("at the rim: got %v within and %v beyond", in, out)
	}
}

// TestSame: the bytes do not depend on how many workers shared the rows.
func TestSame(t *testing.T) {
	var first *hal.Picture
	for workers := 1; workers <= 3; workers++ {
		p := shoot(t, studio(t, pool(0.05), workers, front), 0, at(1, 0.3, -1.5, 0.2, 0.1))
		if first == nil {
			first = p
		}
		if !bytes.Equal(p.RGB, first.RGB) || !slices.Equal(p.Detections, first.Detections) {
			t.Errorf("%d workers: the picture differs from that of one", workers)
		}
	}
}

func TestFaults(t *testing.T) {
	s := pool(0.05)
	s.Paints[0].Size = 0
	s.Paints[1].Colour[0] = math.NaN()
	s.Things = append(s.Things, Object{"x", "y", []int{99}}, Object{"x", "z", s.Things[0].Geoms})
	s.Water.Turbidity = -1
	s.Sun.Direction = [3]float64{1, 0, 0}
	s.Lights = []Light{{Body: 7}}
	s.Geoms[0].Half[0] = 0
	bad := front
	bad.Width, bad.FieldOfView, bad.Near, bad.Body = 0, 4, -1, 3
	_, err := New(s, 1, []Camera{front, bad}, 0)
	if err == nil {
		t.Fatal("got no error")
	}
	for _, want := range []string{
		"paints[0]: pattern", "paints[1]: colour", "things[4]: got geom 99", "which things[0] has", "water:", "sun:",
		"lights[0]",
		"cameras[1]: size", "field of view", "range", "body: got 3",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %q, want a fault with %q", err, want)
		}
	}
}
