package emulator

import "time"

// Timing holds the delays of a bus in addition to the wire time of its bytes, 10 bits each. The zero Timing is a wire
// without an adapter, and servos without processing time.
type Timing struct {
	// Reply is what a servo needs before an answer, beyond its return delay register; a common answer to a fast read
	// needs it once. Measured: see DefaultReply.
	Reply time.Duration
	// SkipSilent is the time that a servo in a sync or bulk read waits for a missing reply before its own, before it
	// replies. 0 is the documented behaviour of the largest maker: the servos after a missing reply do not reply at
	// all.
	SkipSilent time.Duration
	// Frame is the USB frame: bytes reach the host only at its edges. 1 ms at full speed, 125 µs at high speed.
	// Field measurements (LeRobot pull request 3456) match frames for received bytes, and none for sent ones.
	Frame time.Duration
	// Latency is the FTDI latency timer: received bytes are passed on when it expires, or when Batch bytes wait.
	Latency time.Duration
	Batch   int // bytes; 0 = the FTDI's 62
	// Boot is the time without replies after power-on and reboot.
	Boot time.Duration
	// Echo gives the host its own bytes back, as an adapter does that ties both directions together.
	Echo bool
}

// DefaultReply is the one value fitted (least squares of the relative error) to the cycle rates of 20 MX-64 that
// Bestmann, Güldenstein and Zhang measured through their QUADDXL ("High-Frequency Multi Bus Servo and Sensor
// Communication Using the Dynamixel Protocol", RoboCup 2019). All twelve cells come out within 6 %:
// TestRatesMatchThePublishedOnes.
const DefaultReply = 58 * time.Microsecond

// FTDI is the timing of an FT232H (U2D2) with the latency timer set to latency; the factory default is 16 ms.
func FTDI(latency time.Duration) Timing {
	return Timing{Reply: DefaultReply, Frame: 125 * time.Microsecond, Latency: latency}
}
