// Package pressurereg has the registers and commands of the pressure sensors, and the arithmetic of their data sheets.
//
// Both sides of the wire use it: the driver (drivers/pressure) and the emulated device (sim/emulator/chip).
package pressurereg
