// Package p2os is a robot base that speaks P2OS from the other side of the wire: the board of a Pioneer, made of the
// tables of drivers/base and standing on a Chassis that somebody moves. It is a wire.Board.
//
//	client ◄─packets─► Board: session, watchdog, ramps, dead reckoning ──speeds──► Chassis
//	                                                                   ◄──rims, sonar, bumpers, turn──
//
// Its clocks tick every 20 ms; reports come every 100 ms as on the robot.
package p2os
