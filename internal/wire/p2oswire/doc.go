// Package p2oswire has the packets of P2OS and ARCOS: commands to a base, and its reports.
//
// Both sides of the wire use it: the driver (drivers/base) and the emulated device (sim/emulator/p2os).
package p2oswire
