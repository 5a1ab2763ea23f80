// Package kondo drives chains of Kondo servos with ICS 3.5 or 3.6: the codec, the parameters as data, a client for
// tools (Client) and the bus cycle (Chain).
//
// 115200, 625000 or 1250000 bit/s, eight data bits, even parity, one stop bit: eleven bits a byte on the wire. One
// wire, half duplex: the host receives its own echo, which servo.EchoFilter discards. The addressed servo answers every
// command at once, with bit 7 of the first byte cleared:
//
//	position  80|id hh ll       -> 00|id hh ll        14 bits in two times seven; 0 = free, no torque
//	read      A0|id sc          -> 20|id sc vv
//	write     C0|id sc vv       -> 40|id sc vv
//	id        FF 00 00 00       -> E0|id              only one servo on the line
//	set id    E0|id 01 01 01    -> E0|id
//
// The reply to a position command is the present position: command and measurement are one exchange. A servo without
// torque is measured by sending the free position again. There is no checksum: only parity and the plausible range of a
// position detect a corrupt reply.
//
// For sessions, blocking and errors see package servo. Ticks: 8000 for 270 degrees, 7500 the centre, 3500..11500.
// Position is the only mode. Efforts are shares of the stall torque, by the current. IDs are 0..31. A serial.Line needs
// SetEven(true), and with an adapter that echoes a servo.EchoFilter around it: see the example of NewChain.
//
// Source: "ICS3.5/3.6 Software Manual Command Reference" (Kondo), known here by its implementations; not tested with a
// servo.
package kondo
