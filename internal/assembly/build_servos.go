package assembly

import (
	"cmp"
	"errors"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// openLines opens every line of a joint: in memory for an emulated joint, a port for a real one. All faults are
// returned together.
func (b *Builder) openLines() error {
	var faults []error
	for _, name := range report.SortedKeys(b.Plan.Config.Buses) {
		for _, kind := range []configs.BodyKind{configs.Emulated, configs.Real} {
			if on := b.Plan.On(name, kind); len(on) > 0 {
				faults = append(faults, b.openLine(name, kind, on))
			}
		}
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	return b.misfits()
}

func (b *Builder) openLine(name string, kind configs.BodyKind, on []plan.JointRef) error {
	bus := b.Plan.Config.Buses[name]
	l := line{Name: name, kind: kind}
	cfg := servo.ChainConfig{Name: name, Period: b.Plan.Config.Clock.Period, Latency: bus.Latency,
		Spans: kind == configs.Real, Inside: b.Plan.Replay}
	for _, h := range on {
		cfg.Servos = append(cfg.Servos, b.Plan.ServoConfig(h))
	}
	t := b.Plan.Catalog.Buses.Of(bus.Type)
	var open servo.Opener
	if kind == configs.Real { // it reads the system's list of ports
		open = t.PortOpener(&bus, idsOf(cfg.Servos))
	} else {
		var err error
		if l.Emu, err = b.emulate(name, on, nil); err != nil {
			return err
		}
		b.Scene.Share(l.Emu)
		open, cfg.Latency, cfg.Paced = l.Emu.Open, bus.AdapterLatency()+2*bus.Timing.USBFrame, l.Emu.Paced()
	}
	open = b.tapped(name, kind, open)
	var err error
	if cfg.Line, cfg.Reopen, err = t.Connect(open); err != nil {
		return &hal.Error{Kind: hal.KindOf(err), Bus: name, Err: err}
	}
	if l.Chain = t.Driver.Chain(cfg); kind == configs.Emulated || b.Plan.Replay {
		l.Chain.Inline()
	}
	joints := servo.Chain(l.Chain)
	if kind == configs.Real {
		l.drill = &rehearsed{Chain: l.Chain, servos: make([]rehearsedServo, len(on))}
		joints = l.drill
	}
	b.Lines = append(b.Lines, l)
	if err := l.Chain.Open(); err != nil {
		return Advise(err, "halyard doctor "+b.Plan.Config.Source)
	}
	b.note(l.Chain, on)
	for i, h := range on {
		j := b.Plan.Joint(h)
		b.connected[h] = drivers.Joint{Chain: joints, Index: i, Calibration: j.Calibration, Bus: name, Port: bus.Port,
			ID: j.Hardware.ID}
	}
	return nil
}

// note notes the servos of a line for misfits, and logs what becomes of torque that they have.
func (b *Builder) note(chain servo.Chain, on []plan.JointRef) {
	for i, h := range on {
		j, s := b.Plan.Joint(h), chain.State(i)
		name := b.Plan.Agents[h.Agent].Robot.Joints[h.Joint].Name
		switch {
		case s.Torque && s.Kept:
			b.Log.Warn("joint holds: its torque was on at start and stays on until arm or estop", "joint", name, "bus",
				j.Hardware.Bus)
		case s.Torque:
			b.Log.Warn("joint has torque at start: it is switched off now, support it", "joint", name, "bus",
				j.Hardware.Bus)
		}
		b.met = append(b.met, calibration.Met{Joint: name, Bus: j.Hardware.Bus, ID: j.Hardware.ID, File: j.Calibration,
			Offset: s.Homing})
	}
}

// misfits are the joints of all lines whose servo is not the one of their calibration.
func (b *Builder) misfits() error {
	var faults []error
	for _, m := range calibration.Misfits(b.met) {
		faults = append(faults, &hal.Error{Kind: hal.Uncalibrated, Bus: m.Bus, ID: m.ID, Joint: m.Joint,
			Op: "calibration", Err: errors.New(m.Found), Try: cmp.Or(m.Fix, "halyard doctor "+b.Plan.Config.Source)})
	}
	return errors.Join(faults...)
}

// Advise adds the diagnostic command try to each error joined in err that has no command.
func Advise(err error, try string) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range joined.Unwrap() {
			all = append(all, Advise(e, try))
		}
		return errors.Join(all...)
	}
	e, ok := err.(*hal.Error)
	if !ok || e.Try != "" {
		return err
	}
	hinted := *e
	hinted.Try = try
	return &hinted
}

// idsOf are the ids of servos.
func idsOf(servos []servo.ServoConfig) []byte {
	ids := make([]byte, len(servos))
	for i, s := range servos {
		ids[i] = s.ID
	}
	return ids
}

// emulate makes the servos of a bus, each over its joint in the scene. lock is nil where one goroutine moves both.
func (b *Builder) emulate(name string, on []plan.JointRef, lock *sync.Mutex) (*emulator.Bus, error) {
	bus := b.Plan.Config.Buses[name]
	servos := make([]*emulator.Servo, len(on))
	for i, h := range on {
		j := b.Plan.Joint(h)
		if err := b.Scene.Driven(b.Plan.Agents[h.Agent].Config.Name, h.Joint); err != nil {
			return nil, err
		}
		truth, act := j.Truth(), b.Robots[h.Agent].Joint(h.Joint).Servo
		// the plan has the servo with its calibrated gear
		if ratio := truth.Gear / j.CalibratedGear(); ratio != 1 {
			act.Spec = act.Spec.Geared(ratio)
		}
		servos[i] = b.Plan.Catalog.Buses.Of(bus.Type).Emulate(j.Servo, j.Hardware.ID, act, truth)
		servos[i].Preset("return_delay", int64(bus.ReturnDelay/(2*time.Microsecond)))
		for _, name := range report.SortedKeys(j.EEPROM) {
			servos[i].Preset(name, int64(j.EEPROM[name]))
		}
		if code, ok := j.Servo.BaudCode(bus.Baud); ok {
			servos[i].Preset("baud_rate", int64(code))
		}
	}
	return emulator.NewBus(emulator.BusConfig{Name: name, Baud: bus.Baud, Seed: b.Plan.Config.World.Seed,
		Timing: TimingOf(bus), Mutex: lock, Paced: lock == nil, Firmware: bus.Firmware, Quirks: bus.Quirks},
		servos...), nil
}
