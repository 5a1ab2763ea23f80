package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/gpio"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/report"
)

// linePlans are all lines that are no sensors'.
type linePlans struct {
	Estops, Lights []*catalog.WirePlan
	Gates          []*catalog.GatePlan
}

// busLine is one line of a chip, as the config calls it.
type busLine struct{ bus, line string }

// takes assigns a line to device, and reports a device that has it already. It cannot detect one line named by offset
// and by name; then the chip refuses the second request.
func (r *Resolver) takes(at configs.Path, bus, line, device string) bool {
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
func (r *Resolver) lines(at configs.Path, p *catalog.SensorPlan) bool {
	on, given := p.Kind.On, p.Config.Lines
	switch {
	case on == nil && len(given) > 0:
		r.fault(at.Key("lines"), strings.Join(catalog.LineTexts(given), ", "), "none, for "+p.Config.Device+
			" is on no GPIO chip", "")
		return false
	case on == nil:
		return true
	case p.Config.Address != nil:
		r.fault(at.Key("address"), fmt.Sprint(*p.Config.Address), "none, for "+p.Config.Device+" is on lines", "")
		return false
	case on.Turns && p.Config.ActiveLow != nil:
		r.fault(at.Key("active_low"), fmt.Sprint(*p.Config.ActiveLow), "nothing, for the levels of "+p.Config.Device+
			" are its own", "")
		return false
	case on.Turns && p.Config.Bias != configs.UsualBias:
		r.fault(at.Key("bias"), string(p.Config.Bias), "nothing, for "+p.Config.Device+" drives its line both ways", "")
		return false
	case len(given) != len(on.Lines):
		r.fault(at.Key("lines"), fmt.Sprint(len(given)),
			fmt.Sprintf("%d: %s", len(on.Lines), strings.Join(on.Lines, ", ")), "")
		return false
	}
	// The sonars of one robot share a field of view: they take turns.
	p.Turn = &gpio.Turn{}
	for _, other := range r.devices.Sensors {
		if other.Agent == p.Agent && other.Turn != nil {
			p.Turn = other.Turn
		}
	}
	ok := true
	for i, line := range given {
		key := at.Key("lines").Index(i)
		ok = r.takes(key, p.Config.Bus, string(line), string(key)) && ok
	}
	return ok
}

// wire resolves one line.
func (r *Resolver) wire(at configs.Path, c *configs.Wire, device string, low bool) (catalog.WirePlan, bool) {
	w := catalog.WirePlan{Name: device, Bus: c.Bus, Line: string(c.Line), Low: configs.Or(c.ActiveLow, low)}
	return w, r.onBus(at, c.Bus, device, []string{catalog.GPIOBus})
}

// wires resolves the lines of a robot that are no sensors'.
func (r *Resolver) wires(path configs.Path, index int, c *configs.Agent) {
	take := func(at configs.Path, line *configs.Wire, device string, low bool, to *[]*catalog.WirePlan) {
		w, ok := r.wire(at, line, device, low)
		if !ok || !r.takes(at.Key("line"), w.Bus, w.Line, string(at)) {
			return
		}
		w.Agent, w.Body = index, c.MostReal()
		*to = append(*to, &w)
	}
	at, hardware := path.Key("hardware"), c.Devices()
	if hardware.Estop != nil {
		take(at.Key("estop"), hardware.Estop, "estop", true, &r.devices.Estops)
	}
	for _, name := range report.SortedKeys(hardware.Lights) {
		light := hardware.Lights[name]
		if monitored(c, name) || name == "estop" {
			r.fault(at.Key("lights").Key(name), name, "a name of its own", "its value is /"+c.Name+"/"+name)
			continue
		}
		take(at.Key("lights").Key(name), &light, name, false, &r.devices.Lights)
	}
}

// gate resolves the output-enable line of a board. Several of its channels may name it, if they name the same line.
func (r *Resolver) gate(at configs.Path, b *catalog.BoardPlan, c *configs.Wire) {
	if c == nil {
		return
	}
	at = at.Key("output_enable")
	w, ok := r.wire(at, c, "output_enable", true)
	if !ok {
		return
	}
	w.Body = b.Body
	if b.Gate != nil {
		if b.Gate.Bus != w.Bus || b.Gate.Line != w.Line || b.Gate.Low != w.Low {
			r.fault(at.Key("line"), w.Line, fmt.Sprintf("%s of %s, the one output_enable line of the board",
				b.Gate.Line, b.Gate.Bus), "")
		}
		return
	}
	for _, g := range r.devices.Gates {
		if g.Bus == w.Bus && g.Line == w.Line && g.Low == w.Low && g.Body == w.Body {
			b.Gate, g.Boards = g, append(g.Boards, b)
			return
		}
	}
	if r.takes(at.Key("line"), w.Bus, w.Line, string(at)) {
		b.Gate = &catalog.GatePlan{WirePlan: w, Boards: []*catalog.BoardPlan{b}}
		r.devices.Gates = append(r.devices.Gates, b.Gate)
	}
}

// Round returns the period of a sonar's turns.
func (p *DevicePlan) Round(of *catalog.SensorPlan) (d time.Duration) {
	for _, s := range p.Sensors {
		if s.Turn == of.Turn && s.Kind.On.Turns {
			d += gpio.HCSR04Cycle
		}
	}
	return d
}

// UsedLine is a line of a chip that the config uses, and its device.
type UsedLine struct {
	Bus, Line, Device string
	Body              configs.BodyKind
}

// Used lists the lines of the plan, in its order.
func (p *Plan) Used() (list []UsedLine) {
	for _, s := range p.Sensors {
		if s.Kind.On == nil {
			continue
		}
		for _, line := range s.Config.Lines {
			list = append(list, UsedLine{s.Config.Bus, string(line), s.Name, s.Body})
		}
	}
	wires := slices.Concat(p.Estops, p.Lights)
	for _, g := range p.Gates {
		wires = append(wires, &g.WirePlan)
	}
	for _, w := range wires {
		list = append(list, UsedLine{w.Bus, w.Line, w.Name, w.Body})
	}
	return list
}
