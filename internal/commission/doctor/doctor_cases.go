package doctor

import (
	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// The robots of Dynamixels: protocol 2.0 and 1.0.
const (
	arm      = "xm430-arm"
	humanoid = "a-series"
)

// supply is a plant: the servo's voltage.
func supply(id int, volts float64) func(*TestRobot) error {
	return physics(id, func(s *actuator.Servo) { s.Supply = actuator.NewSupply(volts, 0) })
}

// heat is a plant: the servo's temperature, °C.
func heat(id int, celsius float64) func(*TestRobot) error {
	return physics(id, func(s *actuator.Servo) { s.Temperature = celsius })
}

// overload is a plant: the servo's latched alarm.
func overload(id int) func(*TestRobot) error {
	return physics(id, func(s *actuator.Servo) { s.Alarm = actuator.AlarmOverload })
}

// servoFaultCases are what can be wrong with a Dynamixel that answers.
func servoFaultCases() []FaultCase {
	return []FaultCase{
		{"wrong model", arm, "", nil, exchanged("elbow", "xm540-w270"),
			"model", StateFail, 3, hal.BusFault, "xm540-w270, want xm430-w350", "config"},
		{"firmware differs", arm, "", nil, preset(3, "firmware", 41), "firmware", StateWarn, 3, 0, "41, the other 5",
			"Wizard"},
		{"return delay", arm, "", nil, preset(3, "return_delay", 250), "return-delay", StateWarn, 3, 0, "500µs",
			"--id 3 return_delay=0"},
		{"return delay", humanoid, "", nil, preset(7, "return_delay", 250), "return-delay", StateWarn, 7, 0, "500µs",
			"--id 7 return_delay=0"},
		{"status level 1", arm, "", nil, preset(3, "status_return", 1),
			"status-return", StateWarn, 3, 0, "not acknowledged", "status_return=2"},
		{"status level 0", humanoid, "", nil, preset(7, "status_return", 0), "status-return", StateWarn, 7, 0,
			"no reads", "serve"},
		{"voltage low", arm, "", nil, supply(3, 8.2), "voltage", StateFail, 3, hal.BusFault, "8.2 V, want 9.5..16.0",
			"battery"},
		{"voltage high", arm, "", nil, supply(3, 19), "voltage", StateFail, 3, hal.BusFault, "19.0 V", "switch off"},
		{"voltage ebbing", arm, "", nil, supply(3, 9.7), "voltage", StateWarn, 3, 0, "9.7 V", "battery"},
		{"warm", arm, "", nil, heat(3, 75), "temperature", StateWarn, 3, 0, "75 °C", "cool"},
		{"hot", arm, "", nil, heat(3, 85), "temperature", StateFail, 3, hal.BusFault, "85 °C", "cool"},
		{"overload latched", arm, "", nil, overload(3), "alarm", StateFail, 3, hal.BusFault, "overload", "load away"},
		{"overload latched", humanoid, "", nil, overload(7), "alarm", StateFail, 7, hal.BusFault, "overload",
			"load away"},
		{"torque limit 0", humanoid, "", nil, preset(7, "torque_limit", 0),
			"torque-limit", StateFail, 7, hal.BusFault, "torque_limit is 0", "blocks"},
		{"max torque 0", humanoid, "", nil, preset(7, "max_torque", 0),
			"torque-limit", StateFail, 7, hal.BusFault, "max_torque is 0", "max_torque=1023"},
		{"PWM limit 0", arm, "", nil, preset(3, "pwm_limit", 0),
			"torque-limit", StateFail, 3, hal.BusFault, "pwm_limit is 0", "pwm_limit=885"},
		{"current limit 0", arm, "", nil, preset(3, "current_limit", 0),
			"torque-limit", StateFail, 3, hal.BusFault, "current_limit is 0", "current_limit=1193"},
		{"watchdog tripped", arm, "", nil, preset(3, "bus_watchdog", -1), "watchdog", StateWarn, 3, 0, "tripped",
			"serve"},
		{"encoder broken", arm, "", nil, fault("garbage servo 3"), "values", StateFail, 3, hal.BusFault, "jumps",
			"replace"},
		{"values frozen", arm, "", nil, fault("stuck servo 3"), "values", StateFail, 3, hal.BusFault, "has stopped",
			"off and on"},
	}
}

// answerFaultCases are what can be wrong with the line of Dynamixels and with how they answer.
func answerFaultCases() []FaultCase {
	return []FaultCase{
		{"supply off", arm, "", nil, fault("off bus"), "power", StateFail, noID, hal.BusFault, "none of the 6",
			"supply"},
		{"brown-out", arm, "", nil, fault("brownout bus from=100ms"), "power", StateFail, AnyID, hal.BusFault,
			"restarted", "battery"},
		{"servo missing", arm, "", nil, fault("off servo 3"),
			"servo", StateFail, 3, hal.Absent, "no answer", "between id 2 and id 3"},
		{"wrong baud rate", arm, "", nil, preset(3, "baud_rate", 1),
			"baud", StateFail, 3, hal.BusFault, "57600", "--baud 57600 --new-baud 1000000"},
		{"two servos, one id", arm, "", nil, fault("duplicate_id servo 3"), "id", StateFail, 3, hal.BusFault,
			"two servos", "only one"},
		{"two servos, one id", humanoid, "", nil, fault("duplicate_id servo 7"), "id", StateFail, 7, hal.BusFault,
			"two servos", "only one"},
		{"bad checksums", arm, "", nil, fault("crc servo 3 p=0.3"), "answers", StateFail, 3, hal.BusFault,
			"bad checksum", "baud rate"},
		{"answers cut short", arm, "", nil, fault("truncate servo 3"), "answers", StateFail, 3, hal.BusFault,
			"cut short", "cable"},
		{"loose contact", arm, "", nil, fault("intermittent servo 3"), "answers", StateFail, 3, hal.BusFault, "missing",
			"plugs"},
		{"slow answers", arm, "", nil, fault("slow servo 3 by=5ms"), "speed", StateFail, 3, hal.BusFault, "later than",
			"adapter"},
		{"echo", arm, "buses.arm.timing.echo=true", nil, nil, "echo", StateWarn, noID, 0, "echoes", "adapter"},
		{"echo", humanoid, "buses.upper.timing.echo=true", nil, nil, "echo", StateWarn, noID, 0, "echoes", "adapter"},
		{"bus too slow", arm, "clock.period=1500us", nil, nil, "load", StateFail, noID, hal.BusFault, "of 1.5ms",
			"4000000 Bd: "},
		{"bus nearly full", arm, "clock.period=2000us", nil, nil, "load", StateWarn, noID, 0, "of 2ms", "two buses: "},
		{"bus too slow", humanoid, "clock.period=1500us", nil, nil, "load", StateFail, AnyID, hal.BusFault, "of 1.5ms",
			"fast sync read"},
	}
}

// calibrationFaultCases are what can be wrong with a joint's calibration.
func calibrationFaultCases() []FaultCase {
	const measure = "measure elbow"
	sound := func(*calibration.Joint) {}
	return []FaultCase{
		{"calibration file missing", arm, "agents[0].hardware.joints.elbow.calibration=none.yaml", nil, nil,
			"calibration", StateWarn, 3, 0, "missing", measure},
		{"calibration nominal", arm, "", func(c *calibration.Joint) { c.Method = calibration.ByNominal }, nil,
			"calibration", StateWarn, 3, 0, "nominal", measure},
		{"calibration of another id", arm, "", func(c *calibration.Joint) { c.Servo.ID = 5 }, nil,
			"calibration", StateFail, 3, hal.Uncalibrated, "made with id 5", measure},
		{"calibration of another model", arm, "", func(c *calibration.Joint) { c.Servo.Model = "ax-12a" }, nil,
			"calibration", StateFail, 3, hal.Uncalibrated, "made with a ax-12a", measure},
		{"homing offset changed", arm, "", sound, preset(3, "homing_offset", 100),
			"calibration", StateFail, 3, hal.Uncalibrated, "homing offset 0, the servo has 100", measure},
		{"firmware since calibration", arm, "", func(c *calibration.Joint) { c.Servo.Firmware = "48" }, nil,
			"calibration", StateWarn, 3, 0, "firmware 48", measure},
		{"mounted again", arm, "", func(c *calibration.Joint) {
			c.RangeTicks = [2]float64{1000, 1500}
			c.ZeroTicks = 1200
		},
			physics(3, func(s *actuator.Servo) { s.Position = 2 }), "calibration", StateWarn, 3, 0, "outside", measure},
		{"none, and calibrated", arm, "", sound, nil, "", "", noID, 0, "", ""},
	}
}
