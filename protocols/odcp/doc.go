// Package odcp implements the ORCS Direct Control Protocol 1.0 (September 2008): a client sends motor angles to the
// port of an agent, without registration and without waiting. Server serves one agent of a rig; Client is the other
// side.
//
// # Datagrams
//
// A command byte, then ints of 4 bytes, little-endian. No terminator, unlike OSP.
//
//	 0      1          5                  1+4n         1+8n
//	┌──────┬──────────┬───┬──────────────┬────────────┬───┐
//	│ 100  │ angle 1  │...│ angle n      │ torque 1   │...│   set: no answer
//	├──────┼──────────┴───┴──────────────┴────────────┴───┘
//	│ 150  │                                                 get, answered by
//	├──────┼──────────┬───┬──────────────┐
//	│ 151  │ angle 1  │...│ angle n      │
//	├──────┼──────────┴───┴──────────────┘
//	│ 5    │    connect, answered by 6 15 1 (ints)
//	│ 7    │    disconnect, answered by 8
//	└──────┘
//
// n is the number of the agent's actuators that take a position, in the order of its layout. An angle of 0..1023 spans
// the range of the position input, so that the document's null position of 512 is 0.15° of a ±150° servo and the true
// centre would be 511.5. A torque of 0..1023 spans the range of the torque limit. Values outside are clamped, but an
// angle of -1: an answer has it for a motor whose angle is not known, and in a command it leaves the motor as it is. A
// short datagram is used up to its last complete int; missing values do not change.
//
// # Where the original differs
//
//   - Its answer to 150 mixes and clips angles and torques. This server answers as the document specifies, on the scale of 100.
//   - It overwrites the last two angles, the head's, with 512. This server does not.
//   - It answers the client that sent last. This server answers the client that asked; the two differ only where two
//     clients race.
//
// A client of this protocol never holds a lease. On a simulated or emulated body a command overrides the lease holder.
// On a real body a command is refused and counted while another client holds the lease. The protocol has no word for a
// robot that is disarmed or stopped: its commands are counted as refused, and the log reports it.
package odcp
