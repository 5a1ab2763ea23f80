package emulator

import (
	"math"
	"time"

	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/cybergear"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// cybergearKind is the kind of CyberGear motors. Decisions where the manual is silent:
//
//   - Any frame to a motor feeds its CAN timeout, which takes the torque as a stop does.
//   - The run mode does not change while the motor runs; reading it back tells.
//   - A stop, and enabling, leave the goals as they are.
//   - The gains, and the limit of the current, are kept for whoever asks; the actuator's own do the work.
//   - Another id is taken at rest alone; it is answered from the new one.
type cybergearKind struct {
	motorKind
	m    *cybergear.Model
	idle map[cybergear.Index]float64 // the parameters that move nothing
}

// NewCyberGear returns a motor of model m on act; its ID must be 0..127.
func NewCyberGear(m *cybergear.Model, id int, act *actuator.Servo, truth GroundTruth) *Servo {
	u := m.Units()
	k := &cybergearKind{motorKind{name: m.Name, amps: m.Spans.Torque / m.Kt, low: u.MinTicks, high: u.MaxTicks}, m, nil}
	return newMotor(k, &k.motorKind, cybergear.LastID, 0, id, act, truth)
}

func (k *cybergearKind) protocol(b *Bus) protocol {
	b.net = newNet(b)
	return silent{}
}

// start is the kind's; a motor begins in its operating mode, without stiffness.
func (k *cybergearKind) start(s *Servo) {
	k.motorKind.start(s)
	s.set(rControl, controlMotion)
	k.idle = map[cybergear.Index]float64{}
	for _, r := range cybergear.Parameters() {
		switch i := cybergear.Index(r.Addr); i {
		case cybergear.CurrentP, cybergear.CurrentI, cybergear.CurrentFilter, cybergear.AngleP, cybergear.SpeedP, cybergear.SpeedI, cybergear.LimitCurrent:
			k.idle[i] = r.SI(r.Default)
		case cybergear.LimitSpeed:
			s.motor.fast = r.SI(r.Default)
		}
	}
}

// The run modes, as the controls that they are.
var cybergearControls = [...]int64{
	cybergear.Operating: controlMotion, cybergear.InPosition: controlPosition,
	cybergear.InSpeed: controlVelocity, cybergear.InCurrent: controlTorque,
}

// beat is nothing: a motor speaks when it is spoken to.
func (k *cybergearKind) beat(_ *net, _ *Servo, now time.Duration) time.Duration {
	return now + time.Hour
}

// execute does what a frame says.
func (k *cybergearKind) execute(n *net, s *Servo, f *servo.CANFrame, now time.Duration) {
	var m cybergear.Message
	if !m.Parse(f) || int64(m.Target) != s.get(rID) {
		return
	}
	s.heard = now
	host := byte(m.Extra)
	switch m.Type {
	case cybergear.Who:
		a := cybergear.Message{Type: cybergear.Who, Extra: uint16(m.Target), Target: 0xFE, Data: [8]byte{'h', 'a', 'l', 'y', 'a', 'r', 'd', m.Target}}
		n.send(s, a.Frame(), now)
		return
	case cybergear.SetID:
		if to := m.Extra >> 8; to <= cybergear.LastID && s.get(rTorqueEnable) == 0 {
			s.set(rID, int64(to))
		}
		a := cybergear.Message{Type: cybergear.Who, Extra: uint16(s.get(rID)), Target: 0xFE, Data: [8]byte{'h', 'a', 'l', 'y', 'a', 'r', 'd', byte(s.get(rID))}}
		n.send(s, a.Frame(), now)
		return
	case cybergear.Motion:
		host = cybergear.Host // the torque stands in its place
		k.motionCommand(s, &m)
	case cybergear.Enable:
		if s.alarm == 0 {
			s.set(rTorqueEnable, 1)
		}
	case cybergear.Stop:
		if s.set(rTorqueEnable, 0); m.Data[0] == 1 {
			s.forgive()
		}
	case cybergear.ZeroSet:
		s.motor.zero = s.shaft()
		s.set(rGoalPosition, 0)
	case cybergear.Read:
		i, _ := m.Parameter()
		if v, ok := k.parameter(s, i); ok {
			a := cybergear.Answer(m.Target, host, i, v)
			n.send(s, a.Frame(), now)
		}
		return
	case cybergear.Write:
		i, v := m.Parameter()
		k.write(s, i, v)
	default:
		return
	}
	s.drive()
	k.feedback(n, s, host, now)
}

func (k *cybergearKind) motionCommand(s *Servo, m *cybergear.Message) {
	if s.get(rControl) != controlMotion {
		return
	}
	var g cybergear.Motions
	g.Parse(m, &k.m.Spans)
	s.setSI(rGoalPosition, g.Angle)
	s.setSI(rGoalVelocity, g.Speed)
	s.motor.kp, s.motor.kd, s.motor.bias = g.Kp, g.Kd, g.Torque
	// The middle of 16 bits is half a step off 0.
	if math.Abs(g.Torque) < k.m.Spans.Torque/65535*1.01 {
		s.motor.bias = 0
	}
}

// parameter is the value of one; false where there is none.
func (k *cybergearKind) parameter(s *Servo, i cybergear.Index) (float64, bool) {
	s.measure()
	switch i {
	case cybergear.RunMode:
		for mode, c := range cybergearControls {
			if c == s.get(rControl) {
				return float64(mode), true
			}
		}
	case cybergear.CANTimeout:
		return math.Round(s.si(rWatchdog) / 50e-6), true
	case cybergear.LimitTorque:
		return min(s.si(rCurrentLimit)*k.m.Kt, k.m.Spans.Torque), true
	case cybergear.AngleRef:
		return s.named[rGoalPosition].SI(s.get(rGoalPosition)), true
	case cybergear.SpeedRef:
		return s.si(rGoalVelocity), true
	case cybergear.IqRef:
		return s.si(rGoalCurrent), true
	case cybergear.BusVolts:
		return s.si(rPresentVoltage), true
	case cybergear.MechAngle:
		return s.si(rPresentPosition), true
	case cybergear.MechSpeed:
		return s.si(rPresentVelocity), true
	case cybergear.IqNow:
		return s.si(rPresentCurrent), true
	case cybergear.LimitSpeed:
		return s.motor.fast, true
	case cybergear.Turns:
		return math.Floor(float64(s.get(rPresentPosition)) / motorTicks), true
	}
	v, ok := k.idle[i]
	return v, ok
}

// write takes a parameter's value.
func (k *cybergearKind) write(s *Servo, i cybergear.Index, v float64) {
	switch i {
	case cybergear.RunMode:
		if mode := int(v); s.get(rTorqueEnable) == 0 && mode < len(cybergearControls) {
			s.set(rControl, cybergearControls[mode])
			s.motor.kp, s.motor.kd, s.motor.bias = 0, 0, 0
			s.set(rGoalVelocity, 0)
			s.set(rGoalCurrent, 0)
		}
	case cybergear.CANTimeout:
		s.set(rWatchdog, int64(math.Round(v*0.05)))
	case cybergear.LimitTorque:
		s.setSI(rCurrentLimit, v/k.m.Kt)
	case cybergear.LimitSpeed:
		s.motor.fast = min(max(v, 0), k.m.Spans.Speed)
	case cybergear.AngleRef:
		s.setSI(rGoalPosition, v)
	case cybergear.SpeedRef:
		s.setSI(rGoalVelocity, v)
	case cybergear.IqRef:
		s.setSI(rGoalCurrent, v)
	default:
		if _, ok := k.idle[i]; ok {
			k.idle[i] = v
		}
	}
}

// feedback says what the motor measures.
func (k *cybergearKind) feedback(n *net, s *Servo, host byte, now time.Duration) {
	s.measure()
	b := cybergear.Feedback{
		ID: byte(s.get(rID)), Angle: s.si(rPresentPosition), Speed: s.si(rPresentVelocity),
		Torque: s.si(rPresentCurrent) * k.m.Kt, Celsius: s.si(rPresentTemperature),
	}
	if s.get(rTorqueEnable) == 1 {
		b.State = cybergear.Running
	}
	for _, x := range [...]struct {
		a actuator.Alarm
		f cybergear.Faults
	}{
		{actuator.AlarmVoltage, cybergear.UnderVoltage}, {actuator.AlarmHeat, cybergear.OverHeat},
		{actuator.AlarmOverload | actuator.AlarmShock, cybergear.OverCurrent},
	} {
		if s.alarm&x.a != 0 {
			b.Faults |= x.f
		}
	}
	m := b.Message(host, &k.m.Spans)
	n.send(s, m.Frame(), now)
}
