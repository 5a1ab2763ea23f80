package hal

import (
	"math"
	"time"
)

// sight is a guard's knowledge of a joint's position. A reading is trusted if the joint can have moved there from the
// last trusted one. After a pause trustSamples consistent readings are needed. With torque on, readings that are
// consistent with each other but not with the last position are a jump: another servo replies, or the encoder has
// slipped. A jump ends with a reset by an operator.
type sight struct {
	at     float64       // last trusted position; NaN = none
	time   time.Duration // guard.clock of it; < 0 = never
	stamp  time.Duration // rig time of it
	speed  float64       // rad/s between the last two trusted positions; 0 = unknown
	blind  bool          // not seen for blindAfter
	jumped bool

	other  float64       // a reading that was not trusted
	seen   time.Duration // guard.clock of the last reading, trusted or not
	raw    time.Duration // rig time of it
	agrees int           // readings in a row that agree with other
	need   int           // readings that must agree
}

const (
	// blindAfter is how long a joint may go unseen without being taken for one that is elsewhere when it is back.
	blindAfter = 100 * time.Millisecond
	// unheardAfter is how long an unseen joint may have torque in a mode without a position goal, where the command
	// deadline is not shorter.
	unheardAfter = 500 * time.Millisecond
	trustSamples = 3
	// haste is how much faster than its no-load speed a joint is believed to move: a hand or gravity may turn it.
	haste = 2
	// noise is how far two readings of a joint at rest may be apart, as a share of a turn.
	noise = 2 * math.Pi / 128
)

func blindfolded(need int) sight {
	return sight{at: math.NaN(), time: -1, stamp: -1, seen: -1, raw: -1, blind: true, need: need}
}

// blindfold forgets where every joint is, before its first reading and when its world was reset. need readings that
// agree end that.
func (g *guard) blindfold(need int) {
	for i := range g.joints {
		g.joints[i].sight = blindfolded(need)
	}
}

// watch checks the reading of actuator i at rig time now. missed is what the rig had missed when it was taken.
func (g *guard) watch(i int, f *Frame, now, missed, dt time.Duration) {
	a, j, s := &g.layout.Actuators[i], &g.joints[i], &f.Status[i]
	e := &j.sight
	if !g.measured[i] {
		// The position is not measured: the commanded one is used.
		if e.blind = s.Err != nil && now-s.Time > blindAfter; a.Position != None {
			e.at, e.time, e.stamp = f.Measured[a.Position], s.Time+g.clock-now, s.Time
		}
		return
	}
	p := f.Measured[a.Position]
	switch {
	case g.exact:
		if s.Err == nil || s.Time == now {
			g.trust(a, e, p, now)
			e.stamp = now
		}
	case s.Time > e.raw && !math.IsNaN(p):
		e.raw = s.Time
		if g.read(i, p, s.Time+missed); e.time == s.Time+missed {
			e.stamp = s.Time
		}
	}
	// A slow cycle has fewer chances to see a joint.
	if e.time < 0 || g.clock-e.time > max(blindAfter, 4*dt) {
		e.blind = true
	}
}

// read judges a reading p of time at, of guard.clock.
func (g *guard) read(i int, p float64, at time.Duration) {
	a, j := &g.layout.Actuators[i], &g.joints[i]
	e := &j.sight
	agrees := e.agrees > 0 && within(a, p, e.other, at-e.seen)
	near := math.IsNaN(e.at) || within(a, p, e.at, at-e.time)
	possible := near || !j.enabled || a.Wraps && j.mode != PositionMode
	// One that was commanded to stay and was not seen cannot be far from there, however long it was not seen.
	if e.blind && j.enabled && j.mode == PositionMode && !math.IsNaN(j.out) && !a.Wraps {
		possible = math.Abs(p-j.out) <= g.following(a, 0) || math.Abs(p-e.at) <= g.following(a, 0)
	}
	e.seen = at
	switch {
	// without torque a joint may be anywhere, and one reading still wrong
	case possible && !e.blind && (near || j.enabled):
		g.trust(a, e, p, at)
		return
	case agrees:
		e.agrees++
	default:
		e.agrees = 1
	}
	if e.other = p; e.agrees < e.need {
		return
	}
	if possible {
		g.trust(a, e, p, at)
	} else if !e.jumped {
		e.jumped = true
		g.counts.Jumped++
	}
}

// within reports whether a joint can turn from one position to another in dt.
func within(a *Actuator, to, from float64, dt time.Duration) bool {
	return math.Abs(difference(a, to, from)) <= haste*a.Limits.MaxVelocity*dt.Seconds()+noise
}

// trust takes p for the position at time at. Readings come a period apart: rate is its reciprocal, which divides
// faster.
func (g *guard) trust(a *Actuator, e *sight, p float64, at time.Duration) {
	if dt := at - e.time; dt == g.period && !e.blind && e.time >= 0 {
		e.speed = difference(a, p, e.at) * g.rate
	} else if e.time >= 0 && dt > 0 && !e.blind {
		e.speed = difference(a, p, e.at) / dt.Seconds()
	} else if e.blind {
		e.speed = 0
	}
	e.at, e.time, e.blind, e.agrees, e.need = p, at, math.IsNaN(p), 0, trustSamples
}
