package dynamixel

import "math"

const rpm = 2 * math.Pi / 60 // rad/s

// The units of raw values, from the e-Manual. A register without a unit is a plain number.
var (
	number      = Measure{}
	microsecond = Measure{Unit: "s", Scale: 2e-6} // return delay: 2 µs
	millisecond = Measure{Unit: "s", Scale: 1e-3}
	watchdog    = Measure{Unit: "s", Scale: 20e-3}
	celsius     = Measure{Unit: "°C", Scale: 1}
	decivolt    = Measure{Unit: "V", Scale: 0.1}
	share1023   = Measure{Unit: "1", Scale: 1. / 1023} // torque and load of 1.0
	permille    = Measure{Unit: "1", Scale: 1e-3}      // load of 2.0
	pwm885      = Measure{Unit: "1", Scale: 1. / 885}  // duty of 2.0, 0.113 %

	ticks1024 = Measure{Unit: "rad", Scale: 300 * math.Pi / 180 / 1023, Zero: 512}
	ticks4096 = Measure{Unit: "rad", Scale: 2 * math.Pi / 4096, Zero: 2048}
	turns4096 = Measure{Unit: "rad", Scale: 2 * math.Pi / 4096} // a distance, not a place

	speedAX = Measure{Unit: "rad/s", Scale: 0.111 * rpm}
	speedMX = Measure{Unit: "rad/s", Scale: 0.114 * rpm}
	speedX  = Measure{Unit: "rad/s", Scale: 0.229 * rpm}
	accelMX = Measure{Unit: "rad/s²", Scale: 8.583 * math.Pi / 180}
	accelX  = Measure{Unit: "rad/s²", Scale: 214.577 * 2 * math.Pi / 3600} // rev/min²

	pulseY           = Measure{Unit: "rad", Scale: 2 * math.Pi / pulsesY}
	pulsesPerSecondY = Measure{Unit: "rad/s", Scale: 2 * math.Pi / pulsesY}
	thresholdY       = Measure{Unit: "rad/s", Scale: 5e3 * 2 * math.Pi / pulsesY} // 5 pulses a ms
	speedY           = Measure{Unit: "rad/s", Scale: 0.01 * rpm}
	accelY           = Measure{Unit: "rad/s²", Scale: 10 * 2 * math.Pi / 3600}
	percent          = Measure{Unit: "1", Scale: 0.01}
	decihertz        = Measure{Unit: "Hz", Scale: 0.1}
	ticks5kHz        = Measure{Unit: "s", Scale: 0.2e-3}

	current4m5 = Measure{Unit: "A", Scale: 4.5e-3, Zero: 2048}
)

// ampere is a current of unit A a count.
func ampere(unit float64) Measure { return Measure{Unit: "A", Scale: unit} }

// alarm bits shared by both protocols; 1.0 adds angle limit and range.
const (
	bitVoltage = 1 << iota
	bitAngle
	bitHeat
	bitRange
	bitChecksum
	bitOverload
	bitInstruction
)
