// Package chip emulates sensors and outputs byte for byte: I2C chips on a bus in memory, and boards on a serial line.
// It uses the register tables of drivers/*; the physics sets their values. Drivers work on it unchanged.
//
//	driver ─► Host (periph's i2c.Bus, and a clock) ─► Bus: addresses, wire time, faults ─► Device: registers
//	                                                                   Motion, Air, Water, pulses ◄─┘ set or read at cycle edges
//
// Time is virtual. The bus has the time of the cycle's edge, which Advance moves; each Host is one program's handle and
// has a time of its own, which its transactions and its waits move beyond the edge. So a slow sensor's conversion takes
// its time without any other device waiting for it, and the same run gives the same bytes. The physics is that of the
// last edge until the next one.
package chip
