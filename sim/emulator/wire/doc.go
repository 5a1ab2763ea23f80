// Package wire is the common part of every emulated line: one clock, one plug, one random source and one vocabulary of
// faults. Servo lines, CAN, UARTs, I2C, SPI, GPIO chips and cameras use it.
//
//	Medium  a clock, a plug and a plan of faults, under one lock
//	Path    bytes on the wire to the host, with rates, collisions and the host's adapter
//	Line    a full-duplex serial line with a Board at its end; a servo bus is its own Port on the same Medium and Path
//	Serve   any of them on a pseudo terminal or a TCP connection, on the wall clock
//	Tap     a faulty piece of wire before any line, independent of the protocol
//
// In memory time is virtual: a transfer returns at once and advances the host's clock by its duration; a timeout
// advances it by the timeout. A byte sent at one rate and received at another becomes another byte. The same run gives
// the same bytes.
//
// A fault is a line of text, which every command and every test accepts:
//
//	KIND bus|servo N [p=0..1] [by=50ms] [by=100] [from=1s] [for=2s]
//
// Each planted fault has its own random source, seeded by the medium and by its index in the order of planting, so that
// faults do not affect each other.
package wire
