package feetech

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/feetechwire"
	"github.com/halyard-robotics/halyard/servo"
)

// Addresses and sizes of the cyclic reads and writes, the same in both series.
const (
	stateAt     = 56 // position, speed, load, voltage, temperature
	stateSize   = 8  // HLS, whose effort is a current: currentSize
	currentSize = 15
	goalBlock   = 7 // acceleration, position, time, speed; SCS has no acceleration
	firstAt     = 0 // firmware.. model_number
	firstSize   = 5
	setupAt     = 7  // return_delay..
	setupSize   = 34 // ..torque_enable
	healthEnd   = 66 // the health read ends with hardware_error
)

// protocol is the servo.Protocol of a chain.
type protocol struct {
	chain   *servo.GenericChain
	link    *link
	devices []device
	queue   []write // staged
}

// write is a run of bytes of one servo, waiting to be put into a sync write with its like.
type write struct {
	id, addr, size byte
	bytes          [goalBlock]byte
	sent           bool
}

// device is the state of one servo in addition to servo.Device.
type device struct {
	cfg *servo.ServoConfig
	m   *Model

	torque, lock, mode, limit, current              *servo.Register // current: only HLS
	position, velocity, load, volts, celsius, error *servo.Register
	acceleration, goalPosition, goalTime, goalSpeed *servo.Register

	delay     time.Duration
	modeNow   int         // operating mode in the servo, -1 = unknown
	limitNow  int64       // raw limit last written, -1 = unknown
	goalNow   int64       // raw position goal last written
	maxLimit  int64       // limit in EEPROM
	full      float64     // raw limit of a share of 1
	size      byte        // of the state
	fatal     servo.Alarm // alarms that switch torque off
	low, high float64     // ticks
	coarse    float64     // step/s of one count of speed, 1 or 50
}

func (d *device) init(cfg *servo.ServoConfig) {
	m, _ := cfg.Model.(*Model)
	*d = device{cfg: cfg, m: m, modeNow: -1, limitNow: -1, delay: maxDelay, coarse: 1}
	if d.m == nil {
		return
	}
	r := d.m.Register
	d.torque, d.lock, d.mode, d.limit = r("torque_enable"), r("lock"), r("operating_mode"), r("torque_limit")
	if d.limit == nil {
		d.limit = r("max_torque") // with the lock closed: the copy in RAM
	}
	d.goalTime, d.size, d.full = r("goal_time"), stateSize, float64(d.limit.Max)
	if m.Series == HLS { // the current is at the address of other series' time, and is the limit as well
		d.goalTime, d.limit, d.current, d.size = r("goal_current"), r("goal_current"), r("present_current"), currentSize
		d.full = float64(d.limit.Raw(m.StallCurrent))
	}
	d.position, d.velocity, d.load = r("present_position"), r("present_velocity"), r("present_load")
	d.volts, d.celsius, d.error = r("present_voltage"), r("present_temperature"), r("hardware_error")
	d.acceleration, d.goalPosition = r("goal_acceleration"), r("goal_position")
	d.goalSpeed = r("goal_velocity")
	d.maxLimit, d.low, d.high = d.limit.Max, d.m.MinTicks, d.m.MaxTicks
	d.fatal = Alarms(byte(r("unload_condition").Default))
}

// at returns r's raw value in data that was read from addr.
func at(r *servo.Register, data []byte, addr byte) int64 { return r.Decode(data[r.Addr-uint16(addr):]) }

func (b *protocol) Connect(x *servo.Exchange) { b.link = newLink(x) }

func (b *protocol) ParserStats() (uint64, uint64) {
	return b.link.parser.BadChecksum, b.link.parser.Garbage
}

