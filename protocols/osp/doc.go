// Package osp implements the ORCS Standard Protocol 1.1 (September 2008): clients find agents, register for them, reset and
// step the simulation, read and set named values, and receive events. Server serves a rig; Client is the other
// side, for tests, benchmarks and controllers in Go.
//
// # Datagrams
//
// One command a datagram, little-endian, doubles sent as float32. int is 4 bytes, float is IEEE 754 single, string
// ends with a NUL.
//
//	 0      1                                                        n
//	┌──────┬────────────────────────────────────────────────────────┬─────┬ ─ ─ ─ ─ ┐
//	│ byte │ fields of the command, see the constants of Command    │ 120 │ number
//	└──────┴────────────────────────────────────────────────────────┴─────┴ ─ ─ ─ ─ ┘
//	 command                                                         end
//
// The server ends each of its datagrams with 120 (UDP_DATAGRAM_END); of what it receives it checks nothing behind the
// last field, as the original did. Both may be there or not on what is decoded here.
//
// # Numbers
//
// UDP loses datagrams, and the protocol cannot tell a request that was sent again from the next one that is the same.
// So this package's client puts a running number behind the 120 of a step or reset request, where every server
// ignores it, and this package's server repeats the number behind the 120 of its answers. A request with the number of
// the one before is answered again and never executed twice. Without a number, the same bytes count as a repetition
// while their answer is not acknowledged and AckTimeout/4 has passed.
//
// # A session
//
//	client                                   server
//	  5 version ─────────────────────────► main port (45454)
//	  6 version ◄───────────────────────── a new port, for this client alone: all that follows goes there
//	 90 ─────────────────────────────────►
//	 91 92 92 ... ◄──────────────────────   ids of agents exist from here on
//	 93 ─────────────────────────────────►
//	100 id ──────────────────────────────►
//	101 id 1 ◄───────────────────────────
//	 70 seed (once an agent) ────────────►
//	 71 ◄────────────────────────────────
//	 75 ◄────────────────────────────────   when every client has asked for every agent it controls
//	 76 ─────────────────────────────────►
//	 80 id inputs ───────────────────────►
//	 81 id ◄─────────────────────────────
//	 85 id outputs infos events, 51 ... ◄─  when every client has asked for every agent it controls
//	 86 id ──────────────────────────────►
//	  7 ─────────────────────────────────►
//	  8 ◄────────────────────────────────
//
// # Where the document and the original differ
//
//   - 5 and 6 carry ints in the document and bytes in the original; both are accepted by their length and answered in
//     kind. An unsupported version is answered with silence.
//   - The document swaps the directions of 75 and 76; the drawing above is the original's.
//   - 55 carries the number of values first, as 57 does; the document forgets it. The client takes either.
//   - 105 for an agent that this client does not control is answered with status 1, as in the document; the original
//     answers 2, as for an id that it does not know. The client takes both for "not mine any more".
//   - The original sends no observed values, applies no seed, and waits for an acknowledgement for ever; here the
//     document holds, and an answer is sent again a bounded number of times.
//   - The original sends outputs and infos as physical values and inputs as normalised ones; here both are normalised,
//     as the document defines interface values, unless Options.Physical asks for the former.
//   - The original cuts a datagram off at 1024 bytes; here it ends at MaxDatagram.
package osp
