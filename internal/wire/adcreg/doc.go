// Package adcreg has the registers of the analog converters and power monitors.
//
// Both sides of the wire use it: the driver (drivers/adc) and the emulated device (sim/emulator/chip).
package adcreg
