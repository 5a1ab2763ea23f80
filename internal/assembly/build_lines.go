package assembly

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/drivers/gpio"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
)

// wires are the open lines of a rig that are no sensors'.
type wires struct {
	gates  map[*catalog.GatePlan]*Cutoff
	lights map[string]*gpio.Switch // by AGENT/NAME
	lamps  []lamp
}

// lamp is a monitored light.
type lamp struct {
	agent, name string
	poller      *drivers.Poller
}

// LampRate is how often a light is checked, Hz: switching it does not detect a lost chip.
const LampRate = 10

// Light returns the switch of an agent's light, or nil.
func (w *wires) Light(agent, name string) *gpio.Switch { return w.lights[agent+"/"+name] }

// Close switches all outputs off and releases the lines.
func (w *wires) Close() error {
	var faults []error
	for _, g := range w.gates {
		faults = append(faults, g.Out.Close())
	}
	for _, l := range w.lights {
		faults = append(faults, l.Close())
	}
	return errors.Join(faults...)
}

// openWires opens the gates, closed, before any board is; the lights, off; and the circuits of stop buttons.
func (b *Builder) openWires() error {
	b.wires = wires{gates: map[*catalog.GatePlan]*Cutoff{}, lights: map[string]*gpio.Switch{}}
	var faults []error
	for _, p := range b.Plan.Gates {
		out, err := b.openSwitch(&p.WirePlan)
		if faults = append(faults, err); out != nil {
			b.gates[p] = &Cutoff{Out: out, Wants: make([]Want, len(p.Boards))}
		}
	}
	for _, p := range b.Plan.Lights {
		light, err := b.openSwitch(p)
		if faults = append(faults, err); light == nil {
			continue
		}
		agent := b.Plan.Agents[p.Agent].Config.Name
		name := agent + "/" + p.Name
		b.lights[name] = light
		e, edge, err := b.End(p.Bus, p.Body)
		if err != nil {
			return err
		}
		watch := drivers.NewPoller(light, drivers.PollerConfig{Name: p.Name, Values: 1, Period: time.Second / LampRate,
			Clock: e.Clock, CycleTime: edge})
		b.lamps = append(b.lamps, lamp{agent, p.Name, watch})
		faults = append(faults, b.Run(watch))
		b.Rig.Values().Declare("/"+name, hal.BoolValue,
			func() hal.Value { return hal.Value{Kind: hal.BoolValue, Bool: light.Lit()} },
			func(v hal.Value) error { return light.Switch(v.Bool) })
	}
	for _, p := range b.Plan.Estops {
		if p.Body != configs.Sim {
			faults = append(faults, b.openStop(p))
		}
	}
	return errors.Join(faults...)
}

