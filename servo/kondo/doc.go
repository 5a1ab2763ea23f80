// Package kondo drives chains of Kondo servos that speak ICS 3.5 or 3.6: the codec, the parameters as data, a client for
// tools (Client) and the bus cycle (Chain).
//
// 115200, 625000 or 1250000 bit/s, eight data bits, even parity, one stop bit: eleven bits a byte on the wire. One wire,
// half duplex: the host receives itself, which servo.EchoFilter takes out. Every command is answered at once by the servo that
// it is for, with bit 7 of its first byte cleared:
//
//	position  80|id hh ll       -> 00|id hh ll        14 bits in two times seven; 0 = free, no torque
//	read      A0|id sc          -> 20|id sc vv
//	write     C0|id sc vv       -> 40|id sc vv
//	id        FF 00 00 00       -> E0|id              one servo on the line alone
//	set id    E0|id 01 01 01    -> E0|id
//
// The answer to a position is where the servo stands: command and measurement are one exchange, and a servo without
// torque is measured by being told to be free again. There is no checksum; parity and what a position can be are all
// that tell a damaged answer from a sound one.
//
// A session, what blocks and what errors mean are as in package servo. Ticks: 8000 for 270 degrees, 7500 the centre,
// 3500..11500. Position is the only mode. Efforts are shares of the stall torque, by the current. IDs are 0..31. A
// serial.Line needs SetEven(true), and where the adapter receives itself a servo.EchoFilter around it: see the example of
// NewChain.
//
// Source: "ICS3.5/3.6 Software Manual Command Reference" (Kondo), known here by its implementations; nothing of it has
// been checked against a servo.
package kondo
