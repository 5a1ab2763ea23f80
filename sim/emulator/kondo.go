package emulator

import (
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo/kondo"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// kondoKind is the kind of Kondo servos under ICS. The relation of the heat parameter to degrees is not published: it
// falls by one a degree here, so that its default limit of 30 is near 100 °C.
type kondoKind struct{ m *kondo.Model }

// NewKondo returns a Kondo servo of model m on act, fresh from the factory but for its ID, which must be 0..31. The
// servo owns act's commands and its backlash from now on; the scene moves it.
func NewKondo(m *kondo.Model, id int, act *actuator.Servo, truth GroundTruth) *Servo {
	s := &Servo{kind: kondoKind{m}, sheet: sheet{m.Name, 1, m.TicksPerTurn, m.Centre, m.MinTicks, m.MaxTicks}}
	s.make(m.Registers, id, act, truth)
	return s
}

func (kondoKind) protocol(b *Bus) protocol { return newKondoProtocol(b) }
func (kondoKind) baud(s *Servo) int        { return kondo.Bauds()[s.get(rBaud)] }
func (kondoKind) derive(*Servo)            {}

func (k kondoKind) tune(s *Servo, baud int) {
	if code, ok := k.m.BaudCode(baud); ok {
		s.set(rBaud, int64(code))
	}
}

// start leaves the servo free.
func (kondoKind) start(s *Servo) { s.set(rGoalPosition, int64(s.shaft())) }

func (k kondoKind) drive(s *Servo) {
	const middle, most = 60, 127 // stretch as it comes; the greatest speed
	a := s.act
	a.Enable = s.get(rTorqueEnable) == 1
	a.Mode, a.GoalPosition = hal.PositionMode, s.angle(float64(s.get(rGoalPosition)))
	// Stretch scales the stiffness, the current limit what the bridge gives; the speed is a share of the greatest.
	a.Gains = a.Spec.Gains
	a.Gains.P *= float64(s.get(rStretch)) / middle
	a.Limit, a.DutyLimit = float64(s.get(rCurrentLimit))/63, 1
	a.TimeBased, a.ProfileVelocity, a.ProfileAcceleration = false, 0, 0
	if v := s.get(rSpeed); v < most {
		a.ProfileVelocity = k.m.MaxVelocity * float64(v) / most / s.groundTruth.Gear
	}
}

// notice frees a servo that is too hot.
func (k kondoKind) notice(s *Servo) {
	if s.heat() <= s.get(rHeatLimit) && s.get(rTorqueEnable) == 1 {
		s.set(rTorqueEnable, 0)
		s.drive()
	}
}

// heat is the parameter by which the servo tells its temperature: the lower, the hotter.
func (s *Servo) heat() int64 { return min(max(int64(127-s.act.Temperature), 1), 127) }

func (k kondoKind) show(s *Servo, r *reading) {
	s.set(rPresentPosition, int64(r.shaft))
	// Six bits of tenths of an ampere, and one for the way.
	raw := int64(min(max(r.amps, -r.amps)/0.1, 63))
	if r.amps < 0 {
		raw |= 0x40
	}
	s.set(rPresentAmps, raw)
	s.set(rHeat, s.heat())
}

// kondoProtocol is what ICS servos understand.
type kondoProtocol struct {
	bus    *Bus
	parser *kondo.Parser
	packet kondo.Packet
}

// newKondoProtocol makes a byte on b's wire eleven bits long, for the parity.
func newKondoProtocol(b *Bus) *kondoProtocol {
	b.path.Bits = 11
	return &kondoProtocol{bus: b, parser: kondo.NewParser(kondo.FromHost)}
}

func (t *kondoProtocol) reset() { t.parser.Reset() }

func (t *kondoProtocol) parse(p []byte, start time.Duration) {
	t.bus.feed(&t.parser.Framer, p, start, func() bool { return t.parser.Next(&t.packet) }, t.handle)
}

// handle hands the packet at hand, whose last byte ended at now, to the servos that it is for and sends their answers. A
// command about the ID is for all, whatever its own; they answer at once.
func (t *kondoProtocol) handle(now time.Duration) {
	b, k := t.bus, t.packet
	b.update(now)
	for _, s := range b.servos {
		if !b.canReceive(s, now) || k.Op != kondo.ID && int64(k.ID) != s.get(rID) {
			continue
		}
		s.heard = now
		answer := k
		if !t.single(s, &answer) {
			continue
		}
		s.drive()
		b.packet = kondo.AppendPacket(b.packet[:0], &answer, kondo.FromServos)
		sent := b.transmit(s, b.packet, now, s.baud())
		if sent.doubled { // the twin is elsewhere
			answer.A, answer.B = ^answer.A&0x7F, ^answer.B&0x7F
			b.packet = kondo.AppendPacket(b.packet[:0], &answer, kondo.FromServos)
			b.path.Put(b.packet, sent.start, s.baud())
		}
	}
}

// single obeys k and makes its answer of it, false where there is none.
func (t *kondoProtocol) single(s *Servo, k *kondo.Packet) bool {
	// The answer to everything is of now, before the command has done anything.
	s.measure()
	switch k.Op {
	case kondo.Position:
		if goal := k.Value(); goal == 0 {
			s.set(rTorqueEnable, 0)
		} else {
			s.set(rTorqueEnable, 1)
			s.set(rGoalPosition, int64(min(max(float64(goal), s.sheet.low), s.sheet.high)))
		}
		*k = kondo.At(k.ID, int(s.get(rPresentPosition)))
	case kondo.Read:
		if k.A < kondo.Stretch || k.A > kondo.Heat {
			return false
		}
		// Of the last two what is measured, not the limits that are written there.
		n := [...]name{rStretch, rSpeed, rPresentAmps, rHeat}[k.A-kondo.Stretch]
		k.B = byte(s.get(n))
	case kondo.Write:
		r, n := s.register(int(k.A))
		if r == nil || k.A < kondo.Stretch || k.A > kondo.Heat {
			return false
		}
		s.set(n, int64(k.B))
		k.B = byte(s.get(n))
	case kondo.ID:
		if k.A == 1 {
			s.set(rID, int64(k.ID))
		}
		k.ID = byte(s.get(rID))
	}
	return true
}
