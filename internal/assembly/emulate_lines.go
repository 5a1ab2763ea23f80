package assembly

import (
	"strconv"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/gpio"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/report"
	pins "github.com/halyard-robotics/halyard/sim/emulator/gpio"
)

// maxLines is how many lines an emulated chip has, at most, by their offsets.
const maxLines = 1 << 12

// chipOf is the emulated chip of a bus, with the lines that the config names: each at its offset, or, by its name,
// after them.
type chipOf struct {
	*pins.Chip
	At map[string]int
}

// emulateChips makes every GPIO chip that something emulated is on.
func (b *Builder) emulateChips(e *Emulation) {
	named := map[string][]string{} // by bus, in the order of the plan
	see := func(body configs.BodyKind, bus string, lines ...string) {
		if body == configs.Emulated {
			named[bus] = append(named[bus], lines...)
		}
	}
	for _, p := range b.Plan.Sensors {
		if p.Kind.On != nil {
			see(p.Body, p.Config.Bus, catalog.LineTexts(p.Config.Lines)...)
		}
	}
	for _, list := range [][]*catalog.WirePlan{b.Plan.Estops, b.Plan.Lights} {
		for _, w := range list {
			see(w.Body, w.Bus, w.Line)
		}
	}
	for _, g := range b.Plan.Gates {
		see(g.Body, g.Bus, g.Line)
	}
	for _, bus := range report.SortedKeys(named) {
		e.Gpios[bus] = newChipOf(bus, named[bus], b.Plan.Config.World.Seed)
	}
	for _, w := range b.Plan.Estops {
		if c, ok := e.Gpios[w.Bus]; ok && w.Body == configs.Emulated {
			e.Buttons[w] = &pins.Switch{Line: c.At[w.Line], ToSupply: !w.Low, Closed: true}
			c.Attach(e.Buttons[w])
		}
	}
	for _, w := range b.Plan.Lights {
		if c, ok := e.Gpios[w.Bus]; ok && w.Body == configs.Emulated && w.Name == "headlight" {
			e.shine(w, c, b.Simulated(w.Agent))
		}
	}
	for _, g := range b.Plan.Gates {
		if c, ok := e.Gpios[g.Bus]; ok && g.Body == configs.Emulated {
			c.Resistor(c.At[g.Line], g.Low) // that keeps it closed
			e.gate(g, c)
		}
	}
}

func newChipOf(bus string, lines []string, seed int64) chipOf {
	c := chipOf{At: map[string]int{}}
	var names []string
	for _, line := range lines {
		if at, err := strconv.Atoi(line); err == nil && at < maxLines {
			c.At[line] = at
			for len(names) <= at {
				names = append(names, "")
			}
		}
	}
	for _, line := range lines {
		if _, there := c.At[line]; !there {
			c.At[line] = len(names)
			names = append(names, line)
		}
	}
	c.Chip = pins.New(pins.Config{Name: bus, Label: "emulated", Lines: names, Seed: seed})
	return c
}

// shine lets the headlight of a simulated robot, if it has one, be as its line is.
func (e *Emulation) shine(w *catalog.WirePlan, c chipOf, body hal.Body) {
	lamp, ok := body.(interface{ Switch(on bool) error })
	if !ok || lamp.Switch(false) != nil {
		return
	}
	// the agent has the lamp, so the call cannot fail
	e.feels = append(e.feels, func() { lamp.Switch(c.Level(c.At[w.Line]) != w.Low) })
}

// gate lets a gate that is closed end the pulses of its boards.
func (e *Emulation) gate(g *catalog.GatePlan, c chipOf) {
	for _, board := range g.Boards {
		width, at := e.widths[board], c.At[g.Line]
		e.widths[board] = func(channel int) time.Duration {
			if c.Level(at) == g.Low {
				return 0
			}
			return width(channel)
		}
	}
}

// attach puts an emulated device on its lines.
func (e *Emulation) attach(p *catalog.SensorPlan, t *catalog.GroundTruth) {
	c := e.Gpios[p.Config.Bus]
	var at []int
	for _, line := range p.Config.Lines {
		at = append(at, c.At[string(line)])
	}
	// If the config selects none of the chip's resistors, the board has one: a switch without a resistor has no level.
	if p.Kind.On.Bias != gpio.NoBias && p.Pins(catalog.Connection{}).Bias == gpio.NoBias {
		for _, line := range at {
			c.Resistor(line, true)
		}
	}
	part, feel := p.Kind.On.Part(p, at)
	c.Attach(part)
	e.feels = append(e.feels, func() { feel(t) })
}

// End returns the connection of an emulated chip, and its clock.
func (c chipOf) End(bus string) (catalog.Connection, func() time.Duration) {
	host := c.Host()
	return catalog.Connection{Name: bus, Lines: gpio.Opener(host.Open), Clock: host}, c.Edge
}
