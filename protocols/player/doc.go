// Package player is the protocol of Player 3 (playerproject.github.io): over TCP a client lists the devices of a robot,
// opens those it wants, commands them and receives their data. Server answers for one agent; its devices follow from what
// the layout of the body offers. Client is the other side, for tests and controllers in Go.
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
// The first client that commands a robot holds its lease until it leaves; commands of other clients are refused. A command
// lasts while its client sends anything at all, requests for data included. What a
// body does not have is not in the device list. PTZ, limb and gripper positions are clamped by the guard, as all goals.
// The opaque device is ours: its data is a line "name value" for each measured channel, its command a line
// "actuator mode value" (mode position, velocity, torque or duty).
package player
