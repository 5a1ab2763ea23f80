// Package hiwonderwire has the packets of Hiwonder bus servos.
//
// Both sides of the wire use it: the driver (servo/hiwonder) and the emulated device (internal/emulator/hiwonder).
package hiwonderwire
