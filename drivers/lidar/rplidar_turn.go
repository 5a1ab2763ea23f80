package lidar

import (
	"math"
	"time"
)

// rpTurn gathers samples to a turn.
type rpTurn struct {
	rays  []float64     // of this turn; m, NaN = none
	was   []float64     // of the last one, as they came
	older []float64     // of the one before
	angle int           // of the last sample, 1/64 °
	begun time.Duration // when; < 0 = its beginning was not seen
}

func newTurn(n int) rpTurn {
	t := rpTurn{rays: make([]float64, n), was: make([]float64, n), older: make([]float64, n)}
	t.reset()
	return t
}

// reset forgets everything.
func (t *rpTurn) reset() {
	t.begun, t.angle = -1, 0
	for i := range t.rays {
		t.rays[i], t.was[i], t.older[i] = math.NaN(), math.NaN(), math.NaN()
	}
}

// add takes a sample that came at now, at an angle to the right, 1/64 °, rising from sample to sample. It tells whether a
// turn ended before it, which is in was then. One that took too long has a hole that nobody can tell the length of.
func (t *rpTurn) add(angle int, metres float64, now time.Duration) (ended bool) {
	if angle < 0 || angle >= turnQ6 {
		angle = (angle%turnQ6 + turnQ6) % turnQ6
	}
	if angle < t.angle-turnQ6/2 {
		ended = t.begun >= 0 && now-t.begun <= 2*rpSlowest
		t.older, t.was, t.rays = t.was, t.rays, t.older
		for i := range t.rays {
			t.rays[i] = math.NaN()
		}
		t.begun, t.angle = now, angle
	}
	// One that looks back over the beginning belongs to the turn before, which is gone.
	if angle > t.angle+turnQ6/2 {
		return ended
	}
	t.angle = angle
	if !(metres > 0) {
		return ended
	}
	// Ray 0 looks backward, and they turn to the left.
	i := turnQ6/2 - angle
	if i < 0 {
		i += turnQ6
	}
	n := len(t.rays)
	ray := int((uint64(i)*uint64(n) + turnQ6/2) / turnQ6)
	if ray == n { // nearer to the first of the next turn
		ray = 0
	}
	if !(t.rays[ray] <= metres) {
		t.rays[ray] = metres
	}
	return ended
}

// agree takes out of whole what neither a neighbour nor the turn before says: the standard scan has no checksum.
func agree(whole, before []float64) {
	n := len(whole)
	near := func(v, w float64) bool { return math.Abs(v-w) <= 0.1+0.1*v }
	last, second := whole[n-1], whole[n-2]
	first, next := whole[0], math.NaN()
	for i := range whole {
		v := whole[i]
		ahead1, ahead2 := first, next
		if i+1 < n {
			ahead1 = whole[i+1]
		}
		if i+2 < n {
			ahead2 = whole[i+2]
		}
		if !near(v, last) && !near(v, second) && !near(v, ahead1) && !near(v, ahead2) &&
			!near(v, before[i]) && !near(v, before[(i+1)%n]) && !near(v, before[(i+n-1)%n]) {
			whole[i] = math.NaN()
		}
		second, last = last, v
	}
}
