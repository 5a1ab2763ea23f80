package sim

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/model"
)

// rover is a robot of USARSim in an arena, driven as the rig would.
type rover struct {
	t     *testing.T
	scene *Scene
	body  *Body
	frame *hal.Frame
	m     *model.Robot
}

const cycle = 10 * time.Millisecond

var middle = hal.Pose{Position: [3]float64{10, -6, -1.8}}

func arena(name string) *Scene {
	return NewScene(SceneConfig{Scene: func(seed int64) (*model.Scene, error) { return model.LoadScene(name, seed) }})
}

// enter puts a robot into an arena at a place, settled.
func enter(t *testing.T, robot, where string, at hal.Pose) *rover {
	t.Helper()
	r := join(t, arena(where), robot, robot, at)
	r.run(time.Second)
	return r
}

// join puts a robot into a scene.
func join(t *testing.T, s *Scene, name, robot string, at hal.Pose) *rover {
	t.Helper()
	m, err := model.Load("usarsim-" + robot)
	if err != nil {
		t.Fatal(err)
	}
	return joinModel(t, s, name, m, at)
}

func joinModel(t *testing.T, s *Scene, name string, m *model.Robot, at hal.Pose) *rover {
	t.Helper()
	b, err := s.Add(name, m, at)
	if err != nil {
		t.Fatal(err)
	}
	r := &rover{t: t, scene: s, body: b, frame: hal.NewFrame(b.Layout()), m: m}
	for i := range r.frame.Enable {
		r.frame.Enable[i] = true
	}
	if err := b.Layout().Validate(); err != nil {
		t.Fatal(err)
	}
	return r
}

// A wheel driven from outside ignores other commands, and rolls freely when it is no longer driven.
func TestDrivenWheels(t *testing.T) {
	m, err := model.Load("usarsim-p2at")
	if err != nil {
		t.Fatal(err)
	}
	r := joinModel(t, arena("hall"), "a", m, turnedTo(5, -6, 0))
	wheels := append(slices.Clone(m.Rescue.Left), m.Rescue.Right...)
	for _, i := range wheels {
		if err := r.scene.Driven("a", i); err != nil {
			t.Fatal(err)
		}
		r.body.Joint(i).Spin(2, true)
	}
	r.drive(-6, -6) // without effect
	r.run(2 * time.Second)
	at, turned := r.body.Pose(0).Position, r.body.Joint(wheels[0]).Turned()
	if way := at[0] - 5; math.Abs(way-2*2*0.11) > 0.03 || math.Abs(turned*0.11-way) > 0.02 {
		t.Errorf("got %.3f m by %.3f rad, want 0.44 by 4", way, turned)
	}
	for _, i := range wheels {
		r.body.Joint(i).Spin(0, false)
	}
	r.run(100 * time.Millisecond)
	if on := r.body.Pose(0).Position[0] - at[0]; on < 0.01 {
		t.Errorf("released: rolled %.4f m in 0.1 s, want it to roll on", on)
	}
}

// drive turns the wheels of both sides, rad/s.
func (r *rover) drive(left, right float64) {
	for side, joints := range [][]int{r.m.Rescue.Left, r.m.Rescue.Right} {
		for _, i := range joints {
			r.frame.Inputs[r.body.Layout().Actuators[i].Goal[hal.VelocityMode]] = []float64{left, right}[side]
		}
	}
}

func (r *rover) run(d time.Duration) {
	r.t.Helper()
	for range int(d / cycle) {
		if err := r.body.Write(r.frame); err != nil {
			r.t.Fatal(err)
		}
		if err := r.scene.Advance(cycle); err != nil {
			r.t.Fatal(err)
		}
		if err := r.body.Read(r.frame); err != nil {
			r.t.Fatal(err)
		}
	}
}

// heading is about z, rad.
func heading(p hal.Pose) float64 {
	x := p.Turn([3]float64{1, 0, 0})
	return math.Atan2(x[1], x[0])
}

// near fails the test where got is further from want than a share of it.
func near(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if !(math.Abs(got-want) <= share*math.Abs(want)) {
		t.Errorf("%s: got %.5g, want %.5g within %g %%", what, got, want, 100*share)
	}
}

// spin is the rate of turn over two seconds, once it is even.
func (r *rover) spin() float64 {
	r.run(time.Second)
	from := heading(r.body.Pose(0))
	var turned float64
	for range 20 {
		r.run(100 * time.Millisecond)
		now := heading(r.body.Pose(0))
		turned += math.Remainder(now-from, 2*math.Pi)
		from = now
	}
	return turned / 2
}

// away is how far two poses are apart over ground.
func away(p, q hal.Pose) float64 {
	return math.Hypot(q.Position[0]-p.Position[0], q.Position[1]-p.Position[1])
}

// Two wheels and a caster move as the textbook's differential drive: v = r (wl + wr) / 2, turn = r (wr - wl) / b.
func TestP2DXAgainstTheory(t *testing.T) {
	const radius, track = 0.0825, 0.343
	r := enter(t, "p2dx", "hall", middle)
	for _, c := range []struct{ left, right float64 }{{-3, 3}, {3, -3}, {2, 4}, {6, 5}, {-4, -2}} {
		r.drive(c.left, c.right)
		turn := radius * (c.right - c.left) / track
		near(t, "turn", r.spin(), turn, 0.01)
		// A piece of the circle has a chord of 2 v/turn sin(turn t/2).
		p := r.body.Pose(0)
		r.run(500 * time.Millisecond)
		chord := away(p, r.body.Pose(0))
		speed := radius * (c.left + c.right) / 2
		if want := math.Abs(2 * speed / turn * math.Sin(turn*0.25)); want > 0.01 {
			near(t, "chord", chord, want, 0.01)
		} else if chord > 1e-3 {
			t.Errorf("turn in place: moved %g m", chord)
		}
		if err := r.scene.Place("p2dx", middle); err != nil {
			t.Fatal(err)
		}
	}
}

