package servo

import "time"

// Stats are the counters of a chain since it was made.
type Stats struct {
	Cycles       uint64 // Receives that asked all servos
	Timeouts     uint64 // requests without a reply
	BadChecksums uint64
	Garbage      uint64 // bytes that belonged to no packet
	Fallbacks    uint64 // times a servo went from a faster way of reading to a slower one
	Reopened     uint64 // times the line came back
	Overran      uint64 // cycles that took longer than the period
	Span         int    // cycles that an exchange takes; 1 on a line that keeps up with them

	Sent, Received uint64        // bytes on the wire in the last cycle
	Wire           time.Duration // their time at the line's rate
	Spent          time.Duration // by the line's clock, in Send and Receive together

	sent0, received0 uint64
	checksums0       uint64 // bad checksums of the parser already counted
	garbage0         uint64
	start            time.Duration
	sending          time.Duration // duration of Send
}

// Begin notes where a cycle starts.
func (s *Stats) Begin(x *Exchange) {
	s.start, s.sent0, s.received0 = x.Port.Now(), x.Sent, x.Received
}

// Pause and Resume exclude the time between Send and Receive: it is the world's, not the line's.
func (s *Stats) Pause(x *Exchange) { s.sending = x.Port.Now() - s.start }

// Resume ends a Pause.
func (s *Stats) Resume(x *Exchange) { s.start = x.Port.Now() - s.sending }

// Late reports that the cycle has taken longer than period, which has no end where it is 0.
func (s *Stats) Late(x *Exchange, period time.Duration) bool {
	return period > 0 && x.Port.Now()-s.start > period
}

// End adds the counts of a cycle. badChecksums and garbage are the counters of the present line's parser; a chain may
// have several lines one after the other.
func (s *Stats) End(x *Exchange, badChecksums, garbage uint64) {
	s.Cycles++
	s.Sent, s.Received = x.Sent-s.sent0, x.Received-s.received0
	s.Wire = x.Wire(int(s.Sent + s.Received))
	s.Spent = x.Port.Now() - s.start
	if badChecksums < s.checksums0 || garbage < s.garbage0 { // a new line has a new parser
		s.checksums0, s.garbage0 = 0, 0
	}
	s.BadChecksums += badChecksums - s.checksums0
	s.Garbage += garbage - s.garbage0
	s.checksums0, s.garbage0 = badChecksums, garbage
}
