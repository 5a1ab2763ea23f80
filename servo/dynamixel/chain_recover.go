package dynamixel

import (
	"errors"
	"fmt"

	"github.com/halyard-robotics/halyard/hal"
)

// How trouble with reading a servo is spread over cycles.
const (
	lostAfter    = 3    // misses in a row, one of them in a group, until a servo is lost
	lostPause    = 50   // cycles between two questions to a lost servo
	strikeWindow = 100  // cycles within which a second broken group is no accident
	firstBackoff = 50   // cycles on a lower level before the higher is tried again, doubled each time
	lastBackoff  = 6400 // its bound
)

// Why a servo's values are not of this cycle, or its torque is off.
var (
	errSkipped   = errors.New("not asked: the period was over")
	errLost      = errors.New("lost: asked again every fiftieth cycle")
	errLatched   = errors.New("an alarm has taken the torque: clear it, then enable again")
	errPowerLost = errors.New("power was lost: enable again")
	errNoTorque  = errors.New("torque does not go on")
	errTripped   = errors.New("bus watchdog has tripped: enable again")
)

// reading is how one servo is read and how well that goes.
type reading struct {
	base    level // the best the model can do
	level   level
	retry   uint64 // cycle at which to try a level up
	backoff uint64
	ask     uint64 // cycle at which to ask a lost servo
	struck  uint64 // cycle in which it last broke a group
	misses  int    // in a row

	answered  bool // in this cycle
	mangled   bool // the last miss was a bad answer, not silence
	probing   bool // missed in a group: asked alone until it answers
	wideFails int  // long reads that went wrong
	suspect   bool // the first that was missing there: it may be what broke the group
	lost      bool
}

func (r *reading) init(m *Model) {
	// What the model's table promises; the firmware may know less.
	switch {
	case m.FastRead:
		r.base = fast
	case m.BulkRead:
		r.base = group
	default:
		r.base = alone
	}
	r.level, r.backoff = r.base, firstBackoff
}

// joins says whether the servo is read in the group of lv in this cycle.
func (r *reading) joins(lv level, cycle uint64) bool {
	if r.lost || r.probing || lv == alone {
		return false
	}
	// Time to try a level up, together with those who are there.
	if r.level > r.base && cycle >= r.retry {
		return r.level-1 == lv
	}
	return r.level == lv
}

// isAlone says whether the servo is to be asked on its own in this cycle and has not been heard yet.
func (r *reading) isAlone(cycle uint64) bool {
	switch {
	case r.answered:
		return false
	case r.lost:
		return cycle >= r.ask
	case r.probing:
		return r.misses > 0 && r.probeFrom(cycle)
	}
	return r.level == alone && !(r.level > r.base && cycle >= r.retry)
}

// probeFrom is true from the cycle after the one in which the group missed the servo, which set retry.
func (r *reading) probeFrom(cycle uint64) bool { return cycle > r.ask }

// judgeGroup finds who was missing in the group just read. The first missing one may be what broke it; those behind
// it may merely have waited for it. All are asked alone in the next cycle.
func (c *Chain) judgeGroup(lv level) {
	// In the order asked: whoever is first without an answer may have kept the rest waiting.
	culprit := true
	for _, d := range c.members {
		r := &d.reading
		if r.answered {
			if r.level > lv { // the try a level up went well
				r.level, r.backoff = lv, max(firstBackoff, r.backoff/2)
				r.retry = c.cycle + r.backoff
			}
			continue
		}
		// A bad answer is not what an old firmware does: it took part.
		r.probing, r.suspect, r.ask = true, culprit && !r.mangled, c.cycle
		// Perhaps it was the length of its part, not the servo.
		if culprit && d == c.wide {
			d.narrow()
		}
		if r.level > lv { // the try failed: wait longer
			r.retry = c.cycle + r.backoff
			r.backoff = min(2*r.backoff, lastBackoff)
			r.suspect = false
		}
		culprit = false
		c.missed(d)
	}
}

// missed counts a miss of d and gives it up for a while after too many.
func (c *Chain) missed(d *device) {
	r := &d.reading
	r.misses++
	d.state.Err = d.silent
	if r.mangled {
		d.state.Err = d.mangled
	} else {
		c.stats.Timeouts++
		c.silences++
	}
	// A servo that answers badly is there; one that does not answer may not be.
	if r.lost || r.misses >= lostAfter && !r.mangled {
		d.state.Err = d.unasked
		r.lost, r.ask = true, c.cycle+lostPause
		d.torque, d.state.Torque = unknown, false
	}
	r.mangled = false
}

// heard takes note that d answered.
func (c *Chain) heard(d *device) {
	r := &d.reading
	r.answered, r.mangled, r.misses = true, false, 0
	switch {
	case r.lost:
		r.lost, r.probing, r.suspect = false, false, false
		c.returned(d)
	case r.probing:
		r.probing = false
		if r.suspect && r.level < alone {
			c.strike(r)
		}
		r.suspect = false
	}
}

// strike takes r a level down when it has broken its group for the second time in a short while; once may happen to
// anybody.
func (c *Chain) strike(r *reading) {
	if r.struck == 0 || c.cycle-r.struck > strikeWindow {
		r.struck = c.cycle
		return
	}
	c.stats.Fallbacks++
	r.level++
	r.retry, r.struck = c.cycle+r.backoff, 0
	r.backoff = min(2*r.backoff, lastBackoff)
}

// returned brings a servo back that was lost. The long read it answered has told whether its torque is still on; if
// so it was merely not heard. One that was never looked at is looked at now, which takes some exchanges once.
func (c *Chain) returned(d *device) {
	// Limits are written again: what is in its RAM is anybody's guess.
	d.limit = -1
	if !d.inspected {
		if err := c.inspect(d); err != nil {
			d.reading.lost, d.reading.ask = true, c.cycle+lostPause
			d.state.Err = err
		}
		return
	}
	d.verify = d.verify || d.narrowed()
}

// narrow takes the registers before the state out of d's long read: some firmware refuses a read across the gaps of
// its table. Torque is then not seen any more.
func (d *device) narrow() {
	r := &d.reading
	if r.wideFails++; r.wideFails < 2 {
		return
	}
	d.long = spanOf(d.reg.position, d.reg.velocity, d.reg.effort, d.reg.voltage, d.reg.temperature)
}

// narrowed says that d's long read does not show its torque.
func (d *device) narrowed() bool { return d.long.addr > d.reg.torque.Addr }

// deviceError is an error of one servo.
func (c *Chain) deviceError(d *device, kind hal.Kind, op string, err error) error {
	e := &hal.Error{Kind: kind, Bus: c.cfg.Name, ID: int(d.cfg.ID), Joint: d.cfg.Joint, Op: op, Err: err}
	if d.cfg.ID == 0 {
		e.Op = "id 0: " + op
	}
	return e
}

func unequal(got, want int64) error { return fmt.Errorf("got %d, want %d", got, want) }
