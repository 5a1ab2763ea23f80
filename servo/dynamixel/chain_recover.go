package dynamixel

import (
	"errors"
	"fmt"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

var errTripped = errors.New("bus watchdog has tripped: enable again")

// reading is how one servo is read and how well that goes.
type reading struct {
	servo.Reading
	wideFails int // long reads that went wrong
}

// restart forgets all trouble.
func (r *reading) restart(m *Model) {
	// What the model's table promises; the firmware may know less.
	base := alone
	switch {
	case m.FastRead:
		base = fast
	case m.BulkRead:
		base = group
	}
	r.Restart(base, alone)
}

// judgeGroup finds who was missing in the group just read.
func (c *Chain) judgeGroup(lv servo.Level) {
	// In the order asked: whoever is first without an answer may have kept the rest waiting.
	first := true
	for _, d := range c.members {
		r := &d.reading
		if r.Answered {
			r.Kept(lv, c.cycle)
			continue
		}
		// Perhaps it was the length of its part, not the servo.
		if first && d == c.wide {
			d.narrow()
		}
		r.Broke(lv, c.cycle, first)
		first = false
		c.missed(d)
	}
}

// missed counts a miss of d and gives it up for a while after too many.
func (c *Chain) missed(d *device) {
	if d.reading.Miss(&d.DeviceState, c.cycle) {
		c.stats.Timeouts++
		c.silences++
	}
}

// markReceived takes note that d answered.
func (c *Chain) markReceived(d *device) {
	returned, fell := d.reading.Received(c.cycle)
	if returned {
		c.returned(d)
	}
	if fell {
		c.stats.Fallbacks++
	}
}

// returned brings a servo back that was lost. The long read it answered has told whether its torque is still on; if
// so it was merely not heard. One that was never looked at is looked at now, which takes some exchanges once.
func (c *Chain) returned(d *device) {
	// Limits are written again: what is in its RAM is anybody's guess.
	d.limit = -1
	if !d.inspected {
		if err := c.inspect(d); err != nil {
			d.reading.Lost, d.reading.Ask = true, c.cycle+servo.LostPause
			d.State.Err = err
		}
		return
	}
	d.Verify = d.Verify || d.narrowed()
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

// narrowed reports that d's long read does not show its torque.
func (d *device) narrowed() bool { return d.long.addr > d.reg.torque.Addr }

// deviceError is an error of one servo.
func (c *Chain) deviceError(d *device, kind hal.Kind, op string, err error) error {
	return d.Error(kind, op, err)
}

func unequal(got, want int64) error { return fmt.Errorf("got %d, want %d", got, want) }
