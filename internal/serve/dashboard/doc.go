// Package dashboard serves web pages on which a person sees the robots of a program, stops, resets, arms and jogs them.
//
//	GET  /             the pages: ES modules of this folder's web/, embedded
//	GET  /scene        what the 3D view draws, JSON
//	GET  /camera       ?rig=0&agent=NAME&camera=NAME: its pictures as JPEG, multipart/x-mixed-replace
//	GET  /frames       ?rig=0&bus=NAME: the newest bytes of a line of servos, JSON
//	GET  /recordings   the recordings in the folder of the config's record.file, else in the working folder, JSON
//	GET  /recording    ?name=FILE: one of them, thinned out; /compare?a=FILE&b=FILE: what two have otherwise, JSON
//	GET  /ws           the WebSocket below
//	GET  /metrics      for Prometheus
//	GET  /healthz      200 while every rig runs
//	POST /stop, /reset, /arm, /disarm   a person's orders; the answer lists every joint, JSON
//	POST /fault        ?rig=0&agent=NAME&joint=NAME&fault=TEXT: a fault of an emulated servo; without TEXT they end
//
// # Access
//
// Host must be an address of this computer, so that no foreign name leads here, and Origin, where a browser sends one, the
// page's own address. Beyond loopback every request but /healthz needs the token: a cookie that POST /login sets, or
// Authorization: Bearer.
//
// # WebSocket
//
// The browser paces: each {"op":"next"} is answered with at most one frame, no sooner than 16 ms after the one before. A
// tab that does not ask costs nothing; tabs that ask at the same time share one sample. Texts are JSON objects:
//
//	{"op":"layout"}   before the first frame and after each change: where in the values what is; generation counts them
//	{"op":"status"}   when it has changed: states, holders, faults, lines
//	{"op":"events"}   entries of the journal, new and counted again
//	{"op":"answer"}   to "stop"
//	{"op":"jog"}      why a jog ended
//
// A frame is binary, little-endian; it holds the values that have changed since the frame before:
//
//	u8 1 · u8 0 · u16 rigs · u32 generation · f64 Unix time, ms · f64 rig time, s, one a rig
//	u32 first · u32 count · count × f32       again until the end of the frame
//
// The browser sends {"op":"next"}, {"op":"stop"}, {"op":"jog","rig":0,"agent":"arm","joint":"elbow","share":0.1} and
// {"op":"hold"}. A jog
// moves the joint with a share, -1..1, of its greatest speed for at most Deadman after the message; the page repeats it
// while a key or button is held. With "at", ms of the page's clock, a jog that was held up on its way for longer is dropped.
//
// {"op":"push","rig":0,"agent":"arm","body":"hand","force":[0,0,5]} pushes a body of the physics, N, for at most Deadman;
// {"op":"release","rig":0} lets go.
package dashboard
