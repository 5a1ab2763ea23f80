package ros2

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/internal/protocols/rosmsg"
)

// The bounds of a trajectory.
const (
	maxPoints   = 10_000
	maxDuration = 24 * time.Hour
)

// state is position, velocity and acceleration of one joint.
type state struct{ position, velocity, acceleration float64 }

// motion is a trajectory on its way: for each of its joints a spline through its points.
type motion struct {
	joints []int           // of the controller
	times  []time.Duration // of the points, since start
	points [][]state       // by point and joint
	degree []int           // of each point: 1 position alone, 3 and velocity, 5 and acceleration
	start  time.Duration   // rig time
	begin  time.Duration   // rig time at which it was taken, in state from
	from   []state
	sent   bool // its last point
}

func duration(d rosmsg.Duration) time.Duration {
	return time.Duration(d.Sec)*time.Second + time.Duration(d.Nanosec)
}

// check reads a trajectory as joint_trajectory_controller does: its error is why it is rejected. names are the
// controller's joints; now and stamp are rig time, stamp below 0 = at once.
func check(m *rosmsg.JointTrajectory, names []string, partial bool, now, stamp time.Duration) (*motion, error) {
	out := &motion{start: now, begin: now}
	for _, name := range m.JointNames {
		i := slices.Index(names, name)
		switch {
		case i < 0:
			return nil, fmt.Errorf("trajectory: got joint %.100q, want a joint of the controller", name)
		case slices.Contains(out.joints, i):
			return nil, fmt.Errorf("trajectory: got joint %q twice", name)
		}
		out.joints = append(out.joints, i)
	}
	switch n := len(out.joints); {
	case n == 0:
		return nil, fmt.Errorf("trajectory: got no joints")
	case n < len(names) && !partial:
		return nil, fmt.Errorf("trajectory: got %d joints, want all %d (try: partial_goals: true)", n, len(names))
	case len(m.Points) == 0 || len(m.Points) > maxPoints:
		return nil, fmt.Errorf("trajectory: got %d points, want 1 to %d", len(m.Points), maxPoints)
	}
	for k := range m.Points {
		if err := out.add(&m.Points[k], k); err != nil {
			return nil, fmt.Errorf("trajectory: point %d: %w", k, err)
		}
	}
	last := out.points[len(out.points)-1]
	for j := range last {
		if math.Abs(last[j].velocity) > 1e-9 {
			return nil, fmt.Errorf("trajectory: joint %s: got %g rad/s at the end, want 0", m.JointNames[j],
				last[j].velocity)
		}
	}
	if stamp >= 0 {
		if out.start = stamp; out.end() <= now {
			return nil, fmt.Errorf("trajectory: it ended %v ago", now-out.end())
		}
	}
	return out, nil
}

// add reads one point.
func (m *motion) add(p *rosmsg.JointTrajectoryPoint, k int) error {
	n, at := len(m.joints), duration(p.TimeFromStart)
	switch {
	case at < 0 || at > maxDuration || k > 0 && at <= m.times[k-1]:
		return fmt.Errorf("got %v, want times that rise", at)
	case len(p.Positions) != n:
		return fmt.Errorf("got %d positions, want %d", len(p.Positions), n)
	case len(p.Velocities) != 0 && len(p.Velocities) != n:
		return fmt.Errorf("got %d velocities, want %d or none", len(p.Velocities), n)
	case len(p.Accelerations) != 0 && len(p.Accelerations) != n:
		return fmt.Errorf("got %d accelerations, want %d or none", len(p.Accelerations), n)
	case len(p.Accelerations) != 0 && len(p.Velocities) == 0:
		return fmt.Errorf("got accelerations without velocities")
	case len(p.Effort) != 0:
		return fmt.Errorf("got efforts, want none: the controller has no effort interface")
	}
	degree, list := 1, make([]state, n)
	for j := range list {
		list[j].position = p.Positions[j]
		if len(p.Velocities) > 0 {
			degree, list[j].velocity = 3, p.Velocities[j]
		}
		if len(p.Accelerations) > 0 {
			degree, list[j].acceleration = 5, p.Accelerations[j]
		}
		if sum := list[j].position + list[j].velocity + list[j].acceleration; math.IsNaN(sum) || math.IsInf(sum, 0) {
			return fmt.Errorf("got %v, want numbers", list[j])
		}
	}
	m.times, m.points, m.degree = append(m.times, at), append(m.points, list), append(m.degree, degree)
	return nil
}

