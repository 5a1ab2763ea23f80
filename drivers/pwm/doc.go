// Package pwm drives PWM outputs for hobby servos, ESCs and thrusters: NXP's PCA9685 on I2C, Pololu's Maestro on USB or a
// UART, and kernel PWM. Each implements drivers.Output: one pulse width per channel, 0 for no pulses.
//
// A PCA9685 goes on pulsing when the program that told it dies, as long as it has power: nothing but its OE pin, wired to a
// GPIO that falls with the program, or a relay, stops it then. A Maestro has a timeout of its own (its "serial timeout",
// set by Pololu's tool), after which its channels go to their error state. The kernel's PWM goes on, too.
//
// # A session
//
//	board, err := pwm.NewPCA9685(bus, ..)        no I/O; hal.Invalid where the config asks for what it cannot
//	board.Open()                                 found and set up, no channel has pulses
//	board.Write([]time.Duration{1500e3, 0})      all channels together; 0 is no pulses
//	board.Off()                                  no pulses: an error for each channel that did not acknowledge
//	board.Close()                                leaves the pulses as they are
//
// A hobby servo turns over 90 to 180 degrees with 1000 to 2000 µs, some with 500 to 2500; an ESC wants its neutral, 1500 µs
// mostly, for some seconds before it follows. What a width does is no business of this package: calibration.Pulse knows it,
// and drivers.OutputWriter writes beside a cycle.
//
//	PCA9685      16 channels, 24..400 Hz, 4.9 µs a count at 50 Hz; up to 8 % off until its oscillator is measured; I2C
//	Maestro      6, 12, 18 or 24 channels, 50 Hz, 0.25 µs; serial or USB
//	kernel PWM   what the machine has, any period, 1 ns to some µs by its hardware; /sys/class/pwm
//
// One goroutine at a time calls a board. Errors are a *hal.Error: of kind hal.Absent where it is gone or was reset (Open it
// again), hal.BusFault where it did not take what it was told, hal.Busy where access is denied.
//
// For each device X_table.go has its registers or commands, as the datasheet has them, X.go the device.
package pwm

import (
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// sleep lets d pass on c.
func sleep(c hal.Clock, d time.Duration) { c.SleepUntil(c.Now() + d) }

// all is err for each of n channels.
func all(n int, err error) []error {
	errs := make([]error, n)
	for i := range errs {
		errs[i] = err
	}
	return errs
}
