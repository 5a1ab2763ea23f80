package main

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// openLines opens every line that a joint hangs on: in memory where the joint is emulated, a port where it is real.
// All faults come together.
func (b *builder) openLines() error {
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(b.plan.config.Buses)) {
		for _, kind := range []configs.BodyKind{configs.Emulated, configs.Real} {
			if on := b.plan.on(name, kind); len(on) > 0 {
				faults = append(faults, b.openLine(name, kind, on))
			}
		}
	}
	return errors.Join(faults...)
}

// on lists the joints of one kind that hang on a bus, in the order of the agents and their robots.
func (p *plan) on(bus string, kind configs.BodyKind) []jointRef {
	var list []jointRef
	for i := range p.agents {
		for k := range p.agents[i].joints {
			if j := &p.agents[i].joints[k]; j.body == kind && j.servo != nil && j.hardware.Bus == bus {
				list = append(list, jointRef{i, k})
			}
		}
	}
	return list
}

func (p *plan) joint(h jointRef) *jointPlan { return &p.agents[h.agent].joints[h.joint] }

func (b *builder) openLine(name string, kind configs.BodyKind, on []jointRef) error {
	bus := b.plan.config.Buses[name]
	l := line{name: name, kind: kind}
	cfg := chainConfig{name: name, period: b.plan.config.Clock.Period, latency: bus.Latency}
	for _, h := range on {
		cfg.servos = append(cfg.servos, b.plan.servoConfig(h))
	}
	t := busTypes[bus.Type]
	open := t.portOpener(&bus, idsOf(cfg.servos))
	if kind == configs.Emulated {
		var err error
		if l.emu, err = b.emulate(name, on, nil); err != nil {
			return err
		}
		open, cfg.latency = b.tapped(name, l.emu.Open), bus.Timing.LatencyTimer+2*bus.Timing.USBFrame
	}
	var err error
	if cfg.line, cfg.reopen, err = t.connect(open); err != nil {
		return &hal.Error{Kind: hal.KindOf(err), Bus: name, Err: err}
	}
	if l.chain = t.chain(cfg); kind == configs.Emulated {
		l.chain.Inline()
	}
	b.lines = append(b.lines, l)
	if err := l.chain.Open(); err != nil {
		return advise(err, "halyard doctor "+b.plan.config.Source)
	}
	for i, h := range on {
		j := b.plan.joint(h)
		b.hung[h] = drivers.Joint{Chain: l.chain, Index: i, Calibration: j.calibration, Bus: name, Port: bus.Port, ID: j.hardware.ID}
	}
	return nil
}

// advise adds the command that looks closer to each of the errors that err joins and that names none.
func advise(err error, try string) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range joined.Unwrap() {
			all = append(all, advise(e, try))
		}
		return errors.Join(all...)
	}
	e, ok := err.(*hal.Error)
	if !ok || e.Try != "" {
		return err
	}
	told := *e
	told.Try = try
	return &told
}

// openFilteringEcho opens a line and, where its adapter hears what it sends, takes the echo out, then and after every reopening.
func openFilteringEcho(open servo.Opener) (servo.Line, servo.Opener, error) {
	line, err := open()
	if err != nil {
		return nil, nil, err
	}
	echo, err := echoes(line)
	if err != nil {
		return nil, nil, errors.Join(err, line.Close())
	}
	if !echo {
		return line, open, nil
	}
	return &servo.EchoFilter{Line: line}, func() (servo.Line, error) {
		line, err := open()
		if err != nil {
			return nil, err
		}
		return &servo.EchoFilter{Line: line}, nil
	}, nil
}

// idsOf are the ids of servos.
func idsOf(servos []chainServo) []byte {
	ids := make([]byte, len(servos))
	for i, s := range servos {
		ids[i] = s.id
	}
	return ids
}

// servoConfig is what a chain must know of a servo.
func (p *plan) servoConfig(h jointRef) chainServo {
	j := p.joint(h)
	s := chainServo{id: byte(j.hardware.ID), model: j.servo, joint: p.agents[h.agent].robot.Joints[h.joint].Name, calibrated: j.calibration != nil}
	for _, name := range slices.Sorted(maps.Keys(j.hardware.Registers)) {
		s.settings = append(s.settings, servo.Setting{Register: name, Value: int64(j.hardware.Registers[name])})
	}
	return s
}

// emulate makes the servos of a bus, each over its joint in the scene. lock is nil where one goroutine moves both.
func (b *builder) emulate(name string, on []jointRef, lock *sync.Mutex) (*emulator.Bus, error) {
	bus := b.plan.config.Buses[name]
	servos := make([]*emulator.Servo, len(on))
	for i, h := range on {
		j := b.plan.joint(h)
		if err := b.scene.Driven(b.plan.agents[h.agent].config.Name, h.joint); err != nil {
			return nil, err
		}
		servos[i] = busTypes[bus.Type].emulate(j.servo, j.hardware.ID, b.robots[h.agent].Joint(h.joint).Servo, truthOf(j))
		servos[i].Preset("return_delay", int64(bus.ReturnDelay/(2*time.Microsecond)))
		if code, ok := j.servo.BaudCode(bus.Baud); ok {
			servos[i].Preset("baud_rate", int64(code))
		}
	}
	return emulator.NewBus(emulator.BusConfig{Name: name, Baud: bus.Baud, Seed: b.plan.config.World.Seed,
		Timing: timingOf(bus), Mutex: lock}, servos...), nil
}

// truthOf is how an emulated servo is really mounted: as its calibration says, but where the config says otherwise.
func truthOf(j *jointPlan) emulator.GroundTruth {
	t := emulator.GroundTruth{ZeroTicks: j.servo.Units().CentreTicks, Direction: 1, Gear: 1}
	if c := j.calibration; c != nil {
		t = emulator.GroundTruth{ZeroTicks: c.ZeroTicks, Direction: float64(c.Direction), Gear: c.Gear}
	}
	if own := j.hardware.GroundTruth; own != nil {
		if own.Zero != nil {
			t.ZeroTicks = *own.Zero
		}
		if own.Direction != 0 {
			t.Direction = float64(own.Direction)
		}
		if own.Gear != 0 {
			t.Gear = own.Gear
		}
		t.Backlash = own.Backlash
	}
	return t
}
