// Package kondowire has the packets of Kondo servos (ICS 3.5 and 3.6).
//
// Both sides of the wire use it: the driver (servo/kondo) and the emulated device (internal/emulator/kondo).
package kondowire
