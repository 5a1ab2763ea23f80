// Package servotest plays and records what passes on a servo line, for tests of anything that talks to one.
//
// A session is text, one line an event, so that a test reads as the protocol's document:
//
//	# ping servo 1
//	> FF FF 01 02 01 FB
//	< FF FF 01 02 00 FC
//	> FF FF 02 02 01 FA
//	< silence
//	> FF FF 03 02 01 F9
//	+ FF FF FE 02 05 FA
//	after 1ms
//	< FF FF 03 02
//	after 20ms
//	< 01 F9
//	< gone
//
// A > is one Write of the host, a + more of it. What follows it is what the host can read until its next Write: bytes,
// after a delay if told, nothing at all, or the end of the adapter. A delay behind bytes parts them from what the device
// says later by itself. Bytes are hexadecimal or a Go string in quotes, without a #. Blank lines and what follows a # are
// comments.
//
// Play makes a line of such a text, on which a driver may be tried without a device; its Close reports how far the driver
// went by it. Record makes a text of what passes on a line, a real one or sim/emulator's. Time is virtual throughout.
package servotest
