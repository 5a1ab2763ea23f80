package main

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/drivers/gpio"
	"github.com/halyard-robotics/halyard/hal"
)

// wires are the open lines of a rig that are no sensors'.
type wires struct {
	gates  map[*gatePlan]*cutoff
	lights map[string]*gpio.Switch // by AGENT/NAME
	lamps  []lamp
}

// lamp is a light as it is watched.
type lamp struct {
	agent, name string
	poller      *drivers.Poller
}

// lampRate is how often a light is looked at, Hz: by its switch nobody hears that its chip is gone.
const lampRate = 10

// light is what switches a light of an agent, or nil.
func (w *wires) light(agent, name string) *gpio.Switch { return w.lights[agent+"/"+name] }

// close switches everything off and gives the lines back.
func (w *wires) close() error {
	var faults []error
	for _, g := range w.gates {
		faults = append(faults, g.out.Close())
	}
	for _, l := range w.lights {
		faults = append(faults, l.Close())
	}
	return errors.Join(faults...)
}

// openWires opens the gates, closed, before any board is; the lights, off; and the circuits of stop buttons.
func (b *builder) openWires() error {
	b.wires = wires{gates: map[*gatePlan]*cutoff{}, lights: map[string]*gpio.Switch{}}
	var faults []error
	for _, p := range b.plan.gates {
		out, err := b.openSwitch(&p.wirePlan)
		if faults = append(faults, err); out != nil {
			b.gates[p] = &cutoff{out: out, wants: make([]want, len(p.boards))}
		}
	}
	for _, p := range b.plan.lights {
		light, err := b.openSwitch(p)
		if faults = append(faults, err); light == nil {
			continue
		}
		agent := b.plan.agents[p.agent].config.Name
		name := agent + "/" + p.name
		b.lights[name] = light
		e, edge, err := b.end(p.bus, p.body)
		if err != nil {
			return err
		}
		watch := drivers.NewPoller(light, drivers.PollerConfig{Name: p.name, Values: 1, Period: time.Second / lampRate, Clock: e.clock, CycleTime: edge})
		b.lamps = append(b.lamps, lamp{agent, p.name, watch})
		faults = append(faults, b.run(watch))
		b.rig.Values().Declare("/"+name, hal.BoolValue, func() hal.Value { return hal.Value{Kind: hal.BoolValue, Bool: light.Lit()} },
			func(v hal.Value) error { return light.Switch(v.Bool) })
	}
	for _, p := range b.plan.estops {
		if p.body != configs.Sim {
			faults = append(faults, b.openStop(p))
		}
	}
	return errors.Join(faults...)
}

// openSwitch opens an output; none where it is simulated.
func (b *builder) openSwitch(p *wirePlan) (*gpio.Switch, error) {
	if p.body == configs.Sim {
		return nil, nil
	}
	e, _, err := b.end(p.bus, p.body)
	if err != nil {
		return nil, err
	}
	s := gpio.NewSwitch(p.pins(e))
	if err := s.Open(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// What the reader of a stop button's circuit is held to.
const (
	stopWait     = 10 * time.Millisecond  // how long it waits for an edge; each wait ends with a word
	stopPatience = 100 * time.Millisecond // how old its last word may be, beside a period in step with the cycle
	stopBegin    = time.Second            // by when its first word is there
)

// latched is a circuit that goes on to read open for a while: the rig looks at it once a cycle, its reader more often, and
// what was over between two looks of the rig would stop nothing.
type latched struct {
	drivers.Sensor
	clock        hal.Clock
	least, until time.Duration
}

// Read is drivers.Sensor's, of one value.
func (l *latched) Read(values []float64) error {
	err := l.Sensor.Read(values)
	switch now := l.clock.Now(); {
	case err != nil || values[0] != 1:
		l.until = now + l.least
	case now < l.until:
		values[0] = 0
	}
	return err
}

// openStop lets the circuit of a button stop the rig: open, at fault or not heard of.
func (b *builder) openStop(p *wirePlan) error {
	e, edge, err := b.end(p.bus, p.body)
	if err != nil {
		return err
	}
	wait, patience := stopWait, stopPatience
	if edge != nil {
		wait, patience = 0, patience+2*b.plan.config.Clock.Period
	}
	circuit := &latched{Sensor: gpio.NewEStopInput(p.pins(e), wait), clock: e.clock, least: max(stopPatience, 2*b.plan.config.Clock.Period)}
	reader := drivers.NewPoller(circuit, drivers.PollerConfig{Name: p.name, Values: 1, Period: time.Millisecond, Clock: e.clock, CycleTime: edge})
	if err := b.run(reader); err != nil {
		return err
	}
	heed := stopInput(reader, b.plan.agents[p.agent].config.Name, p, patience)
	// A rig that starts before the first word would start stopped.
	if edge == nil {
		for until := e.clock.Now() + stopBegin; !heard(reader) && e.clock.Now() < until; {
			e.clock.SleepUntil(e.clock.Now() + time.Millisecond)
		}
	}
	b.rig.AddStopInput(heed)
	// Whoever looks sees the button, and an emulated one can be pressed.
	var press func(hal.Value) error
	if edge != nil {
		button := b.emulation.buttons[p]
		press = func(v hal.Value) error { button.Closed = !v.Bool; return nil }
	}
	b.rig.Values().Declare("/"+b.plan.agents[p.agent].config.Name+"/"+p.name, hal.BoolValue,
		func() hal.Value { return hal.Value{Kind: hal.BoolValue, Bool: heed() != nil} }, press)
	return nil
}

func heard(s drivers.Source) bool {
	age, err := s.Latest(nil, 0)
	return age >= 0 || err != nil
}

// stopInput is what the rig asks in every cycle. What is not known for certain is a stop.
func stopInput(s drivers.Source, agent string, p *wirePlan, patience time.Duration) func() error {
	fault := func(kind hal.Kind, format string, args ...any) error {
		return &hal.Error{Kind: kind, Bus: p.bus, Op: "emergency stop of " + agent, Err: fmt.Errorf(format, args...), Try: "halyard doctor"}
	}
	open := fault(hal.Unsafe, "line %s: its circuit is open: the button is pressed, or a wire is cut", p.line)
	silent := fault(hal.Timeout, "line %s: its reader has said nothing for %v", p.line, patience)
	var whole [1]float64
	return func() error {
		whole[0] = 0
		switch age, err := s.Latest(whole[:], 0); {
		case err != nil:
			return err
		case age < 0 || age > patience:
			return silent
		case whole[0] != 1:
			return open
		}
		return nil
	}
}

// want is what a board wants of its gate.
type want uint8

const (
	nothing want = iota // it has not had pulses yet
	opened
	closed
)

// cutoff cuts boards off. It is open while one of them wants that, and none has been halted.
type cutoff struct {
	mu    sync.Mutex
	out   *gpio.Switch
	wants []want
}

// of is the gate as board i has it: a drivers.OutputWriterConfig's Gate.
func (g *cutoff) of(i int) func(open bool) error {
	return func(open bool) error {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.wants[i] = closed
		if open {
			g.wants[i] = opened
		}
		on := false
		for _, w := range g.wants {
			if w == closed {
				return g.out.Switch(false)
			}
			on = on || w == opened
		}
		return g.out.Switch(on)
	}
}

// gateOf is what cuts a board off, nil where nothing does.
func (w *wires) gateOf(p *boardPlan) func(open bool) error {
	g := w.gates[p.gate]
	if g == nil {
		return nil
	}
	for i, b := range p.gate.boards {
		if b == p {
			return g.of(i)
		}
	}
	return nil
}
