package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/drivers/i2c"
	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/drivers/pwm"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/commission/host"
	"github.com/halyard-robotics/halyard/internal/wire/imureg"
	"github.com/halyard-robotics/halyard/internal/wire/pwmreg"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
)

// DeviceCheck examines the devices of buses that are no servos.
type DeviceCheck struct {
	*Examination
	b     *assembly.Builder
	buses map[string]bool // of real devices, whether there is sense in using each
}

// devices examines every device of the plan.
func (d *Examination) devices() error {
	x := DeviceCheck{d, d.world.Builder(), map[string]bool{}}
	b := x.b
	var err error
	if b.Emulation, err = b.EmulateDevices(); err != nil {
		return err
	}
	if d.Tamper != nil {
		d.Tamper(b.Emulation)
	}
	if err := b.Emulation.Feel(0); err != nil {
		return errors.Join(err, b.Devices.Close(slog.New(slog.DiscardHandler)))
	}
	for _, p := range d.plan.Boards {
		x.Board(p)
	}
	hopeless := map[string]bool{}
	if d.Recorded == nil {
		hopeless = x.lines()
	}
	for _, p := range d.plan.Sensors {
		if wired := d.plan.Config.Buses[p.Config.Bus].Type != catalog.GPIOBus; (p.Kind.On == nil ||
			!hopeless[p.Name]) && (d.Recorded == nil || wired) {
			x.sensor(p)
		}
	}
	for _, p := range d.plan.Bases {
		x.base(p)
	}
	if d.Recorded != nil {
		d.unwired()
		return b.Devices.Close(slog.New(slog.DiscardHandler))
	}
	for _, q := range d.plan.Cameras {
		x.Camera(q)
	}
	x.budgets()
	return b.Devices.Close(slog.New(slog.DiscardHandler))
}

// Reachable reports whether there is sense in using a bus, and reports once what is in the way.
func (x *DeviceCheck) Reachable(bus string, body configs.BodyKind) bool {
	if bus == "" || body != configs.Real {
		return true
	}
	ok, known := x.buses[bus]
	if !known {
		b := &BusCheck{Examination: x.Examination, Name: bus, Kind: body, Config: x.plan.Config.Buses[bus]}
		before := len(b.Found)
		b.Check("port")
		if x.Recorded != nil {
			ok = b.machine()
		} else {
			ok = b.Reachable()
		}
		b.pass(before)
		x.buses[bus] = ok
	}
	return ok
}

// body is what a device counts as; false: it is simulated, and not examined.
func (x *DeviceCheck) body(of configs.BodyKind) (configs.BodyKind, bool) {
	if of == configs.Sim && x.hypothetic {
		return configs.Real, true
	}
	return of, of != configs.Sim
}

// add notes a finding; a nil err: no fault.
func (x *DeviceCheck) add(check, bus, name, found string, err error, fix string) {
	f := Finding{Check: check, State: StateOK, Bus: bus, Joint: name, Found: found}
	if err != nil {
		f.State, f.Found, f.Fix, f.Kind = StateFail, err.Error(), fix, hal.KindOf(err)
		var known *hal.Error
		if errors.As(err, &known) && known.Err != nil {
			f.Found = strings.TrimPrefix(known.Op+": ", ": ") + known.Err.Error()
		}
	}
	x.Found = append(x.Found, f)
}

// warn notes what runs, but not as it should.
func (x *DeviceCheck) warn(check, bus, name, found, fix string) {
	x.Found = append(x.Found, Finding{Check: check, State: StateWarn, Bus: bus, Joint: name, Found: found, Fix: fix})
}

