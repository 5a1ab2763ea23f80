package main

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/drivers/i2c"
	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/drivers/spi"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
)

// The checks of devices that are no servos:
//
//	device       it answers, is what the config says, and measures; a board that makes pulses answers, where it can without
//	             losing them
//	battery      of a base: it has charge for a while
//	line         nobody else holds it
//	estop        the circuit of a stop button is closed
//	gate         something else than the bus ends the pulses of a board that has no watchdog
//	load         an I2C bus or a port of SPI has the time for its devices        doctor_device_load.go
//	calibration  there, measured, and of this device

// deviceCheck examines what hangs on buses beside servos.
type deviceCheck struct {
	*examination
	b     *builder
	buses map[string]bool // of real devices, whether there is sense in using each
}

// devices examines every device of the plan.
func (d *examination) devices() error {
	x := deviceCheck{d, &builder{plan: d.plan, system: &system{scene: d.world.scene, plan: d.plan}}, map[string]bool{}}
	b := x.b
	b.devices.i2c, b.devices.spi = map[string]*i2c.Bus{}, map[string]*spi.Port{}
	for i := range d.plan.agents {
		b.robots = append(b.robots, d.world.scene.Body(d.plan.agents[i].config.Name))
	}
	var err error
	if b.emulation, err = b.emulateDevices(); err != nil {
		return err
	}
	if d.tamper != nil {
		d.tamper(b.emulation)
	}
	if err := b.emulation.feel(0); err != nil {
		return errors.Join(err, b.devices.close(slog.New(slog.DiscardHandler)))
	}
	for _, p := range d.plan.boards {
		x.board(p)
	}
	hopeless := x.lines()
	for _, p := range d.plan.sensors {
		if p.kind.on == nil || !hopeless[p.name] {
			x.sensor(p)
		}
	}
	for _, p := range d.plan.bases {
		x.base(p)
	}
	for _, q := range d.plan.cameras {
		x.camera(q)
	}
	x.budgets()
	return b.devices.close(slog.New(slog.DiscardHandler))
}

// reachable tells whether there is sense in using a bus, and reports once what is in the way.
func (x *deviceCheck) reachable(bus string, body configs.BodyKind) bool {
	if bus == "" || body != configs.Real {
		return true
	}
	ok, known := x.buses[bus]
	if !known {
		b := &busCheck{examination: x.examination, name: bus, kind: body, config: x.plan.config.Buses[bus]}
		before := len(b.found)
		b.check("port")
		ok = b.reachable()
		b.pass(before)
		x.buses[bus] = ok
	}
	return ok
}

// body is what a device counts as; false: it is simulated, and nobody asks what it would be.
func (x *deviceCheck) body(of configs.BodyKind) (configs.BodyKind, bool) {
	if of == configs.Sim && x.hypothetic {
		return configs.Real, true
	}
	return of, of != configs.Sim
}

// add notes a finding; a nil err is none that is wrong.
func (x *deviceCheck) add(check, bus, name, found string, err error, fix string) {
	f := finding{Check: check, State: stateOK, Bus: bus, Joint: name, Found: found}
	if err != nil {
		f.State, f.Found, f.Fix, f.kind = stateFail, err.Error(), fix, hal.KindOf(err)
		var known *hal.Error
		if errors.As(err, &known) && known.Err != nil {
			f.Found = strings.TrimPrefix(known.Op+": ", ": ") + known.Err.Error()
		}
	}
	x.found = append(x.found, f)
}

// warn notes what runs, but not as it should.
func (x *deviceCheck) warn(check, bus, name, found, fix string) {
	x.found = append(x.found, finding{Check: check, State: stateWarn, Bus: bus, Joint: name, Found: found, Fix: fix})
}

// deviceFix is what helps against err of a device: where it is another chip, or answers elsewhere, that is said.
func (x *deviceCheck) deviceFix(e end, err error, bus string, address int, usual []int) string {
	if err == nil {
		return ""
	}
	text, port := err.Error(), e.bus != nil && i2c.OnSPI(e.bus)
	switch {
	case port && (strings.Contains(text, "got 0xFF") || strings.Contains(text, "got 0x00")): // a line that nobody drives
		return "nobody answers: check its power, MISO, MOSI and SCLK, and that CS is at the select that the port names"
	case strings.Contains(text, "identity:") || strings.Contains(text, "model: got"):
		return "another chip answers there: set device to what it is, or change it"
	case e.bus == nil && (strings.Contains(text, "model ") || strings.Contains(text, "type: got")):
		return "another scanner answers there: set device and model to what it is, or change it"
	case e.bus == nil:
		return "check its power, that its lines are crossed (TX to RX), its baud rate, and that no other device is on " + bus
	}
	if port {
		return "check its power and cables, and a lower hertz of " + bus
	}
	if strings.Contains(text, chip.ErrHangs.Error()) || strings.Contains(text, "timed out") {
		return "something holds the bus low: unplug its devices one by one, and check the pull-ups of SDA and SCL"
	}
	for _, a := range usual {
		if a == address || x.taken(bus, a) {
			continue
		}
		if _, err := i2c.NewChip(e.bus, uint16(a), "").Read(0, 1); err == nil {
			return fmt.Sprintf("something answers at 0x%02X: set address to it, or strap its address pins", a)
		}
	}
	return "check its power and cables, and its address: halyard scan " + x.plan.config.Buses[bus].Port + " lists who answers"
}

// taken tells whether another device of the config has an address.
func (x *deviceCheck) taken(bus string, address int) bool {
	return slices.ContainsFunc(x.plan.boards, func(p *boardPlan) bool { return p.bus == bus && p.address == address }) ||
		slices.ContainsFunc(x.plan.sensors, func(p *sensorPlan) bool { return p.config.Bus == bus && p.address == address })
}

