// Package feetech drives chains of Feetech bus servos, the STS, SMS and HLS series and the older SCS: the codec, the memory
// tables as data, a client for tools (Client) and the bus cycle (Chain).
//
// 8N1, half duplex, 1 Mbit/s from the factory: the host asks, the servos answer. The frame is that of Dynamixel 1.0:
//
//	FF FF ID LEN CODE P1..PN CHK     LEN = N+2, CHK = ^(ID+LEN+CODE+P1+..+PN)
//
// CODE is the instruction on the way out and the error byte on the way back. Addresses and lengths are one byte.
//
//	         words          position      sync read  torque limit in RAM  EEPROM lock
//	STS/SMS  low byte first 4096 a turn   yes        48                   55
//	HLS      low byte first 4096 a turn   yes        44, a current        55
//	SCS      high first     1024          no         none                 48
//
// Signs are sign and magnitude, the sign's bit different from register to register. What the EEPROM registers do while
// the lock is closed is used here: a write changes the copy in RAM alone and is gone with the power. So a change of mode
// in the cycle wears nothing out.
//
// A session, what blocks and what errors mean are as in package servo. Ticks: 4096 a turn, 2048 the centre, 0..4095 in
// the position mode; of SCS 0..1023 over 300 degrees (SCS0009) or 200 (SCS15), 512 the centre. Efforts are shares of
// the stall torque as the load register has them, -1..1, of HLS amperes. Modes: position, and of STS and SMS velocity and
// duty, of HLS velocity and torque. IDs are 0..253.
//
// HLS have a current at address 44, where STS have the time of a motion: the goal in the current mode, in all others the
// greatest current. The zero that an STS does not mind there leaves an HLS limp, so one is never taken for the other: the
// firmware, 3.40 to 3.59, tells them apart.
//
// Sources: the memory tables of STS3215, STS3250, SCS15 and the HLS series (Feetech), Feetech's SCServo SDK, LeRobot's
// motors/feetech. Known faults of the sources: LeRobot's baud codes 5 to 7 are each one step too slow.
package feetech
