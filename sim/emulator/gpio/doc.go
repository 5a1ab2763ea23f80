// Package gpio emulates a GPIO chip: the kernel's character device in memory, byte for byte, with switches, encoders, sonars
// and motion sensors on its lines, which the physics drives. Drivers work on it unchanged.
//
//	driver ─► Host ─► nodes: requests, values, events ─► Chip: lines, resistors, faults ◄─ Part: switch, encoder, sonar, PIR
//	                                                                                       ▲ set between cycles
//
// Time is virtual, as in package chip: the chip has the time of the cycle's edge, which Advance moves; each Host has a time of
// its own, which its waits move beyond the edge. What a part does within a period it does at its time there, so that the
// stamps of an encoder's edges are spread as they would be; what it answers to an output, a sonar's echo, comes when it would.
//
// A line is at the level that, first of all, a fault says; then its output; then the part on it, where no wire is cut; then
// the resistor inside the chip that was asked for; then the one on the board; else it is low.
package gpio
