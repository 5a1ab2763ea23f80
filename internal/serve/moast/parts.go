package moast

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/moast"
	"github.com/halyard-robotics/halyard/internal/protocols/moast/echelon"
	"github.com/halyard-robotics/halyard/sim/model"
)

// headlight is switched between cycles.
type headlight interface {
	Switch(on bool) error
	Lit() bool
}

// steering is how a robot of a model is driven; InvalidSteer where MOAST cannot drive it.
func steering(m *model.Robot) moast.Steer {
	if m == nil || m.Rescue == nil {
		return moast.InvalidSteer
	}
	k := m.Rescue
	switch {
	case len(k.Left) > 0 && len(k.Right) > 0 && len(k.Front) > 0:
		return moast.AckermanSteer
	case len(k.Left) > 0 && len(k.Right) > 0:
		return moast.SkidSteer
	case strings.HasPrefix(k.Steering, "Omni") && len(wheels(m)) >= 3:
		return moast.OmniSteer
	}
	return moast.InvalidSteer
}

// wheels are the joints that turn without end.
func wheels(m *model.Robot) (all []int) {
	for i := range m.Joints {
		if m.Joints[i].Wraps {
			all = append(all, i)
		}
	}
	return all
}

// Describe is what does not change.
func (v *vehicle) Describe() echelon.Description { return v.about }

func (v *vehicle) describe() {
	m, k := v.robot, v.robot.Rescue
	all := wheels(m)
	d := echelon.Description{Platform: m.Name, Steer: steering(m), Length: k.Size[0], Width: k.Size[1],
		Height: k.Size[2], Mass: m.Mass(),
		WheelRadius: m.Wheel(all[0]), MaxWheelSpeed: v.layout.Actuators[all[0]].Limits.MaxVelocity}
	if d.Steer == moast.OmniSteer {
		a := m.Joints[all[0]].Anchor
		d.WheelSeparation = 2 * math.Hypot(a[0], a[1])
	} else {
		d.WheelSeparation = m.Span(k.Left[0], k.Right[0], 1)
		for _, i := range k.Left {
			d.WheelBase = max(d.WheelBase, m.Span(k.Left[0], i, 0))
		}
	}
	for _, i := range k.Front {
		d.MaxSteer = math.Min(math.Abs(m.Joints[i].Limits[0]), math.Abs(m.Joints[i].Limits[1]))
	}
	for _, p := range k.Packages {
		if len(p.Joints) == 0 {
			continue
		}
		if strings.EqualFold(p.Type, "Flipper") {
			d.Flippers = append(d.Flippers, v.flipper(p.Joints[0]))
			continue
		}
		v.packages = append(v.packages, p)
		d.Packages = append(d.Packages, v.mission(&p))
	}
	if k.Headlight {
		d.Effectors = append(d.Effectors, "headlight")
	}
	if k.Tags > 0 {
		d.Effectors = append(d.Effectors, "RFID releaser")
	}
	v.about = d
}

// poseOf is a pose in MOAST's axes.
func poseOf(p hal.Pose) moast.Pose {
	r := p.RollPitchYaw()
	return moast.PoseAt(moast.Cartesian{X: p.Position[0], Y: -p.Position[1], Z: -p.Position[2]},
		moast.RPY{R: r[0], P: -r[1], Y: -r[2]})
}

// wire is a joint's value the other way round where it turns against MOAST's axes, and back.
func (v *vehicle) wire(joint int, value float64) float64 {
	if v.robot.Joints[joint].Against() {
		return 0 - value
	}
	return value
}

// limits are those of a joint in MOAST's axes.
func (v *vehicle) limits(joint int) (low, high float64) {
	l := v.robot.Joints[joint].Limits
	a, b := v.wire(joint, l[0]), v.wire(joint, l[1])
	return math.Min(a, b), math.Max(a, b)
}

// flipper describes the flipper that a joint turns; which one it is shows where it is: 0 front right, 1 front left, 2
// rear right, 3 rear left.
func (v *vehicle) flipper(joint int) (f moast.FlipperSet) {
	at := v.robot.Bodies[v.robot.Joints[joint].Child].Pose
	if at.Position[1] > 0 {
		f.Kind = 1
	}
	if at.Position[0] < 0 {
		f.Kind += 2
	}
	f.MinAngle, f.MaxAngle = v.limits(joint)
	f.Location = poseOf(at).Translation
	return f
}

// joint is the frame of a joint, in MOAST's axes on the vehicle: z is its axis, about which its values turn, or along
// which they slide, as the original's kinematics take links. Its origin is on the axis, nearest to that of the joint's
// body.
func (v *vehicle) joint(joint int) hal.Pose {
	j := &v.robot.Joints[joint]
	body := v.robot.Bodies[j.Child].Pose
	along := 0.0
	for k, a := range j.Axis {
		along += a * (body.Position[k] - j.Anchor[k])
	}
	var at, z [3]float64
	for k, sign := range [3]float64{1, -1, -1} {
		at[k] = sign * (j.Anchor[k] + along*j.Axis[k])
		z[k] = sign * v.wire(joint, j.Sign) * j.Axis[k]
	}
	q := body.Rotation
	frame := hal.Pose{Position: at, Rotation: [4]float64{q[0], q[1], -q[2], -q[3]}}
	z = frame.Inverse().Turn(z)
	turn := [4]float64{1 + z[2], -z[1], z[0], 0} // the shortest turn from the body's z
	n := math.Sqrt(turn[0]*turn[0] + turn[1]*turn[1] + turn[2]*turn[2])
	if n < 1e-6 {
		turn, n = [4]float64{0, 1}, 1
	}
	for k := range turn {
		turn[k] /= n
	}
	return frame.Times(hal.Pose{Rotation: turn})
}

