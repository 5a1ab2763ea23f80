package doctor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/report"
)

// The made-up robots: three light joints on a line of servos of one model, for which no embedded config is needed.
const (
	sts   = "sts3215-trio"
	scs   = "scs0009-trio"
	lx16a = "lx-16a-trio"
	krs   = "krs-2552-trio"
)

// trio is the line and the servos of a made-up robot.
type trio struct {
	bus, model string
	baud       int
	volts      float64
}

// trios are the made-up robots of servos.
func trios() map[string]trio {
	return map[string]trio{
		sts: {"feetech", "sts3215", 1000000, 7.4}, scs: {"feetech", "scs0009", 1000000, 6},
		lx16a: {"hiwonder", "lx-16a", 115200, 7.4}, krs: {"kondo", "krs-2552", 1250000, 11.1},
	}
}

// madeUp are the names of all made-up robots.
func madeUp() []string {
	return append(slices.Sorted(slices.Values(append(report.SortedKeys(trios()), vescs, cybergears))), nodderRobot,
		nodderSerial, nodderSPI, onlookerRobot)
}

// makeUp writes the made-up robot called name into dir and returns its config's path, or name if it is invalid.
func makeUp(name, dir string) (string, error) {
	switch {
	case name == nodderRobot || name == nodderSerial || name == nodderSPI || name == nodderUngated ||
		name == nodderKernel || name == feelerRobot:
		return writeNodder(dir, name)
	case name == onlookerRobot:
		return writeOnlooker(dir)
	case name == vescs:
		return WriteTrio(dir, "vesc", "vesc-6", 1000000, 48)
	case name == cybergears:
		return WriteTrio(dir, "cybergear", "cybergear", 1000000, 24)
	case strings.HasSuffix(name, "-trio"):
		t := trios()[name]
		return WriteTrio(dir, t.bus, t.model, t.baud, t.volts)
	}
	return name, nil
}

// PortFor is a port such as a type of line goes over.
func PortFor(kind string) string {
	if catalog.BuiltinBuses().Of(kind).Filters != nil {
		return "can0"
	}
	return "/dev/ttyUSB0"
}

// WriteTrio writes a robot of joints a, b and c, with servos 1, 2 and 3 of a model on one line, and returns its
// config's path. Its loads are light, so that a check finds it at rest.
func WriteTrio(dir, bus, model string, baud int, volts float64) (string, error) {
	robot := fmt.Sprintf("name: trio\ntitle: three joints\nsupply: {volts: %g, ohms: 0.02}\njoints:\n", volts)
	config := fmt.Sprintf("name: trio\nclock: {period: 20ms}\nbuses:\n  line: {type: %s, port: %s, baud: %d}\nagents:\n"+
		"  - name: trio\n    model: robot.yaml\n    hardware:\n      joints:\n", bus, PortFor(bus), baud)
	for i, joint := range []string{"a", "b", "c"} {
		robot += fmt.Sprintf("  - {name: %s, path: /%s, servo: %s, limits_deg: [-80, 80], default_deg: 0,\n"+
			"     load: {inertia_kgm2: 0.0002, mass_kg: 0.001, length_m: 0.05, source: a test}}\n", joint, joint, model)
		config += fmt.Sprintf("        %s: {bus: line, id: %d, model: %s}\n", joint, i+1, model)
	}
	path := filepath.Join(dir, "trio.yaml")
	return path, errors.Join(os.WriteFile(filepath.Join(dir, "robot.yaml"), []byte(robot), 0o644),
		os.WriteFile(path, []byte(config), 0o644))
}

// vendorFaultCases are what can be wrong with servos of other vendors than Dynamixel.
func vendorFaultCases() []FaultCase {
	list := []FaultCase{
		{"wrong baud rate", sts, "", nil, preset(2, "baud_rate", 1), "baud", StateFail, 2, hal.BusFault, "500000",
			"--new-baud 1000000"},
		{"wrong model", sts, "", nil, exchanged("b", "sts3250"), "model", StateFail, 2, hal.BusFault,
			"sts3250, want sts3215", "config"},
		{"firmware differs", sts, "", nil, preset(2, "firmware_minor", 9), "firmware", StateWarn, 2, 0,
			"3.9, the other 2", "FD"},
		{"return delay", sts, "", nil, preset(2, "return_delay", 250), "return-delay", StateWarn, 2, 0, "500µs",
			"return_delay=0"},
		{"return delay", scs, "", nil, preset(2, "return_delay", 250), "return-delay", StateWarn, 2, 0, "500µs",
			"return_delay=0"},
		{"response level 0", sts, "", nil, preset(2, "response_level", 0), "status-return", StateWarn, 2, 0,
			"not acknowledged", "response_level=1"},
		{"EEPROM open", sts, "", nil, preset(2, "lock", 0), "lock", StateWarn, 2, 0, "unlocked", "off and on"},
		{"max torque 0", sts, "", nil, preset(2, "max_torque", 0), "torque-limit", StateFail, 2, hal.BusFault,
			"max_torque is 0", "max_torque=1000"},
		{"overload latched", sts, "", nil, overload(2), "alarm", StateFail, 2, hal.BusFault, "overload", "load away"},
		{"echo", sts, "buses.line.timing.echo=true", nil, nil, "echo", StateWarn, noID, 0, "echoes", "adapter"},
		{"bus too slow", lx16a, "clock.period=4ms", nil, nil, "load", StateFail, noID, hal.BusFault, "of 4ms",
			"two buses"},
		{"hot", krs, "", nil, heat(2, 100), "temperature", StateFail, 2, hal.BusFault, "hotter than", "cool"},
		{"warm", krs, "", nil, heat(2, 90), "temperature", StateWarn, 2, 0, "close to", "cool"},
	}
	for _, robot := range report.SortedKeys(trios()) {
		list = append(list,
			FaultCase{"supply off", robot, "", nil, fault("off bus"), "power", StateFail, noID, hal.BusFault,
				"none of the 3", "supply"},
			FaultCase{"servo missing", robot, "", nil, fault("off servo 2"), "servo", StateFail, 2, hal.Absent,
				"no answer", "between id 1 and id 2"},
			FaultCase{"two servos, one id", robot, "", nil, fault("duplicate_id servo 2"), "id", StateFail, 2,
				hal.BusFault, "two servos", "only one"},
			FaultCase{"loose contact", robot, "", nil, fault("intermittent servo 2"), "answers", StateFail, 2,
				hal.BusFault, "missing", "plugs"},
			FaultCase{"answers cut short", robot, "", nil, fault("truncate servo 2"), "answers", StateFail, 2,
				hal.BusFault, "answers are sound", "cable"},
			FaultCase{"slow answers", robot, "", nil, fault("slow servo 2 by=5ms"), "speed", StateFail, 2, hal.BusFault,
				"later than", "adapter"},
		)
		if robot == krs {
			continue // it has neither a voltage nor a checksum
		}
		list = append(list,
			FaultCase{"bad checksums", robot, "", nil, fault("crc servo 2 p=0.3"), "answers", StateFail, 2,
				hal.BusFault, "answers are sound", "baud rate"},
			FaultCase{"voltage low", robot, "", nil, supply(2, 3.5), "voltage", StateFail, 2, hal.BusFault, "3.5 V",
				"battery"},
			FaultCase{"voltage high", robot, "", nil, supply(2, 15), "voltage", StateFail, 2, hal.BusFault, "15.0 V",
				"switch off"},
			FaultCase{"hot", robot, "", nil, heat(2, 90), "temperature", StateFail, 2, hal.BusFault, "90 °C", "cool"},
		)
	}
	return list
}
