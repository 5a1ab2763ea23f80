package hal

import "time"

// steady is how far the label of rig time may be off before it is set again: the wall clock was set, or periods missed.
const steady = time.Millisecond

// Unix is the wall clock's time of rig time t, as of the last cycle in real time: the label under which readings of
// real and emulated bodies leave this program. It is steady between cycles, and within 1 ms. ok is false in lock-step,
// and before the first cycle. Any goroutine may call it.
func (r *Rig) Unix(t time.Duration) (at time.Time, ok bool) {
	epoch := r.epoch.Load()
	return time.Unix(0, epoch+int64(t)), epoch != 0
}

// label notes when rig time began by the wall clock. A cycle is late by chance, never early: the earliest one counts.
func (r *Rig) label() {
	if r.config.Mode != Realtime {
		return
	}
	now := time.Now().UnixNano() - int64(r.time)
	if before := r.epoch.Load(); before == 0 || now < before || now > before+int64(steady) {
		r.epoch.Store(now)
	}
}
