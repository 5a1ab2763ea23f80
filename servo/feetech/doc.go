// Package feetech drives chains of Feetech bus servos, the STS, SMS and HLS series and the older SCS: the codec, the
// memory tables as data, a client for tools (Client) and the bus cycle (Chain).
//
// 8N1, half duplex, 1 Mbit/s by factory default: the host sends requests, the servos reply. The frame is that of
// Dynamixel 1.0:
//
//	FF FF ID LEN CODE P1..PN CHK     LEN = N+2, CHK = ^(ID+LEN+CODE+P1+..+PN)
//
// CODE is the instruction in a request and the error byte in a reply. Addresses and lengths are one byte.
//
//	         words          position      sync read  torque limit in RAM  EEPROM lock
//	STS/SMS  low byte first 4096 a turn   yes        48                   55
//	HLS      low byte first 4096 a turn   yes        44, a current        55
//	SCS      high first     1024          no         none                 48
//
// Signed values are sign and magnitude; the sign bit differs between registers. While the lock is closed, a write to an
// EEPROM register changes only its copy in RAM and is lost at power-off. The driver uses that: a change of mode in the
// cycle does not wear the EEPROM.
//
// For sessions, blocking and errors see package servo. Ticks: 4096 a turn, 2048 the centre, 0..4095 in position mode;
// SCS 0..1023 over 300 degrees (SCS0009) or 200 (SCS15), 512 the centre. Efforts are shares of the stall torque from
// the load register, -1..1; for HLS amperes. Modes: position; STS and SMS also velocity and duty, HLS velocity and
// torque. IDs are 0..253.
//
// At address 44 HLS have a current, STS the time of a motion. The current is the goal in current mode, else the maximum
// current. A zero there has no effect on an STS, but an HLS loses torque. So the driver distinguishes them by the
// firmware: HLS have 3.40 to 3.59.
//
// Sources: the memory tables of STS3215, STS3250, SCS15 and the HLS series (Feetech), Feetech's SCServo SDK, LeRobot's
// motors/feetech. Known faults of the sources: LeRobot's baud codes 5 to 7 are each one step too slow.
package feetech
