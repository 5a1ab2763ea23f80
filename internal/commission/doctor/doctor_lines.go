package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/gpio"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/internal/wire/gpiochip"
)

// lines examines the chips and the consumers of their lines, then the devices on them that are no sensors. It returns
// the devices that there is no sense in opening, since it is known why they do not.
func (x *DeviceCheck) lines() (hopeless map[string]bool) {
	hopeless = map[string]bool{}
	used := x.plan.Used()
	buses := map[string]configs.BodyKind{}
	for _, u := range used {
		if body, examined := x.body(u.Body); examined {
			buses[u.Bus] = body
		}
	}
	for _, bus := range report.SortedKeys(buses) {
		info, lines, err := x.survey(bus, buses[bus])
		x.add("device", bus, "", fmt.Sprintf("%s (%s), %d lines", info.Name, info.Label, len(lines)), err, LineFix(err))
		for _, u := range used {
			if u.Bus == bus && (err != nil || !x.free(u, lines)) {
				hopeless[u.Device] = true
			}
		}
	}
	for _, w := range x.plan.Estops {
		if body, examined := x.body(w.Body); examined && !hopeless[w.Name] {
			x.circuit(w, body)
		}
	}
	return hopeless
}

func (x *DeviceCheck) survey(bus string, body configs.BodyKind) (gpiochip.ChipInfo, []gpiochip.LineInfo, error) {
	e, _, err := x.b.End(bus, body)
	if err != nil {
		return gpiochip.ChipInfo{}, nil, err
	}
	return gpio.Survey(bus, e.Lines)
}

// LineFix is what to do about a chip or a line that does not open.
func LineFix(err error) string {
	var known *hal.Error
	switch hal.KindOf(err) {
	case hal.Absent:
		return "plug the chip in, or load its driver; ls /dev/gpiochip* lists those there are, and a label stays " +
			"when their numbers change"
	case hal.Busy:
		if errors.As(err, &known) && known.Try != "" && known.Try != "halyard doctor" {
			return known.Try
		}
		return "stop the program that uses it: gpioinfo lists them"
	}
	return "check its wires and its power"
}

// free checks that no other program uses a line.
func (x *DeviceCheck) free(u plan.UsedLine, lines []gpiochip.LineInfo) bool {
	for i := range lines {
		l := &lines[i]
		if u.Line != l.Name && u.Line != strconv.Itoa(int(l.Offset)) {
			continue
		}
		if l.Flags&gpiochip.Used == 0 {
			return true
		}
		err := &hal.Error{Kind: hal.Busy,
			Err: fmt.Errorf("line %s is held by %q", u.Line, cmp.Or(l.Consumer, "the kernel"))}
		x.add("line", u.Bus, u.Device, "", err, "stop the program that uses it, or wire "+u.Device+
			" to another line: gpioinfo lists them")
		return false
	}
	err := &hal.Error{Kind: hal.Invalid, Err: fmt.Errorf("line %s: the chip has none of that name or offset", u.Line)}
	x.add("line", u.Bus, u.Device, "", err, "gpioinfo lists the lines")
	return false
}

// circuit looks whether the circuit of a stop button is whole.
func (x *DeviceCheck) circuit(w *catalog.WirePlan, body configs.BodyKind) {
	e, _, err := x.b.End(w.Bus, body)
	whole := []float64{0}
	if err == nil {
		c := gpio.NewEStopInput(w.Pins(e), 0)
		err = errors.Join(c.Open(), c.Read(whole), c.Close())
	}
	fix := LineFix(err)
	if err == nil && whole[0] != 1 {
		err = &hal.Error{Kind: hal.Unsafe, Err: errors.New("its circuit is open: the robot would start stopped")}
		fix = "release the button; else a wire is cut, or the contact is not a normally closed one"
	}
	x.add("estop", w.Bus, w.Name, "its circuit is closed; press the button to see it open", err, fix)
}

// gate looks whether anything but its bus ends the pulses of a board: a PCA9685 has no watchdog.
func (x *DeviceCheck) gate(p *catalog.BoardPlan) {
	if p.Device != "pca9685" {
		return
	}
	f := Finding{Check: "output_enable", State: StateOK, Bus: p.Bus, Joint: p.Device}
	if g := p.Gate; g != nil {
		f.Found = fmt.Sprintf("its OE pin is at line %s of %s", g.Line, g.Bus)
	} else {
		f.State = StateWarn
		f.Found = fmt.Sprintf("the board at 0x%02X goes on pulsing when the program dies, or its bus hangs: nothing "+
			"is at its OE pin", p.Address)
		f.Fix = "wire OE to a line of a GPIO chip, with 1 kΩ to VCC that ends the pulses when the line is released, " +
			"and set output_enable: {bus: CHIP, line: N}"
	}
	x.Found = append(x.Found, f)
}
