package okon

import (
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
)

// TestAxes: a positive yaw of the protocol goes right, a positive pitch lowers the nose, a positive roll the left side.
func TestAxes(t *testing.T) {
	ahead, left := [3]float64{1, 0, 0}, [3]float64{0, 1, 0}
	for _, k := range []struct {
		rot    Vector
		v      [3]float64
		toward [3]float64 // in hal's axes
	}{
		{Vector{0, 90, 0}, ahead, [3]float64{0, -1, 0}},
		{Vector{90, 0, 0}, ahead, [3]float64{0, 0, -1}},
		{Vector{0, 0, 90}, left, [3]float64{0, 0, -1}},
		{Vector{90, 90, 0}, ahead, [3]float64{0, 0, -1}}, // first x, then y
		{Vector{30, 90, 0}, ahead, [3]float64{0, -math.Cos(math.Pi / 6), -0.5}},
	} {
		got := hal.Pose{Rotation: attitude(k.rot)}.Turn(k.v)
		for i := range got {
			if math.Abs(got[i]-k.toward[i]) > 1e-6 {
				t.Errorf("%v turns %v to %.3f, want %.3f", k.rot, k.v, got, k.toward)
				break
			}
		}
	}
	v := [3]float64{1, 2, 3}
	if u := toUnity(v); u != (Vector{-2, 3, 1}) || fromUnity(u) != v {
		t.Errorf("vector: got %v and back %v", u, fromUnity(u))
	}
	if u := turnToUnity(v); u != (Vector{2, -3, -1}) || turnFromUnity(u) != v {
		t.Errorf("turn: got %v and back %v", u, turnFromUnity(u))
	}
}

// TestEuler: angles survive the way to a quaternion and back, as angles or as the same attitude.
func TestEuler(t *testing.T) {
	for _, rot := range []Vector{{0, 0, 0}, {10, 20, 30}, {350, 180, 5}, {89, 300, 200}, {271, 10, 359}, {0, 180, 0}} {
		got := euler(attitude(rot))
		for _, k := range [][2]float32{{got.X, rot.X}, {got.Y, rot.Y}, {got.Z, rot.Z}} {
			if d := math.Remainder(float64(k[0]-k[1]), 360); math.Abs(d) > 1e-3 || k[0] < -0.006 || k[0] >= 360 {
				t.Errorf("%v: got %v", rot, got)
				break
			}
		}
	}
	for x := float32(-180); x <= 180; x += 30 {
		for y := float32(-180); y <= 180; y += 45 {
			for z := float32(-180); z <= 180; z += 45 {
				a := attitude(Vector{x, y, z})
				b := attitude(euler(a))
				dot := a[0]*b[0] + a[1]*b[1] + a[2]*b[2] + a[3]*b[3]
				if math.Abs(dot) < 1-1e-6 {
					t.Errorf("%v %v %v: got %v, another attitude", x, y, z, euler(a))
				}
			}
		}
	}
}
