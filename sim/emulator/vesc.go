package emulator

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/servo/vesc"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// vescKind is the kind of VESC controllers. Decisions:
//
//   - The first of a line's controllers stands at its end, the others behind it on a CAN bus of 500 kbit/s, the firmware's own
//     rate, whose frames go out in the order in which they were wanted. One that is behind a dark one is not reached.
//   - A fault is over when its cause is and half a second has passed, as the firmware's.
type vescKind struct {
	motorKind
	m *vesc.Model
}

// NewVESC returns a controller of model m on act, with a timeout of 1 s; its ID must be 0..253. The servo owns act's
// commands and its backlash from now on; the scene moves it.
func NewVESC(m *vesc.Model, id int, act *actuator.Servo, truth GroundTruth) *Servo {
	u := m.Units()
	k := &vescKind{motorKind{name: m.Name, amps: m.Amps, low: u.MinTicks, high: u.MaxTicks, centre: u.CentreTicks,
		wraps: m.Encoder, relative: !m.Encoder, guard: true}, m}
	return newMotor(k, &k.motorKind, vesc.LastID, 1000, id, act, truth)
}

func (k *vescKind) protocol(b *Bus) protocol { return newVESCProtocol(b) }

// values are what the controller measures.
func (k *vescKind) values(s *Servo) vesc.Values {
	s.measure()
	pairs := float64(k.m.PolePairs)
	v := vesc.Values{
		vesc.TempFET: s.si(rPresentTemperature), vesc.TempMotor: s.si(rPresentTemperature),
		vesc.Current: s.si(rPresentCurrent), vesc.CurrentQ: s.si(rPresentCurrent), vesc.Duty: s.si(rPresentPWM),
		vesc.CurrentIn: s.si(rPresentCurrent) * s.si(rPresentPWM),
		vesc.ERPM:      s.si(rPresentVelocity) * 60 / (2 * math.Pi) * pairs, vesc.Volts: s.si(rPresentVoltage),
		vesc.TachoAbs: math.Round(s.motor.way / motorTicks * 6 * pairs), vesc.ControllerID: float64(s.get(rID)),
		vesc.FaultCode: float64(vescFault(s.alarm)),
	}
	// With an encoder the register is the angle; else it counts from where the power came.
	if at := float64(s.get(rPresentPosition)); k.m.Encoder {
		v[vesc.PosNow] = at / motorTicks * 360
		v[vesc.Tacho] = math.Round((s.shaft() - s.motor.zero) / motorTicks * 6 * pairs)
	} else {
		v[vesc.Tacho] = math.Round(at / motorTicks * 6 * pairs)
	}
	return v
}

// vescFault is the fault code of an alarm.
func vescFault(a actuator.Alarm) vesc.Fault {
	switch {
	case a&actuator.AlarmVoltage != 0:
		return 2
	case a&actuator.AlarmHeat != 0:
		return 6
	case a != 0:
		return 4
	}
	return 0
}

// notice forgets a fault whose cause is over.
func (k *vescKind) notice(s *Servo) {
	if s.alarm != 0 && s.act.Alarm == 0 {
		s.alarm = 0
	}
	k.motorKind.notice(s)
}

// vescProtocol is what VESC controllers understand.
type vescProtocol struct {
	bus     *Bus
	parser  *vesc.Parser
	payload []byte
	answer  []byte
	free    time.Duration // when the CAN bus behind the first falls idle
}

// viaCAN is when n bytes of payload that are wanted at now have gone over the CAN bus: in one frame behind two bytes of address, or
// in frames of seven, behind the 256th byte of six, and one of six that ends them (bldc, comm_can_send_buffer). Nothing is stuffed.
func (t *vescProtocol) viaCAN(n int, now time.Duration) time.Duration {
	const rate, bare = 500_000, 67 // bit/s; bits of an extended frame without data, and the gap
	bits := bare + 8*(2+n)
	if n > 6 {
		bits = bare + 8*6
		for at := 0; at < n; {
			size, head := min(7, n-at), 1
			if at > 255 {
				size, head = min(6, n-at), 2
			}
			bits += bare + 8*(head+size)
			at += size
		}
	}
	t.free = max(t.free, now) + time.Duration(bits)*time.Second/rate
	return t.free
}

func newVESCProtocol(b *Bus) *vescProtocol {
	b.duplex = true
	return &vescProtocol{bus: b, parser: vesc.NewParser(), answer: make([]byte, 0, vesc.MaxPayload)}
}

