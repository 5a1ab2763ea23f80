// Package dashboard serves web pages that show the robots of a program, and stop, reset, arm and jog them.
//
//	GET  /             the pages: ES modules of this folder's web/, embedded
//	GET  /scene        the objects of the 3D view, JSON
//	GET  /camera       ?rig=0&agent=NAME&camera=NAME: its pictures as JPEG, multipart/x-mixed-replace
//	GET  /frames       ?rig=0&bus=NAME: the newest bytes of a line of servos, JSON
//	GET  /recordings   the recordings in the folder of the config's record.file, else in the working folder, JSON
//	GET  /recording    ?name=FILE: one of them, thinned out; /compare?a=FILE&b=FILE: the differences of two, JSON
//	GET  /trace        ?rig=0&channel=AGENT/CHANNEL&after=S&most=N: samples of channels, one a cycle, binary; see Server.trace
//	GET  /ws           the WebSocket below
//	GET  /metrics      for Prometheus
//	GET  /healthz      200 while every rig runs
//	POST /stop, /reset, /arm, /disarm   an operator's orders; the answer lists every joint, JSON. With ?seen=, Unix time of the
//	                   page's newest frame, ms, an order other than a stop is refused when that is more than 1 s ago
//	POST /fault        ?rig=0&agent=NAME&joint=NAME&fault=TEXT: a fault of an emulated servo; without TEXT they end
//
// # Access
//
// Host must be an address of this computer, so that a foreign name cannot resolve to it. Origin, if sent by a browser,
// must be the page's own address. Beyond loopback every request except /healthz needs the token: a cookie that POST
// /login sets, or Authorization: Bearer.
//
// # WebSocket
//
// The browser sets the pace: each {"op":"next"} is answered with at most one frame, at least 16 ms after the previous
// one. A tab without requests costs nothing; simultaneous requests share one sample. Texts are JSON objects:
//
//	{"op":"layout"}   before the first frame and after each change: the index of each value; generation counts layouts
//	{"op":"status"}   when it has changed: states, holders, faults, lines
//	{"op":"events"}   entries of the journal, new and repeated ones
//	{"op":"answer"}   to "stop"; to every tab while that stop is latched. id counts the stops of the dashboard
//	{"op":"jog"}      why a jog ended, or did not begin
//
// A frame is binary, little-endian; it holds the values that have changed since the previous frame:
//
//	u8 1 · u8 flags · u16 rigs · u32 generation · f64 Unix time, ms · f64 rig time, s, one a rig
//	u32 first · u32 count · count × f32       again until the end of the frame
//
// Flag 1: the stop of a rig is latched. Flag 2: the newest answer is of that stop; without it, another door stopped the
// rigs.
//
// The browser sends {"op":"next"}, {"op":"stop"}, {"op":"jog","rig":0,"agent":"arm","joint":"elbow","share":0.1} and
// {"op":"hold"}. A jog moves the joint at a share, -1..1, of its maximum speed for at most Deadman after the message;
// the page repeats it while a key or button is held. With "at", ms of the page's clock, a jog that was delayed for
// longer is dropped.
//
// {"op":"push","rig":0,"agent":"arm","body":"hand","force":[0,0,5]} pushes a body of the physics, N, for at most
// Deadman; {"op":"release","rig":0} releases it.
package dashboard
