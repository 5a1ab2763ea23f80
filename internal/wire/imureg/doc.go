// Package imureg has the registers of the inertial sensors, as their data sheets list them.
//
// Both sides of the wire use it: the driver (drivers/imu) and the emulated device (sim/emulator/chip).
package imureg
