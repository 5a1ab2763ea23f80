package assembly

import (
	"errors"
	"log/slog"
	"math"
	"slices"
	"strings"
	"time"

	conn "periph.io/x/conn/v3/i2c"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/drivers/base"
	"github.com/halyard-robotics/halyard/drivers/gpio"
	"github.com/halyard-robotics/halyard/drivers/i2c"
	"github.com/halyard-robotics/halyard/drivers/lidar"
	"github.com/halyard-robotics/halyard/drivers/serial"
	"github.com/halyard-robotics/halyard/drivers/spi"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/servo"
)

// Devices are the open devices of a rig that are no servos on a line.
type Devices struct {
	Runners []runner
	feeders map[*catalog.BoardPlan]*drivers.OutputWriter
	Pollers map[*catalog.SensorPlan]*drivers.Poller
	bases   map[*plan.BasePlan]*base.Base
	Sources map[plan.JointRef]drivers.Source // of the sensors of agents
	I2c     map[string]*i2c.Bus
	Spi     map[string]*spi.Port
	wires
	Emulation *Emulation // nil without emulated devices
}

// runner is a device that is read or written in its own goroutine, or, emulated, in step with it.
type runner interface {
	hal.Bus
	Open() error
	Close() error
}

// warmUpTime is how long emulated devices have been on when the first cycle begins: their sensors measure by then.
const warmUpTime = time.Second

