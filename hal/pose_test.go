package hal

import (
	"math"
	"testing"
)

func TestPose(t *testing.T) {
	s := math.Sqrt(0.5)
	quarter := Pose{Position: [3]float64{1, 2, 3}, Rotation: [4]float64{s, 0, 0, s}} // a quarter turn about z
	near := func(what string, got, want [3]float64) {
		t.Helper()
		for i := range got {
			if math.Abs(got[i]-want[i]) > 1e-15*8 {
				t.Errorf("%s: got %v, want %v", what, got, want)
				return
			}
		}
	}
	near("turn", quarter.Turn([3]float64{1, 0, 0.5}), [3]float64{0, 1, 0.5})
	near("of", quarter.Of([3]float64{1, 0, 0}), [3]float64{1, 3, 3})
	near("the zero pose", Pose{}.Of([3]float64{4, 5, 6}), [3]float64{4, 5, 6})
	// first b, then the frame that it is given in
	b := Pose{Position: [3]float64{0, 1, 0}, Rotation: [4]float64{s, s, 0, 0}}
	both := quarter.Times(b)
	near("times", both.Of([3]float64{0, 0, 1}), quarter.Of(b.Of([3]float64{0, 0, 1})))
	near("inverse", quarter.Inverse().Of(quarter.Of([3]float64{7, 8, 9})), [3]float64{7, 8, 9})
	near("inverse times", quarter.Inverse().Times(both).Position, b.Position)
}

func TestRollPitchYaw(t *testing.T) {
	half := func(a float64) (sin, cos float64) { return math.Sincos(a / 2) }
	for _, want := range [][3]float64{{}, {0.3, 0, 0}, {0, -0.5, 0}, {0, 0, 3}, {-0.2, 0.4, -2.5}} {
		sr, cr := half(want[0])
		sp, cp := half(want[1])
		sy, cy := half(want[2])
		turn := Pose{Rotation: [4]float64{cy, 0, 0, sy}}.Times(Pose{Rotation: [4]float64{cp, 0, sp, 0}}).Times(
			Pose{Rotation: [4]float64{cr, sr, 0, 0}})
		for i, got := range turn.RollPitchYaw() {
			if math.Abs(got-want[i]) > 1e-12 {
				t.Errorf("%v: got %v", want, turn.RollPitchYaw())
				break
			}
		}
	}
}

// TestRotationOf: RollPitchYaw returns the turns that made a rotation.
func TestRotationOf(t *testing.T) {
	for _, want := range [][3]float64{{}, {0.1, 0, 0}, {0, -0.2, 0}, {0, 0, 3}, {0.3, -1.2, -2.5}} {
		got := Pose{Rotation: RotationOf(want)}.RollPitchYaw()
		for k := range got {
			if math.Abs(got[k]-want[k]) > 1e-12 {
				t.Errorf("%v: got %v", want, got)
			}
		}
	}
}
