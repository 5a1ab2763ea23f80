package dynamixel

import (
	"time"

	"github.com/halyard-robotics/halyard/servo"
)

// Stats count what a chain has done since it was made.
type Stats = servo.Stats

// Stats returns the counts so far.
func (c *Chain) Stats() Stats { return c.stats }

// endCycle sums a cycle up. Where the line went in the middle, an unfinished cycle is not counted.
func (c *Chain) endCycle() {
	if l := c.link; l != nil {
		c.stats.End(&l.Exchange, l.parser.BadChecksum, l.parser.Garbage)
	}
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
	return c.predict(c.link.Port.Baud())
}

// Budget is the longest a cycle may take when servos are missing: the usual one, and for each request that a silent
// servo may leave open 2 ms and the adapter's latency; here for a single silent servo.
func (c *Chain) Budget() time.Duration {
	if c.link == nil {
		return 0
	}
	return c.predict(c.link.Port.Baud()) + servo.Slack + c.cfg.Latency
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
		if d.m == nil || d.barred || d.reading.Lost {
			continue
		}
		w, n := goalBytes(d), int(d.short.size)
		bytes += w + 1
		if first == nil {
			first = d
		}
		alike = alike && d.reg.goalPosition.Addr == first.reg.goalPosition.Addr
		lv := d.reading.Level
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
