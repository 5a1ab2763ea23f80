package hal

import "time"

// Stats is how the rig keeps its time, since it started.
type Stats struct {
	Cycles       uint64        // since the start
	Time         time.Duration // rig time
	Ticks        uint64        // real-time cycles
	Missed       uint64        // periods that a late wake-up skipped
	Behind       time.Duration // by which rig time is behind the clock: the sum of the missed periods
	LineOverruns uint64        // lock-step cycles whose line time exceeded the period
	Faults       uint64        // errors of whole bodies, buses and worlds
	LastFault    string
	Late         Histogram // |wake-up - deadline|, of cycles that were not deferred (Deferrable)
	Work         Histogram // from the wake-up to the end of the observers
}

// overrunner is a world with lines in memory. Transfers return at once, so cycles whose wire time exceeds the period
// are only visible in this count.
type overrunner interface{ Overruns() uint64 }

// Stats copies the rig's statistics into s.
func (r *Rig) Stats(s *Stats) {
	r.lock()
	defer r.mu.Unlock()
	*s = r.stats
	s.Behind, s.Cycles, s.Time = r.missed, r.total, r.time
	for _, w := range r.worlds {
		if o, ok := w.(overrunner); ok {
			s.LineOverruns += o.Overruns()
		}
	}
}

// rateMeter counts cycles a second of the wall clock, over windows of at least a second.
type rateMeter struct {
	start  time.Duration
	cycles int
	hertz  float64
}

func (m *rateMeter) tick(now time.Duration) {
	m.cycles++
	if span := now - m.start; span >= time.Second {
		m.hertz = float64(m.cycles) / span.Seconds()
		m.start, m.cycles = now, 0
	}
}