// openSwitch opens an output; it returns nil for a simulated one.
func (b *Builder) openSwitch(p *catalog.WirePlan) (*gpio.Switch, error) {
	if p.Body == configs.Sim {
		return nil, nil
	}
	e, _, err := b.End(p.Bus, p.Body)
	if err != nil {
		return nil, err
	}
	s := gpio.NewSwitch(p.Pins(e))
	if err := s.Open(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// The timing of the reader of a stop button's circuit.
const (
	StopWait = 10 * time.Millisecond // how long it waits for an edge; each wait ends with a reading
	// how old its last report may be, in addition to a period in step with the cycle
	StopTimeout = 100 * time.Millisecond
	stopBegin   = time.Second // timeout of its first reading
)

// Latched is a circuit that keeps reading open for a while: the rig checks it once a cycle, its reader more often, and
// a short opening between two checks of the rig must still stop it.
type Latched struct {
	drivers.Sensor
	Clock        hal.Clock
	Least, until time.Duration
}

// Read is drivers.Sensor's, of one value.
func (l *Latched) Read(values []float64) error {
	err := l.Sensor.Read(values)
	switch now := l.Clock.Now(); {
	case err != nil || values[0] != 1:
		l.until = now + l.Least
	case now < l.until:
		values[0] = 0
	}
	return err
}

// openStop lets the circuit of a button stop the rig: open, at fault or not known.
func (b *Builder) openStop(p *catalog.WirePlan) error {
	e, edge, err := b.End(p.Bus, p.Body)
	if err != nil {
		return err
	}
	wait, timeout := StopWait, StopTimeout
	if edge != nil {
		wait, timeout = 0, timeout+2*b.Plan.Config.Clock.Period
	}
	circuit := &Latched{Sensor: gpio.NewEStopInput(p.Pins(e), wait), Clock: e.Clock,
		Least: max(StopTimeout, 2*b.Plan.Config.Clock.Period)}
	reader := drivers.NewPoller(circuit, drivers.PollerConfig{Name: p.Name, Values: 1, Period: time.Millisecond,
		Clock: e.Clock, CycleTime: edge})
	if err := b.Run(reader); err != nil {
		return err
	}
	stopped := StopInput(reader, b.Plan.Agents[p.Agent].Config.Name, p, timeout)
	// A rig that starts before the first word would start stopped.
	if edge == nil {
		for until := e.Clock.Now() + stopBegin; !hasReading(reader) && e.Clock.Now() < until; {
			e.Clock.SleepUntil(e.Clock.Now() + time.Millisecond)
		}
	}
	b.Rig.AddStopInput(stopped)
	// The button is a value, and an emulated one can be pressed.
	var press func(hal.Value) error
	if edge != nil {
		button := b.Emulation.Buttons[p]
		press = func(v hal.Value) error { button.Closed = !v.Bool; return nil }
	}
	b.Rig.Values().Declare("/"+b.Plan.Agents[p.Agent].Config.Name+"/"+p.Name, hal.BoolValue,
		func() hal.Value { return hal.Value{Kind: hal.BoolValue, Bool: stopped() != nil} }, press)
	return nil
}

func hasReading(s drivers.Source) bool {
	age, err := s.Latest(nil, 0)
	return age >= 0 || err != nil
}

// StopInput returns the check that the rig makes in every cycle. An uncertain state is a stop.
func StopInput(s drivers.Source, agent string, p *catalog.WirePlan, timeout time.Duration) func() error {
	fault := func(kind hal.Kind, format string, args ...any) error {
		return &hal.Error{Kind: kind, Bus: p.Bus, Op: "emergency stop of " + agent, Err: fmt.Errorf(format, args...),
			Try: "halyard doctor"}
	}
	open := fault(hal.Unsafe, "line %s: its circuit is open: the button is pressed, or a wire is cut", p.Line)
	silent := fault(hal.Timeout, "line %s: no report of its reader for %v", p.Line, timeout)
	var whole [1]float64
	return func() error {
		whole[0] = 0
		switch age, err := s.Latest(whole[:], 0); {
		case err != nil:
			return err
		case age < 0 || age > timeout:
			return silent
		case whole[0] != 1:
			return open
		}
		return nil
	}
}

// Want is a board's request to its gate.
type Want uint8

const (
	Nothing Want = iota // no pulses yet
	opened
	closed
)

// Cutoff is the gate of boards. It is open while one of them requests that, and none has been halted.
type Cutoff struct {
	mu    sync.Mutex
	Out   *gpio.Switch
	Wants []Want
}

// Of is the gate as board i has it: a drivers.OutputWriterConfig's Gate.
func (g *Cutoff) Of(i int) func(open bool) error {
	return func(open bool) error {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.Wants[i] = closed
		if open {
			g.Wants[i] = opened
		}
		on := false
		for _, w := range g.Wants {
			if w == closed {
				return g.Out.Switch(false)
			}
			on = on || w == opened
		}
		return g.Out.Switch(on)
	}
}

// gateOf returns the function that switches a board's gate, nil without a gate.
func (w *wires) gateOf(p *catalog.BoardPlan) func(open bool) error {
	g := w.gates[p.Gate]
	if g == nil {
		return nil
	}
	for i, b := range p.Gate.Boards {
		if b == p {
			return g.Of(i)
		}
	}
	return nil
}
