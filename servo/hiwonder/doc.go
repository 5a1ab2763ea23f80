// Package hiwonder drives chains of Hiwonder (LewanSoul) bus servos, the LX-16A and its like: the codec, the commands
// as data, a client for tools (Client) and the bus cycle (Chain).
//
// 115200 bit/s, 8N1, half duplex: the host sends requests, the servos answer reads; writes are never acknowledged.
//
//	55 55 ID LEN CMD P1..PN CHK     LEN = N+3, CHK = ^(ID+LEN+CMD+P1+..+PN)
//
// Words are little-endian. A reply has the command of its request. There is no group write or group read, no model
// number, no alarm and no torque limit. The position is 0..1000 for 240 degrees; it is read as a signed number, since a
// pushed shaft may be slightly outside.
//
// For sessions, blocking and errors see package servo. Ticks: 1000 for 240 degrees, 500 the centre. Modes: position and
// duty; speed and effort are not measured. IDs are 0..253.
//
// Source: "LX-16A bus servo communication protocol" (Hiwonder). It defines LEN in three ways; the frame above matches
// its examples.
package hiwonder
