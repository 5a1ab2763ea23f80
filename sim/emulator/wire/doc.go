// Package wire is what every emulated line has: one clock, one plug, one set of dice and one vocabulary of faults. Servo lines,
// CAN, UARTs, I2C, SPI, GPIO chips and cameras are made of it.
//
//	Medium  a clock, a plug and a plan of faults, under one lock
//	Path    bytes on their way to the host, with rates, collisions and the adapter that hands them on
//	Line    a full-duplex serial line with a Board at its end; a servo bus is a Port of its own on the same Medium and Path
//	Serve   any of them on a pseudo terminal or a TCP connection, on the wall clock
//	Tap     a bad stretch of wire before any line, which needs to know nothing of telegrams
//
// In memory time is virtual: a transfer returns at once and moves the host's clock by what it takes; waiting for nothing moves
// it by the timeout. A byte that is sent at one rate and received at another is another byte. The same run gives the same
// bytes.
//
// A fault is a line of text, which every command and every test takes:
//
//	KIND bus|servo N [p=0..1] [by=50ms] [by=100] [from=1s] [for=2s]
//
// Each planted fault has dice of its own, seeded by the medium and by its place in the order of planting, so that one fault
// never changes what another does.
package wire
