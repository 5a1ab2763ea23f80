package vesc

import (
	"fmt"
	"math"
	"strings"

	"github.com/halyard-robotics/halyard/internal/wire/vescwire"
	"github.com/halyard-robotics/halyard/servo"
)

// printCommand carries a line of text for a person (datatypes.h, COMM_PRINT).
const printCommand vescwire.Command = 21

var commandNames = map[vescwire.Command]string{
	vescwire.FWVersion: "fw_version", vescwire.GetValues: "get_values", vescwire.SetDuty: "set_duty",
	vescwire.SetCurrent: "set_current", vescwire.SetCurrentBrake: "set_current_brake",
	vescwire.SetRPM: "set_rpm", vescwire.SetPos: "set_pos", vescwire.GetAppConf: "get_appconf",
	vescwire.Alive: "alive", vescwire.Selective: "get_values_selective", vescwire.PingCAN: "ping_can",
	vescwire.GetMcConfTemp: "get_mcconf_temp", printCommand: "print",
}

var setUnits = map[vescwire.Command]string{vescwire.SetCurrent: " A", vescwire.SetCurrentBrake: " A",
	vescwire.SetRPM: " electrical turns/min", vescwire.SetPos: "°"}

// fieldNames are the names of the values of a controller.
var fieldNames = [vescwire.NumFields]string{
	"temp_fet", "temp_motor", "current", "current_in", "current_d", "current_q", "duty", "erpm", "volts", "amp_hours",
	"amp_hours_in", "watt_hours", "watt_hours_in", "tacho", "tacho_abs", "fault_code", "pos_now", "controller_id",
	"temp_fets", "volts_d", "volts_q", "status",
}

// explain is servo.Traits.Explain. A reply does not name its controller unless a value does.
func explain(_, data []byte, host bool, _ func(id int) servo.Model) []string {
	p := vescwire.NewParser()
	var payload []byte
	next := func() bool { payload = p.Next(); return payload != nil }
	return servo.ExplainPackets(data, p.Feed, next, func() string { return explainPayload(payload, host) })
}

func explainPayload(payload []byte, host bool) string {
	if vescwire.Command(payload[0]) == vescwire.ForwardCAN && len(payload) > 2 {
		return fmt.Sprintf("to id %d: %s", payload[1], explainPayload(payload[2:], host))
	}
	command := vescwire.Command(payload[0])
	name, known := commandNames[command]
	if !known {
		return fmt.Sprintf("command %d: % x", command, payload[1:])
	}
	if c, v, ok := vescwire.ParseSet(payload); host && ok {
		return fmt.Sprintf("%s %g%s", name, v, setUnits[c])
	}
	switch {
	case host && command == vescwire.Selective && len(payload) == 5:
		return name + ": " + strings.Join(namesOf(uint32(vescwire.Integer(payload[1:], 4))), ", ")
	case host && len(payload) == 1:
		return name
	case !host && (command == vescwire.GetValues || command == vescwire.Selective):
		var v vescwire.Values
		if _, err := v.Parse(payload); err == nil {
			return name + ": " + explainValues(&v)
		}
	case !host && command == vescwire.FWVersion && len(payload) > 3:
		hardware, _, _ := strings.Cut(string(payload[3:]), "\x00")
		return fmt.Sprintf("%s %d.%d, %q", name, payload[1], payload[2], hardware)
	case !host && command == printCommand:
		return fmt.Sprintf("%s %q", name, strings.TrimSpace(string(payload[1:])))
	}
	return fmt.Sprintf("%s: % x", name, payload[1:])
}

func namesOf(mask uint32) (names []string) {
	for f, name := range fieldNames {
		if mask&(1<<f) != 0 {
			names = append(names, name)
		}
	}
	return names
}

func explainValues(v *vescwire.Values) string {
	var words []string
	for f, x := range v {
		if !math.IsNaN(x) {
			words = append(words, fmt.Sprintf("%s %g", fieldNames[f], x))
		}
	}
	return strings.Join(words, ", ")
}
