package hal

import "time"

// Stats is how the rig keeps its time, since it started.
type Stats struct {
	Ticks        uint64 // real-time cycles
	Missed       uint64 // periods that a late wake-up skipped
	LineOverruns uint64 // lock-step cycles whose line time exceeded the period
	Faults       uint64 // errors of whole bodies, buses and worlds
	LastFault    string
	Late         Histogram // |wake-up - deadline|
	Work         Histogram // from the wake-up to the end of the observers

	lineTimes []time.Duration
}

// Stats copies the rig's statistics into s.
func (r *Rig) Stats(s *Stats) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*s = r.stats
	s.lineTimes = nil
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
