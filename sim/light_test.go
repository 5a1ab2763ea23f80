package sim

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/model"
)

// mirrored is a hall with a mirror 2 m north of the middle, turned by half a right angle, and a wall 3 m to its west.
const mirrored = `{name: mirrored, ground: floor, materials: {floor: {friction: 0.8}, plain: {friction: 0.8, colour: [0.9, 0.1, 0.1]},
mirror: {friction: 0.5, mirror: true}}, daylight: %s,
fixed: [{box: [2, 0.02, 2], at_m: [2, 0, 0], rotation_deg: [0, 0, 45], material: mirror}, {box: [4, 0.1, 2], at_m: [2, 3.05, 0], material: plain}]}`

func yard(t *testing.T, text string) *Scene {
	t.Helper()
	if _, err := model.ParseScene([]byte(text), "text", 1); err != nil {
		t.Fatal(err)
	}
	s := NewScene(SceneConfig{Scene: func(seed int64) (*model.Scene,
		error) {
		return model.ParseScene([]byte(text), "text", seed)
	}})
	t.Cleanup(s.Close)
	return s
}

// Lasers measure the whole path over a mirror; a sonar measures the mirror itself.
func TestMirror(t *testing.T) {
	text := strings.Replace(mirrored, "%s", "1", 1)
	r := exactly(t, yard(t, text), "a", "p2at", hal.Pose{Position: [3]float64{0, 0, 0.18}})
	r.run(time.Second)
	p := r.body.Pose(0).Position
	scan := r.sensor("scanner1")
	// Straight on: to the mirror's skin, 1 cm before its middle along its normal, and from there to the wall.
	skin := math.Sqrt2 * 0.01
	to := 2 - skin - p[0] - 0.144 + p[1]
	want := to + 3 - p[1] // a turn of the ray by a right angle leaves the rest of y
	if got := scan[90]; math.Abs(got-want) > 0.02 {
		t.Errorf("laser: got %g m, want %g: round the mirror to the wall", got, want)
	}
	if got := r.sensor("f4")[0]; math.Abs(got-(to+0.144-0.24)) > 0.12 {
		t.Errorf("sonar: got %g m, want the mirror at %g", got, to+0.144-0.24)
	}
}

// A camera sees the wall in the mirror, and the floor brighter where the headlight falls.
func TestCameraLight(t *testing.T) {
	// picture is the mean colour of what lies straight ahead, and of the floor below it.
	picture := func(daylight string, lit bool) (ahead, floor [3]float64) {
		t.Helper()
		r := exactly(t, yard(t, strings.Replace(mirrored, "%s", daylight, 1)), "car", "usarcar",
			hal.Pose{Position: [3]float64{0, 0, 0.18}})
		if err := r.body.Switch(lit); err != nil || r.body.Lit() != lit {
			t.Fatalf("headlight: got %v, %v", r.body.Lit(), err)
		}
		w, err := r.body.Watch(0)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		r.run(time.Second)
		p, err := w.Next(context.Background(), 0)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Release()
		mean := func(from, to int) (c [3]float64) {
			n := 0.0
			for y := from; y < to; y++ {
				for x := p.Width * 2 / 5; x < p.Width*3/5; x++ {
					for k := range c {
						c[k] += float64(p.RGB[3*(y*p.Width+x)+k])
					}
					n++
				}
			}
			return [3]float64{c[0] / n, c[1] / n, c[2] / n}
		}
		return mean(p.Height*2/5, p.Height/2), mean(p.Height*9/10, p.Height)
	}
	day, _ := picture("1", false)
	if !(day[0] > 2*day[1]) {
		t.Errorf("by day: got colours %.0f, want the red wall in the mirror", day)
	}
	dark, dull := picture("0.02", false)
	_, bright := picture("0.02", true)
	if !(dark[0] < day[0]/2 && bright[0] > 1.5*dull[0]) {
		t.Errorf("got %.0f by day and %.0f by night, the floor %.0f and %.0f by headlight, want it darker and then "+
			"brighter", day, dark, dull, bright)
	}
	if r := exactly(t, yard(t, strings.Replace(mirrored, "%s", "1", 1)), "a", "p2at",
		hal.Pose{}); r.body.Switch(true) == nil {
		t.Error("a P2AT has no headlight, and turned it on")
	}
}
