package emulator

import "time"

// Timing is what a bus adds to the bare wire time of its bytes, 10 bits each. The zero Timing is a wire without
// adapter and servos that need no time at all.
type Timing struct {
	// Reply is what a servo needs before an answer, beyond its return delay register; a common answer to a fast read
	// needs it once. Measured: see DefaultReply.
	Reply time.Duration
	// SkipSilent is how long a servo of a sync or bulk read waits for one before it that is silent, before it answers
	// in its stead. 0 is what the largest maker reports of its servos: the rest stays silent for good.
	SkipSilent time.Duration
	// Frame is the USB frame: bytes reach the host at its edges alone. 1 ms at full speed, 125 µs at high speed.
	// Field measurements (LeRobot pull request 3456) fit frames on the way in and none on the way out.
	Frame time.Duration
	// Latency is the FTDI latency timer: what has come is handed on when it runs out, or when Batch bytes wait.
	Latency time.Duration
	Batch   int // bytes; 0 = the FTDI's 62
	// Boot is how long a servo is silent after power-on and reboot.
	Boot time.Duration
	// Echo gives the host its own bytes back, as an adapter does that ties both directions together.
	Echo bool
}

// DefaultReply is the one figure fitted (least squares of the relative error) to the cycle rates of 20 MX-64 that
// Bestmann, Güldenstein and Zhang measured through their QUADDXL ("High-Frequency Multi Bus Servo and Sensor
// Communication Using the Dynamixel Protocol", RoboCup 2019). All twelve cells come out within 6 %; see Rates.
const DefaultReply = 58 * time.Microsecond

// FTDI is the timing of an FT232H (U2D2) whose latency timer is set to latency; 16 ms is what it has from the factory.
func FTDI(latency time.Duration) Timing {
	return Timing{Reply: DefaultReply, Frame: 125 * time.Microsecond, Latency: latency}
}
