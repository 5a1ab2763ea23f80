// Package hiwonder drives chains of Hiwonder (LewanSoul) bus servos, the LX-16A and its like: the codec, the commands as
// data, a client for tools (Client) and the bus cycle (Chain).
//
// 115200 bit/s, 8N1, half duplex: the host asks, the servos answer reads; writes are never acknowledged.
//
//	55 55 ID LEN CMD P1..PN CHK     LEN = N+3, CHK = ^(ID+LEN+CMD+P1+..+PN)
//
// Words are little-endian. An answer carries the command that it answers. There is no way to write to many or to read
// many with one packet, no model number, no alarm and no torque limit. The position is 0..1000 for 240 degrees; it is
// read as a signed number, since a shaft that is pushed may stand a little outside.
//
// A session, what blocks and what errors mean are as in package servo. Ticks: 1000 for 240 degrees, 500 the centre.
// Modes: position and duty; speed and effort are not measured. IDs are 0..253.
//
// Source: "LX-16A bus servo communication protocol" (Hiwonder). Its LEN is worded in three ways; what counts is the
// drawing above, which its examples follow.
package hiwonder
