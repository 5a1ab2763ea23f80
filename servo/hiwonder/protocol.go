package hiwonder

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// protocol is the servo.Protocol of a chain.
type protocol struct {
	chain   *servo.GenericChain
	link    *link
	devices []device
}

// The values of motor_mode.
const (
	asServo = 0
	asMotor = 1
)

// device is the state of one servo in addition to servo.Device.
type device struct {
	cfg *servo.ServoConfig
	m   *Model

	position, load, mode, volts, celsius *Command

	modeNow    int     // motor_mode in the servo, -1 = unknown
	low, high  float64 // ticks
	minVolts   float64 // its own limits, V and °C
	maxVolts   float64
	maxCelsius float64
	warm       bool    // the next health read is of the temperature
	sent       [4]byte // goal last written
	repeat     int     // cycles until it is written again
}

// repeatGoal is how many cycles a goal that stays is not written again.
const repeatGoal = 10

func (d *device) init(cfg *servo.ServoConfig) {
	m, _ := cfg.Model.(*Model)
	*d = device{cfg: cfg, m: m, modeNow: -1}
	if d.m == nil {
		return
	}
	command := func(name string) *Command { return commandOf(d.m.Register(name)) }
	d.position, d.load, d.mode = command("present_position"), command("torque_enable"), command("motor_mode")
	d.volts, d.celsius = command("present_voltage"), command("present_temperature")
	d.low, d.high = d.m.MinTicks, d.m.MaxTicks
}

func (b *protocol) Connect(x *servo.Exchange) { b.link = newLink(x) }

func (b *protocol) ParserStats() (uint64, uint64) {
	return b.link.parser.BadChecksum, b.link.parser.Garbage
}

// Identify reads the settings of servo i. The protocol has no model number: any reply at the id counts as the servo.
func (b *protocol) Identify(i int) error {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	value := map[string]int64{}
	for _, name := range []string{"min_position", "max_position", "min_voltage", "max_voltage", "temperature_limit",
		"motor_mode", "torque_enable"} {
		v, err := b.link.register(d.cfg.ID, d.m.Register(name))
		if err != nil {
			return err
		}
		value[name] = v
	}
	if lo, hi := value["min_position"], value["max_position"]; lo < hi {
		d.low, d.high = float64(lo), float64(hi)
	}
	si := func(name string) float64 { return d.m.Register(name).SI(value[name]) }
	d.minVolts, d.maxVolts, d.maxCelsius = si("min_voltage"), si("max_voltage"), si("temperature_limit")
	d.modeNow = int(value["motor_mode"])
	dev.Torque = servo.SwitchOf(value["torque_enable"] != 0)
	dev.State.Torque = dev.Torque == servo.On
	return nil
}

// SyncRead is never called: the protocol has no group read.
func (b *protocol) SyncRead(servo.Level, []int) error { return nil }

func (b *protocol) ReadState(i int) error {
	d := &b.devices[i]
	k, err := b.link.read(d.cfg.ID, d.position)
	if err != nil {
		return err
	}
	dev, ticks := &b.chain.Devices[i], float64(int16(binary.LittleEndian.Uint16(k.Params)))
	if !dev.Believes(ticks, d.m.TicksPerTurn, d.m.MaxVelocity, b.link.Port.Now()) {
		return servo.ErrCorrupt
	}
	dev.State.Position = ticks
	return nil
}

// ReadHealth reads the torque switch of servo i and its temperature or its voltage.
func (b *protocol) ReadHealth(i int) error {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	s := &dev.State
	health := d.volts
	if d.warm = !d.warm; d.warm {
		health = d.celsius
	}
	k, err := b.link.read(d.cfg.ID, health)
	if err != nil {
		return err
	}
	if d.warm {
		s.Temperature = float64(k.Params[0])
	} else {
		s.Voltage = float64(binary.LittleEndian.Uint16(k.Params)) / 1000
	}
	// NaN (not read yet) is within all limits.
	bits := uint64(0)
	if s.Voltage < d.minVolts || s.Voltage > d.maxVolts {
		bits |= faultVolts
	}
	if s.Temperature > d.maxCelsius {
		bits |= faultHeat
	}
	s.Report.Set(faults, bits)
	if d.modeNow < 0 { // back after a silence: to take its torque for want of knowing would let the joint fall
		if err := b.readMode(d); err != nil {
			return err
		}
	}
	if k, err = b.link.read(d.cfg.ID, d.load); err != nil {
		return err
	}
	torque := servo.SwitchOf(k.Params[0] != 0)
	dev.SawTorque(torque, torque == servo.Off && s.Alarm != 0)
	return nil
}

