// Package gpio emulates a GPIO chip: the kernel's character device in memory, byte for byte, with switches, encoders,
// sonars and motion sensors on its lines, driven by the physics. Drivers work on it unchanged.
//
//	driver ─► Host ─► nodes: requests, values, events ─► Chip: lines, resistors, faults ◄─ Part: switch, encoder, sonar, PIR
//	                                                                                       ▲ set between cycles
//
// Time is virtual, as in package chip: the chip has the time of the cycle's edge, which Advance moves. Each Host has
// its own time, which its waits move beyond the edge. Events of a part within a period have their exact times, so that
// the time stamps of an encoder's edges are spread realistically. Its response to an output, such as a sonar's echo,
// has its real delay.
//
// The level of a line is determined, in this order, by a fault, its output, the part on it (unless the wire is cut),
// the requested resistor inside the chip, and the resistor on the board; else it is low.
package gpio
