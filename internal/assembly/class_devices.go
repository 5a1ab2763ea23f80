package assembly

import (
	"errors"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/gpio"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/sim"
)

// ClassDevices is the devices of a robot of a class, with their worlds and alarms.
type ClassDevices struct {
	*Builder
	body          hal.Body
	before, after []hal.World
	real          bool   // it was there before the robot was bound, and stays
	bound         bool   // of a real one: a client has it
	opened        string // the robot's name when it was opened, which its lights are stored under
}

// newOutfit returns the devices of a robot of plan p, not opened yet. body is its body in the scene, nil without one.
func (s *System) newOutfit(p *plan.AgentPlan, body *sim.Body) *ClassDevices {
	own := *s.Plan
	own.Agents, own.DevicePlan, own.Classes = []plan.AgentPlan{*p}, p.Devices, nil
	b := newBuilder(&System{Rig: s.Rig, Plan: &own, Log: s.Log, Scene: s.Scene}, body)
	b.apart = true
	return &ClassDevices{real: p.Config.Has(configs.Real), Builder: b, opened: p.Config.Name}
}

// Open opens its devices. Of emulated ones it is called at a cycle's edge: they feel the scene at once.
func (o *ClassDevices) Open() error {
	if !o.real {
		// The button of an emulated circuit cannot be pressed, and its reader would fall silent when the robot is
		// removed.
		o.Plan.Estops = nil
	}
	return errors.Join(o.openDevices(), o.openLines())
}

// restart lets a real robot count from where it is now: it is another's.
func (o *ClassDevices) restart() {
	for _, d := range o.bases {
		d.Zero()
	}
	for _, s := range o.Eyes.sights {
		s.agent = o.Plan.Agents[0].Config.Name
	}
}

// Body is the robot's, of devices and, where they are not all of it, of the scene.
func (o *ClassDevices) Body() hal.Body { return o.body }

// Zeroer is what counts of the robot's devices: its body without its twin.
func (o *ClassDevices) Zeroer() hal.Body {
	type zeroer interface {
		hal.Body
		Zero(sensor int) error
	}
	if z, ok := wrapped[zeroer](o.body); ok {
		return z
	}
	return o.body
}

// Real reports whether the robot was there before anything was spawned.
func (o *ClassDevices) Real() bool { return o.real }

// Sensed lists the sensors that devices measure.
func (o *ClassDevices) Sensed() map[string]bool {
	names, _ := o.sensed(0)
	return names
}

// Headlight is the robot's, or nil.
func (o *ClassDevices) Headlight() *gpio.Switch { return o.Light(o.opened, "headlight") }

// Close closes all devices. edge calls a function between cycles: emulated devices measure the scene until the end.
func (o *ClassDevices) Close(edge func(func())) error {
	o.unwatch()
	fault := o.Eyes.Close()
	edge(func() { fault = errors.Join(fault, o.Devices.Close(o.Log), o.closeLines()) })
	return fault
}
