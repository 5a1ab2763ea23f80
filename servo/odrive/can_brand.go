package odrive

import (
	"errors"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/servo"
)

// frameBits is what a standard frame of 8 bytes takes at the most, stuffing and the gap included, shared out over the
// bytes that it is on a line: 135 bits of 16 bytes, rounded up. remoteBits is a whole remote frame.
const (
	frameBits  = 9
	remoteBits = 55
)

// canDelay is what a node needs before an answer.
const canDelay = time.Millisecond

// beatPatience is how long a heartbeat may be away: one and a half of its usual periods.
const beatPatience = 150 * time.Millisecond

// canBrand is the servo.Brand of a CANChain.
type canBrand struct {
	cfg     *ChainConfig
	roster  *servo.Roster
	x       *servo.CANExchange
	devices []device
	changed bool // an axis was prepared in this Send
	patient bool // heartbeats are waited for
}

// Connect takes a line; heartbeats of an earlier one say nothing any more.
func (b *canBrand) Connect(x *servo.Exchange) {
	b.x = servo.NewCANExchange(x, b.take)
	for i := range b.devices {
		b.devices[i].beatAt = -1
	}
}

// Noise is what was no frame; the bus itself drops what is damaged.
func (b *canBrand) Noise() (uint64, uint64) { return 0, b.x.Bad }

// take takes one frame; it says whether it was waited for.
func (b *canBrand) take(f *servo.CANFrame) bool {
	node, c, ok := Split(f)
	if !ok || f.Remote {
		return false
	}
	for i := range b.devices {
		if d := &b.devices[i]; d.cfg.ID == node {
			if !b.hear(i, c, f) || d.due&(1<<c) == 0 {
				return false
			}
			d.due &^= 1 << c
			return true
		}
	}
	return false
}