// deviceFix is what helps against err of a device: also where it is another chip, or replies elsewhere.
func (x *DeviceCheck) deviceFix(e catalog.Connection, err error, bus string, address int, usual []int) string {
	if err == nil {
		return ""
	}
	text, port := err.Error(), e.Bus != nil && i2c.OnSPI(e.Bus)
	switch {
	case errors.Is(err, servo.ErrForeign):
		return "bytes come that are not its own: another device or another program's stream is on " + bus +
			", or two ports of the config are swapped: halyard ports"
	case errors.Is(err, servo.ErrReported):
		return "it answers, so its line is right: switch it off and on, clean its window, see that its motor turns " +
			"and its supply holds; if that stays, it is defective"
	case hal.KindOf(err) == hal.Busy:
		return "end the program that has " + bus + "'s port, or let it have another: halyard ports names it"
	case strings.Contains(text, "(try baud: "):
		_, rate, _ := strings.Cut(text, "(try baud: ")
		rate, _, _ = strings.Cut(rate, ")")
		return "set buses." + bus + ".baud to " + rate
	case strings.Contains(text, "none of the scanner's modes has"):
		return "remove scan of the sensor: the encoding that the scanner answers is taken then"
	case errors.Is(err, pwm.ErrExternalClock):
		return "switch the board off and on (its supply and its servos'); where it is the only device of " + bus +
			", serve resets it"
	// a line that is not driven
	case port && (strings.Contains(text, "got 0xFF") || strings.Contains(text, "got 0x00")):
		return "no reply: check its power, MISO, MOSI and SCLK, and that CS is connected to the port's chip select"
	case strings.Contains(text, "identity:") || strings.Contains(text, "model: got"):
		return "another chip answers there: set device to what it is, or change it"
	case e.Bus == nil && strings.Contains(text, "scan: nothing comes"):
		return "it answers, but sends no scan: see that its motor turns (motor: dtr, pwm or free; its 5 V), and " +
			"that nothing blocks it"
	case e.Bus == nil && (strings.Contains(text, "model ") || strings.Contains(text, "type: got")):
		return "another scanner answers there: set device and model to what it is, or change it"
	case e.Bus == nil:
		return "check its power, that its lines are crossed (TX to RX), its baud rate, and that no other device is on " + bus
	}
	if port {
		return "check its power and cables, and a lower hertz of " + bus
	}
	if errors.Is(err, i2c.ErrSMBusOnly) {
		return "connect the devices to an adapter that transfers plain I2C; i2cdetect -F N lists what an adapter can"
	}
	if errors.Is(err, i2c.ErrHeldLow) || strings.Contains(text, chip.ErrHangs.Error()) ||
		strings.Contains(text, "timed out") {
		return "something holds the bus low: unplug its devices one by one, and check the pull-ups of SDA and SCL"
	}
	for _, a := range usual {
		if a == address || x.taken(bus, a) {
			continue
		}
		if _, err := i2c.NewChip(e.Bus, uint16(a), "").Read(0, 1); err == nil {
			return fmt.Sprintf("something answers at 0x%02X: set address to it, or strap its address pins", a)
		}
	}
	return "check its power and cables, and its address: halyard scan " + x.plan.Config.Buses[bus].Port +
		" lists the devices that reply"
}

// taken reports whether another device of the config has an address.
func (x *DeviceCheck) taken(bus string, address int) bool {
	return slices.ContainsFunc(x.plan.Boards,
		func(p *catalog.BoardPlan) bool { return p.Bus == bus && p.Address == address }) ||
		slices.ContainsFunc(x.plan.Sensors,
			func(p *catalog.SensorPlan) bool { return p.Config.Bus == bus && p.Address == address })
}

// Board looks whether a board answers. It is not opened: that would end its pulses, and an arm would fall.
func (x *DeviceCheck) Board(p *catalog.BoardPlan) {
	body, examined := x.body(p.Body)
	if !examined {
		return
	}
	if x.Reachable(p.Bus, body) && (x.Recorded == nil || p.Bus != "") {
		x.answers(p, body)
	}
	if x.Recorded == nil {
		x.gate(p)
	}
	for i := range x.plan.Agents {
		a := &x.plan.Agents[i]
		for k := range a.Joints {
			if j := &a.Joints[k]; j.Pulses.Board == p {
				x.calibrated(body, p.Bus, "--pulse", a.Layout.Actuators[k].Name, j.Pulses.Calibration == nil,
					j.Pulses.Calibration != nil && j.Pulses.Calibration.Method == calibration.ByNominal)
			}
		}
	}
}

