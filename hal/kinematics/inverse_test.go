package kinematics

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
)

// rover is an arm of four joints: it turns about z, and bends at shoulder, elbow and wrist about y.
func rover(t *testing.T) *Arm {
	t.Helper()
	home := func(x, z float64) hal.Pose { return hal.Pose{Position: [3]float64{x, 0, z}, Rotation: [4]float64{1}} }
	up, left := [3]float64{0, 0, 1}, [3]float64{0, 1, 0}
	a, err := NewArm(Tree{
		{Name: "base", Parent: hal.None, Home: home(0, 0), Joint: 0, Axis: up, Times: 1},
		{Name: "upper", Parent: 0, Home: home(0, 0.1), Joint: 1, Axis: left, Anchor: [3]float64{0, 0, 0.1}, Times: 1},
		{Name: "fore", Parent: 1, Home: home(0.3, 0.1), Joint: 2, Axis: left, Anchor: [3]float64{0.3, 0, 0.1},
			Times: -1},
		{Name: "hand", Parent: 2, Home: home(0.6, 0.1), Joint: 3, Axis: left, Anchor: [3]float64{0.6, 0, 0.1},
			Times: 1},
	}, [][2]float64{{-3, 3}, {-2, 2}, {-2.6, 2.6}, {-2, 2}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Wherever an arm has been it finds back to, within its limits, place alone and place and turn.
func TestReach(t *testing.T) {
	a := rover(t)
	random := rand.New(rand.NewPCG(1, 2))
	from := []float64{0.1, 0.2, 0.3, 0.1}
	for range 300 {
		q := make([]float64, 4)
		for i, l := range a.limits {
			q[i] = l[0] + (l[1]-l[0])*random.Float64()
		}
		tip := a.Tip(q)
		for _, to := range []Target{{Position: &tip.Position}, {Position: &tip.Position, Rotation: &tip.Rotation}} {
			got, err := a.Reach(to, from)
			if err != nil {
				t.Fatalf("joints at %.3f, tip at %.3f: %v", q, tip, err)
			}
			for i, l := range a.limits {
				if got[i] < l[0] || got[i] > l[1] {
					t.Fatalf("joint %d at %g, want within %g", i, got[i], l)
				}
			}
			is := a.Tip(got)
			for k := range 3 {
				if math.Abs(is.Position[k]-tip.Position[k]) > 1e-4 {
					t.Fatalf("tip at %.5f, want %.5f", is.Position, tip.Position)
				}
			}
			if to.Rotation != nil {
				same := 0.0
				for k := range 4 {
					same += is.Rotation[k] * tip.Rotation[k]
				}
				if math.Abs(same) < 1-1e-6 {
					t.Fatalf("tip turned by %.5f, want %.5f", is.Rotation, tip.Rotation)
				}
			}
		}
	}
}

// What cannot be reached is refused: too far, a turn that the arm has no joint for, nothing that is a number.
func TestOutOfReach(t *testing.T) {
	a := rover(t)
	from := make([]float64, 4)
	far, rolled := [3]float64{2, 0, 0}, [4]float64{math.Sqrt(0.5), math.Sqrt(0.5)}
	near, wrong := [3]float64{0.4, 0, 0.1}, [3]float64{math.NaN()}
	for name, to := range map[string]Target{"far": {Position: &far}, "rolled": {Position: &near, Rotation: &rolled},
		"no number": {Position: &wrong}} {
		if got, err := a.Reach(to, from); !errors.Is(err, ErrReach) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
	// A joint whose place is not known is taken for 0.
	if _, err := a.Reach(Target{Position: &near}, []float64{math.NaN(), 0, 0.1, 0}); err != nil {
		t.Errorf("from nowhere: %v", err)
	}
	if q, err := a.Reach(Target{}, []float64{9, 0, 0, 0}); err != nil || q[0] != 3 {
		t.Errorf("nothing to do: got %v, %v, want where it is, within its limits", q, err)
	}
}

// The joints' speeds move the tip as they are asked to, and their torques do the work that the tip does.
func TestMoveAndPush(t *testing.T) {
	a := rover(t)
	q := []float64{0.3, -0.5, 0.9, 0.2}
	speed, spin := [3]float64{0.05, -0.1, 0.08}, [3]float64{0, 0, 0.4}
	v := a.Move(Target{Position: &speed}, q)
	const h = 1e-4
	next := make([]float64, 4)
	for i := range q {
		next[i] = q[i] + h*v[i]
	}
	before, after := a.Tip(q), a.Tip(next)
	work, force := 0.0, [3]float64{3, -2, 5}
	torques := a.Push(Target{Position: &force}, q)
	for k := range 3 {
		moved := (after.Position[k] - before.Position[k]) / h
		if math.Abs(moved-speed[k]) > 2e-3 {
			t.Errorf("axis %d: moved at %g m/s, want %g", k, moved, speed[k])
		}
		work += force[k] * moved
	}
	for i := range torques {
		work -= torques[i] * v[i]
	}
	if math.Abs(work) > 1e-3 {
		t.Errorf("the joints' work differs from the tip's by %g W", work)
	}
	if w := a.Move(Target{Spin: &spin}, q); math.Abs(w[0]-0.4) > 1e-3 {
		t.Errorf("turned at %v rad/s, want the first joint at 0.4", w)
	}
	if w := a.Move(Target{}, q); w[0] != 0 || len(w) != 4 {
		t.Errorf("nothing to do: got %v", w)
	}
}

func TestArmFaults(t *testing.T) {
	for name, k := range map[string]struct {
		tree   Tree
		limits [][2]float64
	}{"none": {}, "a parent": {Tree{{Parent: 3, Joint: hal.None}}, [][2]float64{{0, 1}}},
		"limits": {Tree{{Parent: hal.None, Joint: hal.None}}, [][2]float64{{1, 0}}}} {
		if _, err := NewArm(k.tree, k.limits); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
