// Package can emulates a CAN bus in memory: arbitration, frame times and error handling. Stations implement the nodes.
//
//	start ─► lowest identifier of all waiting frames ─► its bits, stuffed ─► acknowledged by a station? ─► received by others
//	  ▲                                                      │ disturbed             │ no
//	  └── error frame, counters, again ◄─────────────────────┴───────────────────────┘
//
// The length of a frame is exact to the bit, its checksum and stuffing included. Error counters are those of ISO
// 11898-1 as far as they decide which station may transmit: one whose transmit counter passes 255 is off the bus. A
// station at another bit rate receives nothing and acknowledges nothing; the errors it would cause are not modelled.
package can