// openDevices opens every device of the plan that is not simulated, emulated ones in memory. All faults are returned
// together.
func (b *Builder) openDevices() error {
	emulated := b.Plan.Emulates()
	if emulated {
		e, err := b.EmulateDevices()
		if err != nil {
			return err
		}
		b.Emulation = e
		if err := e.Feel(0); err != nil {
			return err
		}
	}
	faults := []error{b.openWires()}
	for _, p := range b.Plan.Boards {
		if p.Body != configs.Sim {
			faults = append(faults, b.openBoard(p))
		}
	}
	for _, p := range b.Plan.Sensors {
		if p.Body != configs.Sim {
			faults = append(faults, b.openSensor(p))
		}
	}
	for _, p := range b.Plan.Bases {
		if p.Body != configs.Sim {
			faults = append(faults, b.openBase(p))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	if emulated {
		if err := b.warmUp(); err != nil {
			return err
		}
	}
	return b.connectPulses()
}

func newDevices() Devices {
	return Devices{feeders: map[*catalog.BoardPlan]*drivers.OutputWriter{},
		Pollers: map[*catalog.SensorPlan]*drivers.Poller{},
		bases:   map[*plan.BasePlan]*base.Base{}, Sources: map[plan.JointRef]drivers.Source{},
		I2c: map[string]*i2c.Bus{},
		Spi: map[string]*spi.Port{}}
}

// warmUp lets time pass only for the emulated devices.
func (b *Builder) warmUp() error {
	period := b.Plan.Config.Clock.Period
	for range warmUpTime / period {
		if err := (chips{b.Emulation}).Advance(period); err != nil {
			return err
		}
		for _, r := range b.Runners {
			if err := r.Receive(); err != nil {
				return err
			}
		}
	}
	return nil
}

// End returns the connection of a device on a bus. edge is nil for a real device.
func (b *Builder) End(bus string, body configs.BodyKind) (e catalog.Connection, edge func() time.Duration, err error) {
	if body == configs.Emulated {
		e, edge = b.Emulation.End(bus)
		if e.Open != nil {
			e.Open = b.tapped(bus, body, e.Open)
		}
		if e.Bus != nil && b.Plan.TapBus != nil {
			e.Bus, err = b.Plan.TapBus(bus, body, func() (conn.Bus, error) { return e.Bus, nil })
		}
		if b.Plan.WireClock != nil {
			e.Clock = b.Plan.WireClock(bus, body)
		}
		return e, edge, err
	}
	e = catalog.Connection{Name: bus, Clock: i2c.Clock()}
	if b.Plan.WireClock != nil && !b.Plan.Replay { // in a rig its readers have goroutines, which the wall's clock paces
		e.Clock = b.Plan.WireClock(bus, body)
	}
	c := b.Plan.Config.Buses[bus]
	if b.Plan.Replay && (b.Plan.TapBus == nil || c.Type == catalog.GPIOBus || c.Type == "") {
		return e, nil, &hal.Error{Kind: hal.Unsafe, Op: "replay", Bus: bus, Err: errReplayReal}
	}
	if (c.Type == catalog.I2CBus || c.Type == catalog.SPIBus) && b.Plan.TapBus != nil {
		e.Bus, err = b.Plan.TapBus(bus, body, func() (conn.Bus, error) { return b.chipBus(bus) })
		return e, nil, err
	}
	switch c.Type {
	case catalog.I2CBus, catalog.SPIBus:
		e.Bus, err = b.chipBus(bus)
	case catalog.SerialBus:
		e.Open = serial.Reopener(c.Port, c.Baud, c.SerialBackend)
		if catalog.Networked(&c) {
			e.Open = lidar.DialTCP(strings.TrimPrefix(c.Port, catalog.TCPPrefix))
		}
		e.Open = b.tapped(bus, body, e.Open)
	case catalog.GPIOBus:
		e.Lines, e.Live = gpio.Find(c.Port), true
	}
	return e, nil, err
}

// chipBus returns the real I2C bus or SPI port called bus, which is opened once.
func (b *Builder) chipBus(bus string) (conn.Bus, error) {
	switch c := b.Plan.Config.Buses[bus]; c.Type {
	case catalog.I2CBus:
		if b.I2c[bus] == nil {
			open, err := i2c.Open(c.Port)
			if err != nil {
				return nil, err
			}
			b.I2c[bus] = open
		}
		return b.I2c[bus], nil
	default:
		if b.Spi[bus] == nil {
			open, err := spi.Open(c.Port, c.Frequency)
			if err != nil {
				return nil, err
			}
			b.Spi[bus] = open
		}
		return b.Spi[bus], nil
	}
}

var errReplayReal = errors.New(
	"a real device that is no servo has no recorded answers: got body real, want sim or emulated")

// tapped returns open, or the plan's tap around it.
func (b *Builder) tapped(bus string, kind configs.BodyKind, open servo.Opener) servo.Opener {
	if b.Plan.Tap == nil {
		return open
	}
	return b.Plan.Tap(bus, kind, open)
}

// Run opens r and keeps it. A device that does not answer gets a second request before it counts as missing: a busy
// machine may receive late.
func (b *Builder) Run(r runner) error {
	err := r.Open()
	if k := hal.KindOf(err); err != nil && (k == hal.Absent || k == hal.Timeout || k == hal.BusFault) {
		err = r.Open()
	}
	if err != nil {
		return errors.Join(err, r.Close())
	}
	b.Runners = append(b.Runners, r)
	return nil
}

func (b *Builder) openBoard(p *catalog.BoardPlan) error {
	e, edge, err := b.End(p.Bus, p.Body)
	if err != nil {
		return err
	}
	out, err := p.Kind.Open(e, p)
	if err != nil {
		return err
	}
	f := drivers.NewOutputWriter(out, drivers.OutputWriterConfig{Name: p.Name(), Channels: p.Channels, Clock: e.Clock,
		CycleTime: edge, Gate: b.gateOf(p)})
	b.feeders[p] = f
	return b.Run(f)
}

func (b *Builder) openSensor(p *catalog.SensorPlan) error {
	e, edge, err := b.End(p.Config.Bus, p.Body)
	if err != nil {
		return err
	}
	s, err := p.Kind.Open(e, p)
	if err != nil {
		return err
	}
	c := drivers.PollerConfig{Name: p.Name, Values: p.Values(),
		Period: time.Duration(float64(time.Second) / p.Config.Rate),
		Clock:  e.Clock, CycleTime: edge}
	if e.Live && p.Kind.On.Waits {
		c.Period = time.Millisecond // it waits for its input itself, and an event must be read at once
	}
	if p.Kind.On != nil && p.Kind.On.Turns {
		c.Period = max(c.Period, b.Plan.Round(p))
	}
	for _, most := range p.Kind.Jump {
		c.Jump = append(c.Jump, most*math.Abs(p.Config.Scale))
	}
	b.Pollers[p] = drivers.NewPoller(s, c)
	return b.Run(b.Pollers[p])
}

// connectPulses connects every joint that a board's channel drives to it, and an emulated one to the simulated robot.
func (b *Builder) connectPulses() error {
	for i := range b.Plan.Agents {
		p := &b.Plan.Agents[i]
		for k := range p.Joints {
			j := &p.Joints[k]
			if j.Pulses.Board == nil || j.Body == configs.Sim {
				continue
			}
			a := &p.Layout.Actuators[k]
			cal := pulseOf(a, j)
			j.Pulses.Board.Thrusts = j.Pulses.Board.Thrusts || a.Kind == hal.Thruster
			b.connected[plan.JointRef{Agent: i, Joint: k}] = drivers.Joint{Writer: b.feeders[j.Pulses.Board],
				Channel: j.Pulses.Channel, Pulse: cal,
				Bus: j.Pulses.Board.Name(), Port: b.Plan.Config.Buses[j.Hardware.Bus].Port,
				ID: max(0, j.Pulses.Board.Address)}
			if j.Body == configs.Emulated {
				if err := b.motor(i, k, j, cal); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// pulseOf returns the calibration of a joint on a board's channel, a nominal one if it has none.
func pulseOf(a *hal.Actuator, j *plan.JointPlan) *calibration.Pulse {
	if j.Pulses.Calibration != nil {
		return j.Pulses.Calibration
	}
	c := calibration.Channel{Model: j.Hardware.Device, Channel: j.Pulses.Channel}
	if a.Kind == hal.Thruster {
		p := calibration.NominalThruster(a.Name, c, nil)
		p.Mode = hal.DutyMode // by its share of the range: no force was measured
		return p
	}
	return calibration.NominalServo(a.Name, c, a.Limits.MinPosition, a.Limits.MaxPosition)
}

// Close ends the pulses of thrusters, so that none keeps running without a program, and closes every device. Servos
// keep their pulses: they hold.
func (d *Devices) Close(log *slog.Logger) error {
	var faults []error
	for p, f := range d.feeders {
		if !p.Thrusts || !slices.Contains(d.Runners, runner(f)) {
			continue
		}
		if err := errors.Join(f.Halt()...); err != nil {
			log.Error("thrusters not stopped", "board", p.Name(), "fault", err)
			faults = append(faults, err)
		} else {
			log.Info("thrusters stopped", "board", p.Name())
		}
	}
	for _, r := range d.Runners {
		faults = append(faults, r.Close())
	}
	faults = append(faults, d.wires.Close())
	for _, bus := range d.I2c {
		faults = append(faults, bus.Close())
	}
	for _, port := range d.Spi {
		faults = append(faults, port.Close())
	}
	if d.Emulation != nil {
		faults = append(faults, d.Emulation.Close())
	}
	return errors.Join(faults...)
}