// end is the rig time of the last point.
func (m *motion) end() time.Duration { return m.start + m.times[len(m.times)-1] }

// at writes the desired state of each joint at a rig time. Before the first point it moves from the state in which it
// was taken, over the whole wait; after the last one it holds that.
func (m *motion) at(now time.Duration, out []state) {
	k := 0
	for k < len(m.times) && m.start+m.times[k] <= now {
		k++
	}
	if k == len(m.times) {
		for j, s := range m.points[k-1] {
			out[j] = state{position: s.position}
		}
		return
	}
	a, b, degree, begin := m.from, m.points[k], m.degree[k], m.begin
	if k > 0 {
		a, degree, begin = m.points[k-1], min(degree, m.degree[k-1]), m.start+m.times[k-1]
	}
	t, whole := (now - begin).Seconds(), (m.start + m.times[k] - begin).Seconds()
	for j := range out {
		out[j] = between(a[j], b[j], degree, t, whole)
	}
}

// between is a state t seconds into a segment of whole seconds: linear, cubic or quintic.
func between(a, b state, degree int, t, whole float64) state {
	if whole <= 0 {
		return b
	}
	t = max(0, min(t, whole))
	d, T := b.position-a.position, whole
	var c [6]float64
	switch c[0] = a.position; degree {
	case 1:
		c[1] = d / T
	case 3:
		c[1] = a.velocity
		c[2] = (3*d - (2*a.velocity+b.velocity)*T) / (T * T)
		c[3] = (-2*d + (a.velocity+b.velocity)*T) / (T * T * T)
	default:
		T2, T3 := T*T, T*T*T
		c[1], c[2] = a.velocity, a.acceleration/2
		c[3] = (20*d - (8*b.velocity+12*a.velocity)*T - (3*a.acceleration-b.acceleration)*T2) / (2 * T3)
		c[4] = (-30*d + (14*b.velocity+16*a.velocity)*T + (3*a.acceleration-2*b.acceleration)*T2) / (2 * T3 * T)
		c[5] = (12*d - 6*(b.velocity+a.velocity)*T - (a.acceleration-b.acceleration)*T2) / (2 * T3 * T2)
	}
	var s state
	for i := 5; i >= 0; i-- {
		s.acceleration = s.acceleration*t + 2*s.velocity
		s.velocity = s.velocity*t + s.position
		s.position = s.position*t + c[i]
	}
	return s
}

// tolerance is what a joint may be off; 0 is not checked.
type tolerance struct{ position, velocity float64 }

// tolerances are a goal's: 0 is the default, -1 none; another negative one or an unknown joint makes all the defaults.
func tolerances(given []rosmsg.JointTolerance, names []string, usual tolerance) []tolerance {
	all, plain := make([]tolerance, len(names)), make([]tolerance, len(names))
	for i := range all {
		all[i], plain[i] = usual, usual
	}
	for _, g := range given {
		i := slices.Index(names, g.Name)
		if i < 0 {
			return plain
		}
		for _, k := range []struct {
			at    *float64
			given float64
		}{{&all[i].position, g.Position}, {&all[i].velocity, g.Velocity}, {new(float64), g.Acceleration}} {
			switch {
			case k.given == 0:
			case k.given == -1:
				*k.at = 0
			case !(k.given > 0):
				return plain
			default:
				*k.at = k.given
			}
		}
	}
	return all
}

// outside reports whether a joint is further off than it may be.
func (t tolerance) outside(desired, actual state) bool {
	return t.position > 0 && !(math.Abs(desired.position-actual.position) <= t.position) ||
		t.velocity > 0 && !(math.Abs(desired.velocity-actual.velocity) <= t.velocity)
}
