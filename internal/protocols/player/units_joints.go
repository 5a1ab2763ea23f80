package player

import (
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/kinematics"
)

// moving is the speed, rad/s or m/s, above which an actuator counts as moving.
const moving = 0.01

// actArray is the joints of the layout.
type actArray struct {
	robot  *Robot
	layout *hal.Layout
	joints []int
}

func (u *actArray) publish(s *sample, out func(uint8, payload)) {
	const idle, busy, stalled = 1, 2, 8
	p := &actArrayData{}
	currents := sensorOf(u.layout, "current")
	unknown := math.NaN()
	for _, i := range u.joints {
		a := &u.layout.Actuators[i]
		state := actuatorState{Position: s.value(a.Position), Speed: s.value(a.Velocity), Acceleration: unknown,
			Current: unknown, State: idle}
		if currents != nil && currents.Count == len(u.layout.Actuators) {
			state.Current = s.of(currents)[i]
		}
		switch {
		case math.IsNaN(state.Position):
			state.State = stalled // it does not answer
		case math.Abs(state.Speed) > moving:
			state.State = busy
		}
		p.Actuators = append(p.Actuators, state)
	}
	if u.robot.Agent.Ready() == nil {
		p.Motors = 1
	}
	out(1, p)
}

// to is the way from a to b: its length, and the attitude whose x axis points along it.
func to(a, b [3]float64) (length float64, direction vector) {
	x, y, z := b[0]-a[0], b[1]-a[1], b[2]-a[2]
	flat := math.Hypot(x, y)
	return math.Hypot(flat, z), vector{0, math.Atan2(-z, flat), math.Atan2(y, x)}
}

// each stages a goal for a joint, or for all where joint is -1.
func (u *actArray) each(k *control, joint int32, mode hal.Mode, goal func(a *hal.Actuator) float64) error {
	if joint < -1 || int(joint) >= len(u.joints) {
		return fmt.Errorf("joint: got %d, want -1..%d: %w", joint, len(u.joints)-1, errValue)
	}
	joints := u.joints
	if joint != -1 {
		joints = joints[joint : joint+1]
	}
	for _, i := range joints {
		if err := k.stage(i, mode, goal(&u.layout.Actuators[i])); err != nil {
			return err
		}
	}
	return nil
}

func (u *actArray) command(k *control, subtype uint8, in []byte) error {
	mode := hal.PositionMode
	if subtype == 3 || subtype == 4 {
		mode = hal.VelocityMode
	}
	switch subtype {
	case 1, 3:
		p, err := decode[jointValue](in)
		if err != nil {
			return err
		}
		return u.each(k, p.Joint, mode, func(*hal.Actuator) float64 { return p.Value })
	case 2, 4:
		p, err := decode[floats](in)
		if err != nil {
			return err
		}
		if len(p) > len(u.joints) {
			return fmt.Errorf("joints: got %d, want %d: %w", len(p), len(u.joints), errValue)
		}
		return k.stageAll(u.joints, mode, p)
	case 5:
		p, err := decode[jointNumber](in)
		if err != nil {
			return err
		}
		return u.each(k, p.Joint, hal.PositionMode, func(a *hal.Actuator) float64 { return a.Default })
	}
	return errUnknown
}

func (u *actArray) request(k *control, subtype uint8, in []byte) (payload, error) {
	const linear, rotary = 1, 2
	switch subtype {
	case 1:
		return nil, k.power(in)
	case 3:
		p := &actArrayGeometry{}
		for n, i := range u.joints {
			a := &u.layout.Actuators[i]
			g := actuatorGeometry{Kind: rotary, Min: a.Limits.MinPosition, Max: a.Limits.MaxPosition,
				Centre: (a.Limits.MinPosition + a.Limits.MaxPosition) / 2, Home: a.Default, Speed: a.Limits.MaxVelocity}
			if a.Kind == hal.Slide {
				g.Kind = linear
			}
			if at := u.robot.Links; i < len(at) {
				g.Axis = at[i].Axis
				if n == 0 {
					p.Base.P = at[i].Anchor
				}
				if n+1 < len(u.joints) && u.joints[n+1] < len(at) {
					g.Length, g.Orientation = to(at[i].Anchor, at[u.joints[n+1]].Anchor)
				}
			}
			p.Actuators = append(p.Actuators, g)
		}
		return p, nil
	}
	return nil, errUnknown // no brakes; speeds and accelerations are the guard's
}

// limb is the tip of an arm.
type limb struct {
	robot  *Robot
	layout *hal.Layout
}

// joints are the measured positions; false where one is not known.
func (u *limb) joints(s *sample) (q []float64, ok bool) {
	ok = true
	for _, i := range u.robot.Limb.Joints {
		v := s.value(u.layout.Actuators[i].Position)
		ok = ok && !math.IsNaN(v)
		q = append(q, v)
	}
	return q, ok
}

func (u *limb) publish(s *sample, out func(uint8, payload)) {
	const idle, busy = 1, 3
	q, ok := u.joints(s)
	if !ok {
		return
	}
	tip := u.tip(q)
	state := uint8(idle)
	for _, i := range u.robot.Limb.Joints {
		if math.Abs(s.value(u.layout.Actuators[i].Velocity)) > moving {
			state = busy
		}
	}
	// the approach is where the tip points, the orientation its upper side
	out(1, &limbData{tip.Position, tip.Turn([3]float64{1, 0, 0}), tip.Turn([3]float64{0, 0, 1}), state})
}

