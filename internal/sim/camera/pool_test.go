package camera

import (
	"context"
	"flag"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/collide"
)

// pictures is where the pictures of the tests go, to be viewed.
var pictures = flag.String("pictures", "", "write the pictures that the tests render to this folder")

func box(x, y, z, hx, hy, hz float64) collide.Geom {
	return collide.Geom{Shape: collide.Shape{Kind: collide.Box, Half: [3]float64{hx, hy, hz}}, Body: -1,
		Local: collide.At(x, y, z)}
}

func ball(x, y, z, radius float64) collide.Geom {
	return collide.Geom{Shape: collide.Shape{Kind: collide.Sphere, Radius: radius}, Body: -1,
		Local: collide.At(x, y, z)}
}

func pole(x, y, z, radius, half float64) collide.Geom {
	return collide.Geom{
		Shape: collide.Shape{Kind: collide.Cylinder, Radius: radius, Half: [3]float64{0, 0, half}}, Body: -1,
		Local: collide.At(x, y, z),
	}
}

// pool is 25 by 12 m, 4 m deep, tiled, with a gate, two buoys and a block on the floor; body 0 is an ROV.
func pool(turbidity float64) *Scene {
	tiles := Paint{Colour: [3]float64{0.85, 0.9, 0.92}, Second: [3]float64{0.55, 0.7, 0.78}, Pattern: Checks, Size: 0.5}
	orange := Paint{Colour: [3]float64{0.95, 0.4, 0.05}, Second: [3]float64{0.95, 0.95, 0.95}, Pattern: Bands,
		Size: 0.25}
	red, yellow := Paint{Colour: [3]float64{0.85, 0.1, 0.08}}, Paint{Colour: [3]float64{0.95, 0.8, 0.1}}
	s := &Scene{Water: &Water{Turbidity: turbidity}}
	add := func(p Paint, g ...collide.Geom) (at []int) {
		for _, g := range g {
			at = append(at, len(s.Geoms))
			s.Geoms, s.Paints = append(s.Geoms, g), append(s.Paints, p)
		}
		return at
	}
	add(tiles, box(10, 0, -4.1, 12.6, 6.1, 0.1), box(22.6, 0, -1.75, 0.1, 6, 2.25), box(-2.6, 0, -1.75, 0.1, 6, 2.25),
		box(10, 6.1, -1.75, 12.6, 0.1, 2.25), box(10, -6.1, -1.75, 12.6, 0.1, 2.25))
	rail := box(6, 0, -1.2, 0.04, 1, 0.04)
	gate := add(orange, pole(6, 1, -2, 0.04, 0.8), pole(6, -1, -2, 0.04, 0.8), rail)
	buoy := add(red, ball(9, 1.5, -2, 0.2))
	other := add(yellow, ball(4, -1.6, -1, 0.2))
	block := add(Paint{Colour: [3]float64{0.2, 0.5, 0.2}}, box(5, 0.5, -3.8, 0.3, 0.3, 0.2))
	s.Things = []Object{
		{"gate", "gate", gate}, {"buoy", "red", buoy}, {"buoy", "yellow", other}, {"block", "block", block},
	}
	hull := box(0, 0, 0, 0.2, 0.2, 0.1)
	hull.Body, hull.Group = 0, 2
	add(yellow, hull)
	return s
}

// at is the pose of the ROV: roll, pitch and yaw are not needed here, a turn about y looks down.
func at(x, y, z, yaw, down float64) []collide.Pose {
	a, b := math.Sin(yaw/2), math.Sin(down/2)
	c, d := math.Cos(yaw/2), math.Cos(down/2)
	return []collide.Pose{{Position: [3]float64{x, y, z}, Rotation: [4]float64{c * d, -a * b, c * b, a * d}}}
}

var front = Camera{Name: "front", Width: 640, Height: 360, FieldOfView: 1.6, Near: 0.01, Far: 1000, Detects: true,
	Mask: 1}
var depth = Camera{Name: "depth", Width: 128, Height: 72, FieldOfView: 1.6, Near: 0.3, Far: 20, Depth: true, Mask: 1}

// studio makes a studio that ends with the test.
func studio(t testing.TB, s *Scene, workers int, cameras ...Camera) *Renderer {
	t.Helper()
	st, err := New(s, 1, cameras, workers)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(st.Close)
	return st
}

// shoot takes one picture.
func shoot(t testing.TB, st *Renderer, camera int, poses []collide.Pose) *hal.Picture {
	t.Helper()
	w, err := st.Watch(camera)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	st.Push(time.Second, poses)
	p, err := w.Next(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// keepPicture writes p as PNG into the folder of the flag; depth from black at 0 m to white at 20.
func keepPicture(t *testing.T, name string, p *hal.Picture) {
	t.Helper()
	if *pictures == "" {
		return
	}
	img := image.NewRGBA(image.Rect(0, 0, p.Width, p.Height))
	for k := range p.Width * p.Height {
		c := color.RGBA{A: 255}
		if p.RGB != nil {
			c.R, c.G, c.B = p.RGB[3*k], p.RGB[3*k+1], p.RGB[3*k+2]
		} else {
			g := byte(min(255, 255*float64(p.Depth[k])/20))
			c.R, c.G, c.B = g, g, g
		}
		img.SetRGBA(k%p.Width, k/p.Width, c)
	}
	f, err := os.Create(filepath.Join(*pictures, name+".png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, img); err != nil {
		t.Fatal(err)
	}
}

// TestPictures renders pictures to be viewed: go test -run Pictures -pictures DIR.
func TestPictures(t *testing.T) {
	clear, turbid := studio(t, pool(0.05), 2, front, depth), studio(t, pool(0.5), 2, front)
	for _, c := range []struct {
		name   string
		st     *Renderer
		camera int
		pose   []collide.Pose
	}{
		{"clear", clear, 0, at(0, 0, -1.8, 0, 0)},
		{"turbid", turbid, 0, at(0, 0, -1.8, 0, 0)},
		{"depth", clear, 1, at(0, 0, -1.8, 0, 0)},
		{"up", clear, 0, at(2, 0, -2.5, 0.3, -0.9)},
		{"down", clear, 0, at(3, 0, -1, 0, 0.6)},
		{"above", clear, 0, at(0, 0, 1.2, 0.2, 0.3)},
	} {
		p := shoot(t, c.st, c.camera, c.pose)
		keepPicture(t, c.name, p)
		for _, s := range p.Detections {
			t.Logf("%s: %+v", c.name, s)
		}
		p.Release()
	}
}
