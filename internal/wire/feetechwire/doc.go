// Package feetechwire has the packets of Feetech servos.
//
// Both sides of the wire use it: the driver (servo/feetech) and the emulated device (internal/emulator/feetech).
package feetechwire
