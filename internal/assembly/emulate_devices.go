package assembly

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/pwm"
	"github.com/halyard-robotics/halyard/drivers/spi"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
	pins "github.com/halyard-robotics/halyard/sim/emulator/gpio"
)

// Emulation is all emulated devices of a rig, except servos on a line. In each cycle it is two worlds:
//
//	Send: drivers ─► boards ─pulses─► motors.Advance ─► scene.Advance ─ground truth─► chips.Advance ─► drivers: Receive
type Emulation struct {
	Buses   map[string]*chip.Bus // of I2C and, each with one chip, of SPI
	ports   map[string]bool      // which are of SPI
	Lines   map[string]emulatedLine
	ends    map[string]SerialEnd // the devices at the ends of serial lines, by bus
	Gpios   map[string]chipOf
	Buttons map[*catalog.WirePlan]*pins.Switch // of emergency stops
	Bases   []*chassis
	kernel  *chip.Bus // without devices: the clock of devices without a bus
	widths  map[*catalog.BoardPlan]func(channel int) time.Duration
	Chips   map[*catalog.SensorPlan]chip.Device
	Fields  map[*catalog.SensorPlan]*catalog.Field // of readers of tags
	looks   []catalog.Look                         // one a robot that has sensors
	feels   []func()
	Robots  []*motored // that have outputs
	folders []string   // of the kernel's PWM, to be removed
}

// Look reads the ground truth of a robot in each cycle.
func (e *Emulation) Look(body hal.Body) catalog.Look {
	for _, l := range e.looks {
		if l.Body == body {
			return l
		}
	}
	l := catalog.Look{Body: body, Frame: hal.NewFrame(body.Layout())}
	e.looks = append(e.looks, l)
	return l
}

// motored is a simulated robot that pulses move.
type motored struct {
	body    hal.Body
	Frame   *hal.Frame
	thrusts bool
	Outputs []motor
}

// motor is one output behind a channel: a thruster with its ESC, or a hobby servo.
type motor struct {
	width func() time.Duration
	esc   *chip.ESC
	Input int // of the thruster's duty
	At    int // the thruster
	servo *actuator.Servo
	cal   *calibration.Pulse
}

