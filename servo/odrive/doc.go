// Package odrive drives ODrive motor controllers, over a serial line by their ASCII protocol (SerialChain) and over a
// CAN bus by CANSimple (CANChain): both codecs, their common data, and the bus cycles.
//
// Serial, 115200 bit/s 8N1 or a USB port, one controller a line, one or two axes each:
//
//	command arguments*checksum LF            -> reply*checksum CR LF, for commands with a reply
//
// The checksum is the XOR of all bytes before the asterisk, in decimal. A command with a wrong checksum is ignored; the
// reply to one without has no checksum. Replies do not name their command.
//
//	p axis turns turns/s N·m    v axis turns/s N·m    c axis N·m    u axis (I am alive)    f axis -> turns turns/s
//	r property -> value         w property value      sc (clear errors)
//
// CAN, 250 kbit/s by factory default, standard frames; each axis is a node:
//
//	10..5 node   4..0 command              little-endian; a remote frame requests data that a node also sends cyclically
//
// Firmware 0.5 (v3.6) and 0.6 (S1, Pro) differ in the names of properties, in the bits of errors, and in what CAN can
// read; 0.4 counts encoder steps in place of turns and is refused. The watchdog stops an axis that is not commanded.
//
// For sessions, blocking and errors see package servo. Ticks: 16384 a turn of the motor by the controller's estimate,
// which starts at power-on if the encoder is not absolute. Efforts are A of motor current, velocities rad/s of the
// motor's shaft. Modes: position, velocity and torque. The axis must have been configured and calibrated with
// odrivetool. IDs are the axis, 0 or 1, on a serial line; the node, 0..62, on CAN.
//
// Sources: docs.odriverobotics.com (ASCII protocol, CAN protocol, error codes); firmware 0.5, ascii_protocol.cpp and
// can_simple.cpp (github.com/odriverobotics/ODrive).
package odrive
