package main

import (
	"errors"
	"os"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/pwm"
	"github.com/halyard-robotics/halyard/drivers/spi"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
	pins "github.com/halyard-robotics/halyard/sim/emulator/gpio"
)

// emulation is all emulated devices of a rig that are no servos on a line. In each cycle it is two worlds:
//
//	Send: drivers ─► boards ─pulses─► motors.Advance ─► scene.Advance ─truth─► chips.Advance ─► drivers: Receive
type emulation struct {
	buses   map[string]*chip.Bus // of I2C and, each with one chip, of SPI
	ports   map[string]bool      // which are of SPI
	lines   map[string]emulatedLine
	ends    map[string]serialEnd // what is at the end of lines, by bus
	gpios   map[string]chipOf
	buttons map[*wirePlan]*pins.Switch // of emergency stops
	bases   []*chassis
	kernel  *chip.Bus // nobody sits on it: the time of what needs no bus
	widths  map[*boardPlan]func(channel int) time.Duration
	chips   map[*sensorPlan]chip.Device
	fields  map[*sensorPlan]*field // of readers of tags
	looks   []look                 // one a robot that has sensors
	feels   []func()
	robots  []*motored // that have outputs
	folders []string   // of the kernel's PWM, to be removed
}

// look is what a simulated robot truly does.
type look struct {
	body  hal.Body
	frame *hal.Frame
}

// look lets the truth of a robot be read each cycle.
func (e *emulation) look(body hal.Body) look {
	for _, l := range e.looks {
		if l.body == body {
			return l
		}
	}
	l := look{body, hal.NewFrame(body.Layout())}
	e.looks = append(e.looks, l)
	return l
}

// motored is a simulated robot that pulses move.
type motored struct {
	body    hal.Body
	frame   *hal.Frame
	thrusts bool
	outputs []motor
}

// motor is one output behind a channel: a thruster with its ESC, or a hobby servo.
type motor struct {
	width func() time.Duration
	esc   *chip.ESC
	input int // of the thruster's duty
	at    int // the thruster
	servo *actuator.Servo
	cal   *calibration.Pulse
}

// emulateDevices makes every emulated device of the plan, over the simulated robots.
func (b *builder) emulateDevices() (*emulation, error) {
	e := &emulation{buses: map[string]*chip.Bus{}, ports: map[string]bool{}, lines: map[string]emulatedLine{}, ends: map[string]serialEnd{}, widths: map[*boardPlan]func(int) time.Duration{},
		chips: map[*sensorPlan]chip.Device{}, fields: map[*sensorPlan]*field{}, gpios: map[string]chipOf{}, buttons: map[*wirePlan]*pins.Switch{}}
	seed := b.plan.config.World.Seed
	hang := map[string][]chip.Device{}
	for _, p := range b.plan.boards {
		if p.body != configs.Emulated {
			continue
		}
		switch p.device {
		case "pca9685":
			hertz := p.oscillator
			if hertz == 0 {
				hertz = pwm.PCA9685Oscillator
			}
			c := chip.NewPCA9685(uint16(p.address), hertz)
			hang[p.bus] = append(hang[p.bus], c)
			e.widths[p] = func(i int) time.Duration { w, _ := c.Pulse(i); return w }
		case "maestro":
			m := chip.NewMaestro(p.size(), byte(max(0, p.address)), p.crc)
			e.ends[p.bus], e.widths[p] = serialEnd{answers: m}, m.Pulse
		case "kernel-pwm":
			if err := e.emulateKernel(p); err != nil {
				return nil, err
			}
		}
	}
	b.emulateChips(e)
	for _, p := range b.plan.sensors {
		if p.body != configs.Emulated {
			continue
		}
		if p.kind.on != nil {
			e.attach(p, newTruth(e.look(b.simulated(p.agent)), p.uses))
			continue
		}
		if p.scanner != nil {
			scene := outlook{b.robots[p.agent], sensorIndex(b.plan.agents[p.agent].layout, p.name)}
			e.ends[p.config.Bus] = serialEnd{speaks: p.scanner.board(scene)}
			continue
		}
		shared := e.chips[p.first]
		f := emulatedDevice{}
		if shared != nil {
			f = p.kind.joins(p, shared)
		} else {
			f = p.kind.emulate(p)
		}
		e.chips[p] = f.device
		if f.speaks != nil {
			e.ends[p.config.Bus] = serialEnd{speaks: f.speaks}
		} else if end, ok := f.device.(chip.Endpoint); ok && p.serial {
			e.ends[p.config.Bus] = serialEnd{answers: end}
		} else if shared == nil {
			hang[p.config.Bus] = append(append(hang[p.config.Bus], f.device), f.more...)
		}
		t := newTruth(e.look(b.simulated(p.agent)), p.uses)
		if p.kind.reads {
			t.tags = b.field(p, t)
			e.fields[p] = t.tags
		}
		e.feels = append(e.feels, func() { f.feel(t) })
	}
	for _, p := range b.plan.bases {
		if p.body != configs.Emulated {
			continue
		}
		c, err := b.newChassis(e, p)
		if err != nil {
			return nil, err
		}
		bus := b.plan.config.Buses[p.config.Bus]
		e.bases = append(e.bases, c)
		e.ends[p.config.Bus] = serialEnd{speaks: c.board(p.bauds(&bus)[0])}
	}
	for _, name := range sortedKeys(hang) {
		bus := b.plan.config.Buses[name]
		e.buses[name], e.ports[name] = chip.NewBus(name, bus.Hertz, seed, hang[name]...), bus.Type == spiBus
	}
	for _, name := range sortedKeys(e.ends) {
		bus := b.plan.config.Buses[name]
		if networked(&bus) {
			bus.Baud = 0
		}
		e.lines[name] = e.ends[name].line(name, bus.Baud, seed)
	}
	e.kernel = chip.NewBus("kernel", 400_000, seed)
	return e, nil
}