// Four wheels skid. Where the friction of a wheel across and along has the ratio k, and slip is opposed as the ellipse
// says, the forces of a turn in place balance at r w = B/2 turn (1 + k² (L/B)²): as if the wheels stood wider apart
// than they do (Mandow et al., IROS 2007: the tracks' instantaneous centres of rotation lie outside of them).
func TestP2ATAgainstICR(t *testing.T) {
	const radius, track, base, ratio = 0.11, 0.415, 0.28, 0.7
	r := enter(t, "p2at", "hall", middle)
	wide := track * (1 + ratio*ratio*base*base/(track*track))
	for _, w := range []float64{2, -4} {
		r.drive(-w, w)
		near(t, "turn", r.spin(), 2*radius*w/wide, 0.01)
	}
	r.drive(0, 0)
	r.run(time.Second)
	p := r.body.Pose(0)
	r.run(2 * time.Second)
	if d := away(p, r.body.Pose(0)); d > 1e-3 {
		t.Errorf("stopped: crept by %g m", d)
	}
}

// A motor pushes with its torque and no more: against a wall the wheels stall or slip, and the wall stays.
func TestWheelsStallAtAWall(t *testing.T) {
	r := enter(t, "p2dx", "hall", hal.Pose{Position: [3]float64{19, -6, -1.8}})
	r.drive(4, 4)
	r.run(4 * time.Second)
	at := r.body.Pose(0)
	if at.Position[0] < 19.7 || at.Position[0] > 19.83 || at.Position[2] > -1.8 {
		t.Errorf("got %v, want the front at the wall of x = 20 m", at.Position)
	}
	for _, i := range r.m.Rescue.Left {
		a := &r.body.Layout().Actuators[i]
		if m := r.frame.Measured[a.Torque]; math.Abs(m) > a.Limits.MaxTorque*1.0001 {
			t.Errorf("%s: got %g N·m, want at most %g", a.Name, m, a.Limits.MaxTorque)
		}
	}
}

// Every robot stays in place without commands, drives straight ahead, and turns as commanded.
func TestRoversDrive(t *testing.T) {
	t.Parallel()
	for _, name := range model.RescueNames() {
		name = strings.TrimPrefix(name, "usarsim-")
		r := enter(t, name, "hall", middle)
		rest := r.body.Pose(0)
		r.run(time.Second)
		if p := r.body.Pose(0); away(p, rest) > 1e-4 || math.Abs(p.Position[2]-rest.Position[2]) > 1e-4 {
			t.Errorf("%s: at rest from %v to %v", name, rest.Position, p.Position)
		}
		if len(r.m.Rescue.Left) == 0 {
			continue
		}
		// Wheels take their first second to be at speed.
		radius := r.m.Wheel(r.m.Rescue.Left[0])
		r.drive(3, 3)
		r.run(time.Second)
		p := r.body.Pose(0)
		r.run(time.Second)
		q := r.body.Pose(0)
		near(t, name+": way", q.Position[0]-p.Position[0], 3*radius, 0.02)
		if math.Abs(q.Position[1]-rest.Position[1]) > 0.005 || math.Abs(heading(q)) > 0.005 {
			t.Errorf("%s: drove to %v, heading %g", name, q.Position, heading(q))
		}
		r.drive(-2, 2)
		r.run(2 * time.Second)
		if h := heading(r.body.Pose(0)); h < 0.3 || r.body.Pose(0).Turn([3]float64{0, 0, 1})[2] < 0.99 {
			t.Errorf("%s: turned to %g, want to the left", name, h)
		}
	}
}

// The omnidrive's wheels roll sideways: two that turn against each other drive it along x without a turn.
func TestOmnidrive(t *testing.T) {
	r := enter(t, "omnidrive", "hall", middle)
	// A wheel that turns by w about its axle, which points outwards at the angle a, is carried along (sin a, -cos a)
	// by r w. For v along x the wheels at 120° and -120° turn by v sin a / r.
	const v, radius = 0.2, 0.05
	for i, w := range []float64{0, 1, -1} {
		r.frame.Inputs[r.body.Layout().Actuators[i].Goal[hal.VelocityMode]] = w * v * math.Sin(2*math.Pi/3) / radius
	}
	r.run(time.Second)
	p := r.body.Pose(0)
	r.run(2 * time.Second)
	q := r.body.Pose(0)
	near(t, "way", q.Position[0]-p.Position[0], 2*v, 0.03)
	if math.Abs(q.Position[1]-p.Position[1]) > 0.01 || math.Abs(heading(q)) > 0.02 {
		t.Errorf("got %v, heading %g, want straight along x", q.Position, heading(q))
	}
}

// The rover's differential: with a front wheel lifted the rockers turn by opposite angles.
func TestRoverDifferential(t *testing.T) {
	r := enter(t, "rover", "hall", middle)
	for range 100 {
		if err := r.scene.Push("rover", "left_front_wheel", [3]float64{0, 0, 25}); err != nil {
			t.Fatal(err)
		}
		r.run(cycle)
	}
	s := r.scene.system
	var q [2]float64
	for i, k := range r.m.Differential {
		q[i] = s.Q[s.Model().Joint(r.body.at.body+r.m.Passive[k].Child).Q]
	}
	if math.Abs(q[0]) < 0.02 || math.Abs(q[0]+q[1]) > 0.005 {
		t.Errorf("rockers: got %.4f and %.4f rad, want opposite ones", q[0], q[1])
	}
}
