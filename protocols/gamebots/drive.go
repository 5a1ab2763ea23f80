package gamebots

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
)

// full is the value of a wheel's maximum speed (or torque) in a normalised DRIVE.
const full = 100

// wheels handles DRIVE in all its forms, which may be in one line.
func (c *Control) wheels() error {
	r := c.robot()
	err := cmp.Or(c.side("Left", r.Left), c.side("Right", r.Right))
	if err == nil && c.session.dialect.since(Later) {
		err = cmp.Or(c.side("Speed", r.Left), c.side("Speed", r.Right), c.steer("FrontSteer", r.Front),
			c.steer("RearSteer", r.Rear))
	}
	if err == nil {
		err = c.eachCalled("Name", c.oneJoint)
	}
	if err != nil {
		return err
	}
	return c.switches()
}

// side drives all wheels of one side.
func (c *Control) side(name string, joints []int) error {
	order := Speed
	if c.robot().Torque {
		order = Torque
	}
	normalized := c.Has(name) && c.Truth("Normalized")
	return c.axle(name, joints, order, func(i int) float64 {
		if !normalized {
			return 1
		}
		most := &c.link().layout.Actuators[c.robot().Joints[i].Actuator].Limits
		return [...]float64{Speed: most.MaxVelocity, Torque: most.MaxTorque}[order] / full
	})
}

// steer turns the joints of one axle to the same angle, rad: the original's cars have no Ackermann geometry of their
// own.
func (c *Control) steer(name string, joints []int) error {
	return c.axle(name, joints, Angle, func(int) float64 { return 1 })
}

// axle drives joints by the number of a key, times a factor of each joint; without the key it does nothing.
func (c *Control) axle(name string, joints []int, order Order, factor func(joint int) float64) error {
	if !c.Has(name) {
		return nil
	}
	if len(joints) == 0 {
		return fmt.Errorf("%s: %w", name, errAbsent)
	}
	v := c.Number(name, 0)
	for _, i := range joints {
		if err := c.drive(i, order, v*factor(i)); err != nil {
			return err
		}
	}
	return nil
}

// oneJoint handles {Name joint} {Steer a} {Order o} {Value v}; each further Name begins a further joint. A joint
// without a Value is only steered.
func (c *Control) oneJoint(name []byte) error {
	i, err := c.joint(name)
	if err != nil {
		return err
	}
	j := &c.robot().Joints[i]
	if c.Has("Steer") {
		if j.Steer == hal.None {
			return fmt.Errorf("joint %q: steer: %w", name, errAbsent)
		}
		if err := c.stage(j.Steer, hal.PositionMode, signed(c.Number("Steer", 0), j.SteerReversed)); err != nil {
			return err
		}
	}
	order := c.order("Order")
	if !c.Has("Value") {
		return nil
	}
	for _, side := range [...][]int{c.robot().Left, c.robot().Right} {
		if !c.robot().Coupled || !slices.Contains(side, i) {
			continue
		}
		for _, k := range side {
			if err := c.drive(k, order, c.Number("Value", 0)); err != nil {
				return err
			}
		}
		return nil
	}
	return c.drive(i, order, c.Number("Value", 0))
}

// switches handles {Light b} {Flip b}, once the rest of the line is known to be good.
func (c *Control) switches() error {
	light, flip := c.Has("Light"), c.Truth("Flip")
	on := c.Truth("Light")
	if c.err != nil {
		return c.err
	}
	r := c.robot()
	// a refused line has no effect
	if flip && r.Flipper == nil {
		return fmt.Errorf("flip: %w", errAbsent)
	}
	if light && r.Light == nil {
		// clients name the light with every order to the wheels: without one the wheels turn all the same
		if on {
			c.session.warn("light", fmt.Errorf("light: %w", errAbsent))
		}
		light = false
	}
	if light {
		if err := c.betweenCycles(func() error { return r.Light.Switch(on) }); err != nil {
			return err
		}
		c.link().lit.Store(on)
	}
	if flip {
		return c.betweenCycles(r.Flipper.Flip)
	}
	return nil
}

