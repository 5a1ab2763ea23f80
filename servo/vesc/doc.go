// Package vesc drives motor controllers with VESC firmware over a serial line, and those behind the first on its own CAN
// bus: the codec, the commands and models as data, a client for tools (Client) and the bus cycle (Chain).
//
// 115200 bit/s, 8N1, full duplex, or a USB port that takes any rate. The host asks or tells, nobody talks unasked:
//
//	02 LEN payload CRCH CRCL 03             payload of 1..255 bytes: its first is the command
//	03 LENH LENL payload CRCH CRCL 03       longer ones, to 512
//
// CRC-16 is XMODEM's: polynomial 1021, from 0, over the payload alone. Words are big-endian, numbers scaled integers;
// configurations have 32-bit floats. What is for another controller goes to the first as 22 ID payload (FORWARD_CAN);
// its answer comes back bare. A command is not acknowledged, and holds for as long as the controller's timeout, which
// stops the motor: 1 s as it comes.
//
// Speeds are electrical: turns a minute times the pole pairs, which the controller is asked for. Angles are its
// encoder's, 0..360 degrees; without one it counts sixths of electrical turns since it has power (tachometer).
//
// A session, what blocks and what errors mean are as in package servo. Ticks: 16384 a turn of the motor, 8192 the
// centre, of controllers with an encoder; without one (models ..-hall) they count on from 0 at power-on, and there is
// no position mode. Efforts are A of motor current, velocities rad/s of the motor's shaft. Modes: position, velocity,
// torque and duty. IDs are 0..253.
//
// Source: github.com/vedderb/bldc, comm/packet.c, comm/commands.c, datatypes.h, confgenerator.c (firmware 5.2 to 6.5).
package vesc
