// Package vescwire has the packets and values of VESC controllers.
//
// Both sides of the wire use it: the driver (servo/vesc) and the emulated device (internal/emulator/vesc).
package vescwire
