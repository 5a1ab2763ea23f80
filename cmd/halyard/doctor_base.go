package main

import (
	"errors"
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/base"
	"github.com/halyard-robotics/halyard/hal"
)

// nearlyEmpty is how far above its end a battery is worth a word, V: the board itself begins to beep there.
const nearlyEmpty = 0.3

// base opens a session with a base, which turns no wheel, hears what it says of itself, and ends it.
func (x *deviceCheck) base(p *basePlan) {
	body, examined := x.body(p.body)
	if !examined || !x.reachable(p.config.Bus, body) {
		return
	}
	e, _, err := x.b.end(p.config.Bus, body)
	var d *base.Base
	if err == nil {
		d, err = x.session(p, e, 0)
	}
	if err != nil {
		x.add("device", p.config.Bus, p.config.Device, "", err, x.baseFix(p, e, err))
		return
	}
	report := d.Report()
	volts := report.Volts()
	x.add("device", p.config.Bus, p.config.Device, fmt.Sprintf("%s %q answers", p.robot.Name, d.Names().Name), nil, "")
	f := finding{Check: "battery", State: stateOK, Bus: p.config.Bus, Joint: p.config.Device, Found: fmt.Sprintf("%.1f V", volts)}
	if volts < p.robot.EmptyVolts+nearlyEmpty {
		f.State, f.Fix = stateWarn, "charge it: its motors lose their strength, and its board goes on for some minutes only"
	}
	x.found = append(x.found, f)
}

// session opens a session at one rate, or at those of the config where it is 0, and ends it.
func (x *deviceCheck) session(p *basePlan, e end, baud int) (*base.Base, error) {
	bus := x.plan.config.Buses[p.config.Bus]
	if baud != 0 {
		bus = configs.Bus{Baud: baud}
	}
	d, err := p.newBase(e, &bus, baud != 0)
	if err != nil {
		return nil, err
	}
	err = d.Open()
	return d, errors.Join(err, d.Close())
}

// baseFix is what helps where no base answers, or another one does.
func (x *deviceCheck) baseFix(p *basePlan, e end, err error) string {
	switch hal.KindOf(err) {
	case hal.Invalid:
		return "set hardware.base.robot to what it says it is, or change the cable's other end"
	case hal.Absent:
		for _, baud := range []int{19200, 57600, 115200} {
			if _, err := x.session(p, e, baud); err == nil {
				return fmt.Sprintf("it answers at %d baud: set buses.%s.baud to it", baud, p.config.Bus)
			}
		}
	}
	return "switch it on, check that the cable is in its HOST port and that TX and RX are not crossed twice, and that no joystick or radio modem holds the port"
}

// seen says what a scanner sees, in a few words.
func (s *scanner) seen(device string, values []float64) string {
	nearest, rays := math.Inf(1), 0
	for _, v := range values {
		if !math.IsNaN(v) {
			nearest, rays = math.Min(nearest, v), rays+1
		}
	}
	return fmt.Sprintf("%s sees with %d of its %d rays, the nearest thing at %.2f m", device, rays, len(values), nearest)
}
