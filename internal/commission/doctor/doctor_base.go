package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/base"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/servo"
)

// nearlyEmpty is how far above its end a battery is worth a word, V: the board itself begins to beep there.
const nearlyEmpty = 0.3

// base opens a session with a base, which turns no wheel, receives its report, and ends it.
func (x *DeviceCheck) base(p *plan.BasePlan) {
	body, examined := x.body(p.Body)
	if !examined || !x.Reachable(p.Config.Bus, body) {
		return
	}
	e, _, err := x.b.End(p.Config.Bus, body)
	var d *base.Base
	if err == nil {
		d, err = x.session(p, e, 0)
	}
	if err != nil {
		x.add("device", p.Config.Bus, p.Config.Device, "", err, x.baseFix(p, e, err))
		return
	}
	report := d.Report()
	volts := report.Volts()
	x.add("device", p.Config.Bus, p.Config.Device, fmt.Sprintf("%s %q answers", p.Robot.Name, d.Names().Name), nil, "")
	f := Finding{Check: "battery", State: StateOK, Bus: p.Config.Bus, Joint: p.Config.Device,
		Found: fmt.Sprintf("%.1f V", volts)}
	if volts < p.Robot.EmptyVolts+nearlyEmpty {
		f.State, f.Fix = StateWarn, "charge it: its motors lose their strength, and its board goes on for some "+
			"minutes only"
	}
	x.Found = append(x.Found, f)
}

// session opens a session at one rate, or at those of the config where it is 0, and ends it.
func (x *DeviceCheck) session(p *plan.BasePlan, e catalog.Connection, baud int) (*base.Base, error) {
	bus := x.plan.Config.Buses[p.Config.Bus]
	if baud != 0 {
		bus = configs.Bus{Baud: baud, GivenBaud: &baud}
	}
	d, err := p.NewBase(e, &bus, baud != 0)
	if err != nil {
		return nil, err
	}
	err = d.Open()
	return d, errors.Join(err, d.Close())
}

// baseFix is what helps where no base answers, or another one does.
func (x *DeviceCheck) baseFix(p *plan.BasePlan, e catalog.Connection, err error) string {
	switch kind := hal.KindOf(err); {
	case kind == hal.Busy || errors.Is(err, servo.ErrForeign):
		return x.deviceFix(e, err, p.Config.Bus, 0, nil)
	case kind == hal.Invalid:
		_, got, _ := strings.Cut(err.Error(), "got a ")
		got, _, _ = strings.Cut(got, ", want")
		return "set hardware.base.robot to " + cmp.Or(got, "the reported type") + ", or connect the other robot"
	case kind == hal.Absent:
		for _, baud := range []int{19200, 57600, 115200} {
			if _, err := x.session(p, e, baud); err == nil {
				return fmt.Sprintf("it answers at %d baud: set buses.%s.baud to it", baud, p.Config.Bus)
			}
		}
	}
	return "switch it on, check that the cable is in its HOST port and that TX and RX are not crossed twice, and " +
		"that no joystick or radio modem holds the port"
}
