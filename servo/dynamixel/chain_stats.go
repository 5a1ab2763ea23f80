package dynamixel

import "time"

// Stats count what a chain has done since it was made.
type Stats struct {
	Cycles       uint64 // Receives that asked all servos
	Timeouts     uint64 // questions that a servo did not answer
	BadChecksums uint64
	Garbage      uint64 // bytes that belonged to no packet
	Fallbacks    uint64 // times a servo went from a faster way of reading to a slower one
	Reopened     uint64 // times the line came back

	Sent, Received uint64        // bytes on the wire in the last cycle
	Wire           time.Duration // their time at the line's rate
	Spent          time.Duration // by the line's clock, in Send and Receive together

	sent0, received0 uint64
	parser0          uint64 // bad checksums of the parser already counted
	garbage0         uint64
	start            time.Duration
	sending          time.Duration // what Send took
}

// Stats returns the counts so far.
func (c *Chain) Stats() Stats { return c.stats }

// begin notes where a cycle starts.
func (s *Stats) begin(l *link) {
	s.start, s.sent0, s.received0 = l.port.Now(), l.sent, l.received
}

// pause and resume leave out what passes between Send and Receive: the world's time is not the line's.
func (s *Stats) pause(l *link)  { s.sending = l.port.Now() - s.start }
func (s *Stats) resume(l *link) { s.start = l.port.Now() - s.sending }

// late says that the cycle's period is over.
func (s *Stats) late(c *Chain) bool {
	return c.cfg.Period > 0 && c.link.port.Now()-s.start > c.cfg.Period
}

// end sums a cycle up.
func (s *Stats) end(c *Chain) {
	l := c.link
	// The line went in the middle: an unfinished cycle is not counted.
	if l == nil {
		return
	}
	s.Cycles++
	s.Sent, s.Received = l.sent-s.sent0, l.received-s.received0
	s.Wire = l.wire(int(s.Sent + s.Received))
	s.Spent = l.port.Now() - s.start
	// The parser counts over its life; the chain's life may span several.
	p := l.parser
	if p.BadChecksum < s.parser0 || p.Garbage < s.garbage0 { // a new line has a new parser
		s.parser0, s.garbage0 = 0, 0
	}
	s.BadChecksums += p.BadChecksum - s.parser0
	s.Garbage += p.Garbage - s.garbage0
	s.parser0, s.garbage0 = p.BadChecksum, p.Garbage
}

// WireTime predicts a usual cycle of this chain at its line's rate: one write of all goals, one short read of all
// servos, with their return delays. It knows nothing of the host, USB or the servos' processing.
//
//	2.0  14 + N(W+1), or 10 + N(W+5) where goals lie apart, then fast read 14 + N, D, 8 + N(4+L)
//	1.0  8 + N(W+1), then bulk read 7 + 3N and N times D, 6+L; alone 8, D, 6+L each
func (c *Chain) WireTime() time.Duration {
	if c.link == nil {
		return 0
	}
	return c.predict(c.link.port.Baud())
}

// Budget is the longest a cycle may take when servos are missing: the usual one, and for each request that a silent
// servo may leave open 2 ms and the adapter's latency; here for a single silent servo.
func (c *Chain) Budget() time.Duration {
	if c.link == nil {
		return 0
	}
	return c.predict(c.link.port.Baud()) + slack + c.cfg.Latency
}

// predict sums the formulas up for the levels that the servos are on now.
func (c *Chain) predict(baud int) time.Duration {
	one, bytes := c.protocol() == 1, 0
	// Answers of their own wait one after the other, parts of a fast answer all at once.
	var delay, fastDelay time.Duration
	var count [alone + 1]int
	var first *device
	alike := true
	for i := range c.devices {
		d := &c.devices[i]
		if d.m == nil || d.barred || d.reading.lost {
			continue
		}
		w, n := goalBytes(d), int(d.short.size)
		bytes += w + 1
		if first == nil {
			first = d
		}
		alike = alike && d.reg.goalPosition.Addr == first.reg.goalPosition.Addr
		lv := d.reading.level
		count[lv]++
		switch {
		case lv == fast:
			bytes += 1 + 4 + n
			fastDelay = max(fastDelay, d.delay)
		case lv == group && one:
			bytes += 3 + 6 + n
			delay += d.delay
		case lv == group:
			bytes += 1 + 11 + n
			delay += d.delay
		case one:
			bytes += 8 + 6 + n
			delay += d.delay
		default:
			bytes += 14 + 11 + n
			delay += d.delay
		}
	}
	bytes += 14 - 6*b2i(one)
	if !alike && !one { // a bulk write names address and length for each
		bytes += 4*(count[fast]+count[group]+count[alone]) - 4
	}
	if count[fast] > 0 {
		bytes += 14 + 8
	}
	if count[group] > 0 {
		bytes += 14 - 7*b2i(one)
	}
	return wireTime(bytes, baud) + delay + fastDelay
}

// goalBytes is the length of a position goal.
func goalBytes(d *device) int {
	n := int(d.reg.goalPosition.Size)
	if d.reg.movingSpeed != nil {
		n += int(d.reg.movingSpeed.Size)
	}
	return n
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
