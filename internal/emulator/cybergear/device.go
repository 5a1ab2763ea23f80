// Package cybergear emulates CyberGear motors on CAN.
package cybergear

import (
	"math"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/internal/emulator/motor"
	"github.com/halyard-robotics/halyard/internal/emulator/reg"
	"github.com/halyard-robotics/halyard/internal/wire/cybergearwire"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/cybergear"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// device is a motor. Decisions for behaviour that the manual does not specify:
//
//   - Any frame to a motor feeds its CAN timeout, which switches torque off like a stop.
//   - The run mode does not change while the motor runs; reading it back shows that.
//   - A stop, and enabling, do not change the goals.
//   - The gains, and the limit of the current, can be written and read back; the actuator uses its own.
//   - A new id is accepted only at rest; the reply comes from the new id.
type device struct {
	motor.Controller
	m    *cybergear.Model
	idle map[cybergearwire.Index]float64 // the parameters without effect on the motion
}

// New returns a motor of model m on act; its ID must be 0..127. nil where m is another vendor's.
func New(m servo.Model, id int, act *actuator.Servo, truth emulator.GroundTruth) *emulator.Servo {
	model, ok := m.(*cybergear.Model)
	if !ok {
		return nil
	}
	s := &device{Controller: motor.Controller{Servo: new(emulator.Servo), Amps: model.Spans.Torque / model.Kt},
		m: model}
	return s.Init(s, model.Units(), cybergearwire.LastID, 0, id, act, truth)
}

func (s *device) Protocol(b *emulator.Bus) emulator.Protocol {
	return b.UseCAN()
}

// Started selects the operating mode, without stiffness.
func (s *device) Started() {
	s.Controller.Started()
	s.Set(reg.Control, motor.ControlMotion)
	s.idle = map[cybergearwire.Index]float64{}
	for _, r := range cybergear.Parameters() {
		switch i := cybergearwire.Index(r.Addr); i {
		case cybergearwire.CurrentP, cybergearwire.CurrentI, cybergearwire.CurrentFilter, cybergearwire.AngleP,
			cybergearwire.SpeedP,
			cybergearwire.SpeedI, cybergearwire.LimitCurrent:
			s.idle[i] = r.SI(r.Default)
		case cybergearwire.LimitSpeed:
			s.Fast = r.SI(r.Default)
		}
	}
}

// The control of each run mode.
var controls = [...]int64{
	cybergearwire.Operating: motor.ControlMotion, cybergearwire.InPosition: motor.ControlPosition,
	cybergearwire.InSpeed: motor.ControlVelocity, cybergearwire.InCurrent: motor.ControlTorque,
}

// registers hold the parameters that are values of registers in the same unit.
var registers = map[cybergearwire.Index]reg.Name{
	cybergearwire.AngleRef: reg.GoalPosition, cybergearwire.SpeedRef: reg.GoalVelocity,
	cybergearwire.IqRef:     reg.GoalCurrent,
	cybergearwire.MechAngle: reg.PresentPosition, cybergearwire.MechSpeed: reg.PresentVelocity,
	cybergearwire.IqNow: reg.PresentCurrent, cybergearwire.BusVolts: reg.PresentVoltage,
}

// TransmitUnasked sends nothing: a motor sends only replies.
func (s *device) TransmitUnasked(_ *emulator.Net, now time.Duration) time.Duration {
	return now + time.Hour
}

// Execute executes the command of a frame.
func (s *device) Execute(n *emulator.Net, f *servo.CANFrame, now time.Duration) {
	var m cybergearwire.Message
	if !m.Parse(f) || int64(m.Target) != s.Get(reg.ID) {
		return
	}
	s.Received = now
	host := byte(m.Extra)
	switch m.Type {
	case cybergearwire.DeviceID, cybergearwire.SetID:
		if to := m.Extra >> 8; m.Type == cybergearwire.SetID && to <= cybergearwire.LastID &&
			s.Get(reg.TorqueEnable) == 0 {
			s.Set(reg.ID, int64(to))
		}
		id := byte(s.Get(reg.ID))
		a := cybergearwire.Message{Type: cybergearwire.DeviceID, Extra: uint16(id), Target: 0xFE,
			Data: [8]byte{'h', 'a', 'l', 'y', 'a', 'r', 'd', id}}
		n.Send(s.Servo, a.Frame(), now)
		return
	case cybergearwire.Motion:
		host = cybergearwire.Host // the torque is in its place
		s.motionCommand(&m)
	case cybergearwire.Enable:
		if s.Alarm == 0 {
			s.Set(reg.TorqueEnable, 1)
		}
	case cybergearwire.Stop:
		if s.Set(reg.TorqueEnable, 0); m.Data[0] == 1 {
			s.ClearAlarms()
		}
	case cybergearwire.ZeroSet:
		s.Zero = s.Shaft()
		s.Set(reg.GoalPosition, 0)
	case cybergearwire.Read:
		i, _ := m.Parameter()
		if v, ok := s.parameter(i); ok {
			a := cybergearwire.Answer(m.Target, host, i, v)
			n.Send(s.Servo, a.Frame(), now)
		}
		return
	case cybergearwire.Write:
		i, v := m.Parameter()
		s.write(i, v)
	default:
		return
	}
	s.Drive()
	s.feedback(n, host, now)
}

func (s *device) motionCommand(m *cybergearwire.Message) {
	if s.Get(reg.Control) != motor.ControlMotion {
		return
	}
	var g cybergearwire.Motions
	g.Parse(m, &s.m.Spans)
	s.SetSI(reg.GoalPosition, g.Angle)
	s.SetSI(reg.GoalVelocity, g.Speed)
	s.Kp, s.Kd, s.Bias = g.Kp, g.Kd, g.Torque
	// The middle of 16 bits is half a step off 0.
	if math.Abs(g.Torque) < s.m.Spans.Torque/65535*1.01 {
		s.Bias = 0
	}
}

// parameter is the value of one; false if absent.
func (s *device) parameter(i cybergearwire.Index) (float64, bool) {
	s.Measure()
	switch i {
	case cybergearwire.RunMode:
		if mode := slices.Index(controls[:], s.Get(reg.Control)); mode >= 0 {
			return float64(mode), true
		}
	case cybergearwire.CANTimeout:
		return math.Round(s.SI(reg.Watchdog) / 50e-6), true
	case cybergearwire.LimitTorque:
		return min(s.SI(reg.CurrentLimit)*s.m.Kt, s.m.Spans.Torque), true
	case cybergearwire.LimitSpeed:
		return s.Fast, true
	case cybergearwire.Turns:
		return math.Floor(float64(s.Get(reg.PresentPosition)) / motor.Ticks), true
	}
	if n, ok := registers[i]; ok {
		return s.SI(n), true
	}
	v, ok := s.idle[i]
	return v, ok
}

// write takes a parameter's value.
func (s *device) write(i cybergearwire.Index, v float64) {
	switch i {
	case cybergearwire.RunMode:
		if mode := int(v); s.Get(reg.TorqueEnable) == 0 && mode < len(controls) {
			s.Set(reg.Control, controls[mode])
			s.Kp, s.Kd, s.Bias = 0, 0, 0
			s.Set(reg.GoalVelocity, 0)
			s.Set(reg.GoalCurrent, 0)
		}
	case cybergearwire.CANTimeout:
		s.Set(reg.Watchdog, int64(math.Round(v*0.05)))
	case cybergearwire.LimitTorque:
		s.SetSI(reg.CurrentLimit, v/s.m.Kt)
	case cybergearwire.LimitSpeed:
		s.Fast = min(max(v, 0), s.m.Spans.Speed)
	case cybergearwire.AngleRef, cybergearwire.SpeedRef, cybergearwire.IqRef:
		s.SetSI(registers[i], v)
	default:
		if _, ok := s.idle[i]; ok {
			s.idle[i] = v
		}
	}
}

// feedback sends the motor's measurements.
func (s *device) feedback(n *emulator.Net, host byte, now time.Duration) {
	s.Measure()
	b := cybergearwire.Feedback{
		ID: byte(s.Get(reg.ID)), Angle: s.SI(reg.PresentPosition), Speed: s.SI(reg.PresentVelocity),
		Torque: s.SI(reg.PresentCurrent) * s.m.Kt, Celsius: s.SI(reg.PresentTemperature),
	}
	if s.Get(reg.TorqueEnable) == 1 {
		b.State = cybergearwire.Running
	}
	for _, x := range [...]struct {
		a actuator.Alarm
		f cybergearwire.Faults
	}{
		{actuator.AlarmVoltage, cybergearwire.UnderVoltage}, {actuator.AlarmHeat, cybergearwire.OverHeat},
		{actuator.AlarmOverload | actuator.AlarmShock, cybergearwire.OverCurrent},
	} {
		if s.Alarm&x.a != 0 {
			b.Faults |= x.f
		}
	}
	m := b.Message(host, &s.m.Spans)
	n.Send(s.Servo, m.Frame(), now)
}

var _ emulator.CANKind = (*device)(nil)