func (t *vescProtocol) reset() { t.parser.Reset() }

func (t *vescProtocol) parse(p []byte, start time.Duration) {
	next := func() bool { t.payload = t.parser.Next(); return t.payload != nil }
	t.bus.feed(&t.parser.Framer, p, start, next, t.handle)
}

// handle hands the payload at hand, whose last byte ended at now, to the controller that it is for.
func (t *vescProtocol) handle(now time.Duration) {
	b, p := t.bus, t.payload
	b.update(now)
	if len(b.servos) == 0 || len(p) == 0 || !b.canReceive(b.servos[0], now) {
		return
	}
	if vesc.Command(p[0]) != vesc.ForwardCAN {
		t.single(b.servos[0], p, now)
		return
	}
	for _, s := range b.servos[1:] {
		if len(p) > 2 && int64(p[1]) == s.get(rID) && b.canReceive(s, now) {
			t.single(s, p[2:], t.viaCAN(len(p)-2, now))
		}
	}
}

// single lets s obey p.
func (t *vescProtocol) single(s *Servo, p []byte, now time.Duration) {
	k := s.kind.(*vescKind)
	a := append(t.answer[:0], p[0])
	be := binary.BigEndian
	switch c := vesc.Command(p[0]); c {
	case vesc.FWVersion:
		// Major, minor, hardware, a number of 12 bytes; paired, no test version, a VESC, no settings of its own, no phase filters,
		// no pages of its own (twice), no flags of a radio, no name, no sum.
		a = append(append(append(a, 6, 5), "60_MK6\x00HALYARD-VES"...), byte(s.get(rID)))
		a = append(a, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	case vesc.GetValues:
		v := k.values(s)
		a = v.Append(a, math.MaxUint32)
	case vesc.Selective:
		if len(p) != 5 {
			return
		}
		v, mask := k.values(s), be.Uint32(p[1:])
		a = v.Append(be.AppendUint32(a, mask), mask)
	case vesc.GetMcConfTemp:
		for range 10 { // limits, which are the actuator's
			a = be.AppendUint32(a, math.Float32bits(1))
		}
		a = append(a, byte(2*k.m.PolePairs))
		a = be.AppendUint32(be.AppendUint32(a, math.Float32bits(1)), math.Float32bits(0.1))
	case vesc.GetAppConf:
		a = append(be.AppendUint32(a, 0x1F2E3D4C), byte(s.get(rID)))
		a = append(be.AppendUint32(a, uint32(s.get(rTimeout))), make([]byte, 300)...)
	case vesc.PingCAN:
		for _, other := range t.bus.servos[1:] {
			if t.bus.canReceive(other, now) {
				a = append(a, byte(other.get(rID)))
			}
		}
	case vesc.Alive:
		s.heard = s.now
		return
	default:
		k.set(s, p)
		return
	}
	t.send(s, a, now)
}

// set obeys a command that tells a goal.
func (k *vescKind) set(s *Servo, p []byte) {
	c, v, ok := vesc.ParseSet(p)
	if !ok || s.alarm != 0 {
		return
	}
	s.motor.expired = false
	switch c {
	case vesc.SetDuty:
		s.setGoal(controlDuty, rGoalPWM, v)
	case vesc.SetCurrent:
		s.setGoal(controlTorque, rGoalCurrent, v)
		if v == 0 {
			s.set(rTorqueEnable, 0)
		}
	case vesc.SetRPM:
		s.setGoal(controlVelocity, rGoalVelocity, v/float64(k.m.PolePairs)*2*math.Pi/60)
	case vesc.SetPos:
		s.setGoal(controlPosition, rGoalPosition, v*math.Pi/180)
	case vesc.SetCurrentBrake:
		s.setGoal(controlVelocity, rGoalVelocity, 0)
	}
	s.drive()
}

// send sends an answer of s, by way of the first where it is another.
func (t *vescProtocol) send(s *Servo, payload []byte, now time.Duration) {
	b := t.bus
	if s != b.servos[0] {
		now = t.viaCAN(len(payload), now)
	}
	b.packet = vesc.AppendPacket(b.packet[:0], payload)
	sent := b.transmit(s, b.packet, max(now, b.path.Busy()), b.servos[0].baud()) // one after the other
	if sent.doubled {
		for i := 1; i < len(payload); i++ {
			payload[i] = ^payload[i]
		}
		b.packet = vesc.AppendPacket(b.packet[:0], payload)
		b.path.Put(b.packet, sent.start, b.servos[0].baud())
	}
}