// answers asks a board for a register, or opens its line.
func (x *DeviceCheck) answers(p *catalog.BoardPlan, body configs.BodyKind) {
	e, _, err := x.b.End(p.Bus, body)
	found := "in the config"
	switch {
	case err != nil:
	case e.Bus != nil:
		found = fmt.Sprintf("answers at 0x%02X", p.Address)
		c := i2c.NewChip(e.Bus, uint16(p.Address), p.Device)
		var mode []byte
		if mode, err = c.Read(0, 1); err == nil && p.Device == "pca9685" && mode[0]&pwmreg.PCA9685ExtClk != 0 &&
			isPCA9685(c) && !p.Alone {
			err = c.Fault(hal.BusFault, pwm.ErrExternalClock)
		}
		if err == nil && p.Device == "pca9685" && !isPCA9685(c) {
			x.warn("device", p.Bus, p.Device, fmt.Sprintf("what answers at 0x%02X is no PCA9685 by its registers",
				p.Address),
				"an INA219 comes at 0x40 too: look what is there (halyard scan "+x.plan.Config.Buses[p.Bus].Port+
					"), and strap one of them otherwise")
			return
		}
	case e.Open != nil:
		line, failed := e.Open()
		if found, err = "its line opens", failed; err == nil {
			err = line.Close()
		}
		if err == nil {
			out, failed := p.Kind.Open(e, p)
			if k, ok := out.(interface{ Probe() error }); ok && failed == nil {
				if found, err = "answers", k.Probe(); err != nil {
					x.add("device", p.Bus, p.Device, "", err, "switch on its supply; set its serial mode to USB "+
						"dual port (Maestro Control Center), and its device number, CRC and rate as in the config")
					return
				}
			}
		}
	default:
		if p.Root == "" {
			p.Root = filepath.Join(x.Root, pwm.KernelRoot)
		}
		if found, err = probed(e, p); err != nil {
			x.add("device", p.Bus, p.Device, found, err, x.kernelFix(p.Root, err))
			return
		}
	}
	x.add("device", p.Bus, p.Device, found, err, x.deviceFix(e, err, p.Bus, p.Address, p.Kind.Addresses))
}

// probed checks an output that needs no bus, without a change of its pulses.
func probed(e catalog.Connection, p *catalog.BoardPlan) (string, error) {
	out, err := p.Kind.Open(e, p)
	if err != nil {
		return "", err
	}
	if k, ok := out.(interface{ Probe() error }); ok {
		err = k.Probe()
	}
	return fmt.Sprintf("chip %d has outputs 0..%d", max(0, p.Address), p.Channels-1), err
}

// kernelFix is what helps against err of the kernel's PWM, whose chips are under root.
func (x *DeviceCheck) kernelFix(root string, err error) string {
	if hal.KindOf(err) == hal.Busy {
		return host.GroupFix(x.Root, filepath.Join(root, "pwmchip0", "export"), "gpio")
	}
	return "ls " + pwm.KernelRoot + " lists the chips: set address to the number of one, or load its driver " +
		"(dtoverlay=pwm-2chan on a Raspberry Pi)"
}

// sensor opens a device, lets it measure once and closes it.
func (x *DeviceCheck) sensor(p *catalog.SensorPlan) {
	body, examined := x.body(p.Body)
	if !examined {
		return
	}
	if x.Reachable(p.Config.Bus, body) {
		x.measures(p, body)
	}
	if p.Kind.Inertial {
		x.calibrated(body, p.Config.Bus, "--sensor", p.Name, p.Calibration == nil, p.Calibration != nil &&
			p.Calibration.Method == calibration.ByNominal)
	}
}

func (x *DeviceCheck) measures(p *catalog.SensorPlan, body configs.BodyKind) {
	values, learnt, note := make([]float64, p.Values()), "", ""
	e, _, err := x.b.End(p.Config.Bus, body)
	e.Live = false // one look, now
	if err == nil {
		s, failed := p.Kind.Open(e, p)
		if err = failed; err == nil {
			if err = drivers.Measure(s, values); err == nil && p.Kind.Reads {
				err = x.listen(s, e, values)
			}
			if err == nil {
				learnt, err = learntBy(s)
			}
			note = drivers.NoteOf(s)
			err = errors.Join(err, s.Close())
		}
	}
	found := fmt.Sprintf("%s measures %.3g%s", p.Config.Device, values, learnt)
	if p.Scanner != nil {
		found = p.Scanner.Seen(p.Config.Device, values)
	}
	fix := x.deviceFix(e, err, p.Config.Bus, p.Address, p.Kind.Addresses)
	if p.Kind.On != nil && err != nil {
		fix = LineFix(err)
	}
	if err == nil && note != "" {
		x.warn("device", p.Config.Bus, p.Name, found+"; "+note, "")
	} else {
		x.add("device", p.Config.Bus, p.Name, found, err, fix)
	}
	if err == nil {
		x.alarmed(p, values[0])
		x.gravity(p, values)
	}
}