// EmulateDevices makes every emulated device of the plan, over the simulated robots.
func (b *Builder) EmulateDevices() (*Emulation, error) {
	e := &Emulation{Buses: map[string]*chip.Bus{}, ports: map[string]bool{}, Lines: map[string]emulatedLine{},
		ends: map[string]SerialEnd{}, widths: map[*catalog.BoardPlan]func(int) time.Duration{},
		Chips: map[*catalog.SensorPlan]chip.Device{}, Fields: map[*catalog.SensorPlan]*catalog.Field{},
		Gpios: map[string]chipOf{}, Buttons: map[*catalog.WirePlan]*pins.Switch{}}
	seed := b.Plan.Config.World.Seed
	onBus := map[string][]chip.Device{}
	for _, p := range b.Plan.Boards {
		if p.Body != configs.Emulated {
			continue
		}
		switch p.Device {
		case "pca9685":
			hertz := cmp.Or(p.Oscillator, pwm.PCA9685Oscillator)
			c := chip.NewPCA9685(uint16(p.Address), hertz)
			onBus[p.Bus] = append(onBus[p.Bus], c)
			e.widths[p] = func(i int) time.Duration { w, _ := c.Pulse(i); return w }
		case "maestro":
			m := chip.NewMaestro(p.Size(), byte(max(0, p.Address)), p.Crc)
			e.ends[p.Bus], e.widths[p] = SerialEnd{answers: m}, m.Pulse
		case "kernel-pwm":
			if err := e.emulateKernel(p); err != nil {
				return nil, err
			}
		}
	}
	b.emulateChips(e)
	for _, p := range b.Plan.Sensors {
		if p.Body != configs.Emulated {
			continue
		}
		if p.Kind.On != nil {
			e.attach(p, catalog.NewTruth(e.Look(b.Simulated(p.Agent)), p.Uses))
			continue
		}
		if p.Scanner != nil {
			scene := catalog.Outlook{Body: b.Robots[p.Agent],
				Sensor: catalog.SensorIndex(b.Plan.Agents[p.Agent].Layout, p.Name)}
			e.ends[p.Config.Bus] = SerialEnd{Board: p.Scanner.Board(scene)}
			continue
		}
		shared := e.Chips[p.First]
		f := catalog.Emulation{}
		if shared != nil {
			f = p.Kind.Joins(p, shared)
		} else {
			f = p.Kind.Emulate(p)
		}
		e.Chips[p] = f.Device
		if f.Board != nil {
			e.ends[p.Config.Bus] = SerialEnd{Board: f.Board}
		} else if end, ok := f.Device.(chip.Endpoint); ok && p.Serial {
			e.ends[p.Config.Bus] = SerialEnd{answers: end}
		} else if shared == nil {
			onBus[p.Config.Bus] = append(append(onBus[p.Config.Bus], f.Device), f.More...)
		}
		t := catalog.NewTruth(e.Look(b.Simulated(p.Agent)), p.Uses)
		if p.Kind.Reads {
			t.Tags = b.field(p, t)
			e.Fields[p] = t.Tags
		}
		e.feels = append(e.feels, func() { f.Feel(t) })
	}
	for _, p := range b.Plan.Bases {
		if p.Body != configs.Emulated {
			continue
		}
		c, err := b.newChassis(e, p)
		if err != nil {
			return nil, err
		}
		bus := b.Plan.Config.Buses[p.Config.Bus]
		e.Bases = append(e.Bases, c)
		e.ends[p.Config.Bus] = SerialEnd{Board: c.Board(p.Bauds(&bus)[0])}
	}
	for _, name := range report.SortedKeys(onBus) {
		bus := b.Plan.Config.Buses[name]
		e.Buses[name], e.ports[name] = chip.NewBus(name, bus.Frequency, seed, onBus[name]...),
			bus.Type == catalog.SPIBus
	}
	for _, name := range report.SortedKeys(e.ends) {
		bus := b.Plan.Config.Buses[name]
		e.Lines[name] = e.ends[name].Line(name, catalog.WireBaud(&bus), seed)
	}
	e.kernel = chip.NewBus("kernel", 400_000, seed)
	return e, nil
}

// emulateKernel makes the files of a kernel's PWM in a folder of their own.
func (e *Emulation) emulateKernel(p *catalog.BoardPlan) error {
	root, err := os.MkdirTemp("", "halyard-pwm")
	if err != nil {
		return err
	}
	e.folders = append(e.folders, root)
	var channels []pwm.KernelChannel
	for i := range p.Channels {
		channels = append(channels, pwm.KernelChannel{Chip: max(0, p.Address), Output: i})
	}
	k, err := chip.NewKernelPWM(root, channels...)
	if err != nil {
		return err
	}
	p.Root, e.widths[p] = root, k.Pulse
	return nil
}

// End returns the connection of an emulated device on a bus, and the clock of the cycle's end on that bus.
func (e *Emulation) End(bus string) (catalog.Connection, func() time.Duration) {
	switch {
	case e.Buses[bus] != nil:
		return EndOf(bus, e.Buses[bus], e.ports[bus]), e.Buses[bus].Edge
	case e.Lines[bus] != nil:
		line := e.Lines[bus]
		return catalog.Connection{Name: bus, Open: line.Open, Clock: line}, line.Edge
	}
	if c, ok := e.Gpios[bus]; ok {
		return c.End(bus)
	}
	return catalog.Connection{Name: bus, Clock: e.kernel.Host()}, e.kernel.Edge
}

// EndOf returns the connection of a device on an emulated bus called name: an I2C bus, or an SPI port.
func EndOf(name string, bus *chip.Bus, port bool) catalog.Connection {
	if port {
		wire := bus.SPI()
		return catalog.Connection{Name: name, Bus: spi.NewPort(name, wire), Clock: wire}
	}
	host := bus.Host()
	return catalog.Connection{Name: name, Bus: host, Clock: host}
}

