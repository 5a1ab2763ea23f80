package collide

import (
	"math"
	"testing"
)

// TestCases has contacts that can be worked out by hand: all of them in order, normal from the second to the first.
func TestCases(t *testing.T) {
	turn := func(angle float64, axis int, at ...float64) Pose {
		p := At(at[0], at[1], at[2])
		p.Rotation[0], p.Rotation[1+axis] = math.Cos(angle/2), math.Sin(angle/2)
		return p
	}
	const quarter, root2 = math.Pi / 2, math.Sqrt2
	plane := Shape{Kind: Plane}
	type point = [3]float64
	cases := []struct {
		name   string
		a      Shape
		pa     Pose
		b      Shape
		pb     Pose
		normal point
		depth  float64 // of all contacts
		at     []point
	}{
		{"sphere on plane", ball(1), At(3, 4, 0.9), plane, Identity(), point{0, 0, 1}, 0.1, []point{{3, 4, -0.05}}},
		{"sphere over plane", ball(1), At(3, 4, 1.1), plane, Identity(), point{}, 0, nil},
		{"sphere on a wall", ball(1), At(4.5, 0, 0), plane, turn(-quarter, 1, 5, 0, 0), point{-1, 0, 0}, 0.5,
			[]point{{5.25, 0, 0}}},
		{"two spheres", ball(1), At(0, 0, 0), ball(0.5), At(1.3, 0, 0), point{-1, 0, 0}, 0.2, []point{{0.9, 0, 0}}},
		{"spheres in one place", ball(1), At(1, 1, 1), ball(1), At(1, 1, 1), point{0, 0, 1}, 2, []point{{1, 1, 1}}},
		{"capsule lying", pill(0.5, 1), turn(quarter, 1, 0, 0, 0.4), plane, Identity(), point{0, 0, 1}, 0.1,
			[]point{{-1, 0, -0.05}, {1, 0, -0.05}}},
		{"capsule upright", pill(0.5, 1), At(0, 0, 1.4), plane, Identity(), point{0, 0, 1}, 0.1,
			[]point{{0, 0, -0.05}}},
		{"box on plane", block(1, 2, 3), At(0, 0, 2.9), plane, Identity(), point{0, 0, 1}, 0.1,
			[]point{{-1, -2, -0.05}, {1, -2, -0.05}, {-1, 2, -0.05}, {1, 2, -0.05}}},
		{"plate sunk in plane", block(1, 2, 0.01), At(0, 0, -0.09), plane, Identity(), point{0, 0, 1}, 0.1,
			[]point{{-1, -2, -0.05}, {1, -2, -0.05}, {-1, 2, -0.05}, {1, 2, -0.05}}},
		{"box on its edge", block(1, 2, 1), turn(quarter/2, 1, 0, 0, root2-0.1), plane, Identity(), point{0, 0, 1}, 0.1,
			[]point{{0, -2, -0.05}, {0, 2, -0.05}}},
		{"can upright", can(1, 2), At(0, 0, 1.9), plane, Identity(), point{0, 0, 1}, 0.1,
			[]point{{1, 0, -0.05}, {0, 1, -0.05}, {-1, 0, -0.05}, {0, -1, -0.05}}},
		{"can lying", can(1, 2), turn(quarter, 1, 0, 0, 0.9), plane, Identity(), point{0, 0, 1}, 0.1,
			[]point{{-2, 0, -0.05}, {2, 0, -0.05}}},
		{"sphere in a box's side", ball(1), At(1.9, 0.3, 0), block(1, 1, 1), Identity(), point{1, 0, 0}, 0.1,
			[]point{{0.95, 0.3, 0}}},
		{"sphere at a box's edge", ball(root2), At(1.9, 1.9, 0), block(1, 1, 1), Identity(),
			point{root2 / 2, root2 / 2, 0}, 0.1 * root2, []point{{0.95, 0.95, 0}}},
		{"sphere at a can's rim", ball(root2), At(0, 1.9, 1.9), can(1, 1), Identity(),
			point{0, root2 / 2, root2 / 2}, 0.1 * root2, []point{{0, 0.95, 0.95}}},
		{"capsules crossed", pill(0.5, 1), At(0, 0, 0), pill(0.5, 1), turn(quarter, 1, 0, 0.9, 0), point{0, -1, 0}, 0.1,
			[]point{{0, 0.45, 0}}},
		{"capsules side by side", pill(0.5, 1), At(0, 0, 0), pill(0.5, 1), At(0.9, 0, 0.5), point{-1, 0, 0}, 0.1,
			[]point{{0.45, 0, -0.5}, {0.45, 0, 1}}},
		{"capsules end to end", pill(0.5, 1), At(0, 0, 0), pill(0.5, 1), At(0, 0, 2.9), point{0, 0, -1}, 0.1,
			[]point{{0, 0, 1.45}}},
		{"capsule on a box, over its rims", pill(0.5, 3), turn(quarter, 1, 0, 0, 1.4), block(1, 1, 1), Identity(),
			point{0, 0, 1}, 0.1, []point{{-1, 0, 0.95}, {1, 0, 0.95}}},
		{"box on box", block(1, 1, 1), At(0.5, 0.25, 1.9), block(1, 1, 1), Identity(), point{0, 0, 1}, 0.1,
			[]point{{1, -0.75, 0.95}, {1, 1, 0.95}, {-0.5, 1, 0.95}, {-0.5, -0.75, 0.95}}},
		{"can on a box", can(0.5, 1), At(0, 0, 1.9), block(1, 1, 1), Identity(), point{0, 0, 1}, 0.1,
			[]point{{0.5, 0, 0.95}, {0, 0.5, 0.95}, {-0.5, 0, 0.95}, {0, -0.5, 0.95}}},
		{"wheel at a step's edge", can(root2, 0.5), turn(quarter, 0, -0.9, 0, 0.9), block(1, 2, 1), At(1, 0, -1),
			point{-root2 / 2, 0, root2 / 2}, root2 - 0.9*root2, nil},
		{"can on can", can(1, 1), At(0.1, 0, 1.9), can(2, 1), Identity(), point{0, 0, 1}, 0.1, nil},
		{"cans side by side", can(1, 1), At(1.9, 0, 0.5), can(1, 1), Identity(), point{1, 0, 0}, 0.1,
			[]point{{0.95, 0, -0.5}, {0.95, 0, 1}}},
		{"cans crossed", can(1, 2), At(0, 0, 2.99), can(1, 2), turn(quarter, 1, 0, 0, 0), point{0, 0, 1}, 0.01, nil},
	}
	for _, c := range cases {
		got := meet(t, c.a, c.pa, c.b, c.pb)
		if c.at == nil {
			if (deepest(got).Depth > 0) != (c.depth > 0) || math.Abs(deepest(got).Depth-c.depth) > 1e-9 {
				t.Errorf("%s: got %v, want depth %g", c.name, got, c.depth)
			} else if c.depth > 0 && lengthOf(plus(deepest(got).Normal, c.normal, -1)) > 1e-6 {
				t.Errorf("%s: got %v, want normal %v", c.name, got, c.normal)
			}
			continue
		}
		if len(got) != len(c.at) {
			t.Errorf("%s: got %d contacts, want %d: %v", c.name, len(got), len(c.at), got)
			continue
		}
		for _, want := range c.at {
			found := false
			for _, k := range got {
				found = found || lengthOf(plus(k.Position, want, -1)) < 1e-9
			}
			if !found {
				t.Errorf("%s: nothing at %v: %v", c.name, want, got)
			}
		}
		for _, k := range got {
			if lengthOf(plus(k.Normal, c.normal, -1)) > 1e-9 || math.Abs(k.Depth-c.depth) > 1e-9 {
				t.Errorf("%s: got %+v, want normal %v, depth %g", c.name, k, c.normal, c.depth)
			}
		}
	}
}