// listen reads a reader of tags for as long as three telegrams take: whether what comes are any.
func (x *DeviceCheck) listen(s drivers.Sensor, e catalog.Connection, values []float64) error {
	clock := cmp.Or(e.Clock, i2c.Clock())
	for range 5 {
		clock.SleepUntil(clock.Now() + 100*time.Millisecond)
		if err := s.Read(values); err != nil {
			return err
		}
	}
	return nil
}

// gravity looks whether an inertial chip feels half or twice of gravity: another chip with its identity.
func (x *DeviceCheck) gravity(p *catalog.SensorPlan, v []float64) {
	if !p.Kind.Inertial || len(v) < 10 {
		return
	}
	const near = 0.06
	force := math.Sqrt(v[7]*v[7] + v[8]*v[8] + v[9]*v[9])
	if ratio := force / catalog.StandardGravity; math.Abs(ratio-0.5) < 0.5*near || math.Abs(ratio-2) < 2*near {
		x.warn("device", p.Config.Bus, p.Name, fmt.Sprintf("it feels %.1f m/s² where gravity is %.1f", force,
			catalog.StandardGravity),
			"at rest, set device to what it is: an "+catalog.LSM6DSO32+
				" has the identity of an lsm6dsox, and ranges twice as wide")
	}
}

// alarmed looks whether a device's alarm is on already: a battery that is low before the start, a hull that is wet.
func (x *DeviceCheck) alarmed(p *catalog.SensorPlan, v float64) {
	const fix = "see to it before anything moves; or set the key to what is usual here"
	switch below, above := p.Config.Below, p.Config.Above; {
	case below != nil && v < *below:
		x.warn("alarm", p.Config.Bus, p.Name, fmt.Sprintf("%.4g is below %g: its alarm is on", v, *below), fix)
	case above != nil && v > *above:
		x.warn("alarm", p.Config.Bus, p.Name, fmt.Sprintf("%.4g is above %g: its alarm is on", v, *above), fix)
	}
}

// isPCA9685 identifies a board by its sub-addresses, which are never changed: it has no identity register. Reading
// disturbs no pulse.
func isPCA9685(c *i2c.Chip) bool {
	for i, want := range [...]byte{0xE2, 0xE4, 0xE8, 0xE0} {
		if got, err := c.Read(byte(2+i), 1); err != nil || got[0] != want {
			return false
		}
	}
	return true
}

// learntBy is what a chip found of itself, as its calibration's file has it; "" if it has nothing.
func learntBy(s drivers.Sensor) (string, error) {
	m, ok := s.(*drivers.MountedIMU)
	if !ok {
		return "", nil
	}
	c, ok := m.Sensor.(*imu.BNO055)
	if !ok {
		return "", nil
	}
	offsets, err := c.Offsets()
	if offsets == ([imureg.BNO055OffsetSize]byte{}) {
		return "", err
	}
	return fmt.Sprintf("; chip: %X", offsets), err
}

// calibrated checks a calibration: missing it is a failure of what is real, nominal a warning.
func (x *DeviceCheck) calibrated(body configs.BodyKind, bus, flag, name string, missing, nominal bool) {
	fix := "measure " + name + ": halyard calibrate " + x.plan.Config.Source + " " + flag + " " + name
	f := Finding{Check: "calibration", State: StateOK, Bus: bus, Joint: name, Found: "measured"}
	switch {
	case missing && body == configs.Real:
		f.State, f.Found, f.Fix, f.Kind = StateFail, "no calibration file: its values cannot be converted", fix,
			hal.Uncalibrated
	case missing:
		return // an emulated device matches its nominal calibration
	case nominal:
		f.State, f.Found, f.Fix = StateWarn, "nominal: nothing was measured", fix
	}
	x.Found = append(x.Found, f)
}
