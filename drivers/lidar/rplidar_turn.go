package lidar

import (
	"math"
	"time"

	"github.com/halyard-robotics/halyard/internal/wire/lidarwire"
)

// Angles of samples do not rise evenly: a near object is seen at a smaller angle than a far one, and a sample without a
// range may carry the motor's angle, not compensated by the optics, up to 9° ahead of its neighbours.
const (
	rpUncompensated = 9 << 6  // 1/64 °
	rpSettled       = 10 << 6 // 1/64 ° behind 0°, from which on samples of the previous turn are over
)

// rpTurn gathers samples to a turn.
type rpTurn struct {
	rays    []float64     // of this turn; m, NaN = none
	ending  []float64     // of the previous turn, to which samples may still belong while closing is true
	was     []float64     // of the last whole turn
	older   []float64     // of the one before that
	angle   int           // of the motor, at least, 1/64 °
	begun   time.Duration // when this turn began; < 0 = its beginning was not seen
	took    time.Duration // how long the turn before took; < 0 = its beginning was not seen
	closing bool
}

func newTurn(n int) rpTurn {
	t := rpTurn{rays: make([]float64, n), ending: make([]float64, n), was: make([]float64, n),
		older: make([]float64, n)}
	t.reset()
	return t
}

// reset forgets everything.
func (t *rpTurn) reset() {
	t.begun, t.took, t.angle, t.closing = -1, -1, 0, false
	for i := range t.rays {
		t.rays[i], t.ending[i], t.was[i], t.older[i] = math.NaN(), math.NaN(), math.NaN(), math.NaN()
	}
}

// add adds a sample received at now, at an angle to the right, 1/64 °, with a range, 0 for no echo. It reports whether
// a turn ended before it, which is in was then. A turn that took too long has a gap of unknown size and is discarded.
func (t *rpTurn) add(angle int, metres float64, now time.Duration) (ended bool) {
	measured := metres > 0
	if !measured {
		angle -= rpUncompensated // the motor is at least there
	}
	if angle < 0 || angle >= lidarwire.TurnQ6 {
		angle = (angle%lidarwire.TurnQ6 + lidarwire.TurnQ6) % lidarwire.TurnQ6
	}
	step := angle - t.angle
	switch {
	case step < -lidarwire.TurnQ6/2:
		ended = t.finish() // the last one has not settled: there is a hole
		t.took = -1
		if t.begun >= 0 {
			t.took = now - t.begun
		}
		t.rays, t.ending, t.closing = t.ending, t.rays, true
		for i := range t.rays {
			t.rays[i] = math.NaN()
		}
		t.begun, t.angle = now, angle
	case step > lidarwire.TurnQ6/2:
		if t.closing && measured {
			t.put(t.ending, angle, metres)
		}
		return false // it belongs to the turn before
	case step > 0:
		t.angle = angle
	}
	if t.closing && t.angle >= rpSettled {
		ended = t.finish() || ended
	}
	if measured {
		t.put(t.rays, angle, metres)
	}
	return ended
}

// finish hands the turn before on, where it is whole.
func (t *rpTurn) finish() bool {
	if !t.closing {
		return false
	}
	t.closing = false
	t.older, t.was, t.ending = t.was, t.ending, t.older
	return t.took >= 0 && t.took <= 2*rpMaxTurnTime
}

// put keeps the nearest sample of a ray.
func (t *rpTurn) put(rays []float64, angle int, metres float64) {
	// Ray 0 looks backward, and they turn to the left.
	i := lidarwire.TurnQ6/2 - angle
	if i < 0 {
		i += lidarwire.TurnQ6
	}
	n := len(rays)
	ray := int((uint64(i)*uint64(n) + lidarwire.TurnQ6/2) / lidarwire.TurnQ6)
	if ray == n { // nearer to the first of the next turn
		ray = 0
	}
	if !(rays[ray] <= metres) {
		rays[ray] = metres
	}
}

// agree removes values from whole that match neither a neighbour nor the previous turn: the standard scan has no
// checksum.
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

// RPLidarDrive is how a scanner's motor is driven.
type RPLidarDrive uint8

// The ways.
const (
	RPLidarDTR  RPLidarDrive = iota // A1: by the line DTR of its adapter; down, it turns
	RPLidarPWM                      // A2, A3: by RPLidarMotor
	RPLidarFree                     // no drive: it turns whenever it has power
)

// RPLidarEncoding is the packing of samples: the type of their reply.
type RPLidarEncoding byte

// The encodings (LR001; the ultra one as SLAMTEC's SDK reads it).
const (
	RPLidarNodes     RPLidarEncoding = 0x81 // the standard scan: 5 bytes a sample, without a checksum
	RPLidarExpressed RPLidarEncoding = 0x82 // express: 32 samples in 84 bytes, ranges of 14 bits, each with its shift
	RPLidarUltra     RPLidarEncoding = 0x84 // ultra: 96 samples in 132 bytes, of A2, A3 and late A1
	RPLidarDense     RPLidarEncoding = 0x85 // dense: 40 samples in 84 bytes, of S models
	// RPLidarUltraDense is 64 samples in 170 bytes with a time and the device's status, of S2, S3 and C1
	// (sl_lidar_cmd.h).
	RPLidarUltraDense RPLidarEncoding = 0x86
)
