// Package servotest plays and records the traffic of a servo line, for tests of drivers.
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
// A > is one Write of the host, a + more of it. The lines after it are the host's input until its next Write: bytes,
// with an optional delay, silence, or the loss of the adapter. A delay after bytes separates them from later
// unsolicited ones. Bytes are hexadecimal or a Go string in quotes, without a #. Blank lines and text after a # are
// comments.
//
// Play makes a line from such a text, to test a driver without a device; its Close reports deviations of the driver.
// Record makes a text from the traffic of a line, a real one or sim/emulator's. Time is virtual throughout.
package servotest
