package model

import (
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
)

func TestRollPitchYaw(t *testing.T) {
	const quarter = math.Pi / 2
	for _, c := range []struct{ rpy, x, y, z vec }{ // where the axes go
		{vec{}, vec{1, 0, 0}, vec{0, 1, 0}, vec{0, 0, 1}},
		{vec{quarter, 0, 0}, vec{1, 0, 0}, vec{0, 0, 1}, vec{0, -1, 0}},
		{vec{0, quarter, 0}, vec{0, 0, -1}, vec{0, 1, 0}, vec{1, 0, 0}},
		{vec{0, 0, quarter}, vec{0, 1, 0}, vec{-1, 0, 0}, vec{0, 0, 1}},
		{vec{quarter, 0, quarter}, vec{0, 1, 0}, vec{0, 0, 1}, vec{1, 0, 0}}, // x first, then the fixed z
	} {
		m := matrix(rollPitchYaw(c.rpy[0], c.rpy[1], c.rpy[2]))
		for i, want := range []vec{c.x, c.y, c.z} {
			var axis vec
			axis[i] = 1
			if got := m.times(axis); !near(got, want) {
				t.Errorf("%v: axis %d: got %v, want %v", c.rpy, i, got, want)
			}
		}
	}
}

func TestPoses(t *testing.T) {
	a := hal.Pose{Position: vec{1, 2, 3}, Rotation: rollPitchYaw(0.3, -0.8, 2)}
	b := hal.Pose{Position: vec{-1, 0.5, 2}, Rotation: rollPitchYaw(-1.3, 0.2, 1)}
	p := vec{0.1, 0.2, 0.3}
	if got, want := place(within(a, b), p), place(a, place(b, p)); !near(got, want) {
		t.Errorf("within: got %v, want %v", got, want)
	}
	if got := place(within(inverse(a), within(a, b)), p); !near(got, place(b, p)) {
		t.Errorf("inverse: got %v, want %v", got, place(b, p))
	}
	// The zero pose of hal stands for the identity, on both sides.
	var zero hal.Pose
	if got := place(within(zero, within(b, zero)), p); !near(got, place(b, p)) {
		t.Errorf("zero pose: got %v, want %v", got, place(b, p))
	}
	if got := inverse(zero); got.Rotation != [4]float64{1} {
		t.Errorf("inverse of the zero pose: got %v", got)
	}
}

// Turning an inertia there and back changes nothing, and no turn changes its trace.
func TestTurned(t *testing.T) {
	q := rollPitchYaw(0.4, 1.1, -2)
	i := [6]float64{2, 3, 4, 0.1, -0.2, 0.3}
	there := turned(symmetric(i), q)
	back := turned(there, [4]float64{q[0], -q[1], -q[2], -q[3]})
	for k, got := range back.list() {
		if math.Abs(got-i[k]) > 1e-14 {
			t.Errorf("inertia %d: got %g, want %g", k, got, i[k])
		}
	}
	if got := there[0][0] + there[1][1] + there[2][2]; math.Abs(got-9) > 1e-13 {
		t.Errorf("trace: got %g, want 9", got)
	}
	if there[0][1] == 0.1 {
		t.Error("the turn did nothing")
	}
}

func TestUnit(t *testing.T) {
	for _, v := range []vec{{}, {math.NaN(), 0, 1}, {1e-12, 0, 0}, {math.Inf(1), 0, 0}} {
		if _, ok := unit(v); ok {
			t.Errorf("%v: got a direction, want none", v)
		}
	}
	if v, ok := unit(vec{0, 3, -4}); !ok || !near(v, vec{0, 0.6, -0.8}) {
		t.Errorf("got %v, %v", v, ok)
	}
}
