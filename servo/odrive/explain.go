package odrive

import (
	"fmt"
	"strings"

	"github.com/halyard-robotics/halyard/servo"
)

// explain is servo.Traits.Explain of the serial line, whose lines are text: the sound ones, without their checksums.
func explain(_, data []byte, _ bool, _ func(id int) servo.Model) []string {
	l := Lines{Bare: true}
	text := ""
	next := func() bool {
		text, l.line = string(l.line), nil
		return text != ""
	}
	return servo.ExplainPackets(data, l.Feed, next, func() string { return text })
}

// layouts are the names of the commands and what their data is: floats with these units, words with these names.
var layouts = map[Command]struct {
	name   string
	floats []string // units
	words  []string // names
}{
	GetVersion: {name: "version"}, Heartbeat: {"heartbeat", nil, []string{"errors", "state"}}, Estop: {name: "estop"},
	GetErrors: {"errors", nil, []string{"active", "disarm_reason"}},
	RxSDO:     {name: "sdo to the axis"}, TxSDO: {name: "sdo from the axis"},
	SetState: {"set_state", nil, []string{"state"}}, Estimates: {"estimates", []string{"turns", "turns/s"}, nil},
	SetControl: {"set_control", nil, []string{"control", "input"}}, InputPos: {"input_pos", []string{"turns"}, nil},
	InputVel:    {"input_vel", []string{"turns/s", "N·m"}, nil},
	InputTorque: {"input_torque", []string{"N·m"}, nil}, SetLimits: {"set_limits", []string{"turns/s", "A"}, nil},
	GetIq:          {"iq", []string{"A asked for", "A measured"}, nil},
	GetTemperature: {"temperature", []string{"°C bridge", "°C motor"}, nil}, Reboot: {name: "reboot"},
	GetBus: {"bus", []string{"V", "A"}, nil}, ClearErrors: {name: "clear_errors"},
	GetTorques: {"torques", []string{"N·m asked for", "N·m estimated"}, nil},
}

// explainCAN is servo.Traits.Explain of a CAN bus.
func explainCAN(_, data []byte, _ bool, _ func(id int) servo.Model) []string {
	return servo.ExplainCAN(data, func(f *servo.CANFrame) string {
		node, c, ok := Split(f)
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
			case c == Heartbeat && i == 1 && f.Len > 4:
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
