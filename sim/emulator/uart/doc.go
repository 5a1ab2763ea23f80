// Package uart is a serial line with a board at its end that speaks when it likes: a robot base that reports ten times a
// second, a laser that streams scans. It is the wire alone, in memory with virtual time, on a pty or on a TCP connection with
// the wall's; what the board is and knows is the board's.
//
//	host: servo.Line ◄── wire time, rates, faults ──► Board
//
// In memory the line has the time of the cycle's edge, which Advance moves, and the host's own, which its waits move
// beyond the edge. Both directions go at the same time and take their wire time each. A byte that is sent at one rate and
// received at another is another byte. The same run gives the same bytes.
package uart
