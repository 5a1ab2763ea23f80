package odrive

import (
	"fmt"
	"strings"

	"github.com/halyard-robotics/halyard/internal/wire/odrivewire"
	"github.com/halyard-robotics/halyard/servo"
)

// explain is servo.Traits.Explain of the serial line, whose lines are text: the sound ones, without their checksums.
func explain(_, data []byte, _ bool, _ func(id int) servo.Model) []string {
	l := odrivewire.Lines{Bare: true}
	text := ""
	next := func() bool {
		text, l.Current = string(l.Current), nil
		return text != ""
	}
	return servo.ExplainPackets(data, l.Feed, next, func() string { return text })
}

// layouts are the names of the commands and what their data is: floats with these units, words with these names.
var layouts = map[odrivewire.Command]struct {
	name   string
	floats []string // units
	words  []string // names
}{
	odrivewire.GetVersion: {name: "version"}, odrivewire.Heartbeat: {"heartbeat", nil, []string{"errors", "state"}},
	odrivewire.Estop:     {name: "estop"},
	odrivewire.GetErrors: {"errors", nil, []string{"active", "disarm_reason"}},
	odrivewire.RxSDO:     {name: "sdo to the axis"}, odrivewire.TxSDO: {name: "sdo from the axis"},
	odrivewire.SetState:       {"set_state", nil, []string{"state"}},
	odrivewire.Estimates:      {"estimates", []string{"turns", "turns/s"}, nil},
	odrivewire.SetControl:     {"set_control", nil, []string{"control", "input"}},
	odrivewire.InputPos:       {"input_pos", []string{"turns"}, nil},
	odrivewire.InputVel:       {"input_vel", []string{"turns/s", "N·m"}, nil},
	odrivewire.InputTorque:    {"input_torque", []string{"N·m"}, nil},
	odrivewire.SetLimits:      {"set_limits", []string{"turns/s", "A"}, nil},
	odrivewire.GetIq:          {"iq", []string{"A asked for", "A measured"}, nil},
	odrivewire.GetTemperature: {"temperature", []string{"°C bridge", "°C motor"}, nil},
	odrivewire.Reboot:         {name: "reboot"},
	odrivewire.GetBus:         {"bus", []string{"V", "A"}, nil}, odrivewire.ClearErrors: {name: "clear_errors"},
	odrivewire.GetTorques: {"torques", []string{"N·m asked for", "N·m estimated"}, nil},
}

// explainCAN is servo.Traits.Explain of a CAN bus.
func explainCAN(_, data []byte, _ bool, _ func(id int) servo.Model) []string {
	return servo.ExplainCAN(data, func(f *servo.CANFrame) string {
		node, c, ok := odrivewire.Split(f)
		if !ok {
			return ""
		}
		layout, known := layouts[c]
		switch {
		case !known:
			return fmt.Sprintf("node %d: command %#02x: % x", node, byte(c), f.Data[:f.Len])
		case f.Remote:
			return fmt.Sprintf("read node %d: %s", node, layout.name)
		}
		var values []string
		for i, unit := range layout.floats {
			if int(f.Len) >= 4*i+4 {
				values = append(values, fmt.Sprintf("%.5g %s", f.Float(4*i), unit))
			}
		}
		for i, name := range layout.words {
			switch at := 4 * i; {
			case c == odrivewire.Heartbeat && i == 1 && f.Len > 4:
				values = append(values, fmt.Sprintf("%s %d", name, f.Data[4]))
			case int(f.Len) >= at+4:
				values = append(values, fmt.Sprintf("%s %#x", name, f.Word(at)))
			}
		}
		if len(values) == 0 && f.Len > 0 {
			values = append(values, fmt.Sprintf("% x", f.Data[:f.Len]))
		}
		text := fmt.Sprintf("node %d: %s", node, layout.name)
		if len(values) > 0 {
			text += " " + strings.Join(values, ", ")
		}
		return text
	})
}
