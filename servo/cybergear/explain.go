package cybergear

import (
	"fmt"

	"github.com/halyard-robotics/halyard/servo"
)

var parameterNames = map[Index]string{
	RunMode: "run_mode", IqRef: "iq_ref", SpeedRef: "spd_ref", LimitTorque: "limit_torque", CurrentP: "cur_kp",
	CurrentI: "cur_ki", CurrentFilter: "cur_filt_gain",
	AngleRef: "loc_ref", LimitSpeed: "limit_spd", LimitCurrent: "limit_cur", MechAngle: "mech_pos", IqNow: "iqf",
	MechSpeed: "mech_vel", BusVolts: "vbus", Turns: "rotation",
	AngleP: "loc_kp", SpeedP: "spd_kp", SpeedI: "spd_ki", CANTimeout: "can_timeout",
}

// explain is servo.Traits.Explain. The names of parameters are the manual's.
func explain(_, data []byte, host bool, model func(id int) servo.Model) []string {
	return servo.ExplainCAN(data, func(f *servo.CANFrame) string {
		var m Message
		switch {
		case !m.Parse(f):
			return ""
		case host:
			return explainCommand(&m, model)
		}
		return explainReply(&m, model)
	})
}

// spansOf are the spans of a motor's words; those of the first model where it is not known.
func spansOf(m servo.Model) *Spans {
	if known, ok := m.(*Model); ok {
		return &known.Spans
	}
	return &catalogue[0].Spans
}

// parameterName is the manual's name of i, or its number.
func parameterName(i Index) string {
	if name, ok := parameterNames[i]; ok {
		return name
	}
	return fmt.Sprintf("%#04x", uint16(i))
}

func explainCommand(m *Message, model func(id int) servo.Model) string {
	id := m.Target
	plain := map[Type]string{DeviceID: "identify", Enable: "enable", ZeroSet: "set zero"}
	if text, ok := plain[m.Type]; ok {
		return fmt.Sprintf("%s id %d", text, id)
	}
	switch m.Type {
	case Motion:
		var g Motions
		g.Parse(m, spansOf(model(int(id))))
		return fmt.Sprintf("motion id %d: %.4g rad, %.4g rad/s, %.4g N·m, kp %.4g, kd %.4g", id, g.Angle, g.Speed,
			g.Torque, g.Kp, g.Kd)
	case Stop:
		if m.Data[0] == 1 {
			return fmt.Sprintf("stop id %d, clear its faults", id)
		}
		return fmt.Sprintf("stop id %d", id)
	case SetID:
		return fmt.Sprintf("set id %d to %d", id, m.Extra>>8)
	case Read:
		i, _ := m.Parameter()
		return fmt.Sprintf("read id %d: %s", id, parameterName(i))
	case Write:
		i, v := m.Parameter()
		return fmt.Sprintf("write id %d: %s %g", id, parameterName(i), v)
	}
	return m.String()
}

func explainReply(m *Message, model func(id int) servo.Model) string {
	id := byte(m.Extra)
	switch m.Type {
	case DeviceID:
		return fmt.Sprintf("id %d: % x", id, m.Data)
	case Report:
		var b Feedback
		b.Parse(m, spansOf(model(int(id))))
		text := fmt.Sprintf("id %d: %s, %.4g rad, %.4g rad/s, %.4g N·m, %.4g °C", id,
			[...]string{"resting", "calibrating", "running", "state 3"}[b.State&3], b.Angle, b.Speed, b.Torque,
			b.Celsius)
		if b.Faults != 0 {
			text += fmt.Sprintf(", faults %#02x: %v", byte(b.Faults), faults.Report("", uint64(b.Faults)))
		}
		return text
	case Read:
		i, v := m.Parameter()
		return fmt.Sprintf("id %d: %s %g", id, parameterName(i), v)
	case Faulted:
		return fmt.Sprintf("id %d: faults % x", id, m.Data)
	}
	return m.String()
}
