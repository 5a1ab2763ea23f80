package gamebots

import (
	"math"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/kinematics"
	"github.com/halyard-robotics/halyard/protocols/gamebots"
	"github.com/halyard-robotics/halyard/sim/model"
)

// simple are the types of package that need no inverse kinematics: each joint takes its own part of a rotation.
func simple(kind string) bool {
	return strings.EqualFold(kind, "PanTilt") || strings.EqualFold(kind, "Flipper")
}

// arms are the mission packages of a robot that has none of its own: each row of joints, but for its wheels, up to
// where it branches. A single one is called Arm; of several, each is called Arm_ and the name of its first joint.
func arms(m *model.Robot) (list []model.MissionPackage) {
	wheel := func(i int) bool {
		return m.Drive != nil && slices.ContainsFunc(m.Drive.Wheels, func(w kinematics.DriveWheel) bool {
			return w.Actuator == i || w.Steer == i
		})
	}
	carried := func(body int) (on []int) {
		for i := range m.Joints {
			if j := &m.Joints[i]; j.Child != hal.None && j.Parent == body && !wheel(i) {
				on = append(on, i)
			}
		}
		return on
	}
	for i := range m.Joints {
		j := &m.Joints[i]
		if j.Child == hal.None || wheel(i) {
			continue
		}
		before := slices.IndexFunc(m.Joints, func(o model.Joint) bool { return o.Child == j.Parent })
		if before >= 0 && !wheel(before) && len(carried(j.Parent)) == 1 {
			continue // it is in that one's row
		}
		row := []int{i}
		for on := carried(j.Child); len(on) == 1; on = carried(m.Joints[on[0]].Child) {
			row = append(row, on[0])
		}
		list = append(list, model.MissionPackage{Type: "Arm", Name: "Arm_" + j.Name, Joints: row})
	}
	if len(list) == 1 {
		list[0].Name = "Arm"
	}
	return list
}

// armSolver finds the joints of a mission package for MISPKG: of order 0 where its terminal, the frame of its last
// part, is to be; of order 1 how it is to move; of order 2 how it is to push, since the manual's acceleration has no
// unit.
type armSolver struct{ arm *kinematics.Arm }

// newArmSolver is the solver of a package of m, in the frame of its mount: that of its first part with its joint at 0.
func newArmSolver(m *model.Robot, p *model.MissionPackage) (*armSolver, error) {
	var tree kinematics.Tree
	var limits [][2]float64
	mount := m.Bodies[m.Joints[p.Joints[0]].Child].Pose.Inverse()
	for i, joint := range p.Joints {
		j := &m.Joints[joint]
		tree = append(tree, kinematics.Link{Name: m.Bodies[j.Child].Name, Parent: i - 1,
			Home: mount.Times(m.Bodies[j.Child].Pose), Joint: i, Slide: j.Kind == model.Slide,
			Anchor: mount.Of(j.Anchor), Axis: mount.Turn(j.Axis), Times: j.Sign})
		limits = append(limits, j.Limits)
	}
	tree[0].Parent = hal.None
	arm, err := kinematics.NewArm(tree, limits)
	return &armSolver{arm}, err
}

// Solve is that of gamebots.Solver.
func (s *armSolver) Solve(order gamebots.Order, rotation, translation [3]float64, joints, goals []float64) error {
	var to kinematics.Target
	if !math.IsNaN(translation[0]) {
		to.Position = &translation
	}
	if !math.IsNaN(rotation[0]) {
		to.Spin = &rotation
	}
	switch order {
	case gamebots.Speed:
		copy(goals, s.arm.Move(to, joints))
	case gamebots.Torque:
		copy(goals, s.arm.Push(to, joints))
	default:
		if to.Spin != nil {
			// The axes are hal's by now; the order of the turns is the wire's: yaw, pitch, roll.
			q := wireTurn(rotation)
			to.Rotation = &q
		}
		found, err := s.arm.Reach(to, joints)
		if err != nil {
			return err
		}
		copy(goals, found)
	}
	return nil
}

// wireTurn is the quaternion of roll, pitch and yaw in hal's axes.
func wireTurn(a [3]float64) [4]float64 {
	turn := hal.Pose{Rotation: [4]float64{1}}
	for k := 2; k >= 0; k-- {
		sin, cos := math.Sincos(a[k] / 2)
		one := hal.Pose{Rotation: [4]float64{cos}}
		one.Rotation[1+k] = sin
		turn = turn.Times(one)
	}
	return turn.Rotation
}