// size is how many channels a board has that is sold.
func (p *boardPlan) size() int {
	for _, n := range p.kind.channels {
		if n >= p.channels {
			return n
		}
	}
	return p.channels
}

// emulateKernel makes the files of a kernel's PWM in a folder of their own.
func (e *emulation) emulateKernel(p *boardPlan) error {
	root, err := os.MkdirTemp("", "halyard-pwm")
	if err != nil {
		return err
	}
	e.folders = append(e.folders, root)
	var channels []pwm.KernelChannel
	for i := range p.channels {
		channels = append(channels, pwm.KernelChannel{Chip: max(0, p.address), Output: i})
	}
	k, err := chip.NewKernelPWM(root, channels...)
	if err != nil {
		return err
	}
	p.root, e.widths[p] = root, k.Pulse
	return nil
}

// end is what an emulated device on a bus is reached by, and the time of the cycle's edge there.
func (e *emulation) end(bus string) (end, func() time.Duration) {
	switch {
	case e.buses[bus] != nil:
		return endOf(bus, e.buses[bus], e.ports[bus]), e.buses[bus].Edge
	case e.lines[bus] != nil:
		line := e.lines[bus]
		return end{name: bus, open: line.Open, clock: line}, line.Edge
	}
	if c, ok := e.gpios[bus]; ok {
		return c.end(bus)
	}
	return end{name: bus, clock: e.kernel.Host()}, e.kernel.Edge
}

// endOf is what a device on an emulated bus called name is reached by: a bus of I2C, or a port of SPI.
func endOf(name string, bus *chip.Bus, port bool) end {
	if port {
		wire := bus.SPI()
		return end{name: name, bus: spi.NewPort(name, wire), clock: wire}
	}
	host := bus.Host()
	return end{name: name, bus: host, clock: host}
}

// motor lets a channel of an emulated board move actuator at of the simulated robot of agent i, as cal says that it does
// but where the config's truth says otherwise.
func (b *builder) motor(i, at int, j *jointPlan, cal *calibration.Pulse) error {
	p := j.pulses
	width, channel := b.emulation.widths[p.board], p.channel
	m := motor{width: func() time.Duration { return width(channel) }, at: at, cal: cal}
	direction := cal.Direction
	if t := j.hardware.GroundTruth; t != nil && t.Direction != 0 {
		direction = t.Direction
	}
	a := &b.plan.agents[i].layout.Actuators[at]
	if a.Kind == hal.Thruster {
		// A calibration waits for longer than an ESC needs.
		m.input = a.Goal[hal.DutyMode]
		m.esc = &chip.ESC{Neutral: cal.Neutral, DeadBand: cal.DeadBand, Range: cal.Range, Arming: cal.Arming * 3 / 4, Reversed: direction < 0}
	} else {
		if err := b.scene.Driven(b.plan.agents[i].config.Name, at); err != nil {
			return err
		}
		m.servo = b.robots[i].Joint(at).Servo
		if direction != cal.Direction {
			turned := *cal
			turned.Direction = direction
			m.cal = &turned
		}
	}
	body := b.simulated(i)
	k := slices.IndexFunc(b.emulation.robots, func(r *motored) bool { return r.body == body })
	if k < 0 {
		k = len(b.emulation.robots)
		b.emulation.robots = append(b.emulation.robots, &motored{body: body, frame: hal.NewFrame(body.Layout())})
	}
	r := b.emulation.robots[k]
	r.outputs, r.thrusts = append(r.outputs, m), r.thrusts || m.esc != nil
	return nil
}

// motors is the world before the scene: what pulses there are moves the robots.
type motors struct{ *emulation }

// Advance lets dt pass with the pulses that the boards make now.
func (w motors) Advance(dt time.Duration) error {
	var fault error
	for _, c := range w.bases {
		c.move()
	}
	for _, r := range w.robots {
		for i := range r.outputs {
			r.outputs[i].drive(r.frame, dt)
		}
		if r.thrusts {
			fault = errors.Join(fault, r.body.Write(r.frame))
		}
	}
	return fault
}

// drive does what the pulses of the channel say.
func (m *motor) drive(f *hal.Frame, dt time.Duration) {
	width := m.width()
	if m.esc != nil {
		f.Enable[m.at], f.Inputs[m.input] = true, m.esc.Step(width, dt)
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

// chips is the world after the scene: the chips feel what it came to, and time passes on their buses.
type chips struct{ *emulation }

// Advance hands the chips the truth at the end of the cycle.
func (w chips) Advance(dt time.Duration) error {
	fault := errors.Join(w.feel(dt), w.kernel.Advance(dt))
	for _, b := range w.buses {
		fault = errors.Join(fault, b.Advance(dt))
	}
	for _, c := range w.gpios {
		fault = errors.Join(fault, c.Advance(dt))
	}
	for _, l := range w.lines {
		fault = errors.Join(fault, l.Advance(dt))
	}
	return fault
}

func (e *emulation) feel(dt time.Duration) (fault error) {
	for _, l := range e.looks {
		l.frame.Time += dt
		fault = errors.Join(fault, l.body.Read(l.frame))
	}
	for _, feel := range e.feels {
		feel()
	}
	return fault
}

// close removes what stands in the file system.
func (e *emulation) close() error {
	var faults []error
	for _, dir := range e.folders {
		faults = append(faults, os.RemoveAll(dir))
	}
	return errors.Join(faults...)
}
