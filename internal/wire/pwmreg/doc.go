// Package pwmreg has the registers and commands of the servo pulse boards.
//
// Both sides of the wire use it: the driver (drivers/pwm) and the emulated device (sim/emulator/chip).
package pwmreg
