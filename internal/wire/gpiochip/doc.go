// Package gpiochip has the ioctls and structures of the kernel's GPIO character device, version 2.
//
// Both sides of the wire use it: the driver (drivers/gpio) and the emulated device (sim/emulator/gpio).
package gpiochip
