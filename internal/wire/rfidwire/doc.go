// Package rfidwire has the frames of the PN532 tag reader.
//
// Both sides of the wire use it: the driver (drivers/rfid) and the emulated device (sim/emulator/reader).
package rfidwire
