// Package can emulates a CAN bus in memory: arbitration, frame times and error handling. Stations implement the nodes.
//
//	start ─► of all who wait, the lowest identifier ─► its bits, stuffed ─► acknowledged by anybody? ─► received by all others
//	  ▲                                                      │ disturbed             │ no
//	  └── error frame, counters, again ◄─────────────────────┴───────────────────────┘
//
// The length of a frame is exact to the bit, its checksum and stuffing included. Error counters are those of ISO 11898-1
// as far as they change who may speak: a transmitter whose counter passes 255 is off the bus. A station at another bit
// rate receives nothing and acknowledges nothing; what it would disturb is left out.
package can