func (v *vehicle) mission(p *model.MissionPackage) echelon.Package {
	out := echelon.Package{Name: p.Name}
	before := hal.Pose{Rotation: [4]float64{1}}
	for i, joint := range p.Joints {
		j := &v.robot.Joints[joint]
		if i == 0 {
			out.Mount = poseOf(v.robot.Bodies[j.Child].Pose)
		}
		frame := v.joint(joint)
		at := before.Inverse().Times(frame)
		before = frame
		r := at.RollPitchYaw()
		l := moast.LinkSet{Link: int32(i + 1), Parent: int32(i),
			MaxVelocity: v.layout.Actuators[joint].Limits.MaxVelocity,
			MaxTorque:   v.layout.Actuators[joint].Limits.MaxTorque,
			Location:    moast.Cartesian{X: at.Position[0], Y: at.Position[1], Z: at.Position[2]},
			Rotation:    moast.RPY{R: r[0], P: r[1], Y: r[2]}}
		if j.Kind == model.Slide {
			l.Joint = 1
		}
		l.MinRange, l.MaxRange = v.limits(joint)
		out.Links = append(out.Links, l)
	}
	return out
}

// goal is a value of one joint's mode.
type goal struct {
	joint int
	mode  hal.Mode
	value float64
}

// move acquires the robot's lease if it is free, and sets goals. stops: the goals end motion.
func (v *vehicle) move(part int, stops bool, goals ...goal) error {
	for _, g := range goals {
		if a := &v.layout.Actuators[g.joint]; a.Goal[g.mode] == hal.None {
			return fmt.Errorf("%s takes no %v", a.Name, g.mode)
		}
	}
	if v.lease == nil {
		if stops {
			return nil // nothing to stop
		}
		if err := v.agent.Ready(); err != nil {
			return err
		}
		var err error
		if v.lease, err = v.session.Acquire(v.agent); err != nil {
			return err
		}
	}
	v.moving[part] = true
	for _, g := range goals {
		modes := &v.layout.Actuators[g.joint].Goal
		for _, at := range modes {
			if at != hal.None {
				v.inputs[at] = math.NaN()
			}
		}
		v.inputs[modes[g.mode]] = g.value
	}
	if v.rig.Mode() == hal.Lockstep {
		copy(v.held, v.inputs)
		return nil
	}
	return v.session.Step(v.lease, v.inputs)
}

// Release gives the lease back when no other part moves.
func (v *vehicle) Release(part int) {
	delete(v.moving, part)
	if v.lease != nil && len(v.moving) == 0 {
		v.session.Release(v.lease)
		v.lease = nil
		hal.FillNaN(v.inputs)
	}
}

// Ready gives the lease back where a stop or a disarm has ended what it was for: no lease outlives them.
func (v *vehicle) Ready() error {
	if state, _, _ := v.agent.Guard(); state == hal.Armed && !v.rig.Latched() {
		return nil
	}
	clear(v.moving)
	v.Release(echelon.Mobility)
	hal.FillNaN(v.held)
	return v.agent.Ready()
}

// Drive turns the wheels of both sides.
func (v *vehicle) Drive(left, right float64) error {
	var goals []goal
	for side, joints := range [...][]int{v.robot.Rescue.Left, v.robot.Rescue.Right} {
		for _, i := range joints {
			goals = append(goals, goal{i, hal.VelocityMode, [...]float64{left, right}[side]})
		}
	}
	return v.move(echelon.Mobility, left == 0 && right == 0, goals...)
}

// Steer drives a car: rear wheels that steer take the crab angle alone.
func (v *vehicle) Steer(speed, angle, crab float64) error {
	k := v.robot.Rescue
	var goals []goal
	for _, i := range slices.Concat(k.Left, k.Right) {
		goals = append(goals, goal{i, hal.VelocityMode, speed / v.about.WheelRadius})
	}
	for axle, joints := range [...][]int{k.Front, k.Rear} {
		to := crab
		if axle == 0 {
			to += angle
		}
		for _, i := range joints {
			low, high := v.limits(i)
			goals = append(goals, goal{i, hal.PositionMode, v.wire(i, math.Max(low, math.Min(high, to)))})
		}
	}
	return v.move(echelon.Mobility, speed == 0 && angle == 0 && crab == 0, goals...)
}

