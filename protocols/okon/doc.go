// Package okon implements the protocol of the Okon simulation (knr-auv, 2022-12): over TCP any number of clients read the
// sensors and pictures of an underwater robot, arm its motors and control it, simulated or real. Server is the control
// channel, VideoServer the video channel; Client and VideoClient are the other sides, for tests, benchmarks
// and controllers in Go.
//
// # Packets
//
//	control, both ways   type u8 | flag u8 | length i32, little endian | data
//	video, request       type u8                                         0x69, or 0xB2 and 0xB3 as in the table
//	video, answer        0x69 | length i32, little endian | JPEG         to 0x69, as the original; to the others a control packet
//
// # A session
//
//	client                                server
//	SET_CONTROL_MODE stable  ──►                             nothing: what is set without a fault is not answered
//	SET_CONTROL_MODE         ──►
//	                              ◄──     SET_CONTROL_MODE stable         an answer bears the flag of its request
//	ARM_MTR, SERVER_ECHO     ──►
//	                              ◄──     ACK {"fromClient":""}           flag 0, after the answer if there is one
//	SET_STABLE {"rot":       ──►
//	                              ◄──     ERROR {"info":"...","fromClient":"{\"rot\":"}
//	                              ◄──     RST_SIM, HIT_NGZ, HIT_FZ        to every client, when it happens
//	                              ◄──     ACK                             every half second in which nothing came
//	0xFF                     ──►                                          closed
//
// Packets are answered in order but for pictures and detections, which come when they are rendered; an echo comes after
// its answer even then. A length that cannot be is answered with an ERROR and ends the session: nobody knows where the
// next packet begins. Everything else is survived.
//
// # Units
//
//	axes                 Unity's: x right, y up, z forward, left-handed; see axes.go
//	rot                  degrees, Euler angles in the order z, x, y; 0..360 where measured
//	rotSpeed, rotAccel   rad/s, rad/s²; in GET_SENS about the world's axes, in SET_ACRO about the robot's
//	accel                m/s², the change of the velocity, along the world's axes
//	vel                  share of a thruster, along the robot's axes; nobody measures it
//	depth, pos           m; pressure in Pa above that of the air
//
// # Who commands
//
// As in the original any client may command. Who did last is the commander, named by Server.Commander, the value
// "/<agent>/Commander" and the log. The server holds the agent's lease while there is one, so that other protocols
// cannot command beside it. A commander that sends nothing at all lets the guard's deadline pass; one that leaves gives
// the agent back. Disarming is everybody's.
//
// # Where the document and the original differ
//
//   - Options choose what is sent; both forms are understood. The ids of CHK_AP may come raw, quoted or as {"id":""}.
//   - The original sent broken JSON as an echo; here what came from the client is escaped, in ASCII.
//   - A mode may come bare, as the original took it, quoted, or as {"mode":""}. It is answered bare. One that is none of the
//     three is kept and acts as manual.
//   - SET_SIM was refused by the original, and SET_MTR without data not answered. Here they are as the document has them.
//   - SET_ACRO was in the original's code with a sign wrong; see hal/autopilot.
//   - The original ignored the speed PIDs and answered with zeros. Here they count, but those of nothing but zeros do not.
//   - The original waited for all six bytes of a 0xFF. Here the first is enough.
//   - The heartbeat is said to come each second; the original's came each half.
//   - A real robot is not put anywhere: SET_ORIEN with data is refused, RST_SIM disarms it and makes its depth and
//     heading zero.
package okon
