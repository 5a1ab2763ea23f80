package model

import (
	"math"
	"strings"
	"testing"
)

// corners are those of a box in the robot's frame, in the built pose.
func corners(b *Body, s *Shape) []vec {
	pose := within(b.Pose, s.Pose)
	var out []vec
	for i := range 8 {
		v := s.Half
		for k := range 3 {
			if i>>k&1 == 1 {
				v[k] = -v[k]
			}
		}
		out = append(out, place(pose, v))
	}
	return out
}

func loadHumanoid(t *testing.T) *Robot {
	t.Helper()
	r, err := Load("a-series")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The humanoid stands: both soles lie flat on z = 0, nothing is below, and the centre of mass is well over them.
func TestHumanoidStands(t *testing.T) {
	r := loadHumanoid(t)
	if m := r.Mass(); m < 2.2 || m > 2.4 || len(r.Bodies) != 22 || r.Fixed {
		t.Errorf("got %g kg, %d bodies, fixed %v", m, len(r.Bodies), r.Fixed)
	}
	var low, high, front, back float64
	for i := range r.Bodies {
		b := &r.Bodies[i]
		foot := strings.HasSuffix(b.Name, "_foot")
		var onGround int
		for k := range b.Shapes {
			for _, c := range corners(b, &b.Shapes[k]) {
				low, high = math.Min(low, c[2]), math.Max(high, c[2])
				if math.Abs(c[2]) < 1e-9 {
					onGround++
					front, back = math.Max(front, c[0]), math.Min(back, c[0])
				}
			}
		}
		if (onGround == 4) != foot {
			t.Errorf("%s: got %d corners on the ground", b.Name, onGround)
		}
		sole := b.Shapes[0].Material
		if foot && sole.Friction < 0.5 || sole.ForceLimit {
			t.Errorf("%s: got material %+v", b.Name, sole)
		}
	}
	if low < -1e-9 || high < 0.42 || high > 0.55 {
		t.Errorf("got from %g to %g m", low, high)
	}
	c := r.CentreOfMass()
	if c[0] < back+0.02 || c[0] > front-0.02 || math.Abs(c[1]) > 1e-9 {
		t.Errorf("centre of mass: got %v, want over soles from %g to %g", c, back, front)
	}
	t.Logf("%.3f kg, %.3f m, centre of mass at %.4f %.4f %.4f m, soles from %.4f to %.4f m", r.Mass(), high, c[0], c[1],
		c[2], back, front)
}

// Its left side is the mirror image of its right one: bodies, anchors, axes, limits, boards.
func TestHumanoidIsSymmetric(t *testing.T) {
	r := loadHumanoid(t)
	flip := func(v vec) vec { return vec{v[0], -v[1], v[2]} }
	for i := range r.Bodies {
		other, left := strings.CutPrefix(r.Bodies[i].Name, "left_")
		if !left {
			continue
		}
		a, b := &r.Bodies[i], &r.Bodies[r.Body("right_"+other)]
		if !near(a.Pose.Position, flip(b.Pose.Position)) || !near(a.CentreOfMass, flip(b.CentreOfMass)) ||
			a.Mass != b.Mass {
			t.Errorf("%s: got %v, other side %v", a.Name, a.Pose.Position, b.Pose.Position)
		}
	}
	for i := range r.Joints {
		j := &r.Joints[i]
		if !j.Mirrors {
			continue
		}
		o := &r.Joints[j.Partner]
		if "left_"+strings.TrimPrefix(o.Name, "right_") != j.Name || o.Partner != i || !near(j.Anchor, flip(o.Anchor)) {
			t.Errorf("%s: partner %s, anchors %v and %v", j.Name, o.Name, j.Anchor, o.Anchor)
		}
		// The limits change sign from side to side; so the mirrored turns must be those by the negative angle. The
		// mirror image of a turn about an axis is a turn the other way about the axis's image.
		if j.Limits[0] != -o.Limits[1] || j.Limits[1] != -o.Limits[0] || !near(j.Axis, flip(o.Axis)) {
			t.Errorf("%s: limits %v and %v, axes %v and %v", j.Name, j.Limits, o.Limits, j.Axis, o.Axis)
		}
		if j.Stops[0] >= j.Limits[0] || j.Stops[1] <= j.Limits[1] {
			t.Errorf("%s: stops %v within limits %v", j.Name, j.Stops, j.Limits)
		}
	}
}

// turnedPoint is where a point of the child goes when its joint turns to position.
func turnedPoint(j *Joint, position float64, p vec) vec {
	angle := j.Sign * position / 2
	q := [4]float64{math.Cos(angle), math.Sin(angle) * j.Axis[0], math.Sin(angle) * j.Axis[1],
		math.Sin(angle) * j.Axis[2]}
	m := matrix(q)
	return add(j.Anchor, m.times(sub(p, j.Anchor)))
}

// A few limits of the original only make sense one way round.
func TestHumanoidBendsAsOneDoes(t *testing.T) {
	r := loadHumanoid(t)
	for _, c := range []struct {
		joint   string
		degrees float64 // within the limits
		tip     vec     // a point of the child
		axis    int     // which coordinate grows or falls
		sign    float64
	}{
		{"right_knee", 60, vec{0, -0.0325, 0}, 0, -1}, // the foot goes back
		{"left_knee", -60, vec{0, 0.0325, 0}, 0, -1},
		{"right_hip_yaw", 60, vec{0, -0.0325, 0}, 0, 1}, // the leg goes forward
		{"left_hip_yaw", -60, vec{0, 0.0325, 0}, 0, 1},
		{"waist", 60, vec{0, 0, 0.4}, 0, 1}, // it bows
		{"right_elbow", -60, vec{0, -0.24, 0.3294}, 0, 1},
		{"left_elbow", 60, vec{0, 0.24, 0.3294}, 0, 1},
		{"right_shoulder_pitch", -60, vec{0, -0.24, 0.3294}, 0, 1}, // the arm goes forward
		{"left_shoulder_pitch", 60, vec{0, 0.24, 0.3294}, 0, 1},
		{"right_hip_pitch", -60, vec{0, -0.0325, 0}, 1, -1}, // the leg goes outward
		{"left_hip_pitch", 60, vec{0, 0.0325, 0}, 1, 1},
	} {
		j := &r.Joints[r.Joint(c.joint)]
		if p := radians(c.degrees); p < j.Limits[0] || p > j.Limits[1] {
			t.Errorf("%s: %g degrees is not within the limits", c.joint, c.degrees)
		}
		if moved := turnedPoint(j, radians(c.degrees), c.tip); c.sign*(moved[c.axis]-c.tip[c.axis]) < 0.02 {
			t.Errorf("%s: at %g degrees %v goes to %v", c.joint, c.degrees, c.tip, moved)
		}
	}
}

func TestHumanoidAccelerometers(t *testing.T) {
	r := loadHumanoid(t)
	want := map[string]string{
		"/ABFR": "right_foot", "/ABHR": "right_femur", "/ABSR": "upper_body", "/ABAR": "right_lower_arm",
		"/ABFL": "left_foot", "/ABHL": "left_femur", "/ABSL": "upper_body", "/ABAL": "left_lower_arm",
	}
	if len(r.Accelerometers) != len(want) {
		t.Errorf("got %d boards, want %d", len(r.Accelerometers), len(want))
	}
	for i := range r.Accelerometers {
		a := &r.Accelerometers[i]
		if r.Bodies[a.Body].Name != want[a.Path] || len(a.Axes) != 2 || a.Axes[1] != (vec{0, 0, 1}) {
			t.Errorf("%s: got %q on %s, axes %v", a.Name, a.Path, r.Bodies[a.Body].Name, a.Axes)
		}
	}
}

// Bodies that may touch do not overlap in the built pose: an engine would blow them apart. The one robot that does,
// does so in the original too, whose recording shows its arms on their way out in the first status.
func TestNothingOverlaps(t *testing.T) {
	robots := []*Robot{loadHumanoid(t)}
	for _, id := range SimloidIDs() {
		robots = append(robots, loadSimloid(t, id))
	}
	for _, r := range robots {
		for a := range r.Bodies {
			for b := range a {
				if !r.Touch(a, b) {
					continue
				}
				for i := range r.Bodies[a].Shapes {
					for k := range r.Bodies[b].Shapes {
						x, y := &r.Bodies[a].Shapes[i], &r.Bodies[b].Shapes[k]
						if original := r.Simloid == 50 && strings.HasSuffix(r.Bodies[a].Name, "lu0"); original {
							continue
						}
						if x.Collides && y.Collides && boxesOverlap(&r.Bodies[a], x, &r.Bodies[b], y) {
							t.Errorf("%s: %s and %s overlap", r.Name, r.Bodies[a].Name, r.Bodies[b].Name)
						}
					}
				}
			}
		}
	}
}

// boxesOverlap compares the boxes along the world's axes, a little shrunk; all built poses are along these axes.
func boxesOverlap(a *Body, s *Shape, b *Body, u *Shape) bool {
	bounds := func(b *Body, s *Shape) (centre, half vec) {
		pose := within(b.Pose, s.Pose)
		size := s.Half
		switch s.Kind {
		case Capsule:
			size = vec{s.Radius, s.Radius, s.Half[2] + s.Radius}
		case Sphere:
			size = vec{s.Radius, s.Radius, s.Radius}
		}
		m := matrix(pose.Rotation)
		for k := range 3 {
			for c := range 3 {
				half[k] += math.Abs(m[k][c]) * size[c]
			}
		}
		return pose.Position, half
	}
	ca, ha := bounds(a, s)
	cb, hb := bounds(b, u)
	for k := range 3 {
		if math.Abs(ca[k]-cb[k]) > ha[k]+hb[k]-1e-6 {
			return false
		}
	}
	return true
}
