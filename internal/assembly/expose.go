package assembly

import (
	"context"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim"
)

// Exposed returns the system's emulated servos as a world of emulate: for terminals in addition to its own drivers, and
// for a hand, which moves with the rig's cycle from now on. Call it once, before the rig runs. It returns nil without
// an emulated servo on a line or a simulated leader.
func (s *System) Exposed() *EmulatedWorld {
	w := &EmulatedWorld{Scene: s.Scene, plan: s.Plan}
	for _, l := range s.Lines {
		if l.Emu != nil {
			w.Buses = append(w.Buses, emulatedBus{l.Name, l.Emu, s.Plan.On(l.Name, l.kind)})
		}
	}
	if len(w.handled()) == 0 {
		return nil
	}
	s.Rig.BetweenCycles(func() { s.before.join([]hal.World{handsOf{w}}) })
	return w
}

// handsOf moves the hands of a world with a rig's cycle, before the scene.
type handsOf struct{ *EmulatedWorld }

func (w handsOf) Advance(dt time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.moveHands(dt)
	return nil
}

// SharedTerminals returns the lines of w that can be served on pseudo-terminals while a rig drives them, by name.
// between runs a function between cycles.
func (w *EmulatedWorld) SharedTerminals(between func(func())) (list []Terminal) {
	for _, b := range w.serial() {
		list = append(list, Terminal{b.name, func(ctx context.Context, link string) (string, func() error, error) {
			return b.Bus.ServeSecondHost(ctx, link, between)
		}})
	}
	return list
}

// Unexposed is why a bus of a running rig has no terminal.
func (s *System) Unexposed(name string) string {
	bus := s.Plan.Config.Buses[name]
	row := s.Plan.Catalog.Buses.Of(bus.Type)
	switch {
	case len(s.Plan.On(name, configs.Real)) > 0:
		return "it is real"
	case s.Plan.Catalog.Buses.Has(bus.Type) && row.Filters != nil:
		return "CAN cannot be a terminal"
	case s.Emulation != nil && s.Emulation.Lines[name] != nil:
		return "its device sends to one host, which is the rig: only halyard emulate serves it"
	}
	return "no emulated servo is connected to it"
}

// Explainer returns a function that describes the packets in the bytes of a servo line; see servo.Traits.Explain. A
// line that is a part of a bus has its name and a number. It returns nil for an unknown line, and for a vendor without
// descriptions.
func (s *System) Explainer(line string) func(asked, data []byte, host bool) []string {
	buses, bus := s.Plan.Config.Buses, line
	if _, ok := buses[bus]; !ok {
		bus = line[:max(0, strings.LastIndexByte(line, '_'))]
	}
	explain := s.Plan.Catalog.Buses.Of(buses[bus].Type).Explain
	if explain == nil {
		return nil
	}
	models := map[int]servo.Model{}
	for i := range s.Plan.Agents {
		for _, j := range s.Plan.Agents[i].Joints {
			if j.Hardware != nil && j.Servo != nil && j.Hardware.Bus == bus {
				models[j.Hardware.ID] = j.Servo
			}
		}
	}
	return func(asked, data []byte, host bool) []string {
		return explain(asked, data, host, func(id int) servo.Model { return models[id] })
	}
}

// field lets the simulated sensors that p is fill one. A robot that is not simulated, or a monitor, has an empty one.
func (b *Builder) field(p *catalog.SensorPlan, t *catalog.GroundTruth) *catalog.Field {
	f := &catalog.Field{GroundTruth: t}
	body, ok := b.Simulated(p.Agent).(*sim.Body)
	for _, u := range p.Uses {
		if i := catalog.SensorIndex(t.Layout, u.Sensor); ok && i != hal.None {
			// Refused if there is a listener already: then the field stays empty.
			_ = body.Listen(i, f.Find)
		}
	}
	return f
}
