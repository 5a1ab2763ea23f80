package servo

// Level is a way of reading a servo. A chain uses the cheapest that the models, the devices' firmware and its config
// allow.
type Level uint8

// The ways of reading, from the cheapest to the one that always works.
const (
	FastReads   Level = iota // one request to many, one reply that they build together
	SyncReads                // one request to many, one reply from each
	SingleReads              // a request to each
)

// How a servo that keeps a group from answering is treated, so that one old firmware does not slow down the rest.
const (
	strikeWindow = 100  // cycles within which a second broken group is no accident
	firstBackoff = 50   // cycles on a lower level before the higher is tried again, doubled each time
	lastBackoff  = 6400 // its bound
)

// Reading is how one servo is read and how well that goes.
type Reading struct {
	Presence
	Level Level // now

	base           Level  // the best that the model promises
	retry, backoff uint64 // cycle at which to try a level up, and the next wait for that
	struck         uint64 // cycle in which it last broke a group
	probing        bool   // missed in a group: polled by itself until it replies
	suspect        bool   // the first missing servo there: it may have interrupted the group
}

// Restart clears all failures, as for a new line. base is the level that the model supports.
func (r *Reading) Restart(base Level) {
	*r = Reading{base: base, Level: base, backoff: firstBackoff}
}

// Joins reports whether the servo is read in the group of level lv in this cycle.
func (r *Reading) Joins(lv Level, cycle uint64) bool {
	if r.Lost || r.probing || lv == SingleReads {
		return false
	}
	// Time to try a level up, together with the others.
	if r.Level > r.base && cycle >= r.retry {
		return r.Level-1 == lv
	}
	return r.Level == lv
}

// IsAlone reports whether the servo must be polled by itself in this cycle and has not replied yet.
func (r *Reading) IsAlone(cycle uint64) bool {
	switch {
	case r.Answered:
		return false
	case r.Lost:
		return cycle >= r.Ask
	case r.probing: // from the cycle after the one in which the group missed it, which set ReadState
		return r.Misses > 0 && cycle > r.Ask
	}
	return r.Level == SingleReads && !(r.Level > r.base && cycle >= r.retry)
}

// Kept notes that the servo answered in the group of level lv.
func (r *Reading) Kept(lv Level, cycle uint64) {
	if r.Level > lv { // the try a level up went well
		r.Level, r.backoff = lv, max(firstBackoff, r.backoff/2)
		r.retry = cycle + r.backoff
	}
}

// Broke notes that the servo was missing in the group of level lv. The first missing one may have interrupted the
// group; those behind it may only have waited for it. All are polled by themselves in the next cycle.
func (r *Reading) Broke(lv Level, cycle uint64, first bool) {
	// A servo with a corrupt reply took part, unlike an old firmware.
	r.probing, r.suspect, r.Ask = true, first && !r.Garbled, cycle
	if r.Level > lv { // the try failed: wait longer
		r.retry = cycle + r.backoff
		r.backoff = min(2*r.backoff, lastBackoff)
		r.suspect = false
	}
}

// Received notes an answer. returned reports that the servo was lost, fell that it is read a level down from now on: it
// has broken its group for the second time in a short while; a single time is tolerated.
func (r *Reading) Received(cycle uint64) (returned, fell bool) {
	r.Answered, r.Garbled, r.Misses = true, false, 0
	suspect := r.probing && r.suspect
	returned, r.Lost, r.probing, r.suspect = r.Lost, false, false, false
	if returned || !suspect || r.Level == SingleReads {
		return returned, false
	}
	if r.struck == 0 || cycle-r.struck > strikeWindow {
		r.struck = cycle
		return false, false
	}
	r.Level++
	r.retry, r.struck = cycle+r.backoff, 0
	r.backoff = min(2*r.backoff, lastBackoff)
	return false, true
}
