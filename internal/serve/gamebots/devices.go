package gamebots

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/protocols/gamebots"
)

// describe returns what a spawned robot has, for the protocol.
func describe(rig *hal.Rig, spawner *assembly.Spawner, class string, a *hal.Agent) (r *gamebots.Robot, err error) {
	p, err := spawner.Spawned(a.Name())
	if err != nil {
		return nil, err
	}
	// Listeners of tags are set here, so it is at the edge.
	short := class[strings.LastIndexByte(class, '.')+1:]
	rig.BetweenCycles(func() { r = DescribeRescue(short, a, p.Plan.Robot, p.Body) })
	if p.Devices != nil {
		describeDevices(p.Devices, r, p)
	}
	return r, nil
}

// describeDevices adds what the robot has by its devices.
func describeDevices(o *assembly.ClassDevices, r *gamebots.Robot, p assembly.Spawned) {
	z := &zeroer{devices: map[int]bool{}}
	z.of, _ = o.Zeroer().(gamebots.Zeroer)
	if p.Body != nil {
		z.simulated = p.Body
	}
	driven := o.Sensed()
	for i := range p.Plan.Layout.Sensors {
		z.devices[i] = driven[p.Plan.Layout.Sensors[i].Name]
	}
	r.Zeroer, r.Coupled = z, p.Plan.Base != nil
	r.Pacer = pacer{r.Pacer, driven, p.Plan.Layout}
	if light := o.Headlight(); light != nil {
		r.Light = light
	}
	ListenTags(o.System, 0, r)
	if !o.Real() {
		return
	}
	// No flipper for a real robot, and no zoom for a real camera; the scene still handles the simulated parts.
	r.Flipper, r.Effecters = nil, nil
	if k := r.Cameras; len(k) == 0 || p.Plan.Config.BodyOf(p.Plan.Layout.Cameras[k[0].Index].Name) != configs.Sim {
		r.Zoomer = nil
	}
}

// pacer paces the simulated scanners of a robot: a device has its own rate.
type pacer struct {
	of     gamebots.Pacer // nil: none
	driven map[string]bool
	layout *hal.Layout
}

func (p pacer) Pace(sensor int, every time.Duration) error {
	if p.of == nil || p.driven[p.layout.Sensors[sensor].Name] {
		return &hal.Error{Kind: hal.Invalid, Op: "pace", Err: errors.New("got a sensor that is a device")}
	}
	return p.of.Pace(sensor, every)
}

// zeroer sets a robot's counters to zero, each where it counts.
type zeroer struct {
	of, simulated gamebots.Zeroer // nil: none
	devices       map[int]bool    // sensors that are devices
}

func (z *zeroer) Zero(sensor int) error {
	of := z.simulated
	if z.devices[sensor] {
		of = z.of
	}
	if of == nil {
		return &hal.Error{Kind: hal.Invalid, Op: "zero", Err: errors.New("got a sensor that does not count")}
	}
	return of.Zero(sensor)
}

// ListenTags lets the readers of agent i that are devices report their tags to a client of r, in place of the scene. A
// reader reports only a tag's number: not its distance, nor the name or state of a victim, nor parts of victims.
func ListenTags(sys *assembly.System, i int, r *gamebots.Robot) {
	r.Sensors = slices.DeleteFunc(r.Sensors, func(s gamebots.Sensor) bool {
		_, device := sys.Sources[plan.JointRef{Agent: i, Joint: s.Index}].(catalog.Tagged)
		return device && s.Parts != nil
	})
	for k := range r.Sensors {
		s := &r.Sensors[k]
		source, ok := sys.Sources[plan.JointRef{Agent: i, Joint: s.Index}].(catalog.Tagged)
		if !ok {
			continue
		}
		hits := &gamebots.Hits{}
		if source.Listen(func(tag int) { hits.Put(gamebots.Hit{Tag: tag, ID: strconv.Itoa(tag), State: "None"}) }) {
			s.Hits = hits
		}
	}
}
