package calibrate

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/kinematics"
	"github.com/halyard-robotics/halyard/internal/plan"
)

// gravity computes the gravity torques of a robot's joints from the masses of its model.
type gravity struct {
	robot  *plan.AgentPlan
	tree   kinematics.Tree
	places []int     // of the robot's bodies in it
	mass   []float64 // kg, one a link
	state  *kinematics.State
	still  []float64
	base   hal.Pose
	fall   float64 // m/s²
	weight weight
}

// weight is a known mass that a person has put on a link.
type weight struct {
	kg    float64
	link  int
	point [3]float64 // in the tree's frame, all joints at 0
}

func newGravity(a *plan.AgentPlan, fall float64) *gravity {
	tree, places := plan.TreeOf(a.Robot)
	g := &gravity{robot: a, tree: tree, places: places, mass: make([]float64, len(tree)), state: tree.NewState(),
		still: make([]float64, len(a.Robot.Joints)), base: plan.PoseOf(a.Config.Pose), fall: fall}
	for i, at := range places {
		g.mass[at] = a.Robot.Bodies[i].Mass
	}
	return g
}

// energy returns the potential energy of the moving bodies in the pose q, J.
func (g *gravity) energy(q []float64) (joules float64) {
	g.tree.Forward(g.state, q, g.still, g.base, [3]float64{}, [3]float64{})
	for i := range g.tree {
		joules += g.mass[i] * g.fall * g.state.Poses[i].Of(g.tree[i].Centre)[2]
	}
	if w := &g.weight; w.kg > 0 {
		home := g.tree[w.link].Home.Inverse()
		joules += w.kg * g.fall * g.state.Poses[w.link].Of(home.Of(w.point))[2]
	}
	return joules
}

// hold returns the torque of joint i that holds the robot at q, N·m.
func (g *gravity) hold(q []float64, i int) float64 {
	if len(g.tree) == 0 { // a joint with a load of its own
		l := &g.robot.Robot.Joints[i].Load
		return l.Mass * g.fall * l.Length * math.Sin(q[i]-l.Down)
	}
	const h = 1e-4
	at := append([]float64(nil), q...)
	at[i] = q[i] + h
	up := g.energy(at)
	at[i] = q[i] - h
	return (up - g.energy(at)) / (2 * h)
}

// slope is how hold changes with the angle of joint i at q, N·m/rad.
func (g *gravity) slope(q []float64, i int) float64 {
	const h = 0.01
	at := append([]float64(nil), q...)
	at[i] = q[i] + h
	up := g.hold(at, i)
	at[i] = q[i] - h
	return (up - g.hold(at, i)) / (2 * h)
}

// inertia is that of all that joint i moves about its axis at q, kg·m², without the servo's own.
func (g *gravity) inertia(q []float64, i int) (sum float64) {
	if len(g.tree) == 0 {
		l := &g.robot.Robot.Joints[i].Load
		return l.Inertia + l.Mass*l.Length*l.Length
	}
	const h = 1e-4
	at := append([]float64(nil), q...)
	g.tree.Forward(g.state, at, g.still, g.base, [3]float64{}, [3]float64{})
	before := append([]hal.Pose(nil), g.state.Poses...)
	at[i] += h
	g.tree.Forward(g.state, at, g.still, g.base, [3]float64{}, [3]float64{})
	for n := range g.robot.Robot.Bodies {
		b, k := &g.robot.Robot.Bodies[n], g.places[n]
		if !g.beyond(n, i) {
			continue
		}
		from, to := before[k].Of(b.CentreOfMass), g.state.Poses[k].Of(b.CentreOfMass)
		turn := before[k].Inverse().Times(g.state.Poses[k]).Rotation // in the body's axes: cos, sin/2 of h
		for n := range from {
			sum += b.Mass * (to[n] - from[n]) * (to[n] - from[n]) / (h * h)
		}
		x, y, z := 2*turn[1]/h, 2*turn[2]/h, 2*turn[3]/h
		m := &b.Inertia
		sum += m[0]*x*x + m[1]*y*y + m[2]*z*z + 2*(m[3]*x*y+m[4]*x*z+m[5]*y*z)
	}
	return sum
}

// pendulum returns the load of joint i at q as a pendulum: gravity pulls with pull·sin(angle - down), N·m. This is
// exact for any robot while its other joints do not move.
func (g *gravity) pendulum(q []float64, i int) (pull, down, inertia float64) {
	at := append([]float64(nil), q...)
	at[i] = 0
	level := g.hold(at, i) // pull·sin(-down)
	at[i] = math.Pi / 2
	upright := g.hold(at, i) // pull·cos(down)
	return math.Hypot(level, upright), math.Atan2(-level, upright), g.inertia(q, i)
}

