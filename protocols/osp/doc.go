// Package osp implements the ORCS Standard Protocol 1.1 (September 2008): clients find agents, register for them, reset
// and step the simulation, read and set named values, and receive events. Server serves a rig; Client is the other
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
// The server ends each of its datagrams with 120 (UDP_DATAGRAM_END). In received datagrams it checks nothing after the
// last field, as the original. Decode accepts datagrams with and without the 120 and the number.
//
// # Numbers
//
// UDP loses datagrams, and the protocol does not distinguish a repeated request from a new, equal one.
// So this package's client appends a running number after the 120 of a step or reset request, where every server
// ignores it, and this package's server repeats the number after the 120 of its answers. A request with the number of
// the previous one is answered again and never executed twice. Without a number, the same bytes count as a repetition
// while their answer is not acknowledged and AckTimeout/4 has passed.
//
// # A session
//
//	client                                   server
//	  5 version ─────────────────────────► main port (45454)
//	  6 version ◄───────────────────────── a new port for this client: send all further datagrams to it
//	 90 ─────────────────────────────────►
//	 91 92 92 ... ◄──────────────────────   ids of agents exist from here on
//	 93 ─────────────────────────────────►
//	100 id ──────────────────────────────►
//	101 id 1 ◄───────────────────────────
//	 70 seed (once an agent) ────────────►
//	 71 ◄────────────────────────────────
//	 75 ◄────────────────────────────────   when every client has requested it for every agent it controls
//	 76 ─────────────────────────────────►
//	 80 id inputs ───────────────────────►
//	 81 id ◄─────────────────────────────
//	 85 id outputs infos events, 51 ... ◄─  when every client has requested it for every agent it controls
//	 86 id ──────────────────────────────►
//	  7 ─────────────────────────────────►
//	  8 ◄────────────────────────────────
//
// # Where the document and the original differ
//
//   - 5 and 6 have ints in the document and bytes in the original; both are accepted by their length and answered in
//     the same form. An unsupported version is not answered.
//   - The document swaps the directions of 75 and 76; the drawing above is the original's.
//   - 55 starts with the number of values, as 57 does; the document omits it. The client accepts either.
//   - 105 for an agent that this client does not control is answered with status 1, as in the document; the original
//     answers 2, as for an unknown id. The client treats both as released.
//   - The original sends no observed values, applies no seed, and waits for an acknowledgement for ever. This server follows
//     the document, and repeats an answer a bounded number of times.
//   - The original sends outputs and infos as physical values and inputs as normalised ones. Here both are normalised,
//     as in the document, unless Options.Physical selects the original's form.
//   - The original cuts a datagram off at 1024 bytes; here the limit is MaxDatagram.
package osp
