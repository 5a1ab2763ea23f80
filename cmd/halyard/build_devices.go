package main

import (
	"errors"
	"log/slog"
	"math"
	"slices"
	"strings"
	"time"

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
	"github.com/halyard-robotics/halyard/servo"
)

// devices are the open devices of a rig that are no servos on a line.
type devices struct {
	runners []runner
	feeders map[*boardPlan]*drivers.OutputWriter
	pollers map[*sensorPlan]*drivers.Poller
	bases   map[*basePlan]*base.Base
	sources map[jointRef]drivers.Source // of the sensors of agents
	i2c     map[string]*i2c.Bus
	spi     map[string]*spi.Port
	wires
	emulation *emulation // nil where nothing of it is emulated
}

// runner is a device that is read or written beside the cycle, or, emulated, in step with it.
type runner interface {
	hal.Bus
	Open() error
	Close() error
}

// warmUpTime is how long emulated devices have been on when the first cycle begins: their sensors measure by then.
const warmUpTime = time.Second

// openDevices opens every device of the plan that is not simulated: in memory where it is emulated. All faults come
// together.
func (b *builder) openDevices() error {
	b.devices = newDevices()
	emulated := b.plan.emulates()
	if emulated {
		e, err := b.emulateDevices()
		if err != nil {
			return err
		}
		b.emulation = e
		if err := e.feel(0); err != nil {
			return err
		}
	}
	faults := []error{b.openWires()}
	for _, p := range b.plan.boards {
		if p.body != configs.Sim {
			faults = append(faults, b.openBoard(p))
		}
	}
	for _, p := range b.plan.sensors {
		if p.body != configs.Sim {
			faults = append(faults, b.openSensor(p))
		}
	}
	for _, p := range b.plan.bases {
		if p.body != configs.Sim {
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
	return b.hangPulses()
}

func newDevices() devices {
	return devices{feeders: map[*boardPlan]*drivers.OutputWriter{}, pollers: map[*sensorPlan]*drivers.Poller{},
		bases: map[*basePlan]*base.Base{}, sources: map[jointRef]drivers.Source{}, i2c: map[string]*i2c.Bus{}, spi: map[string]*spi.Port{}}
}

// emulates tells whether anything that is no servo on a line is emulated.
func (p *devicePlan) emulates() bool {
	return slices.ContainsFunc(p.boards, func(p *boardPlan) bool { return p.body == configs.Emulated }) ||
		slices.ContainsFunc(p.sensors, func(p *sensorPlan) bool { return p.body == configs.Emulated }) ||
		slices.ContainsFunc(p.bases, func(p *basePlan) bool { return p.body == configs.Emulated }) || p.emulatesLines()
}

// warmUp lets time pass for the emulated devices alone.
func (b *builder) warmUp() error {
	period := b.plan.config.Clock.Period
	for range warmUpTime / period {
		if err := (chips{b.emulation}).Advance(period); err != nil {
			return err
		}
		for _, r := range b.runners {
			if err := r.Receive(); err != nil {
				return err
			}
		}
	}
	return nil
}

// end is what a device on a bus is reached by. edge is nil where it is real.
func (b *builder) end(bus string, body configs.BodyKind) (e end, edge func() time.Duration, err error) {
	if body == configs.Emulated {
		if e, edge = b.emulation.end(bus); e.open != nil {
			e.open = b.tapped(bus, e.open)
		}
		return e, edge, nil
	}
	e = end{name: bus, clock: i2c.Clock()}
	switch c := b.plan.config.Buses[bus]; c.Type {
	case i2cBus:
		if b.i2c[bus] == nil {
			open, err := i2c.Open(c.Port)
			if err != nil {
				return e, nil, err
			}
			b.i2c[bus] = open
		}
		e.bus = b.i2c[bus]
	case spiBus:
		if b.spi[bus] == nil {
			open, err := spi.Open(c.Port, c.Hertz)
			if err != nil {
				return e, nil, err
			}
			b.spi[bus] = open
		}
		e.bus = b.spi[bus]
	case serialBus:
		e.open = serial.Reopener(c.Port, c.Baud, c.Opener)
		if networked(&c) {
			e.open = lidar.DialTCP(strings.TrimPrefix(c.Port, tcpPrefix))
		}
	case gpioBus:
		e.lines, e.live = gpio.Find(c.Port), true
	}
	return e, nil, nil
}

// tapped is open, or what the plan puts between a host and an emulated line.
func (b *builder) tapped(bus string, open servo.Opener) servo.Opener {
	if b.plan.tap == nil {
		return open
	}
	return b.plan.tap(bus, open)
}

// run opens r and keeps it. What does not answer is asked once more before it counts as missing: a busy machine hears late.
func (b *builder) run(r runner) error {
	err := r.Open()
	if k := hal.KindOf(err); err != nil && (k == hal.Absent || k == hal.Timeout || k == hal.BusFault) {
		err = r.Open()
	}
	if err != nil {
		return errors.Join(err, r.Close())
	}
	b.runners = append(b.runners, r)
	return nil
}

func (b *builder) openBoard(p *boardPlan) error {
	e, edge, err := b.end(p.bus, p.body)
	if err != nil {
		return err
	}
	out, err := p.kind.open(e, p)
	if err != nil {
		return err
	}
	f := drivers.NewOutputWriter(out, drivers.OutputWriterConfig{Name: p.name(), Channels: p.channels, Clock: e.clock, CycleTime: edge, Gate: b.gateOf(p)})
	b.feeders[p] = f
	return b.run(f)
}

func (b *builder) openSensor(p *sensorPlan) error {
	e, edge, err := b.end(p.config.Bus, p.body)
	if err != nil {
		return err
	}
	s, err := p.kind.open(e, p)
	if err != nil {
		return err
	}
	c := drivers.PollerConfig{Name: p.name, Values: p.values(), Period: time.Duration(float64(time.Second) / p.config.Rate),
		Clock: e.clock, CycleTime: edge}
	if e.live && p.kind.on.waits {
		c.Period = time.Millisecond // it waits itself, and what it sees is not to wait
	}
	if p.kind.on != nil && p.kind.on.turns {
		c.Period = max(c.Period, b.plan.round(p))
	}
	for _, most := range p.kind.jump {
		c.Jump = append(c.Jump, most*math.Abs(p.config.Scale))
	}
	b.pollers[p] = drivers.NewPoller(s, c)
	return b.run(b.pollers[p])
}

// hangPulses hangs every joint that a board's channel drives on it.
func (b *builder) hangPulses() error {
	for i := range b.plan.agents {
		p := &b.plan.agents[i]
		for k := range p.joints {
			j := &p.joints[k]
			if j.pulses.board == nil || j.body == configs.Sim {
				continue
			}
			a := &p.layout.Actuators[k]
			cal := pulseOf(a, j)
			j.pulses.board.thrusts = j.pulses.board.thrusts || a.Kind == hal.Thruster
			b.hung[jointRef{i, k}] = drivers.Joint{Writer: b.feeders[j.pulses.board], Channel: j.pulses.channel, Pulse: cal,
				Bus: j.pulses.board.name(), Port: b.plan.config.Buses[j.hardware.Bus].Port, ID: max(0, j.pulses.board.address)}
			if j.body != configs.Emulated {
				continue
			}
			if err := b.motor(i, k, j, cal); err != nil {
				return err
			}
		}
	}
	return nil
}

// nominalPulse is the calibration of an output of which nothing was measured.
func nominalPulse(a *hal.Actuator, j *jointPlan) *calibration.Pulse {
	c := calibration.Channel{Model: j.hardware.Device, Channel: j.pulses.channel}
	if a.Kind == hal.Thruster {
		p := calibration.NominalThruster(a.Name, c, nil)
		p.Drives = hal.DutyMode // by its share of the range: no force was measured
		return p
	}
	return calibration.NominalServo(a.Name, c, a.Limits.MinPosition, a.Limits.MaxPosition)
}

// close ends the pulses of thrusters, so that nothing runs on without a program, and gives every device back. Servos keep
// theirs: they hold.
func (d *devices) close(log *slog.Logger) error {
	var faults []error
	for p, f := range d.feeders {
		if !p.thrusts || !slices.Contains(d.runners, runner(f)) {
			continue
		}
		if err := errors.Join(f.Halt()...); err != nil {
			log.Error("thrusters not stopped", "board", p.name(), "fault", err)
			faults = append(faults, err)
		} else {
			log.Info("thrusters stopped", "board", p.name())
		}
	}
	for _, r := range d.runners {
		faults = append(faults, r.Close())
	}
	faults = append(faults, d.wires.close())
	for _, bus := range d.i2c {
		faults = append(faults, bus.Close())
	}
	for _, port := range d.spi {
		faults = append(faults, port.Close())
	}
	if d.emulation != nil {
		faults = append(faults, d.emulation.close())
	}
	return errors.Join(faults...)
}
