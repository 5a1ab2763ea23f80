// Package vesc drives motor controllers with VESC firmware over a serial line, and those behind the first on its own
// CAN bus: the codec, the commands and models as data, a client for tools (Client) and the bus cycle (Chain).
//
// 115200 bit/s, 8N1, full duplex, or a USB port that accepts any rate. The host sends requests and commands; a
// controller sends only replies:
//
//	02 LEN payload CRCH CRCL 03             payload of 1..255 bytes: its first is the command
//	03 LENH LENL payload CRCH CRCL 03       longer ones, to 512
//
// CRC-16 is XMODEM's: polynomial 1021, initial value 0, over the payload only. Words are big-endian, numbers scaled
// integers; configurations have 32-bit floats. A payload for another controller is sent to the first one as
// 22 ID payload (FORWARD_CAN); the reply has no such prefix. A command is not acknowledged. It is valid until the
// controller's timeout, which stops the motor: 1 s by factory default.
//
// Speeds are electrical: turns a minute times the pole pairs, which are read from the controller. Angles are its
// encoder's, 0..360 degrees; without an encoder it counts sixths of electrical turns since power-on (tachometer).
//
// For sessions, blocking and errors see package servo. Ticks: 16384 a turn of the motor, 8192 the centre, of
// controllers with an encoder. Without one (models ..-hall) they count from 0 at power-on, and there is no position
// mode. Efforts are A of motor current, velocities rad/s of the motor's shaft. Modes: position, velocity, torque and
// duty. IDs are 0..253.
//
// Source: github.com/vedderb/bldc, comm/packet.c, comm/commands.c, datatypes.h, confgenerator.c (firmware 5.2 to 6.5).
package vesc
