package main

import (
	"strconv"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/gpio"
	"github.com/halyard-robotics/halyard/hal"
	pins "github.com/halyard-robotics/halyard/sim/emulator/gpio"
)

// mostLines is how many lines an emulated chip has, at most, by their offsets.
const mostLines = 1 << 12

// chipOf is the emulated chip of a bus, with the lines that the config names: each at its offset, or, by its name, after them.
type chipOf struct {
	*pins.Chip
	at map[string]int
}

// emulateChips makes every GPIO chip that something emulated is on.
func (b *builder) emulateChips(e *emulation) {
	named := map[string][]string{} // by bus, in the order of the plan
	see := func(body configs.BodyKind, bus string, lines ...string) {
		if body == configs.Emulated {
			named[bus] = append(named[bus], lines...)
		}
	}
	for _, p := range b.plan.sensors {
		if p.kind.on != nil {
			see(p.body, p.config.Bus, lineTexts(p.config.Lines)...)
		}
	}
	for _, list := range [][]*wirePlan{b.plan.estops, b.plan.lights} {
		for _, w := range list {
			see(w.body, w.bus, w.line)
		}
	}
	for _, g := range b.plan.gates {
		see(g.body, g.bus, g.line)
	}
	for _, bus := range sortedKeys(named) {
		e.gpios[bus] = newChipOf(bus, named[bus], b.plan.config.World.Seed)
	}
	for _, w := range b.plan.estops {
		if c, ok := e.gpios[w.bus]; ok && w.body == configs.Emulated {
			e.buttons[w] = &pins.Switch{Line: c.at[w.line], ToSupply: !w.low, Closed: true}
			c.Attach(e.buttons[w])
		}
	}
	for _, w := range b.plan.lights {
		if c, ok := e.gpios[w.bus]; ok && w.body == configs.Emulated && w.name == "headlight" {
			e.shine(w, c, b.simulated(w.agent))
		}
	}
	for _, g := range b.plan.gates {
		if c, ok := e.gpios[g.bus]; ok && g.body == configs.Emulated {
			c.Resistor(c.at[g.line], g.low) // that keeps it closed
			e.gate(g, c)
		}
	}
}

func newChipOf(bus string, lines []string, seed int64) chipOf {
	c := chipOf{at: map[string]int{}}
	var names []string
	for _, line := range lines {
		if at, err := strconv.Atoi(line); err == nil && at < mostLines {
			c.at[line] = at
			for len(names) <= at {
				names = append(names, "")
			}
		}
	}
	for _, line := range lines {
		if _, there := c.at[line]; !there {
			c.at[line] = len(names)
			names = append(names, line)
		}
	}
	c.Chip = pins.New(pins.Config{Name: bus, Label: "emulated", Lines: names, Seed: seed})
	return c
}

// shine lets the headlight of a simulated robot, if it has one, be as its line is.
func (e *emulation) shine(w *wirePlan, c chipOf, body hal.Body) {
	lamp, ok := body.(interface{ Switch(on bool) error })
	if !ok || lamp.Switch(false) != nil {
		return
	}
	e.feels = append(e.feels, func() { lamp.Switch(c.Level(c.at[w.line]) != w.low) }) // it has one: it does not refuse
}

// gate lets a gate that is closed end the pulses of its boards.
func (e *emulation) gate(g *gatePlan, c chipOf) {
	for _, board := range g.boards {
		width, at := e.widths[board], c.at[g.line]
		e.widths[board] = func(channel int) time.Duration {
			if c.Level(at) == g.low {
				return 0
			}
			return width(channel)
		}
	}
}

// attach puts an emulated device on its lines.
func (e *emulation) attach(p *sensorPlan, t *groundTruth) {
	c := e.gpios[p.config.Bus]
	var at []int
	for _, line := range p.config.Lines {
		at = append(at, c.at[string(line)])
	}
	// Where the config wants none of the chip's resistors there is one on the board: a switch alone makes no level.
	if p.kind.on.bias != gpio.NoBias && p.pins(end{}).Bias == gpio.NoBias {
		for _, line := range at {
			c.Resistor(line, true)
		}
	}
	part, feel := p.kind.on.part(p, at)
	c.Attach(part)
	e.feels = append(e.feels, func() { feel(t) })
}

// end is what the driver opens an emulated chip by, with the clock that goes with it.
func (c chipOf) end(bus string) (end, func() time.Duration) {
	host := c.Host()
	return end{name: bus, lines: gpio.Opener(host.Open), clock: host}, c.Edge
}
