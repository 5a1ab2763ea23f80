package base

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/internal/wire/p2oswire"
)

// Sense is one thing that a base senses: the values of a hal.Sensor, and how old they are.
type Sense uint8

// The senses. The comment gives the hal.Sensor's kind and the values.
const (
	Odometry Sense = iota // odometry: x y, m, and heading, rad
	Ring                  // sonar: m, one a transducer, each with its own age
	// contact: 1 where pressed; clockwise: the front ring from left to right, the rear one from right to left
	Bumpers
	Battery  // battery: s that are left, by the voltage and Settings.Runtime; an estimate
	Volts    // V of the battery
	Gyro     // gyro: rad/s to the left; its zero is measured at rest
	Encoders // encoder: ticks of the left and the right side since the first report
	Compass  // rad to the left of north
	numSenses
)

// sense is the newest values of a Sense.
type sense struct {
	values []float64
	at     []time.Duration // of each; < 0 = never
}

// set makes v, which came at now, the newest.
func (s *sense) set(now time.Duration, v ...float64) {
	for i := range v {
		s.values[i], s.at[i] = v[i], now
	}
}

func (b *Base) makeSenses() {
	counts := [numSenses]int{Odometry: 3, Ring: len(b.robot.Sonar), Bumpers: 2 * b.robot.Bumpers, Battery: 1, Volts: 1,
		Gyro: 1, Encoders: 2, Compass: 1}
	for i, n := range counts {
		s := &b.senses[i]
		s.values, s.at = slices.Repeat([]float64{math.NaN()}, n), slices.Repeat([]time.Duration{-1}, n)
	}
}

// Source is one of a base's senses, as drivers.Body.AttachSensor takes it.
type Source struct {
	base *Base
	of   Sense
}

// Source returns the base's s.
func (b *Base) Source(s Sense) *Source { return &Source{b, s} }

// Values is how many there are.
func (s *Source) Values() int { return len(s.base.senses[s.of].values) }

// Latest copies the newest values, from first on, into dst. It returns the age of the oldest of them (< 0: one was
// never received) and the error of the base. Call it between Receive and the next Send.
func (s *Source) Latest(dst []float64, first int) (age time.Duration, err error) {
	b := s.base
	from := &b.senses[s.of]
	now, age := b.clock.Now(), time.Duration(0)
	for i := range copy(dst, from.values[min(first, len(from.values)):]) {
		if at := from.at[first+i]; at < 0 {
			age = -1
		} else if age >= 0 {
			age = max(age, now-at)
		}
	}
	switch {
	case b.line == nil:
		return age, b.unlined()
	case b.refuse != nil:
		return age, b.refuse
	case b.at < 0 || b.stage != running || now-b.at > tolerable:
		return age, b.silent
	// The base replies, but without this value: the sonar is off, or there is no gyro.
	case age < 0 || age > stale:
		return age, b.silent
	}
	return age, nil
}

// stale is the greatest age of a valid value: a sonar ring needs three reports for all its sonars.
const stale = time.Second

// Zero makes the present position the origin of the odometry. The base keeps its own origin.
func (b *Base) Zero() {
	b.odo.zero()
	clear(b.senses[Odometry].values)
}

// sense updates the senses from the report.
func (b *Base) sense(now time.Duration) {
	r := &b.report
	b.senses[Odometry].set(now, b.odo.x, b.odo.y, b.odo.heading)
	ring := &b.senses[Ring]
	for _, e := range r.Echoes[:r.Count] {
		if i := int(e.Index); i < len(ring.values) {
			// Without an echo it reports a range far beyond its limit.
			ring.values[i], ring.at[i] = math.Min(float64(e.Range)*b.robot.Range, b.robot.NoEchoRange), now
		}
	}
	bumpers := &b.senses[Bumpers]
	for i := range bumpers.values {
		n := b.robot.Bumpers
		bumpers.values[i], bumpers.at[i] = float64(bit(r.Bumper(i >= n, i%n))), now
	}
	volts := r.Volts()
	b.senses[Volts].set(now, volts)
	if b.cfg.Runtime > 0 {
		full, empty := b.robot.FullVolts, b.robot.EmptyVolts
		left := math.Min(1, math.Max(0, (volts-empty)/(full-empty)))
		b.senses[Battery].set(now, left*b.cfg.Runtime.Seconds())
	}
	b.senses[Compass].set(now, math.Remainder(-2*degree*float64(r.Compass), 2*math.Pi))
}

// gyro measures the gyro's reading at rest: it drifts with temperature.
type gyro struct {
	still float64 // counts; 0 = not measured yet
	sum   float64
	count int
}

// enough is how many readings at rest, 25 ms apart, make a new mean.
const enough = 40

func (b *Base) handleGyro(g *p2oswire.GyroReport, now time.Duration) {
	if g.Count == 0 {
		return
	}
	b.gyro.still = cmp.Or(b.gyro.still, GyroStill)
	mean := 0.0
	for _, r := range g.Readings[:g.Count] {
		mean += float64(r.Rate) / float64(g.Count)
	}
	// At rest by the wheels, and by the gyro: it may be carried.
	rest := b.report.Left == 0 && b.report.Right == 0 && math.Abs(mean-b.gyro.still) < 0.02*GyroStill
	if !rest {
		b.gyro.sum, b.gyro.count = 0, 0
	} else if b.gyro.sum, b.gyro.count = b.gyro.sum+mean, b.gyro.count+1; b.gyro.count*g.Count >= enough {
		b.gyro.still = b.gyro.sum / float64(b.gyro.count)
		b.gyro.sum, b.gyro.count = 0, 0
	}
	b.senses[Gyro].set(now, (b.gyro.still-mean)*GyroScale)
}
