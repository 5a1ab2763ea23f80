// Package player implements the protocol of Player 3 (playerproject.github.io): over TCP a client lists the devices of
// a robot, opens some, commands them and receives their data. Server serves one agent; its devices follow from the
// layout of the body.
//
// # A session
//
//	S  "Player v.3.1.1-dev", padded with NUL to 32 bytes
//	C  REQ  player:0  5 datamode {2 pull}          S  ACK
//	C  REQ  player:0  3 dev {position2d:0, open}   S  ACK  {position2d:0, open, "halyard"}
//	C  CMD  position2d:0  1 vel {vx vy va, 1}
//	C  REQ  player:0  4 data                       S  ACK, DATA..., SYNCH
//
// # Messages
//
// A message is a header of 40 bytes and a payload, in XDR: 32-bit words, big endian.
//
//	header  = host robot interface index type subtype time(8) seq size
//	byte    = 4 bytes                  number[] = count, count, elements
//	double  = 8 bytes                  byte[]   = count, count, bytes, padding to 4
//
// Requests are answered with the same seq: ACK, or NACK without payload for a request that is unknown, malformed or
// fails. Commands are not answered; a refused command is logged. In pull mode the server sends data on request. In push
// mode, the default, it sends each sample at once.
//
// # Units
//
// SI. Poses are Player's, which are hal's: x ahead, y left, z up, angles counter-clockwise. The time of data is the
// rig's.
//
// # Limits
//
// The first client that commands a robot holds its lease until it disconnects; commands of other clients are refused. A
// command persists while its client sends any message, requests for data included. The device list has only devices of
// the body. The guard clamps PTZ, limb and gripper positions, as all goals. The opaque device is ours: its data is a
// line "name value" for each measured channel, its command a line "actuator mode value" (mode position, velocity,
// torque or duty).
package player