// Identify reads the model and the settings of servo i.
func (b *protocol) Identify(i int) error {
	d, dev, l := &b.devices[i], &b.chain.Devices[i], b.link
	f, err := l.identity(d.cfg.ID)
	if err != nil {
		return err
	}
	if f.series != d.m.Series || d.m.Number != 0 && f.number != d.m.Number {
		// Goals in another model's units are dangerous.
		dev.Barred = true
		got := fmt.Sprintf("model %d", f.number)
		if m := modelByNumber(f.number); m != nil {
			got = m.Name
		}
		return dev.Error(hal.BusFault, "open", fmt.Errorf("got %s, want %s", got, d.m.Name))
	}
	k, err := l.read(d.cfg.ID, setupAt, setupSize, maxDelay)
	if err != nil {
		return err
	}
	read := func(name string) int64 { return at(d.m.Register(name), k.Params, setupAt) }
	d.fatal = Alarms(byte(read("unload_condition")))
	if d.m.Series == HLS { // it has no delay to set
		d.delay, d.maxLimit = 0, read("protection_current")
	} else {
		d.delay, d.maxLimit = time.Duration(read("return_delay"))*2*time.Microsecond, read("max_torque")
	}
	low, high := read("min_position"), read("max_position")
	switch {
	case low < high:
		d.low, d.high = float64(low), float64(high)
	case d.m.Series == SCS:
		return dev.Error(hal.BusFault, "open",
			errors.New("its position limits make it a wheel: set min_position and max_position"))
	}
	if d.mode != nil {
		d.modeNow, d.coarse = int(read("operating_mode")), 1
		if d.m.Series == STS && read("phase")&phaseFineSpeed == 0 {
			d.coarse = coarseSpeed
		}
	} else {
		d.modeNow = modePosition
	}
	if d.m.Register("homing_offset") != nil {
		dev.State.Homing = float64(read("homing_offset"))
	}
	dev.Torque = servo.SwitchOf(read("torque_enable") != 0)
	dev.State.Torque = dev.Torque == servo.On
	return nil
}

// Holds reports whether servo i is in its position mode and near its goal.
func (b *protocol) Holds(i int) (bool, error) {
	d := &b.devices[i]
	if d.modeNow != modePosition {
		return false, nil
	}
	goal, err := b.link.register(d.cfg.ID, d.goalPosition, d.delay)
	if err != nil {
		return false, err
	}
	at, err := b.link.register(d.cfg.ID, d.position, d.delay)
	return err == nil && servo.NearGoal(float64(goal), float64(at), d.m.TicksPerTurn), err
}

// SyncRead reads the states of many by sync read. Answers come in the order asked for, but a missing one is not allowed
// to hide another, so any order is taken.
func (b *protocol) SyncRead(_ servo.Level, list []int) error {
	l, size := b.link, byte(stateSize)
	for _, i := range list { // the servos of both series have the longer one
		size = max(size, b.devices[i].size)
	}
	g := feetechwire.BeginGroup(l.Out[:0], feetechwire.SyncRead, stateAt, size)
	delay := time.Duration(0)
	for _, i := range list {
		g.Add(b.devices[i].cfg.ID, nil)
		delay += b.devices[i].delay
	}
	l.Out = g.End()
	if err := l.Ask(&l.parser.Framer, len(list)*(6+int(size)), delay); err != nil {
		return err
	}
	for left := len(list); left > 0; {
		k, err := l.status()
		if err != nil {
			if errors.Is(err, servo.ErrCorrupt) {
				b.garbled(list)
			}
			return err
		}
		// A second reply under one id matches no pending servo, and is dropped.
		for _, i := range list {
			dev := &b.chain.Devices[i]
			if b.devices[i].cfg.ID != k.ID || dev.Answered || len(k.Params) != int(size) {
				continue
			}
			if left--; b.parseState(i, &k) {
				b.chain.MarkReceived(i)
			} else {
				dev.Garbled = true
			}
			break
		}
	}
	return nil
}

// garbled notes that the first of list without an answer sent a bad one.
func (b *protocol) garbled(list []int) {
	for _, i := range list {
		if dev := &b.chain.Devices[i]; !dev.Answered {
			dev.Garbled = true
			return
		}
	}
}

func (b *protocol) ReadState(i int) error {
	d := &b.devices[i]
	k, err := b.link.read(d.cfg.ID, stateAt, int(d.size), d.delay)
	if err == nil && !b.parseState(i, &k) {
		err = servo.ErrCorrupt
	}
	return err
}