// push is the torque, N·m, with which the other joints' motion turns joint i at q, where they have speeds v, rad/s, and
// accelerations a, rad/s², and joint i stands still. Links count as their mass at its centre.
func (g *gravity) push(q, v, a []float64, i int) (sum float64) {
	const h = 1e-3
	if len(g.tree) == 0 {
		return 0
	}
	at, places := make([]float64, len(q)), [4][]hal.Pose{}
	for n, t := range [...]float64{-h, 0, h, 0} {
		for k := range q {
			if at[k] = q[k]; k != i {
				at[k] += t*v[k] + t*t/2*a[k]
			}
		}
		if n == 3 {
			at[i] += h
		}
		g.tree.Forward(g.state, at, g.still, g.base, [3]float64{}, [3]float64{})
		places[n] = append([]hal.Pose(nil), g.state.Poses...)
	}
	for n := range g.robot.Robot.Bodies {
		if !g.beyond(n, i) {
			continue
		}
		b, k := &g.robot.Robot.Bodies[n], g.places[n]
		before, now, after, turned := places[0][k].Of(b.CentreOfMass), places[1][k].Of(b.CentreOfMass),
			places[2][k].Of(b.CentreOfMass), places[3][k].Of(b.CentreOfMass)
		for d := range now {
			sum -= b.Mass * (before[d] - 2*now[d] + after[d]) / (h * h) * (turned[d] - now[d]) / h
		}
	}
	return sum
}

// beyond reports whether joint i moves body k.
func (g *gravity) beyond(k, i int) bool {
	for at := k; at != hal.None; {
		up := hal.None
		for n := range g.robot.Robot.Joints {
			if j := &g.robot.Robot.Joints[n]; j.Child == at {
				if n == i {
					return true
				}
				up = j.Parent
			}
		}
		for n := range g.robot.Robot.Passive {
			if j := &g.robot.Robot.Passive[n]; j.Child == at {
				up = j.Parent
			}
		}
		at = up
	}
	return false
}

// put hangs kg on the link of joint i, metres from its axis, on the side where the link's own mass is.
func (g *gravity) put(i int, kg, metres float64) {
	g.weight = weight{}
	for k := range g.tree {
		l := &g.tree[k]
		if l.Joint != i {
			continue
		}
		centre := l.Home.Of(l.Centre)
		var arm [3]float64
		along, size := 0.0, 0.0
		for n := range arm {
			arm[n] = centre[n] - l.Anchor[n]
			along += arm[n] * l.Axis[n]
		}
		for n := range arm {
			arm[n] -= along * l.Axis[n]
			size += arm[n] * arm[n]
		}
		if size = math.Sqrt(size); size < 1e-6 {
			return
		}
		for n := range arm {
			arm[n] = l.Anchor[n] + along*l.Axis[n] + metres*arm[n]/size
		}
		g.weight = weight{kg, k, arm}
		return
	}
}

// floorMargin is how far above its base a robot's links stay while a joint moves by its own choice, m.
const floorMargin = 0.05

// bestSweep returns the motion of joint i from q, of at most sweepAngle and within its limits, with the largest change
// of the gravity torque. No link may go down to the floor plane, unless it is there already.
func (g *gravity) bestSweep(q []float64, i int, l hal.Limits) (low, high float64) {
	at := append([]float64(nil), q...)
	ends := func(a, b float64) (float64, float64) {
		if l.MaxPosition > l.MinPosition {
			return math.Max(a, l.MinPosition+endMargin), math.Min(b, l.MaxPosition-endMargin)
		}
		return a, b
	}
	low, high = ends(q[i]-sweepAngle/6, q[i]+sweepAngle/6)
	most := -1.0
	for k := range 7 { // position of the present angle within the sweep
		a, b := ends(q[i]-sweepAngle*float64(k)/6, q[i]+sweepAngle*float64(6-k)/6)
		least, greatest, clear := math.Inf(1), math.Inf(-1), true
		for n := range 13 {
			at[i] = a + (b-a)*float64(n)/12
			v := g.hold(at, i)
			least, greatest = math.Min(least, v), math.Max(greatest, v)
			clear = clear && g.lowest(at, i) >= math.Min(floorMargin, g.lowest(q, i)-0.01)
		}
		if v := greatest - least + 1e-6*float64(3-max(k-3, 3-k)); clear && b > a && v > most {
			low, high, most = a, b, v
		}
	}
	return low, high
}

// lowest is how far above the base's origin the lowest centre of a link is that joint i moves, m.
func (g *gravity) lowest(q []float64, i int) float64 {
	least := math.Inf(1)
	g.tree.Forward(g.state, q, g.still, g.base, [3]float64{}, [3]float64{})
	for k := range g.robot.Robot.Bodies {
		if !g.beyond(k, i) {
			continue
		}
		n := g.places[k]
		least = math.Min(least, g.state.Poses[n].Of(g.tree[n].Centre)[2]-g.base.Position[2])
	}
	return least
}
