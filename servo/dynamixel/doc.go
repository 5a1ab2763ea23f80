// Package dynamixel drives chains of ROBOTIS Dynamixel servos: the codecs of protocols 1.0 and 2.0, the register
// tables as data, a client for tools (Client) and the bus cycle (Chain).
//
// All words are little-endian, 8N1, half duplex: the host sends requests, the servos reply.
//
//	1.0  FF FF ID LEN CODE P1..PN CHK                     LEN = N+2, CHK = ^(ID+LEN+CODE+P1+..+PN)
//	2.0  FF FF FD 00 ID LENL LENH CODE P1..PN CRCL CRCH   LEN = N+3 counted after stuffing
//
// CODE of a request is the instruction. In a reply it is the error byte in 1.0; in 2.0 it is 55 and the error byte
// follows as P1. 2.0 stuffs one FD after every FF FF FD in CODE..PN, and its CRC covers all bytes before it, stuffing
// included.
//
// Fast reads of 2.0 are answered by all servos in one packet. Each CRC covers all bytes from the first FF up to it,
// earlier CRCs included, without stuffing:
//
//	FF FF FD 00 FE LENL LENH 55 | ERR ID data CRCL CRCH | ERR ID data CRCL CRCH | ...   LEN = 1 + sum of (4 + data)
//
// For sessions, blocking and errors see package servo. Ticks are those of the servo: 4096 a turn, 2048 the centre,
// 0..4095 in position mode; AX and XL-320 1023 for 300 degrees, 512 the centre. Efforts are A if the model measures
// current (Model.CurrentControl), else shares of the stall torque. Modes: position of all; velocity of all but AX and
// XL-320; torque of those with current control; duty of all but the MX of protocol 1.0. IDs are 0..252.
//
// Sources: ROBOTIS e-Manual, pages protocol1, protocol2 and one a model; the order and the rejection rules of
// DynamixelSDK. Known faults of the sources: the SDK's xl320.model calls 2048 the centre of a 10 bit servo; the
// XL330's indirect data begin at 208, older files say 224.
package dynamixel