// camera handles CAMERA: the main camera's package, and its zoom. Only the zoom is answered.
func (c *Control) camera() error {
	r := c.robot()
	if len(r.Cameras) == 0 {
		return fmt.Errorf("camera: %w", errAbsent)
	}
	main := &r.Cameras[0]
	if c.Has("Rotation") {
		if main.Package == hal.None {
			return fmt.Errorf("camera %s: turn: %w", main.Name, errAbsent)
		}
		if err := c.aim(&r.Packages[main.Package], !r.AbsoluteCamera); err != nil {
			return err
		}
	}
	if c.Has("Zoom") {
		status, err := c.zoom(0, c.Number("Zoom", 0))
		c.session.answer(cameraType, main.Name, status)
		return err
	}
	return nil
}

// zoom sets a camera's field of view, within its range, and returns the one that it has then.
func (c *Control) zoom(camera int, fov float64) (status string, err error) {
	const failed = "-1"
	if c.err != nil {
		return failed, c.err
	}
	k := c.link()
	m := &k.robot.Cameras[camera]
	// the manual: a field of view out of range becomes the nearest one within
	if fov = math.Max(m.Min, math.Min(m.Max, fov)); fov != k.fov[camera] {
		if k.robot.Zoomer == nil {
			return failed, fmt.Errorf("camera %s: zoom: %w", m.Name, errAbsent)
		}
		if err := c.betweenCycles(func() error { return k.robot.Zoomer.Zoom(m.Index, fov) }); err != nil {
			return failed, err
		}
		k.fov[camera] = fov
	}
	return string(appendNumber(nil, k.fov[camera], fine)), nil
}

// mission handles MISPKG, MISPGK and the later ACT.
func (c *Control) mission() error {
	r := c.robot()
	name, _ := c.message.Value("Name")
	for i := range r.Packages {
		p := &r.Packages[i]
		if !equal(name, p.Name) {
			continue
		}
		if c.session.dialect.since(Later) && c.Has("Link") {
			return c.eachLink(p)
		}
		// the manual: with a camera's package this is CAMERA without its zoom
		relative := !r.AbsoluteCamera && len(r.Cameras) > 0 && r.Cameras[0].Package == i
		return c.aim(p, relative)
	}
	return fmt.Errorf("mission package %q: %w", name, errAbsent)
}

// aim moves a package's terminal.
func (c *Control) aim(p *Package, relative bool) error {
	order := c.order("Order")
	rotation, translation := c.Vector("Rotation"), c.Vector("Translation")
	if c.err != nil {
		return c.err
	}
	if p.Solver != nil {
		return c.solve(p, order, rotation, translation)
	}
	if c.Has("Translation") && translation != [3]float64{} {
		return fmt.Errorf("mission package %s: translation: %w", p.Name, errAbsent)
	}
	k := c.link()
	k.joints = k.agent.Measured(k.joints)
	for i := range p.Parts {
		part := &p.Parts[i]
		if part.Joint == hal.None || !c.Has("Rotation") {
			continue
		}
		axis, sign := nearest(part.Axis)
		// the part of the rotation about this joint's own axis, with the sign that hal has there
		goal := sign * rotation[axis]
		if relative && order == Angle {
			at, err := k.measuredAngle(part.Joint, k.joints)
			if err != nil {
				return err
			}
			goal += at
		}
		if err := c.stage(k.robot.Joints[part.Joint].Actuator, order.mode(), goal); err != nil {
			return err
		}
	}
	return nil
}

// solve lets the package's own solver find the joints.
func (c *Control) solve(p *Package, order Order, rotation, translation [3]float64) error {
	k := c.link()
	k.joints = k.agent.Measured(k.joints)
	angles, goals := make([]float64, len(p.Parts)), make([]float64, len(p.Parts))
	for i := range p.Parts {
		if goals[i] = math.NaN(); p.Parts[i].Joint != hal.None {
			var err error
			if angles[i], err = k.measuredAngle(p.Parts[i].Joint, k.joints); err != nil {
				return err
			}
		}
	}
	free := [3]float64{math.NaN(), math.NaN(), math.NaN()}
	if rotation = flip(rotation); !c.Has("Rotation") {
		rotation = free
	}
	if translation = flip(translation); !c.Has("Translation") {
		translation = free
	}
	if err := p.Solver.Solve(order, rotation, translation, angles, goals); err != nil {
		return err
	}
	for i, goal := range goals {
		if math.IsNaN(goal) || p.Parts[i].Joint == hal.None {
			continue
		}
		if err := c.stage(k.robot.Joints[p.Parts[i].Joint].Actuator, order.mode(), goal); err != nil {
			return err
		}
	}
	return nil
}