// motor connects a channel of an emulated board to actuator at of the simulated robot of agent i, by the calibration
// cal, or by the config's ground truth if set.
func (b *Builder) motor(i, at int, j *plan.JointPlan, cal *calibration.Pulse) error {
	p := j.Pulses
	width, channel := b.Emulation.widths[p.Board], p.Channel
	m := motor{width: func() time.Duration { return width(channel) }, At: at, cal: cal}
	direction := cal.Direction
	if t := j.Hardware.GroundTruth; t != nil {
		direction = configs.Or(t.Direction, direction)
	}
	a := &b.Plan.Agents[i].Layout.Actuators[at]
	if a.Kind == hal.Thruster {
		// A calibration waits for longer than an ESC needs.
		m.Input = a.Goal[hal.DutyMode]
		m.esc = &chip.ESC{Neutral: cal.Neutral, DeadBand: cal.DeadBand, Range: cal.Range, Arming: cal.Arming * 3 / 4,
			Reversed: direction < 0}
	} else {
		if err := b.Scene.Driven(b.Plan.Agents[i].Config.Name, at); err != nil {
			return err
		}
		m.servo = b.Robots[i].Joint(at).Servo
		if direction != cal.Direction {
			turned := *cal
			turned.Direction = direction
			m.cal = &turned
		}
	}
	body := b.Simulated(i)
	k := slices.IndexFunc(b.Emulation.Robots, func(r *motored) bool { return r.body == body })
	if k < 0 {
		k = len(b.Emulation.Robots)
		b.Emulation.Robots = append(b.Emulation.Robots, &motored{body: body, Frame: hal.NewFrame(body.Layout())})
	}
	r := b.Emulation.Robots[k]
	r.Outputs, r.thrusts = append(r.Outputs, m), r.thrusts || m.esc != nil
	return nil
}

// motors is the world before the scene: the pulses move the robots.
type motors struct{ *Emulation }

// Advance lets dt pass with the pulses that the boards make now.
func (w motors) Advance(dt time.Duration) error {
	var fault error
	for _, c := range w.Bases {
		c.Move()
	}
	for _, r := range w.Robots {
		for i := range r.Outputs {
			r.Outputs[i].drive(r.Frame, dt)
		}
		if r.thrusts {
			fault = errors.Join(fault, r.body.Write(r.Frame))
		}
	}
	return fault
}

// drive follows the pulses of the channel.
func (m *motor) drive(f *hal.Frame, dt time.Duration) {
	width := m.width()
	if m.esc != nil {
		f.Enable[m.At], f.Inputs[m.Input] = true, m.esc.Step(width, dt)
		return
	}
	on := width > 0
	if on && !m.servo.Enable {
		m.servo.ClearAlarm()
		m.servo.Mode = hal.PositionMode
	}
	if m.servo.Enable = on; on {
		m.servo.GoalPosition = m.cal.Value(width)
	}
}

// chips is the world after the scene: the chips measure it, and time advances on their buses.
type chips struct{ *Emulation }

// Advance passes the ground truth at the end of the cycle to the chips.
func (w chips) Advance(dt time.Duration) error {
	fault := errors.Join(w.Feel(dt), w.kernel.Advance(dt))
	for _, b := range w.Buses {
		fault = errors.Join(fault, b.Advance(dt))
	}
	for _, c := range w.Gpios {
		fault = errors.Join(fault, c.Advance(dt))
	}
	for _, l := range w.Lines {
		fault = errors.Join(fault, l.Advance(dt))
	}
	return fault
}

func (e *Emulation) Feel(dt time.Duration) (fault error) {
	for _, l := range e.looks {
		l.Frame.Time += dt
		fault = errors.Join(fault, l.Body.Read(l.Frame))
	}
	for _, feel := range e.feels {
		feel()
	}
	return fault
}

// Restart lets the devices feel the world as it was put. An error is the next Feel's too.
func (e *Emulation) Restart() {
	for _, l := range e.looks {
		l.Frame.Time = 0
	}
	_ = e.Feel(0)
}

// Close removes the files of emulated devices.
func (e *Emulation) Close() error {
	var faults []error
	for _, dir := range e.folders {
		faults = append(faults, os.RemoveAll(dir))
	}
	return errors.Join(faults...)
}