// hear takes what node i says; false where it is nothing that a node says.
func (b *canBrand) hear(i int, c Command, f *servo.CANFrame) bool {
	d, s := &b.devices[i], &b.roster.Seats[i].State
	switch c {
	case GetVersion:
		d.dialect = V06
		return f.Len == 8
	case Heartbeat:
		beat, ok := ParseBeat(f)
		if !ok {
			return false
		}
		d.beat, d.beatAt = beat, b.x.Port.Now()
	case Estimates:
		at, speed := f.Float(0), f.Float(4)
		if !finite(at) || !finite(speed) {
			return false
		}
		s.Position, s.Velocity = at*TicksPerTurn, speed*2*math.Pi
		d.heard = true
	case GetIq:
		if v := f.Float(4); finite(v) {
			s.Effort = v
		}
	case GetBus:
		if v := f.Float(0); finite(v) {
			s.Voltage = v
		}
	case GetTemperature:
		if v := f.Float(0); finite(v) {
			s.Temperature = v
		}
	case TxSDO:
		sdo, ok := ParseSDO(f)
		if !ok {
			return false
		}
		d.sdo = sdo
	default:
		return false
	}
	return true
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func (b *canBrand) put(f servo.CANFrame) { b.x.Put(&f) }

// ask stages the question of node i for c.
func (b *canBrand) ask(i int, c Command) {
	b.devices[i].due |= 1 << c
	b.put(Ask(b.devices[i].cfg.ID, c))
}

// Meet asks node i for its version, which 0.5 does not know, and else for what both do.
func (b *canBrand) Meet(i int) error {
	d := &b.devices[i]
	if err := b.x.Drain(); err != nil {
		return err
	}
	b.ask(i, GetVersion)
	err := b.x.Collect(1, canDelay)
	if d.due = 0; errors.Is(err, servo.ErrSilent) {
		b.ask(i, Estimates)
		if err = b.x.Collect(1, canDelay); err == nil {
			d.dialect = V05
		}
		d.due = 0
	}
	d.heard = false
	return err
}

// Group asks many for their estimates and their currents with remote frames, all at once.
func (b *canBrand) Group(list []int) error {
	// What came unasked meanwhile is old by now, but for heartbeats, whose time is not so exact.
	if err := b.x.Drain(); err != nil {
		return err
	}
	for _, i := range list {
		b.devices[i].heard = false
		b.ask(i, Estimates)
		b.ask(i, GetIq)
	}
	err := b.x.Collect(2*len(list), canDelay)
	for _, i := range list {
		d := &b.devices[i]
		if d.due = 0; d.heard {
			b.weigh(i)
			b.roster.Heard(i)
		}
	}
	return err
}

// settling is what an axis may need to come to the state that it was told.
const settling = 10 * time.Millisecond

// stale tells that node i has said nothing of its state since it was told another one.
func (d *device) stale() bool { return d.beatAt < 0 || d.telling || d.beatAt < d.toldAt+settling }

// weigh judges node i by its last heartbeat, if that came after it was told another state.
func (b *canBrand) weigh(i int) {
	if d := &b.devices[i]; !d.stale() {
		d.judge(&b.roster.Seats[i], d.beat)
	}
}

// Ask is Group for one.
func (b *canBrand) Ask(i int) error {
	list := [1]int{i}
	err := b.Group(list[:])
	if !b.devices[i].heard && err == nil {
		err = servo.ErrSilent
	}
	if b.devices[i].heard {
		return nil // its current alone is missing
	}
	return err
}

// Look reads the voltage or the temperature of node i, and judges it by its heartbeat, which only Halt waits for.
func (b *canBrand) Look(i int) error {
	d := &b.devices[i]
	if b.patient {
		for range 2 { // the first may be of the moment in which it stopped
			if !d.stale() {
				break
			}
			d.due = 1 << Heartbeat
			err := b.x.Collect(1, beatPatience)
			if d.due = 0; err != nil {
				return err
			}
		}
		b.weigh(i)
		return nil
	}
	// 0.5 does not tell its temperature over CAN.
	d.turn++
	c := GetBus
	if d.dialect == V06 && d.turn%2 == 0 {
		c = GetTemperature
	}
	b.ask(i, c)
	err := b.x.Collect(1, canDelay)
	if d.due = 0; err == nil {
		b.weigh(i)
	}
	return err
}

// Forget says that the limit has to be written again; the rest is before every arming.
func (b *canBrand) Forget(i int) { b.devices[i].limit = math.NaN() }

// Clear frees node i of its errors and waits for a heartbeat without them.
func (b *canBrand) Clear(i int) error {
	d := &b.devices[i]
	b.put(Frame(d.cfg.ID, ClearErrors))
	if err := b.x.Drain(); err != nil {
		return err
	}
	d.due = 1 << Heartbeat
	err := b.x.Collect(1, beatPatience)
	if d.due = 0; err != nil {
		return err
	}
	return d.remaining()
}

// Ready prepares node i: that the host was away is forgotten, and the watchdog is set where its endpoints are known.
func (b *canBrand) Ready(i int) (bool, error) {
	d, seat := &b.devices[i], &b.roster.Seats[i]
	if seat.Torque != servo.Off {
		seat.Verify = true
		b.Off(i)
		return false, nil
	}
	if b.changed {
		return false, nil
	}
	b.changed = true
	if d.beat.Errors != 0 && d.beat.Errors.Alarm(d.dialect) == 0 {
		b.put(Frame(d.cfg.ID, ClearErrors))
	}
	if err := b.guard(i); err != nil {
		return false, err
	}
	d.control, d.limit = wanted(&seat.Goal), math.NaN()
	return true, nil
}

var errWatchdog = errors.New("its watchdog cannot be set by the endpoints of the config: take those of its firmware's flat_endpoints.json")

// guard writes the watchdog of node i and reads it back.
func (b *canBrand) guard(i int) error {
	d := &b.devices[i]
	for _, s := range d.cfg.Settings {
		w := SDO{Write: true, Endpoint: uint16(s.Value), Value: 1}
		if s.Register == watchdogEndpoint {
			w.Value = floatWord(Watchdog.Seconds())
		}
		b.put(w.Frame(d.cfg.ID, RxSDO))
		b.put(SDO{Endpoint: w.Endpoint}.Frame(d.cfg.ID, RxSDO))
		d.due |= 1 << TxSDO
		err := b.x.Collect(1, canDelay)
		if d.due &^= 1 << TxSDO; err != nil {
			return err
		}
		if d.sdo.Endpoint != w.Endpoint || d.sdo.Value != w.Value {
			b.roster.Seats[i].Hold(errWatchdog)
			return servo.ErrMangled
		}
		d.guarded = true
	}
	return nil
}

// Steps of arming: the control with the goal where it stands, the torque, and the goal once more.
func (b *canBrand) Steps() int { return 3 }

// Off stages no torque. Said again, it is not news.
func (b *canBrand) Off(i int) { b.request(i, Idle, b.devices[i].asked != Idle) }

func (b *canBrand) request(i int, s State, news bool) {
	d := &b.devices[i]
	d.asked, d.telling = s, d.telling || news
	b.put(Words(d.cfg.ID, SetState, uint32(s)))
}

// Arm stages a step of giving torque.
func (b *canBrand) Arm(i, step int) {
	switch step {
	case 0:
		b.put(Words(b.devices[i].cfg.ID, SetControl, uint32(b.devices[i].control), Passthrough))
	case 1:
		b.goal(i, true)
		b.request(i, ClosedLoop, true)
		return
	}
	b.goal(i, true)
}

// Aim stages the goal of node i. What it controls changes at rest alone.
func (b *canBrand) Aim(i int) {
	if seat := &b.roster.Seats[i]; wanted(&seat.Goal) != b.devices[i].control {
		seat.Disarm()
		b.Off(i)
		return
	}
	b.goal(i, false)
}

// goal stages the goal of node i, and its limits where they have changed. rest asks for no motion.
func (b *canBrand) goal(i int, rest bool) {
	d, seat := &b.devices[i], &b.roster.Seats[i]
	if amps, changed := d.amps(seat); changed {
		b.put(Floats(d.cfg.ID, SetLimits, d.m.Velocity/(2*math.Pi), amps))
	}
	switch control, v := d.goal(seat, rest); control {
	case VelocityControl:
		b.put(Floats(d.cfg.ID, InputVel, v, 0))
	case TorqueControl:
		b.put(Floats(d.cfg.ID, InputTorque, v))
	default:
		b.put(Position(d.cfg.ID, v))
	}
}

// Stage has nothing to do: frames leave in the order they are staged, as one sender's do.
func (b *canBrand) Stage() {}

// Flush ends a Send.
func (b *canBrand) Flush() error {
	b.changed = false
	if len(b.x.Out) == 0 {
		return nil
	}
	// What has come by now was said before what is told now.
	if err := b.x.Drain(); err != nil {
		return err
	}
	err := b.x.Tell()
	for i := range b.devices {
		if d := &b.devices[i]; d.telling {
			d.telling, d.toldAt = false, b.x.Port.Now()
		}
	}
	return err
}
