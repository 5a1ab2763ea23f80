// Package pwm drives what makes the pulses of hobby servos, ESCs and thrusters: NXP's PCA9685 on I2C, Pololu's Maestro on
// USB or a UART, and the kernel's own PWM. Each is a drivers.Output by its shape: a pulse's width a channel, 0 for none.
//
// A PCA9685 goes on pulsing when the program that told it dies, as long as it has power: nothing but its OE pin, wired to a
// GPIO that falls with the program, or a relay, stops it then. A Maestro has a timeout of its own (its "serial timeout",
// set by Pololu's tool), after which its channels go to their error state. The kernel's PWM goes on, too.
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
