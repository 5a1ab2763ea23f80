package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/gpio"
)

// wirePlan is one line of a GPIO chip, resolved.
type wirePlan struct {
	agent     int
	name      string // what errors call it, and who holds it: "estop", the light's name
	bus, line string
	low       bool
	body      configs.BodyKind
}

// pins are the line, as the driver takes it.
func (w *wirePlan) pins(e end) gpio.Pins {
	return gpio.Pins{Bus: e.name, Open: e.lines, Lines: []string{w.line}, ActiveLow: w.low, User: "halyard " + w.name}
}

// gatePlan is what cuts boards off: several may share it.
type gatePlan struct {
	wirePlan
	boards []*boardPlan
}

// linePlans are all lines that are no sensors'.
type linePlans struct {
	estops []*wirePlan
	lights []*wirePlan
	gates  []*gatePlan
}

// emulatesLines tells whether any of them is emulated.
func (p *linePlans) emulatesLines() bool {
	emulated := func(w *wirePlan) bool { return w.body == configs.Emulated }
	return slices.ContainsFunc(p.estops, emulated) || slices.ContainsFunc(p.lights, emulated)
}

// busLine is one line of a chip, as the config calls it.
type busLine struct{ bus, line string }

// takes notes that device has a line, and reports who has it already. A line by its offset and the same one by its name are
// told apart only by the chip, which refuses the second.
func (r *resolver) takes(at configs.Path, bus, line, device string) bool {
	if r.taken == nil {
		r.taken = map[busLine]seat{}
	}
	key := busLine{bus, line}
	if s, there := r.taken[key]; there && s.device != device {
		r.fault(at, line, "a line of its own on chip "+bus, fmt.Sprintf("%s has it too", s.path))
		return false
	}
	r.taken[key] = seat{device, at}
	return true
}

// lines resolves the lines of a device that measures, and reports keys that it has no use for.
func (r *resolver) lines(at configs.Path, p *sensorPlan) bool {
	on, said := p.kind.on, p.config.Lines
	switch {
	case on == nil && len(said) > 0:
		r.fault(at.Key("lines"), strings.Join(lineTexts(said), ", "), "none, for "+p.config.Device+" is on no GPIO chip", "")
		return false
	case on == nil:
		return true
	case p.config.Address != nil:
		r.fault(at.Key("address"), fmt.Sprint(*p.config.Address), "none, for "+p.config.Device+" is on lines", "")
		return false
	case on.turns && p.config.ActiveLow != nil:
		r.fault(at.Key("active_low"), fmt.Sprint(*p.config.ActiveLow), "nothing, for the levels of "+p.config.Device+" are its own", "")
		return false
	case on.turns && p.config.Bias != configs.UsualBias:
		r.fault(at.Key("bias"), string(p.config.Bias), "nothing, for "+p.config.Device+" drives its line both ways", "")
		return false
	case len(said) != len(on.lines):
		r.fault(at.Key("lines"), fmt.Sprint(len(said)), fmt.Sprintf("%d: %s", len(on.lines), strings.Join(on.lines, ", ")), "")
		return false
	}
	// The sonars of one robot look at the same things.
	p.turn = &gpio.Turn{}
	for _, other := range r.devices.sensors {
		if other.agent == p.agent && other.turn != nil {
			p.turn = other.turn
		}
	}
	ok := true
	for i, line := range said {
		key := at.Key("lines").Index(i)
		ok = r.takes(key, p.config.Bus, string(line), string(key)) && ok
	}
	return ok
}

// wire resolves one line.
func (r *resolver) wire(at configs.Path, c *configs.Wire, device string, low bool) (wirePlan, bool) {
	w := wirePlan{name: device, bus: c.Bus, line: string(c.Line), low: configs.Low(c.ActiveLow, low)}
	return w, r.onBus(at, c.Bus, device, []string{gpioBus})
}

// wires resolves the lines of a robot that are no sensors'.
func (r *resolver) wires(path configs.Path, index int, c *configs.Agent) {
	if c.Hardware == nil {
		return
	}
	take := func(at configs.Path, c *configs.Wire, device string, low bool, body configs.BodyKind, to *[]*wirePlan) {
		w, ok := r.wire(at, c, device, low)
		if !ok || !r.takes(at.Key("line"), w.bus, w.line, string(at)) {
			return
		}
		w.agent, w.body = index, body
		*to = append(*to, &w)
	}
	at := path.Key("hardware")
	if stop := c.Hardware.Estop; stop != nil {
		take(at.Key("estop"), stop, "estop", true, c.Most(), &r.devices.estops)
	}
	for _, name := range sortedKeys(c.Hardware.Lights) {
		light := c.Hardware.Lights[name]
		if _, watched := c.Hardware.Monitors[name]; watched || name == "estop" {
			r.fault(at.Key("lights").Key(name), name, "a name of its own", "its value is /"+c.Name+"/"+name)
			continue
		}
		take(at.Key("lights").Key(name), &light, name, false, c.Most(), &r.devices.lights)
	}
}

// gate resolves what cuts a board off, which may be said at several of its channels if it is the same.
func (r *resolver) gate(at configs.Path, b *boardPlan, c *configs.Wire) {
	if c == nil {
		return
	}
	at = at.Key("gate")
	w, ok := r.wire(at, c, "gate", true)
	if !ok {
		return
	}
	w.body = b.body
	if b.gate != nil {
		if b.gate.bus != w.bus || b.gate.line != w.line || b.gate.low != w.low {
			r.fault(at.Key("line"), w.line, fmt.Sprintf("%s of %s, for the whole board has one gate", b.gate.line, b.gate.bus), "")
		}
		return
	}
	for _, g := range r.devices.gates {
		if g.bus == w.bus && g.line == w.line && g.low == w.low && g.body == w.body {
			b.gate, g.boards = g, append(g.boards, b)
			return
		}
	}
	if r.takes(at.Key("line"), w.bus, w.line, string(at)) {
		b.gate = &gatePlan{wirePlan: w, boards: []*boardPlan{b}}
		r.devices.gates = append(r.devices.gates, b.gate)
	}
}
