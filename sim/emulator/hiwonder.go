package emulator

import (
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/hiwonder"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// hiwonderKind is the kind of Hiwonder servos. Decisions where the source is silent:
//
//   - A parameter out of its range is not taken, nor are the others of its command.
//   - A move does not switch the torque on; it is remembered for when it is.
//   - Heat, and a supply outside of the limits, take the torque while they last; it has to be switched on again.
type hiwonderKind struct{ m *hiwonder.Model }

// NewHiwonder returns a Hiwonder servo of model m on act, fresh from the factory but for its ID, which must be 0..253.
// The servo owns act's commands and its backlash from now on; the scene moves it.
func NewHiwonder(m *hiwonder.Model, id int, act *actuator.Servo, truth GroundTruth) *Servo {
	s := &Servo{kind: hiwonderKind{m}, sheet: sheet{m.Name, 0, m.TicksPerTurn, m.Centre, m.MinTicks, m.MaxTicks}}
	s.make(m.Registers, id, act, truth)
	s.flash = append(s.flash, s.bytes...)
	return s
}

func (hiwonderKind) protocol(b *Bus) protocol { return newHiwonderProtocol(b) }
func (hiwonderKind) baud(*Servo) int          { return hiwonder.Baud }
func (hiwonderKind) tune(*Servo, int)         {}

// start brings back what was kept, with the goal where the servo stands.
func (k hiwonderKind) start(s *Servo) {
	s.recover()
	s.set(rGoalPosition, int64(k.present(s, s.shaft())))
}

// derive follows a change of what is kept from outside.
func (hiwonderKind) derive(s *Servo) { s.flash = append(s.flash[:0], s.bytes...) }

// recover brings the EEPROM back to what it holds.
func (s *Servo) recover() {
	for i := range s.table {
		if r := &s.table[i]; r.Access == servo.EEPROM && s.flash != nil {
			copy(s.bytes[r.Addr:r.Addr+r.Size], s.flash[r.Addr:])
		}
	}
}

// present is the position that the servo tells for a shaft position, ticks.
func (hiwonderKind) present(s *Servo, shaft float64) float64 {
	return shaft + float64(s.get(rAngleOffset))
}

func (k hiwonderKind) drive(s *Servo) {
	a := s.act
	a.Enable, a.Limit, a.DutyLimit = s.get(rTorqueEnable) == 1, 1, 1
	low, high := s.get(rMinPosition), s.get(rMaxPosition)
	goal := float64(min(max(s.get(rGoalPosition), low), high))
	a.GoalPosition = s.angle(goal - float64(s.get(rAngleOffset)))
	// A move has a time instead of a speed; 0 is as fast as it can.
	a.TimeBased, a.ProfileVelocity, a.ProfileAcceleration = true, s.si(rGoalTime), 0
	if a.Mode = hal.PositionMode; s.get(rMotorMode) == 1 {
		a.Mode, a.GoalDuty = hal.DutyMode, s.groundTruth.Direction*s.si(rGoalPWM)
	}
}

func (hiwonderKind) notice(s *Servo) {
	s.alarm = s.act.Alarm
	if s.alarm&(actuator.AlarmHeat|actuator.AlarmVoltage|actuator.AlarmOverload) != 0 && s.get(rTorqueEnable) == 1 {
		s.set(rTorqueEnable, 0)
		s.drive()
	}
}

func (k hiwonderKind) show(s *Servo, r *reading) {
	s.set(rPresentPosition, int64(k.present(s, r.shaft)))
	s.setSI(rPresentVoltage, r.volts)
	s.setSI(rPresentTemperature, r.temperature)
}

// hiwonderProtocol is what Hiwonder servos understand.
type hiwonderProtocol struct {
	bus      *Bus
	parser   *hiwonder.Parser
	packet   hiwonder.Packet
	commands []hiwonder.Command
	twin     []byte
}

// The commands without registers.
const (
	hiwonderStart = 11
	hiwonderStop  = 12
	hiwonderSave  = 18
)

func newHiwonderProtocol(b *Bus) *hiwonderProtocol {
	return &hiwonderProtocol{bus: b, parser: hiwonder.NewParser(), commands: hiwonder.Commands(), twin: make([]byte, 0, 16)}
}

func (t *hiwonderProtocol) reset() { t.parser.Reset() }

func (t *hiwonderProtocol) parse(p []byte, start time.Duration) {
	t.bus.feed(&t.parser.Framer, p, start, func() bool { return t.parser.Next(&t.packet) }, t.handle)
}

// handle hands the packet at hand, whose last byte ended at now, to the servos that it is for and sends their answers.
func (t *hiwonderProtocol) handle(now time.Duration) {
	b, k := t.bus, &t.packet
	b.update(now)
	for _, s := range b.servos {
		if !b.canReceive(s, now) || k.ID != hiwonder.Broadcast && int64(k.ID) != s.get(rID) {
			continue
		}
		s.heard = now
		t.single(s, now)
		s.drive()
	}
}

func (t *hiwonderProtocol) single(s *Servo, now time.Duration) {
	k := &t.packet
	switch k.Command {
	case hiwonderStart:
		s.set(rGoalPosition, s.get(rRegisteredPosition))
		s.set(rGoalTime, s.get(rRegisteredTime))
		return
	case hiwonderStop:
		s.set(rGoalPosition, int64(hiwonderKind{}.present(s, s.shaft())))
		s.set(rGoalTime, 0)
		return
	case hiwonderSave:
		r := s.named[rAngleOffset]
		copy(s.flash[r.Addr:r.Addr+r.Size], s.bytes[r.Addr:])
		return
	}
	// All others are bytes of the table, told or asked for.
	for i := range t.commands {
		c := &t.commands[i]
		switch {
		case c.Read == k.Command && len(k.Params) == 0:
			s.measure()
			t.answer(s, c, now)
		case c.Write == k.Command && c.Write != 0 && len(k.Params) == int(c.Size):
			s.writeAll(c, k.Params)
		}
	}
}

// writeAll stores the registers of a command, all or none.
func (s *Servo) writeAll(c *hiwonder.Command, params []byte) {
	// The first pass looks whether all may be taken, the second takes them.
	for pass := range 2 {
		for at := c.Addr; at < c.Addr+c.Size; at++ {
			r, n := s.register(int(at))
			if r == nil || r.Addr != at {
				continue
			}
			v := r.Decode(params[at-c.Addr:])
			if pass == 0 && (v < r.Min || v > r.Max) {
				return
			}
			if pass == 0 {
				continue
			}
			s.store(r, v)
			if n == rTorqueEnable {
				s.act.ClearAlarm() // the way out of a protection whose cause is over; no document says so
				s.alarm = 0
			}
			// All that is kept is kept at once, but for the offset, which is saved by a command of its own.
			if r.Access == servo.EEPROM && n != rAngleOffset {
				copy(s.flash[r.Addr:r.Addr+r.Size], s.bytes[r.Addr:])
			}
		}
	}
}

// answer sends the bytes that a command reads.
func (t *hiwonderProtocol) answer(s *Servo, c *hiwonder.Command, now time.Duration) {
	b := t.bus
	s.answer = append(s.answer[:0], s.bytes[c.Addr:c.Addr+c.Size]...)
	k := hiwonder.Packet{ID: byte(s.get(rID)), Command: c.Read, Params: s.answer}
	b.packet = hiwonder.AppendPacket(b.packet[:0], &k)
	sent := b.transmit(s, b.packet, now, hiwonder.Baud)
	if sent.doubled {
		for i := range s.answer { // the twin measures something else
			s.answer[i] = ^s.answer[i]
		}
		t.twin = hiwonder.AppendPacket(t.twin[:0], &k)
		b.path.Put(t.twin, sent.start, hiwonder.Baud)
	}
}
