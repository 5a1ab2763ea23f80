package doctor

import (
	"github.com/halyard-robotics/halyard/drivers/can"
	"github.com/halyard-robotics/halyard/hal"
)

// The made-up robots of motor controllers: three VESCs, one behind the other, and three CyberGears on CAN.
const (
	vescs      = "vesc-6-trio"
	cybergears = "cybergear-trio"
)

// motorFaultCases are what can be wrong with motor controllers and with a CAN bus.
func motorFaultCases() []FaultCase {
	down := &can.Link{Name: "can0"}
	off := &can.Link{Name: "can0", Up: true, State: can.BusOff, Bitrate: 1000000}
	slow := &can.Link{Name: "can0", Up: true, Bitrate: 500000}
	list := []FaultCase{
		{"no timeout", vescs, "", nil, preset(2, "timeout", 0), "setting", StateFail, 2, hal.Unsafe, "timeout: got 0s",
			"as the finding says"},
		{"timeout too long", vescs, "", nil, preset(2, "timeout", 60000), "setting", StateFail, 2, hal.Unsafe,
			"got 1m0s", "as the finding says"},
		{"hot", vescs, "", nil, heat(2, 120), "alarm", StateFail, 2, hal.BusFault, "heat", "cool"},
		{"voltage low", vescs, "", nil, supply(2, 6), "alarm", StateFail, 2, hal.BusFault, "voltage", "supply"},
		{"bus too slow", vescs, "clock.period=2ms", nil, nil, "load", StateFail, noID, hal.BusFault, "of 2ms",
			"two buses"},
		{"other bit rate", cybergears, "", nil, preset(2, "baud_rate", 500000), "servo", StateFail, 2, hal.Absent,
			"no answer", "between id 1 and id 2"},
		{"CAN interface down", cybergears, "", nil, refuse(down.Check(1000000)), "port", StateFail, noID, hal.Absent,
			"is down", "ip link set can0 up type can bitrate 1000000"},
		{"CAN bus-off", cybergears, "", nil, refuse(off.Check(1000000)), "port", StateFail, noID, hal.Absent, "bus-off",
			"ip link set can0 down"},
		{"CAN at another rate", cybergears, "", nil, refuse(slow.Check(1000000)), "port", StateFail, noID, hal.Invalid,
			"got 500000, want 1000000", "bitrate 1000000"},
	}
	for _, robot := range []string{vescs, cybergears} {
		list = append(list,
			FaultCase{"supply off", robot, "", nil, fault("off bus"), "power", StateFail, noID, hal.BusFault,
				"none of the motors", "supply"},
			FaultCase{"motor missing", robot, "", nil, fault("off servo 2"), "servo", StateFail, 2, hal.Absent,
				"no answer", "between id 1 and id 2"})
	}
	return list
}
