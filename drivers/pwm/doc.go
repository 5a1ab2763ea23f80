// Package pwm drives PWM outputs for hobby servos, ESCs and thrusters: NXP's PCA9685 on I2C, Pololu's Maestro on USB or
// a UART, and kernel PWM. Each implements drivers.Output: one pulse width per channel, 0 for no pulses.
//
// A PCA9685 with power continues its pulses when the program dies: then only its OE pin, wired to a GPIO that is
// released with the program, or a relay stops it. A Maestro has its own timeout (its "serial timeout", set by Pololu's
// tool), after which its channels go to their error state. The kernel's PWM also continues.
//
// # A session
//
//	board, err := pwm.NewPCA9685(bus, ..)        no I/O; hal.Invalid for an unsupported config
//	board.Open()                                 found and set up, no channel has pulses
//	board.Write([]time.Duration{1500e3, 0})      all channels together; 0 is no pulses
//	board.Off()                                  no pulses: an error for each channel that did not acknowledge
//	board.Close()                                does not change the pulses
//
// A hobby servo turns over 90 to 180 degrees with 1000 to 2000 µs, some with 500 to 2500. An ESC needs its neutral,
// usually 1500 µs, for some seconds before it follows commands. calibration.Pulse converts between width and output;
// drivers.OutputWriter writes in its own goroutine.
//
//	PCA9685      16 channels, 24..400 Hz, 4.9 µs a count at 50 Hz; up to 8 % off until its oscillator is measured; I2C
//	Maestro      6, 12, 18 or 24 channels, 50 Hz, 0.25 µs; serial or USB
//	kernel PWM   the machine's channels, any period, 1 ns to some µs by its hardware; /sys/class/pwm
//
// One goroutine at a time calls a board. Errors are a *hal.Error. hal.Absent: it is lost or was reset (Open it again).
// hal.BusFault: it did not accept a command. hal.Busy: access is denied.
//
// For each device X_table.go has its registers or commands, as in the datasheet, and X.go the driver.
package pwm
