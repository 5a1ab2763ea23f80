package assembly

import (
	"slices"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/sim"
)

// addAgent puts agent i into the rig, with the body that its joints are made of.
func (b *Builder) addAgent(i int) error {
	p := &b.Plan.Agents[i]
	body, reality, err := b.body(i)
	if err != nil {
		return err
	}
	if p.Config.Shadow {
		scene, err := plan.NewScene(b.Plan)
		if err != nil {
			return err
		}
		twin, err := scene.Add(p.Config.Name, p.Robot, plan.PoseOf(p.Config.Pose))
		if err != nil {
			return err
		}
		if body, err = hal.Shadow(body, twin); err != nil {
			return err
		}
		b.addWorld(scene)
	}
	b.Bodies = append(b.Bodies, body)
	_, err = b.join(p, body, b.Robots[i], reality)
	return err
}

// join adds an agent to the rig, with its watch.
func (s *System) join(p *plan.AgentPlan, body hal.Body, robot *sim.Body, reality hal.BodyKind) (*hal.Agent, error) {
	c, w, err := s.agentConfig(p, body, robot, reality)
	if err != nil {
		return nil, err
	}
	a, err := s.Rig.Add(c)
	if err == nil && w != nil {
		w.declare(c.Name, s.Rig.Values())
	}
	return a, err
}

// body is the body of agent i: simulated, of hardware, or joined of both.
func (b *Builder) body(i int) (hal.Body, hal.BodyKind, error) {
	p := &b.Plan.Agents[i]
	sensors, reality := b.sensed(i)
	var on []int
	var joints []drivers.Joint
	for k := range p.Joints {
		if j, ok := b.connected[plan.JointRef{Agent: i, Joint: k}]; ok {
			on, joints = append(on, k), append(joints, j)
			reality = max(reality, realities[p.Joints[k].Body])
		}
	}
	// Values without an emulated device come from the physics, which moves all of them, except a vehicle's pose.
	fromPhysics := reality == hal.Emulated && len(sensors) < len(p.Layout.Sensors) && !plan.Afloat(p.Layout)
	all := len(joints) == len(p.Joints)
	if reality == hal.Real {
		// A real sensor without a device has no value: the physics must not replace it.
		for k := range p.Layout.Sensors {
			if name := p.Layout.Sensors[k].Name; p.Config.BodyOf(name) == configs.Real {
				sensors[name] = true
			}
		}
	}
	whole := all && !fromPhysics && !b.hasSimulatedSensor(i, sensors, reality)
	layout := p.Layout
	switch {
	case len(joints)+len(sensors) == 0:
		return b.Simulated(i), reality, nil
	case !whole:
		layout = cut(p.Layout, on, joints, sensors)
	}
	built, err := drivers.Build(layout, joints, reality == hal.Emulated)
	if err == nil {
		err = b.sense(i, built)
	}
	if err != nil {
		return nil, reality, err
	}
	body := hal.Body(built)
	if !whole {
		if body, err = hal.Join(b.Simulated(i), built); err != nil {
			return nil, reality, err
		}
	}
	switch {
	case p.Base != nil && p.Base.Body != configs.Sim:
		body, err = b.reckonWheels(i, body, p.Place())
	case whole && plan.Afloat(p.Layout):
		body = estimatePose(body, sensors, p.PascalPerMetre())
	case whole || fromPhysics || all && reality == hal.Real:
		body, err = p.Estimate(body)
	}
	if err == nil && b.Robots[i] != nil {
		if body, err = b.twin(i, body, on, all); err == nil {
			body, err = overlay(p, body, b.Robots[i])
		}
	}
	return body, reality, err
}

// hasSimulatedSensor reports whether agent i, a real one, has a sensor that the scene measures.
func (b *Builder) hasSimulatedSensor(i int, sensors map[string]bool, reality hal.BodyKind) bool {
	p := &b.Plan.Agents[i]
	return reality == hal.Real && b.Robots[i] != nil && slices.ContainsFunc(p.Layout.Sensors, func(s hal.Sensor) bool {
		return !sensors[s.Name] && p.Config.BodyOf(s.Name) == configs.Sim
	})
}

// twin lets the robot of agent i in the scene follow the joints of body that are on real lines, and its frame the pose
// of a real base. The frame of a robot whose joints are all real, with no device that measures it, stays where the
// config has it; of others the physics moves it.
func (b *Builder) twin(i int, body hal.Body, on []int, all bool) (hal.Body, error) {
	p, l := &b.Plan.Agents[i], body.Layout()
	on = slices.DeleteFunc(slices.Clone(on), func(k int) bool { return p.Joints[k].Body != configs.Real })
	pose, err := placeIndex(p, l)
	if err != nil || len(on) == 0 {
		return body, err
	}
	home := (*hal.Pose)(nil)
	if p.Config.PoseFrom != "odometry" || all && len(on) == len(p.Joints) || p.Base != nil &&
		p.Base.Body == configs.Real {
		at := p.Place()
		home = &at
	}
	twin := hal.Twin(body, b.Robots[i], on, pose, home)
	if sub := slices.DeleteFunc(slices.Clone(on), func(k int) bool { return p.LossOf(k) != "sim" }); len(sub) > 0 {
		t := twin.(interface {
			Substitute(simulated hal.Body, actuators []int) error
		})
		if err := t.Substitute(b.Robots[i], sub); err != nil {
			return nil, &hal.Error{Kind: hal.Invalid, Op: "on_loss " + p.Config.Name, Err: err}
		}
	}
	return twin, nil
}

// RealJoint reports whether joint i of an agent is real; of a spawned one with anything real all joints count as such.
func (s *System) RealJoint(a *hal.Agent, i int) bool {
	for k := range s.Plan.Agents {
		if p := &s.Plan.Agents[k]; p.Config.Name == a.Name() {
			return p.Config.BodyOf(p.Layout.Actuators[i].Name) == configs.Real || p.Base != nil &&
				p.Base.Body == configs.Real
		}
	}
	return a.BodyKind() == hal.Real
}
