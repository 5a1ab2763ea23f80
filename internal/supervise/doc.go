// Package supervise switches torque off when the process that drives a robot dies or hangs.
//
// A small process holds a descriptor of each line and the telegrams that switch torque off there. The main process
// sends it a byte each cycle. When none comes for the timeout, or the main process is gone, it writes the telegrams
// again and again for Repeat and ends. It never switches torque on, and reads nothing from the lines.
//
// Both sides watch each other: the supervisor answers at its start and after each read of beats. A supervisor without
// an answer for AnswerTimeout, counted in beats of the main process, no longer guards anything: Beat reports it, and
// the main process stops its robots.
//
//	main process                       supervisor
//	pipe 0: telegrams, once        ──► stdin: the timeout in µs, then for each line the length and the bytes of one write (0 = all),
//	                                   4 bytes each, little-endian, and the telegram
//	pipe 1: 'b' each cycle, 'q'    ──► descriptor 3
//	pipe 2: 'b' at the start and   ◄── descriptor 4
//	        for each read, 's' for
//	        a silence by load
//	lines                          ──► descriptors 5, 6, ...
package supervise

import "time"

const (
	// MinTimeout is the shortest time for which the supervisor waits for the next beat, MaxTimeout the longest.
	MinTimeout, MaxTimeout = 150 * time.Millisecond, time.Second
	// Reserve is what the telegrams may take after the timeout.
	Reserve = 50 * time.Millisecond
	// Repeat is how long it repeats the telegrams: one may meet what the main process was sending.
	Repeat = time.Second
)
