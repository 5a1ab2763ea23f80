// Package gamebots implements the protocol of USARSim 2.0.1: over TCP a controller spawns one robot, drives it, and
// receives sensor values as text lines. Server serves the robots of a rig; Client is the other side, for tests,
// benchmarks and controllers in Go.
//
// # A session
//
//	client                                               server
//	                                                     NFO {Gametype g} {Level l} {TimeLimit t} ──►
//	◄── INIT {ClassName USARBot.P2AT} {Location x,y,z}
//	                                                     STA, MIS, SEN ... ──►   every msgTimer, until the end of file
//	◄── DRIVE {Left 1.0} {Right 1.0}
//	◄── SET {Type Odometry} {Name Odo1} {Opcode RESET}
//	                                                     RES {Time t} {Type Odometry} {Name Odo1} {Status OK} ──►
//
// # Grammar
//
//	line    = type { segment } end              end = \r\n out; \n, \r or any run of them in
//	segment = "{" name value { name value } "}" blanks between out; none needed before "{", more allowed anywhere, in
//	value   = word | number { "," number }      in: the commas of numbers may be blanks, or both
//
//	INIT {ClassName c} {Name n} {Location x,y,z} {Rotation r,p,y} [later: {Start name}]
//	DRIVE {Left v} {Right v} {Normalized b} {Light b} {Flip b} | {Name joint} {Steer a} {Order 0..2} {Value v}
//	CAMERA {Rotation x,y,z} {Order 0..1} {Zoom fov}
//	SET {Type t} {Name n} {Opcode o} {Params p,...} | {Type Camera} {Robot r} {Name camera} {Client ip}
//	MISPKG, MISPGK {Name n} {Rotation x,y,z} {Translation x,y,z} {Order 0..2}
//	GETGEO, GETCONF {Type t} {Name n}    GETSTARTPOSES    later: ACT {Name n} {Link i} {Value v} {Order o} ...
//
// In the manual types and names are case-sensitive, and values are not. Its own clients disagree, so the server ignores
// case everywhere. It sends the names of robots, joints and items in the case in which they were given.
//
// # Units
//
// SI, in the axes of SAE J670: x to the front (north), y to the right (east), z down, rotations right-handed about
// them. hal has y to the left and z up: this package rotates all vectors by π about x. Numbers have four decimals and
// are cut, not rounded, so that -0.0000 occurs; times, positions of tags, probabilities and loudness have two, as in
// the manual's examples. The time is the rig's, in seconds.
//
// # Commands without an answer
//
// The manual answers only SET and zooms, with Failed if they have no effect. This server also answers a failed INIT, by
// RES with the class as its type. A command with an unknown type, an unknown joint, or a malformed, NaN or infinite
// number has no effect and no answer; the log reports it once a session. A query for an item that the robot does not
// have is answered, as in the original, only by its type and name.
//
// # Where the manual and its own examples differ
//
//   - RFID messages have {Type RFID}, as in the example and the sensor's source, not RFIDTag; their positions have no blanks
//     after the commas, which section 7.2 forbids.
//   - The text has MISPKG, the syntax line MISPGK; both are accepted.
//   - The later dialect (2007 to 2010, an option) has the type but no position in STA, sends MISSTA, CONF
//     and GEO of whole robots, {Name n} before the settings of each item, and times with four decimals. SEN begins with
//     {Time}, of two decimals, for sonars, scanners, GroundTruth and readers of tags, but not for encoder, odometry, INU, INS
//     and GPS. A scanner's CONF has MinRange and Fov, and it scans every 0.22 s if its file has no interval.
//   - The UDK dialect (2010 to 2015) has no INU. It sends one SEN a sensor and one segment a value, {Time} in all but INS and GPS, an STA of
//     time, battery and steering, ASTA for MISSTA, and Actuator for MisPkg. Facts from hrnr/robocup-usarsim e0a5d17.
package gamebots