func (u *limb) command(k *control, subtype uint8, in []byte) error {
	arm := u.robot.Limb
	q, ok := u.joints(k.sample())
	if !ok {
		return errAbsent
	}
	var to kinematics.Target
	switch subtype {
	case 1:
		for n, i := range arm.Joints {
			q[n] = u.layout.Actuators[i].Default
		}
		return k.stageAll(arm.Joints, hal.PositionMode, q)
	case 2:
		return k.stageAll(arm.Joints, hal.PositionMode, q)
	case 3:
		p, err := decode[limbPose](in)
		if err != nil {
			return err
		}
		turn, err := frame(p.Approach, p.Orientation)
		if err != nil {
			return err
		}
		to.Position, to.Rotation = (*[3]float64)(&p.Position), &turn
	case 4:
		p, err := decode[vector](in)
		if err != nil {
			return err
		}
		to.Position = (*[3]float64)(&p)
	default:
		return errUnknown
	}
	for _, v := range to.Position {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return errValue
		}
	}
	goals, err := u.reach(to, q)
	if err != nil {
		return err
	}
	return k.stageAll(arm.Joints, hal.PositionMode, goals)
}

// tip and reach use the solver, which one goroutine at a time may use.
func (u *limb) tip(q []float64) hal.Pose {
	u.robot.Limb.mu.Lock()
	defer u.robot.Limb.mu.Unlock()
	return u.robot.Limb.Solver.Tip(q)
}

func (u *limb) reach(to kinematics.Target, from []float64) ([]float64, error) {
	u.robot.Limb.mu.Lock()
	defer u.robot.Limb.mu.Unlock()
	return u.robot.Limb.Solver.Reach(to, from)
}

// frame is the rotation whose x axis is approach and whose z axis is nearest to up.
func frame(approach, up vector) (q [4]float64, err error) {
	x, ok := unit3(approach)
	y := cross(up, x)
	y, right := unit3(y)
	if !ok || !right {
		return q, fmt.Errorf("approach %v and orientation %v: %w", approach, up, errValue)
	}
	z := cross(x, y)
	// a rotation matrix with columns x, y, z as a quaternion: the largest part first, so that nothing is divided by 0
	m := [3][3]float64{{x[0], y[0], z[0]}, {x[1], y[1], z[1]}, {x[2], y[2], z[2]}}
	trace := m[0][0] + m[1][1] + m[2][2]
	if trace > 0 {
		s := 2 * math.Sqrt(trace+1)
		return [4]float64{s / 4, (m[2][1] - m[1][2]) / s, (m[0][2] - m[2][0]) / s, (m[1][0] - m[0][1]) / s}, nil
	}
	i := 0
	for k := 1; k < 3; k++ {
		if m[k][k] > m[i][i] {
			i = k
		}
	}
	j, k := (i+1)%3, (i+2)%3
	s := 2 * math.Sqrt(1+m[i][i]-m[j][j]-m[k][k])
	q[0] = (m[k][j] - m[j][k]) / s
	q[1+i], q[1+j], q[1+k] = s/4, (m[j][i]+m[i][j])/s, (m[k][i]+m[i][k])/s
	return q, nil
}

func cross(a, b vector) vector {
	return vector{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

// unit3 is v at length 1; false where it has no direction.
func unit3(v vector) (vector, bool) {
	n := math.Sqrt(v[0]*v[0] + v[1]*v[1] + v[2]*v[2])
	if !(n > 1e-9) || math.IsInf(n, 0) {
		return v, false
	}
	return vector{v[0] / n, v[1] / n, v[2] / n}, true
}

func (u *limb) request(k *control, subtype uint8, in []byte) (payload, error) {
	switch subtype {
	case 1:
		return nil, k.power(in)
	case 3:
		at := vector(u.robot.anchor(u.robot.Limb.Joints[0]))
		return &at, nil
	}
	return nil, errUnknown
}

// gripper is one actuator between two positions.
type gripper struct {
	robot  *Robot
	layout *hal.Layout
}

func (u *gripper) publish(s *sample, out func(uint8, payload)) {
	const open, closed, busy, fault = 1, 2, 3, 4
	g := u.robot.Gripper
	a := &u.layout.Actuators[g.Actuator]
	at, p := s.value(a.Position), &gripperData{State: busy}
	near := math.Abs(g.Open-g.Closed) / 10
	switch {
	case math.IsNaN(at):
		p.State = fault
	case math.Abs(at-g.Open) < near:
		p.State = open
	case math.Abs(at-g.Closed) < near, math.Abs(s.value(a.Velocity)) < moving:
		p.State = closed // about something, where it has stopped before
	}
	out(1, p)
}

func (u *gripper) command(k *control, subtype uint8, _ []byte) error {
	g := u.robot.Gripper
	switch subtype {
	case 1:
		return k.stage(g.Actuator, hal.PositionMode, g.Open)
	case 2:
		return k.stage(g.Actuator, hal.PositionMode, g.Closed)
	case 3:
		return k.stage(g.Actuator, hal.PositionMode, k.sample().value(u.layout.Actuators[g.Actuator].Position))
	}
	return errUnknown
}

func (u *gripper) request(_ *control, subtype uint8, _ []byte) (payload, error) {
	if subtype != 1 {
		return nil, errUnknown
	}
	return &gripperGeometry{Pose: pose3{P: u.robot.anchor(u.robot.Gripper.Actuator)}}, nil
}
