package cybergear

import (
	"fmt"

	"github.com/halyard-robotics/halyard/internal/wire/cybergearwire"
	"github.com/halyard-robotics/halyard/servo"
)

var parameterNames = map[cybergearwire.Index]string{
	cybergearwire.RunMode: "run_mode", cybergearwire.IqRef: "iq_ref", cybergearwire.SpeedRef: "spd_ref",
	cybergearwire.LimitTorque: "limit_torque", cybergearwire.CurrentP: "cur_kp", cybergearwire.CurrentI: "cur_ki",
	cybergearwire.CurrentFilter: "cur_filt_gain", cybergearwire.AngleRef: "loc_ref",
	cybergearwire.LimitSpeed: "limit_spd", cybergearwire.LimitCurrent: "limit_cur", cybergearwire.MechAngle: "mech_pos",
	cybergearwire.IqNow: "iqf", cybergearwire.MechSpeed: "mech_vel", cybergearwire.BusVolts: "vbus",
	cybergearwire.Turns: "rotation", cybergearwire.AngleP: "loc_kp", cybergearwire.SpeedP: "spd_kp",
	cybergearwire.SpeedI: "spd_ki", cybergearwire.CANTimeout: "can_timeout",
}

// explain is servo.Traits.Explain. The names of parameters are the manual's.
func explain(_, data []byte, host bool, model func(id int) servo.Model) []string {
	return servo.ExplainCAN(data, func(f *servo.CANFrame) string {
		var m cybergearwire.Message
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
func spansOf(m servo.Model) *cybergearwire.Spans {
	if known, ok := m.(*Model); ok {
		return &known.Spans
	}
	return &catalogue[0].Spans
}

// parameterName is the manual's name of i, or its number.
func parameterName(i cybergearwire.Index) string {
	if name, ok := parameterNames[i]; ok {
		return name
	}
	return fmt.Sprintf("%#04x", uint16(i))
}

func explainCommand(m *cybergearwire.Message, model func(id int) servo.Model) string {
	id := m.Target
	plain := map[cybergearwire.Type]string{cybergearwire.DeviceID: "identify", cybergearwire.Enable: "enable",
		cybergearwire.ZeroSet: "set zero"}
	if text, ok := plain[m.Type]; ok {
		return fmt.Sprintf("%s id %d", text, id)
	}
	switch m.Type {
	case cybergearwire.Motion:
		var g cybergearwire.Motions
		g.Parse(m, spansOf(model(int(id))))
		return fmt.Sprintf("motion id %d: %.4g rad, %.4g rad/s, %.4g N·m, kp %.4g, kd %.4g", id, g.Angle, g.Speed,
			g.Torque, g.Kp, g.Kd)
	case cybergearwire.Stop:
		if m.Data[0] == 1 {
			return fmt.Sprintf("stop id %d, clear its faults", id)
		}
		return fmt.Sprintf("stop id %d", id)
	case cybergearwire.SetID:
		return fmt.Sprintf("set id %d to %d", id, m.Extra>>8)
	case cybergearwire.Read:
		i, _ := m.Parameter()
		return fmt.Sprintf("read id %d: %s", id, parameterName(i))
	case cybergearwire.Write:
		i, v := m.Parameter()
		return fmt.Sprintf("write id %d: %s %g", id, parameterName(i), v)
	}
	return m.String()
}

func explainReply(m *cybergearwire.Message, model func(id int) servo.Model) string {
	id := byte(m.Extra)
	switch m.Type {
	case cybergearwire.DeviceID:
		return fmt.Sprintf("id %d: % x", id, m.Data)
	case cybergearwire.Report:
		var b cybergearwire.Feedback
		b.Parse(m, spansOf(model(int(id))))
		text := fmt.Sprintf("id %d: %s, %.4g rad, %.4g rad/s, %.4g N·m, %.4g °C", id,
			[...]string{"resting", "calibrating", "running", "state 3"}[b.State&3], b.Angle, b.Speed, b.Torque,
			b.Celsius)
		if b.Faults != 0 {
			text += fmt.Sprintf(", faults %#02x: %v", byte(b.Faults),
				cybergearwire.FaultNames.Report("", uint64(b.Faults)))
		}
		return text
	case cybergearwire.Read:
		i, v := m.Parameter()
		return fmt.Sprintf("id %d: %s %g", id, parameterName(i), v)
	case cybergearwire.Faulted:
		return fmt.Sprintf("id %d: faults % x", id, m.Data)
	}
	return m.String()
}