// Invalidate reports that mode and goal have to be written again.
func (b *protocol) Invalidate(i int) { b.devices[i].modeNow, b.devices[i].repeat = -1, 0 }

// Clear checks whether the fault is over: the servo clears it by itself.
func (b *protocol) Clear(i int) error {
	if err := b.ReadHealth(i); err != nil {
		return err
	}
	return b.chain.Devices[i].State.Report.Left()
}

// Steps of arming: the goal, then the torque.
func (b *protocol) Steps() int { return 2 }

// wanted is the motor_mode that a goal needs.
func wanted(g *servo.Goal) int {
	if g.Mode == hal.DutyMode {
		return asMotor
	}
	return asServo
}

// Ready reports whether the mode of servo i is right, and sets it right, with torque off and read back: a servo left as
// a motor would run at its last speed.
func (b *protocol) Ready(i int) (bool, error) {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	want := wanted(&dev.Goal)
	// It may have lost its power while torque was off: checked before every arming.
	if err := b.readMode(d); err != nil {
		return false, err
	}
	if want == d.modeNow {
		err := dev.Outside(d.low, d.high, d.m.TicksPerTurn)
		return err == nil, err
	}
	if !b.chain.Resting(i) {
		return false, nil
	}
	b.link.write(d.cfg.ID, d.mode.Write, []byte{byte(want), 0, 0, 0})
	err := b.readMode(d)
	if err == nil && d.modeNow != want {
		err = fmt.Errorf("motor_mode: %w: got %d, want %d", servo.ErrDiffers, d.modeNow, want)
	}
	return err == nil, err
}

// readMode sends all staged packets and reads d's mode.
func (b *protocol) readMode(d *device) error {
	if err := b.Flush(); err != nil {
		return err
	}
	k, err := b.link.read(d.cfg.ID, d.mode)
	if err == nil {
		d.modeNow = int(k.Params[0])
	}
	return err
}

func (b *protocol) StageTorqueOff(i int) { b.switchTorque(i, 0) }

func (b *protocol) switchTorque(i int, v byte) {
	p := [1]byte{v}
	b.link.write(b.devices[i].cfg.ID, b.devices[i].load.Write, p[:])
}

// StageTorqueOn stages a step of giving servo i torque.
func (b *protocol) StageTorqueOn(i, step int) {
	if step == 0 {
		b.devices[i].repeat = 0
		b.putGoal(i, true)
		return
	}
	b.switchTorque(i, 1)
}

func (b *protocol) StageGoal(i int) bool {
	fits := wanted(&b.chain.Devices[i].Goal) == b.devices[i].modeNow
	if fits {
		b.putGoal(i, false)
	}
	return fits
}

// putGoal stages a position with its time, or a duty. rest asks for no motion.
func (b *protocol) putGoal(i int, rest bool) {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	le := binary.LittleEndian
	var p [4]byte
	command := byte(1)
	if d.modeNow == asMotor {
		command = d.mode.Write
		p[0] = asMotor
		le.PutUint16(p[2:], uint16(int16(math.Round(1000*servo.Bounded(dev.Goal.Duty, 1, rest)))))
	} else {
		to := dev.Position(rest, dev.Goal.Mode != hal.PositionMode, d.low, d.high)
		le.PutUint16(p[0:], uint16(math.Round(min(max(to, 0), d.m.MaxTicks))))
		// A time instead of a speed: 0 is as fast as it can.
		if v := d.cfg.Velocity; v > 0 && !rest {
			way := math.Abs(to-dev.State.Position) * 2 * math.Pi / d.m.TicksPerTurn
			// rounded down to 0 a short way would have no bound
			le.PutUint16(p[2:], uint16(min(math.Ceil(way/v*1000), 30000)))
		}
	}
	if d.repeat--; d.repeat > 0 && p == d.sent {
		return
	}
	d.sent, d.repeat = p, repeatGoal
	b.link.write(d.cfg.ID, command, p[:])
}

// Stage does nothing: packets are sent in the order they are staged.
func (b *protocol) Stage() {}

func (b *protocol) Flush() error { return b.link.Write() }