// parseState fills in a state that was read from stateAt. It refuses an impossible state, and one without voltage: a
// servo without supply cannot reply. Zeros remain when two servos reply at once, and one checksum in 256 matches by
// chance.
func (b *protocol) parseState(i int, k *feetechwire.Packet) bool {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	s := &dev.State
	ticks := float64(at(d.position, k.Params, stateAt))
	if at(d.volts, k.Params, stateAt) == 0 ||
		!dev.Believes(ticks, d.m.TicksPerTurn, d.m.MaxVelocity, b.link.Port.Now()) {
		return false
	}
	s.Position = ticks
	s.Velocity = d.velocity.SI(at(d.velocity, k.Params, stateAt)) * d.coarse
	if s.Effort = d.load.SI(at(d.load, k.Params, stateAt)); d.current != nil {
		s.Effort = d.current.SI(at(d.current, k.Params, stateAt))
	}
	s.Voltage = d.volts.SI(at(d.volts, k.Params, stateAt))
	s.Temperature = d.celsius.SI(at(d.celsius, k.Params, stateAt))
	// A rising alarm requests a health read, which reports whether torque is still on.
	was := s.Alarm
	if d.note(s, k.Code); s.Alarm&^was != 0 {
		dev.Verify = true
	}
	return true
}

// note notes the faults of an error byte.
func (d *device) note(s *servo.State, bits byte) {
	s.Report.Set(faults, uint64(bits))
	s.Spares = s.Alarm != 0 && s.Alarm&d.fatal == 0
}

// healthAddress is where the health read of d begins: with the mode, where there is one.
func (d *device) healthAddress() byte {
	if d.mode != nil {
		return byte(d.mode.Addr)
	}
	return byte(d.torque.Addr)
}

// ReadHealth reads mode, torque, limit and alarms of servo i.
func (b *protocol) ReadHealth(i int) error {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	from := d.healthAddress()
	k, err := b.link.read(d.cfg.ID, from, healthEnd-int(from), d.delay)
	if err != nil {
		return err
	}
	d.note(&dev.State, k.Code)
	if d.mode != nil {
		d.modeNow = int(at(d.mode, k.Params, from))
	}
	torque := servo.SwitchOf(at(d.torque, k.Params, from) != 0)
	// Torque that is off counts as switched off by an alarm only while a fatal alarm is active.
	if dev.SawTorque(torque, torque == servo.Off && dev.State.Alarm&d.fatal != 0) && d.limit.Addr >= uint16(from) &&
		d.limitStands() {
		if at(d.limit, k.Params, from) != d.limitNow { // a packet was lost, or another program wrote
			d.limitNow = -1
		}
	}
	return nil
}

// Invalidate reports that limit and mode have to be written again.
func (b *protocol) Invalidate(i int) {
	d := &b.devices[i]
	if d.limitNow, d.modeNow = -1, -1; d.mode == nil { // SCS have only one mode
		d.modeNow = modePosition
	}
}

// Clear switches torque off again, which ends an overload; the alarm must be over with its cause.
func (b *protocol) Clear(i int) error {
	d := &b.devices[i]
	if err := b.link.store(d.cfg.ID, d.torque, 0, d.delay); err != nil {
		return err
	}
	k, err := b.link.read(d.cfg.ID, stateAt, stateSize, d.delay)
	if err != nil {
		return err
	}
	return faults.Report("", uint64(k.Code)).Left()
}

// limitRaw is the effort limit of a goal as a raw value, within the limit in EEPROM.
func (d *device) limitRaw(share float64) int64 {
	return min(int64(math.Round(share*d.full)), d.maxLimit)
}

// limitStands reports that the limit has a register of its own at present: of an HLS in its current mode that holds the
// goal.
func (d *device) limitStands() bool { return d.current == nil || d.modeNow != modeCurrent }

// currentRaw is the goal_current of an HLS: the goal in current mode, else the limit. It is at least one count: at zero
// the motor loses torque until it is started again.
func (d *device) currentRaw(goal float64, mode hal.Mode, share float64) int64 {
	most := d.limitNow
	if most < 0 { // not known: the servo is as its EEPROM has it, which is no less
		most = d.limitRaw(share)
	}
	if mode == hal.TorqueMode {
		return min(max(d.goalTime.Raw(goal), -most), most)
	}
	return max(most, 1)
}
