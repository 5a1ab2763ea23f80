// Package batch implements Halyard's own protocol for learning: a client steps many copies of a rig at once, with actions and
// observations as one array each. The other protocols are those of simulators that exist; none of them has one for this.
//
// # A session
//
//	client               server
//	HELLO ──►                         how many copies, of which seed, which columns
//	              ◄── SPACES          the columns, with units and ranges
//	RESET ──►
//	              ◄── OBSERVATIONS
//	STEP ──►
//	              ◄── OBSERVATIONS    and so on until the end of file
//
// Every request has one answer, in order; ERROR answers one that is refused, and ends the session where the server cannot know
// what comes next. The copies are the session's own: they begin with it and end with it. A server holds nothing between
// sessions but its config, so a session that is lost is begun again, with the same seed, on any machine.
//
// # Frames
//
// All numbers are little-endian. A frame is
//
//	offset size
//	0      4    length of what follows, 1..MaxFrame
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
//	columns  count (2), count times: name (string), unit (string), least (8), greatest (8)
//	string   length in bytes (2), UTF-8
//
// # Time
//
// Copies are stepped as fast as they go. The served rig itself goes on as it is: a STEP to a rig in real time is answered after
// its next cycle, and holds the leases of its agents, whose guards and deadlines are those of every protocol.
package batch
