// Package supervise switches torque off when the process that drives a robot dies or hangs.
//
// A small process holds a descriptor of each line and the telegrams that switch torque off there. The main process sends it a
// byte each cycle. When none comes for Timeout, or the main process is gone, it writes the telegrams again and again for
// Insist and ends. It never switches torque on, and reads nothing from the lines.
//
//	main process                       supervisor
//	pipe 0: telegrams, once        ──► stdin: for each line the length and the bytes of one write (0 = all), 4 bytes each,
//	                                   little-endian, and the telegram
//	pipe 1: 'b' each cycle, 'q'    ──► descriptor 3
//	lines                          ──► descriptors 4, 5, ...
package supervise
