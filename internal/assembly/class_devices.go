package assembly

import (
	"errors"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/protocols/gamebots"
	"github.com/halyard-robotics/halyard/sim"
)

// classDevices is what a robot of a class brings with it: its devices, with all that the rig must know of them.
type classDevices struct {
	*Builder
	body          hal.Body
	before, after []hal.World
	real          bool   // it was there before the robot was bound, and stays
	bound         bool   // of a real one: somebody has it
	opened        string // what its robot was called when it was opened: its lights are under that name
}

// newOutfit is that of a robot of plan p, which stands in the scene as body or not at all. Nothing is open yet.
func (s *System) newOutfit(p *plan.AgentPlan, body *sim.Body) *classDevices {
	own := *s.Plan
	own.Agents, own.DevicePlan, own.Classes = []plan.AgentPlan{*p}, p.Devices, nil
	b := newBuilder(&System{Rig: s.Rig, Plan: &own, log: s.log, Scene: s.Scene}, body)
	b.apart = true
	return &classDevices{real: p.Config.Has(configs.Real), Builder: b, opened: p.Config.Name}
}

// Open opens its devices. Of emulated ones it is called at a cycle's edge: they feel the scene at once.
func (o *classDevices) Open() error {
	if !o.real {
		// Nobody can press the button of an emulated circuit, and its reader would be silent when the robot is gone.
		o.Plan.Estops = nil
	}
	return errors.Join(o.openDevices(), o.openLines())
}

// restart lets a real robot count from where it is now: it is somebody else's.
func (o *classDevices) restart() {
	for _, d := range o.bases {
		d.Zero()
	}
	for _, s := range o.Eyes.sights {
		s.agent = o.Plan.Agents[0].Config.Name
	}
}

// describe adds what the robot has by its devices. p is its plot.
func (o *classDevices) describe(r *gamebots.Robot, p *spawnedRobot) {
	z := &zeroer{devices: map[int]bool{}}
	z.of, _ = o.body.(gamebots.Zeroer)
	if p.body != nil {
		z.simulated = p.body
	}
	driven, _ := o.sensed(0)
	for i := range p.plan.Layout.Sensors {
		z.devices[i] = driven[p.plan.Layout.Sensors[i].Name]
	}
	r.Zeroer, r.Coupled = z, p.plan.Base != nil
	if light := o.Light(o.opened, "headlight"); light != nil {
		r.Light = light
	}
	o.Listen(0, r)
	if !o.real {
		return
	}
	// Nobody turns a real robot over, and what its camera's lens is, it is; a simulated part of it is the scene's as ever.
	r.Flipper, r.Effecters = nil, nil
	if k := r.Cameras; len(k) == 0 || p.plan.Config.BodyOf(p.plan.Layout.Cameras[k[0].Index].Name) != configs.Sim {
		r.Zoomer = nil
	}
}

// zeroer sets a robot's counters to zero, each where it counts.
type zeroer struct {
	of, simulated gamebots.Zeroer // nil: none
	devices       map[int]bool    // sensors that are devices
}

// Zero is gamebots.Zeroer's.
func (z *zeroer) Zero(sensor int) error {
	of := z.simulated
	if z.devices[sensor] {
		of = z.of
	}
	if of == nil {
		return &hal.Error{Kind: hal.Invalid, Op: "zero", Err: errUncounted}
	}
	return of.Zero(sensor)
}

// Close gives all its devices back. edge calls what it is given between cycles: emulated devices feel the scene to the end.
func (o *classDevices) Close(edge func(func())) error {
	o.alarms.Close()
	faults := []error{o.Eyes.Close()}
	edge(func() {
		faults = append(faults, o.Devices.Close(o.log))
		for _, l := range o.Lines {
			faults = append(faults, l.Chain.Close())
		}
	})
	return errors.Join(faults...)
}
