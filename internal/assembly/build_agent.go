package assembly

import (
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/plan"
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
	_, err = b.Rig.Add(p.Agent(body, b.Scene, reality))
	return err
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
	whole := len(joints) == len(p.Joints) && !fromPhysics
	if reality == hal.Real {
		// A real sensor without a device has no value: the physics must not replace it.
		for k := range p.Layout.Sensors {
			if name := p.Layout.Sensors[k].Name; p.Config.BodyOf(name) == configs.Real {
				sensors[name] = true
			}
		}
	}
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
	case whole || fromPhysics:
		body, err = p.Estimate(body)
	}
	return body, reality, err
}