// Slide drives wheels whose axles point outwards: turning by w about its axle a carries a wheel along a × z.
func (v *vehicle) Slide(ahead, right, turn float64) error {
	var goals []goal
	for _, i := range wheels(v.robot) {
		j := &v.robot.Joints[i]
		ax, ay := j.Axis[0]*j.Sign, j.Axis[1]*j.Sign
		// hal's axes: y left, turns counter-clockwise
		vx, vy := ahead+turn*j.Anchor[1], -right-turn*j.Anchor[0]
		goals = append(goals, goal{i, hal.VelocityMode, (vx*ay - vy*ax) / v.about.WheelRadius})
	}
	return v.move(echelon.Mobility, ahead == 0 && right == 0 && turn == 0, goals...)
}

// Flip turns flippers.
func (v *vehicle) Flip(flippers []moast.Flipper) error {
	var goals []goal
	for _, f := range flippers {
		found := false
		for _, p := range v.robot.Rescue.Packages {
			if strings.EqualFold(p.Type, "Flipper") && len(p.Joints) > 0 && v.flipper(p.Joints[0]).Kind == f.Kind {
				goals, found = append(goals, goal{p.Joints[0], hal.PositionMode, v.wire(p.Joints[0], f.Angle)}), true
			}
		}
		if !found {
			return fmt.Errorf("no flipper %d", f.Kind)
		}
	}
	if len(goals) == 0 {
		return nil
	}
	return v.move(echelon.Mobility, false, goals...)
}

// Move moves the links of a mission package.
func (v *vehicle) Move(pack int, links []moast.LinkCmd) error {
	modes := [...]hal.Mode{moast.LinkPosition: hal.PositionMode, moast.LinkVelocity: hal.VelocityMode,
		moast.LinkTorque: hal.TorqueMode}
	if pack >= len(v.packages) || len(links) > len(v.packages[pack].Joints) {
		return errors.New("no such mission package or link")
	}
	var goals []goal
	for i, l := range links {
		joint := v.packages[pack].Joints[i]
		goals = append(goals, goal{joint, modes[l.Kind], v.wire(joint, l.Value)})
	}
	return v.move(1+pack, false, goals...)
}

// Operate switches the headlight (opcode 1 on, 0 off) and drops tags (opcode 1).
func (v *vehicle) Operate(effector, opcode int32, _ float64) error {
	if effector < 1 || int(effector) > len(v.about.Effectors) {
		return fmt.Errorf("effector: got %d, want 1..%d", effector, len(v.about.Effectors))
	}
	var run func() error
	switch what := v.about.Effectors[effector-1]; {
	case what == "headlight" && v.light != nil && (opcode == 0 || opcode == 1):
		run = func() error { return v.light.Switch(opcode == 1) }
	case what != "headlight" && v.body != nil && opcode == 1:
		run = v.body.Release
	default:
		return fmt.Errorf("%s: opcode %d: not supported", what, opcode)
	}
	var err error
	v.rig.BetweenCycles(func() { err = run() })
	return err
}

// Place puts a simulated vehicle at a pose in absolute coordinates.
func (v *vehicle) Place(to moast.Pose) error {
	if v.placer == nil {
		return errors.New("teleport: a real vehicle drives")
	}
	t := to.Translation
	at := hal.Pose{Position: [3]float64{t.X - v.offset[0], v.offset[1] - t.Y, v.offset[2] - t.Z},
		Rotation: [4]float64{to.S, to.X, -to.Y, -to.Z}}
	if n := math.Sqrt(to.S*to.S + to.X*to.X + to.Y*to.Y + to.Z*to.Z); !(n > 0.9 && n < 1.1) ||
		math.IsNaN(t.X+t.Y+t.Z) || math.IsInf(t.X+t.Y+t.Z, 0) {
		return errors.New("teleport: not a pose")
	}
	var err error
	v.rig.BetweenCycles(func() { err = v.placer.Place(v.agent.Name(), at) })
	return err
}

// observeJoints fills what is measured of joints.
func (v *vehicle) observeJoints(o *echelon.Observation) {
	position := func(joint int) float64 {
		if at := v.layout.Actuators[joint].Position; at != hal.None {
			return v.wire(joint, v.measured[at])
		}
		return math.NaN()
	}
	o.Links = o.Links[:0]
	for _, p := range v.packages {
		var links []moast.LinkStat
		for i, joint := range p.Joints {
			l := moast.LinkStat{Link: int32(i + 1), Value: position(joint), Torque: math.NaN()}
			if at := v.layout.Actuators[joint].Torque; at != hal.None {
				l.Torque = v.wire(joint, v.measured[at])
			}
			links = append(links, l)
		}
		o.Links = append(o.Links, links)
	}
	o.Flippers = nil
	for _, p := range v.robot.Rescue.Packages {
		if strings.EqualFold(p.Type, "Flipper") && len(p.Joints) > 0 && len(o.Flippers) < moast.MaxFlippers {
			o.Flippers = append(o.Flippers,
				moast.Flipper{Kind: v.flipper(p.Joints[0]).Kind, Angle: position(p.Joints[0])})
		}
	}
	if front := v.robot.Rescue.Front; len(front) > 0 {
		o.Steered = position(front[0])
	}
	if v.light != nil {
		v.rig.BetweenCycles(func() { o.Lit = v.light.Lit() })
	}
}
