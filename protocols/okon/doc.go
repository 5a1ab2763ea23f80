// Package okon implements the protocol of the Okon simulation (knr-auv, 2022-12): over TCP any number of clients read
// the sensors and pictures of an underwater robot, arm its motors and control it, simulated or real. Server is the
// control channel, VideoServer the video channel; Client and VideoClient are the other sides, for tests, benchmarks and
// controllers in Go.
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
//	SET_CONTROL_MODE stable  ──►                             no answer to a valid setting
//	SET_CONTROL_MODE         ──►
//	                              ◄──     SET_CONTROL_MODE stable         an answer has the flag of its request
//	ARM_MTR, SERVER_ECHO     ──►
//	                              ◄──     ACK {"fromClient":""}           flag 0, after the answer if there is one
//	SET_STABLE {"rot":       ──►
//	                              ◄──     ERROR {"info":"...","fromClient":"{\"rot\":"}
//	                              ◄──     RST_SIM, HIT_NGZ, HIT_FZ        to every client, when it happens
//	                              ◄──     ACK                             every half second in which nothing came
//	0xFF                     ──►                                          closed
//
// Packets are answered in order, except pictures and detections, which are sent once rendered; an echo follows its
// answer even then. A length out of bounds is answered with an ERROR and ends the session, since the start of the next
// packet is unknown. The session survives all other errors.
//
// # Units
//
//	axes                 Unity's: x right, y up, z forward, left-handed; see axes.go
//	rot                  degrees, Euler angles in the order z, x, y; 0..360 where measured
//	rotSpeed, rotAccel   rad/s, rad/s²; in GET_SENS about the world's axes, in SET_ACRO about the robot's
//	accel                m/s², the change of the velocity, along the world's axes
//	vel                  share of a thruster, along the robot's axes; not measured
//	depth, pos           m; pressure in Pa above that of the air
//
// # The commander
//
// As in the original any client may command. The last client that commanded is the commander. Server.Commander, the
// value "/<agent>/Commander" and the log report its name. While there is a commander, the server holds the agent's
// lease, so that other protocols cannot command at the same time. The guard's deadline passes when the commander sends
// nothing. A commander that disconnects releases the agent. Any client may disarm.
//
// # Where the document and the original differ
//
//   - Options select the form that is sent; both forms are accepted. The ids of CHK_AP may be raw, quoted or {"id":""}.
//   - The original sent malformed JSON as an echo; here the client's bytes are escaped, in ASCII.
//   - A mode may come bare, as the original took it, quoted, or as {"mode":""}. It is answered bare. An unknown mode is
//     stored and acts as manual.
//   - The original refused SET_SIM, and did not answer SET_MTR without data. This server follows the document.
//   - The original's SET_ACRO had a wrong sign; see internal/autopilot.
//   - The original ignored the speed PIDs and answered with zeros. This server uses them, unless all are zero.
//   - The original waited for all six bytes of a 0xFF. Here the first is enough.
//   - The document specifies a heartbeat each second; the original sent one each half second.
//   - A real robot cannot be placed: SET_ORIEN with data is refused, RST_SIM disarms it and sets its depth and heading to
//     zero.
package okon
