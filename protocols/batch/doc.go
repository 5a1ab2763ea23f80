// Package batch implements Halyard's own protocol for learning: a client steps many copies of a rig at once, with
// actions and observations as one array each. The other protocols are those of existing simulators, which lack this.
//
// # A session
//
//	client               server
//	HELLO ──►                         number of copies, seed, columns
//	              ◄── SPACES          the columns, with units and ranges
//	RESET ──►
//	              ◄── OBSERVATIONS
//	STEP ──►
//	              ◄── OBSERVATIONS    and so on until the end of file
//
// Every request has one answer, in order. ERROR answers a refused request, and ends the session if the server cannot
// find the next request. The copies belong to the session: they begin and end with it. Between sessions a server has no
// state except its config, so a lost session can be started again, with the same seed, on any machine.
//
// # Frames
//
// All numbers are little-endian. A frame is
//
//	offset size
//	0      4    length of the rest, 1..MaxFrame
//	4      1    type
//	5      ...  the rest, by type
//
//	1   HELLO         magic "HLYB" (4), version 1 (2), target (1): 0 copies of the rig, 1 the served rig itself;
//	                  copies (4), seed (8; 0 the config's), actions (names), observations (names); none: the usual ones
//	2   STEP          copies x actions of 8 bytes, IEEE 754; NaN is no new command
//	3   RESET         copies bytes, 1 to reset that copy; copies seeds of 8 bytes, 0 keeps it
//	129 SPACES        copies (4), period in ns (8), actions (columns), observations (columns)
//	130 OBSERVATIONS  copies x observations of 8 bytes; NaN where nothing is measured
//	255 ERROR         kind (1; hal.Kind), text (string)
//
//	names    count (2), count strings
//	columns  count (2), count times: name (string), unit (string), minimum (8), maximum (8)
//	string   length in bytes (2), UTF-8
//
// # Time
//
// Copies are stepped as fast as possible. The served rig itself keeps its clock: a STEP to a rig in real time is
// answered after its next cycle. It holds the leases of the agents; their guards and deadlines are those of every
// protocol.
package batch
