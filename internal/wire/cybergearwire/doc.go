// Package cybergearwire has the CAN frames of CyberGear motors.
//
// Both sides of the wire use it: the driver (servo/cybergear) and the emulated device (internal/emulator/cybergear).
package cybergearwire