// board looks whether a board answers. It is not opened: that would end its pulses, and an arm would fall.
func (x *deviceCheck) board(p *boardPlan) {
	body, examined := x.body(p.body)
	if !examined {
		return
	}
	if x.reachable(p.bus, body) {
		x.answers(p, body)
	}
	x.gate(p)
	for i := range x.plan.agents {
		a := &x.plan.agents[i]
		for k := range a.joints {
			if j := &a.joints[k]; j.pulses.board == p {
				x.calibrated(body, p.bus, a.layout.Actuators[k].Name, j.pulses.calibration == nil,
					j.pulses.calibration != nil && j.pulses.calibration.Method == calibration.ByNominal)
			}
		}
	}
}

// answers asks a board for a register, or opens its line.
func (x *deviceCheck) answers(p *boardPlan, body configs.BodyKind) {
	e, _, err := x.b.end(p.bus, body)
	found := "in the config"
	switch {
	case err != nil:
	case e.bus != nil:
		found = fmt.Sprintf("answers at 0x%02X", p.address)
		c := i2c.NewChip(e.bus, uint16(p.address), p.device)
		if _, err = c.Read(0, 1); err == nil && p.device == "pca9685" && !isPCA9685(c) {
			x.warn("device", p.bus, p.device, fmt.Sprintf("what answers at 0x%02X is no PCA9685 by its registers", p.address),
				"an INA219 comes at 0x40 too: look what is there (halyard scan "+x.plan.config.Buses[p.bus].Port+"), and strap one of them otherwise")
			return
		}
	case e.open != nil:
		line, failed := e.open()
		if found, err = "its line opens", failed; err == nil {
			err = line.Close()
		}
	}
	x.add("device", p.bus, p.device, found, err, x.deviceFix(e, err, p.bus, p.address, p.kind.addresses))
}

// sensor opens a device, lets it measure once and closes it.
func (x *deviceCheck) sensor(p *sensorPlan) {
	body, examined := x.body(p.body)
	if !examined {
		return
	}
	if x.reachable(p.config.Bus, body) {
		x.measures(p, body)
	}
	if p.kind.inertial {
		x.calibrated(body, p.config.Bus, p.name, p.calibration == nil, p.calibration != nil && p.calibration.Method == calibration.ByNominal)
	}
}

func (x *deviceCheck) measures(p *sensorPlan, body configs.BodyKind) {
	values, learnt := make([]float64, p.values()), ""
	e, _, err := x.b.end(p.config.Bus, body)
	e.live = false // one look, now
	if err == nil {
		s, failed := p.kind.open(e, p)
		if err = failed; err == nil {
			if err = s.Open(); err == nil {
				err = s.Read(values)
			}
			if err == nil {
				learnt, err = learntBy(s)
			}
			err = errors.Join(err, s.Close())
		}
	}
	found := fmt.Sprintf("%s measures %.3g%s", p.config.Device, values, learnt)
	if p.scanner != nil {
		found = p.scanner.seen(p.config.Device, values)
	}
	fix := x.deviceFix(e, err, p.config.Bus, p.address, p.kind.addresses)
	if p.kind.on != nil && err != nil {
		fix = lineFix(err)
	}
	x.add("device", p.config.Bus, p.name, found, err, fix)
	if err == nil {
		x.alarmed(p, values[0])
	}
}

// alarmed looks whether a device's alarm is on already: a battery that is low before the start, a hull that is wet.
func (x *deviceCheck) alarmed(p *sensorPlan, v float64) {
	const fix = "see to it before anything moves; or set the key to what is usual here"
	switch below, above := p.config.Below, p.config.Above; {
	case below != nil && v < *below:
		x.warn("alarm", p.config.Bus, p.name, fmt.Sprintf("%.4g is below %g: its alarm is on", v, *below), fix)
	case above != nil && v > *above:
		x.warn("alarm", p.config.Bus, p.name, fmt.Sprintf("%.4g is above %g: its alarm is on", v, *above), fix)
	}
}

// isPCA9685 tells a board by its sub-addresses, which nobody changes: it has no identity. Reading disturbs no pulse.
func isPCA9685(c *i2c.Chip) bool {
	for i, want := range [...]byte{0xE2, 0xE4, 0xE8, 0xE0} {
		if got, err := c.Read(byte(2+i), 1); err != nil || got[0] != want {
			return false
		}
	}
	return true
}

// learntBy is what a chip found of itself, as its calibration's file has it; "" where it has nothing to say.
func learntBy(s drivers.Sensor) (string, error) {
	m, ok := s.(*drivers.MountedIMU)
	if !ok {
		return "", nil
	}
	c, ok := m.Chip().(*imu.BNO055)
	if !ok {
		return "", nil
	}
	offsets, err := c.Offsets()
	if offsets == ([imu.BNO055OffsetSize]byte{}) {
		return "", err
	}
	return fmt.Sprintf("; chip: %X", offsets), err
}

// calibrated checks a calibration: missing it is a failure of what is real, nominal a warning.
func (x *deviceCheck) calibrated(body configs.BodyKind, bus, name string, missing, nominal bool) {
	fix := "measure " + name + " and write its file: docs/calibration.md"
	f := finding{Check: "calibration", State: stateOK, Bus: bus, Joint: name, Found: "measured"}
	switch {
	case missing && body == configs.Real:
		f.State, f.Found, f.Fix, f.kind = stateFail, "none: what it means is not known", fix, hal.Uncalibrated
	case missing:
		return // an emulated device is as its nominal calibration says
	case nominal:
		f.State, f.Found, f.Fix = stateWarn, "nominal: nothing was measured", fix
	}
	x.found = append(x.found, f)
}
