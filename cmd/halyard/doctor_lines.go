package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/gpio"
	"github.com/halyard-robotics/halyard/hal"
)

// usedLine is a line of a chip that the config uses, and what for.
type usedLine struct {
	bus, line, device string
	body              configs.BodyKind
}

// used lists the lines of the plan, in its order.
func (p *plan) used() (list []usedLine) {
	for _, s := range p.sensors {
		if s.kind.on == nil {
			continue
		}
		for _, line := range s.config.Lines {
			list = append(list, usedLine{s.config.Bus, string(line), s.name, s.body})
		}
	}
	wires := slices.Concat(p.estops, p.lights)
	for _, g := range p.gates {
		wires = append(wires, &g.wirePlan)
	}
	for _, w := range wires {
		list = append(list, usedLine{w.bus, w.line, w.name, w.body})
	}
	return list
}

// lines examines the chips and who holds their lines, then what is on them that is no sensor. It returns the devices that
// there is no sense in opening, since it is known why they do not.
func (x *deviceCheck) lines() (hopeless map[string]bool) {
	hopeless = map[string]bool{}
	used := x.plan.used()
	buses := map[string]configs.BodyKind{}
	for _, u := range used {
		if body, examined := x.body(u.body); examined {
			buses[u.bus] = body
		}
	}
	for _, bus := range sortedKeys(buses) {
		info, lines, err := x.survey(bus, buses[bus])
		x.add("device", bus, "", fmt.Sprintf("%s (%s), %d lines", info.Name, info.Label, len(lines)), err, lineFix(err))
		for _, u := range used {
			if u.bus == bus && (err != nil || !x.free(u, lines)) {
				hopeless[u.device] = true
			}
		}
	}
	for _, w := range x.plan.estops {
		if body, examined := x.body(w.body); examined && !hopeless[w.name] {
			x.circuit(w, body)
		}
	}
	return hopeless
}

func (x *deviceCheck) survey(bus string, body configs.BodyKind) (gpio.ChipInfo, []gpio.LineInfo, error) {
	e, _, err := x.b.end(bus, body)
	if err != nil {
		return gpio.ChipInfo{}, nil, err
	}
	return gpio.Survey(bus, e.lines)
}

// lineFix is what to do about a chip or a line that does not open; the driver knows who may.
func lineFix(err error) string {
	var known *hal.Error
	switch hal.KindOf(err) {
	case hal.Absent:
		return "plug the chip in, or load its driver; ls /dev/gpiochip* lists those there are, and a label stays when their numbers change"
	case hal.Busy:
		if errors.As(err, &known) && known.Try != "" && known.Try != "halyard doctor" {
			return known.Try
		}
		return "stop whoever holds it: gpioinfo lists them"
	}
	return "check its wires and its power"
}

// free looks whether nobody else has a line.
func (x *deviceCheck) free(u usedLine, lines []gpio.LineInfo) bool {
	for i := range lines {
		l := &lines[i]
		if u.line != l.Name && u.line != strconv.Itoa(int(l.Offset)) {
			continue
		}
		if l.Flags&gpio.Used == 0 {
			return true
		}
		err := &hal.Error{Kind: hal.Busy, Err: fmt.Errorf("line %s is held by %q", u.line, cmp.Or(l.Consumer, "the kernel"))}
		x.add("line", u.bus, u.device, "", err, "stop whoever holds it, or wire "+u.device+" to another line: gpioinfo lists them")
		return false
	}
	err := &hal.Error{Kind: hal.Invalid, Err: fmt.Errorf("line %s: the chip has none of that name or offset", u.line)}
	x.add("line", u.bus, u.device, "", err, "gpioinfo lists the lines")
	return false
}

// circuit looks whether the circuit of a stop button is whole.
func (x *deviceCheck) circuit(w *wirePlan, body configs.BodyKind) {
	e, _, err := x.b.end(w.bus, body)
	whole := []float64{0}
	if err == nil {
		c := gpio.NewEStopInput(w.pins(e), 0)
		err = errors.Join(c.Open(), c.Read(whole), c.Close())
	}
	fix := lineFix(err)
	if err == nil && whole[0] != 1 {
		err = &hal.Error{Kind: hal.Unsafe, Err: errors.New("its circuit is open: the robot would start stopped")}
		fix = "release the button; else a wire is cut, or the contact is not a normally closed one"
	}
	x.add("estop", w.bus, w.name, "its circuit is closed; press the button to see it open", err, fix)
}

// gate looks whether anything but its bus ends the pulses of a board: a PCA9685 has no watchdog.
func (x *deviceCheck) gate(p *boardPlan) {
	if p.device != "pca9685" {
		return
	}
	f := finding{Check: "gate", State: stateOK, Bus: p.bus, Joint: p.device}
	if g := p.gate; g != nil {
		f.Found = fmt.Sprintf("its OE pin is at line %s of %s", g.line, g.bus)
	} else {
		f.State = stateWarn
		f.Found = fmt.Sprintf("the board at 0x%02X goes on pulsing when the program dies, or its bus hangs: nothing is at its OE pin", p.address)
		f.Fix = "wire OE to a line of a GPIO chip, with 1 kΩ to VCC that ends the pulses when the line is let go, and say gate: {bus: CHIP, line: N}"
	}
	x.found = append(x.found, f)
}
