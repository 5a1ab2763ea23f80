package imu

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/internal/wire/imureg"
)

// alive watches whether a BNO055 still measures: a hung one repeats its last reading for ever
// (boschsensortec/BNO055_SensorAPI#9), or its fusion holds an attitude while its gyro turns (#12 there). The last
// digits of a living gyro and accelerometer flicker.
type alive struct {
	burst        [imureg.BNO055Quaternion + 8 - imureg.BNO055Acc]byte
	came         time.Duration // when it was read last
	all, fusion  held
	turned       [3]float64 // rad, by the gyro, since the attitude changed
	heldForLong  bool       // it was, at rest
	readingsSeen bool
}

// held is for how long, and how often, bytes came that were the same.
type held struct {
	since time.Duration
	times int
}

// Bounds: as many equal readings do not come by chance.
const (
	frozenTime  = 2 * time.Second
	frozenTimes = 40
	restingTime = 5 * time.Second
	frozenTurn  = 0.15                   // rad
	gyroOffset  = 0.02                   // rad/s, of one that is not calibrated
	maxGap      = 200 * time.Millisecond // between two readings, over which the gyro counts
)

// take counts a reading.
func (h *held) take(now time.Duration, same bool) {
	if !same {
		*h = held{since: now}
	}
	h.times++
}

func (h *held) frozen(now, after time.Duration) bool {
	return h.times >= frozenTimes && now-h.since >= after
}

// judge takes a reading, from BNO055Acc on.
func (a *alive) judge(now time.Duration, p []byte) error {
	const q = imureg.BNO055Quaternion - imureg.BNO055Acc
	same := a.readingsSeen && bytes.Equal(p[q:], a.burst[q:])
	a.all.take(now, same && bytes.Equal(p[:q], a.burst[:q]))
	if a.fusion.take(now, same); !same || now-a.came > maxGap {
		a.turned, a.came = [3]float64{}, now
	}
	total := 0.0
	for axis := range a.turned {
		a.turned[axis] += le16(p, imureg.BNO055Gyro-imureg.BNO055Acc+
			2*axis) * imureg.BNO055GyroScale * (now - a.came).Seconds()
		total += a.turned[axis] * a.turned[axis]
	}
	copy(a.burst[:], p)
	a.came, a.readingsSeen = now, true
	if a.all.frozen(now, frozenTime) {
		return errors.New("readings: the same to the last bit for more than 2 s: the chip hangs")
	}
	if total = math.Sqrt(total); same && total > frozenTurn+gyroOffset*(now-a.fusion.since).Seconds() {
		return fmt.Errorf("attitude: it has not changed while the gyro turned by %.2f rad: its fusion hangs", total)
	}
	a.heldForLong = a.heldForLong || a.fusion.frozen(now, restingTime)
	return nil
}

// Restart forgets what was read.
func (s *BNO055) Restart() { s.alive, s.last = alive{}, [4]float64{} }

// Note reports an attitude that stood still: at rest a fusion may hold it.
func (s *BNO055) Note() string {
	if !s.alive.heldForLong {
		return ""
	}
	return "its attitude was the same to the last bit for 5 s while its gyro flickered: it holds it at rest, or its " +
		"fusion is frozen: turn it and see"
}
