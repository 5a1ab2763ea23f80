// Package odrivewire has the lines and CAN frames of ODrive controllers, and the names of their faults.
//
// Both sides of the wire use it: the driver (servo/odrive) and the emulated device (internal/emulator/odrive).
package odrivewire
