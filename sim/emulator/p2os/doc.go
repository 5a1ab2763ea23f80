// Package p2os emulates a robot base with P2OS firmware: the board of a Pioneer on a Chassis that the caller moves. It
// uses the tables of drivers/base. It is a wire.Board.
//
//	client ◄─packets─► Board: session, watchdog, ramps, dead reckoning ──speeds──► Chassis
//	                                                                   ◄──rims, sonar, bumpers, turn──
//
// Its clocks tick every 20 ms; reports come every 100 ms as on the robot.
package p2os
