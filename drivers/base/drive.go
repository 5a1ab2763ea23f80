package base

import (
	"errors"
	"math"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/p2oswire"
	"github.com/halyard-robotics/halyard/servo"
)

// Times of driving.
const (
	settling = 120 * time.Millisecond // from a switch of the motors to a report of it
	insist   = 200 * time.Millisecond // between two commands to the same end
	gap      = 20 * time.Millisecond  // least time between two speeds, so that a slow line keeps up
	// arms is how long the driver repeats the command to switch the motors on. If it went on while the red button is
	// pressed, the robot would drive as soon as the button is released.
	arms = 2 * time.Second
)

// drive is the wanted state of the motors and the commands sent to them.
type drive struct {
	wants    bool          // a wheel was enabled as of the last cycle
	arming   bool          // ENABLE is under way
	on       bool          // the base reported its motors on, after our command
	off      error         // why they are off, as a user sees it; made once
	pressed  bool          // the base reports its emergency stop as pressed
	switched time.Duration // when ENABLE was last sent
	to       bool          // the value of that ENABLE
	dark     bool          // the last report before it had the motors off
	sent     bool          // ENABLE was sent at least once
	began    time.Duration // when ENABLE was first sent to arm
	speed    [2]int        // last command: mm/s and °/s, or the two sides' steps
	sentAt   time.Duration // when it was sent
	valid    bool          // no other command was sent since
	braking  bool          // the motors are to be switched off, after braking
	braked   time.Duration // when braking began
	insisted time.Duration // when the brake command was last sent
}

// release cancels the request for motors on: only a new Enable switches them on again.
func (d *drive) release() { d.arming, d.on, d.sent, d.valid = false, false, false, false }

// fault is the reason why enabled wheels do not turn; nil if they can turn.
func (d *drive) fault(b *Base) error {
	if !d.wants || d.on || d.arming {
		d.off = nil
		return nil
	}
	if pressed := b.report.Flags&p2oswire.FlagEStop != 0; d.off == nil || pressed != d.pressed {
		why := errors.New("off: the base was stopped, or lost; disable and enable again")
		if pressed {
			why = errors.New("off: its emergency stop is pressed; release it, then disable and enable again")
		}
		d.pressed, d.off = pressed, &hal.Error{Kind: hal.Unsafe, Bus: b.cfg.Name, Op: "motors", Err: why,
			Try: "halyard arm"}
	}
	return d.off
}

// steer puts the commands that are due at now to a running base: settings one by one, motors, speeds, else a pulse.
func (b *Base) steer(now time.Duration) {
	d := &b.drive
	b.want()
	if b.setUp(now) {
		return
	}
	motors := b.report.Flags&p2oswire.FlagMotors != 0
	current := b.at-d.switched > settling // the newest report was made after the last switch
	switch {
	// motors that were off and are on have been switched on by it: no report from before can show that
	case d.arming && d.sent && d.to && motors && (current || d.dark && b.at > d.switched):
		d.arming, d.on, d.valid = false, true, false
	case d.arming && d.sent && d.to && now-d.began > arms:
		d.arming = false
	case d.on && !motors && current:
		d.on = false // its own button, its own emergency stop
	}
	if b.brake(now, motors) {
		return
	}
	if run := d.arming || d.on; (run != motors || !d.sent || d.to != run) && (now-d.switched > insist || d.to != run ||
		!d.sent) {
		if run && !(d.sent && d.to) {
			d.began = now
		}
		b.put(number(p2oswire.OpEnable, bit(run)))
		d.dark = !motors && (run != d.to || d.dark)
		d.switched, d.to, d.sent = now, run, true
		if !run {
			d.valid = false
		}
	}
	switch speed := b.speeds(); {
	case d.on && (!d.valid || speed != d.speed && now-d.sentAt >= b.pace() || now-d.sentAt >= pulse):
		b.command(speed)
		d.speed, d.sentAt, d.valid = speed, now, true
	case !d.on && now-d.sentAt >= pulse:
		b.put(p2oswire.Command{Op: p2oswire.OpPulse})
		d.sentAt = now
	}
	b.remind(now)
	for _, c := range b.extra {
		b.put(c)
	}
	b.extra = b.extra[:0]
}

// brake stops a rolling base before its motors go off: without power they do not brake. True while it brakes, for at
// most brakeTime.
func (b *Base) brake(now time.Duration, motors bool) bool {
	d, r := &b.drive, &b.report
	off := !d.arming && !d.on && d.sent && d.to && motors
	if off && !d.braking && (r.Left != 0 || r.Right != 0 || d.valid && d.speed != ([2]int{})) {
		d.braking, d.braked, d.insisted, d.valid = true, now, now-settling, false
	}
	stopped := b.at > d.braked+settling && r.Left == 0 && r.Right == 0
	if d.braking = d.braking && off && !stopped && now-d.braked <= brakeTime; !d.braking {
		return false
	}
	if now-d.insisted >= settling { // repeated: a packet may be lost
		b.put(p2oswire.Command{Op: p2oswire.OpEStop})
		d.insisted, d.sentAt = now, now
	}
	return true
}

// pace is the least time between two speeds on this line.
func (b *Base) pace() time.Duration { return max(gap, 2*servo.WireTime(18, 10, b.line.Baud())) }

// driven reports whether a wheel is enabled. One enabled wheel switches the motors on: with only the left side driven
// the robot turns about the right one, which does not move.
func (w wheel) driven() bool { return w.goal.Enable && w.goal.Limit > 0 }

// want checks whether a wheel is enabled, and begins to arm if none was before.
func (b *Base) want() {
	d, want := &b.drive, slices.ContainsFunc(b.wheels, wheel.driven)
	switch {
	case want && !d.wants:
		d.arming = true
	case !want:
		d.arming, d.on = false, false
	}
	d.wants = want
}

// speeds converts the wheels' goals to the values of the command. The wheels of a side share a motor: its speed is the
// mean of the enabled ones, and 0 if none is enabled.
func (b *Base) speeds() [2]int {
	var sum, count [2]float64
	for i := range b.wheels {
		w := &b.wheels[i]
		if !w.driven() {
			continue
		}
		if w.goal.Mode == hal.VelocityMode && !math.IsNaN(w.goal.Velocity) {
			sum[w.side] += w.goal.Velocity * b.robot.Radius
		}
		count[w.side]++
	}
	left, right := sum[Left]/max(1, count[Left]), sum[Right]/max(1, count[Right])
	if b.cfg.Coarse {
		return [2]int{steps(left), steps(right)}
	}
	forward := limit((left+right)/2, b.robot.MaxSpeed)
	turn := limit((right-left)/2*b.robot.Difference, b.robot.MaxTurn)
	return [2]int{int(math.Round(forward * 1000)), int(math.Round(turn / degree))}
}

func steps(speed float64) int { return int(math.Round(limit(speed*1000/vel2Step, 127))) }

func limit(v, most float64) float64 { return math.Min(most, math.Max(-most, v)) }

// command puts the speeds.
func (b *Base) command(speed [2]int) {
	if b.cfg.Coarse {
		b.put(number(p2oswire.OpVel2, int(byte(speed[0]))<<8|int(byte(speed[1]))))
		return
	}
	b.put(number(p2oswire.OpVel, speed[0]), number(p2oswire.OpRVel, speed[1]))
}

// CutTorque implements hal.TorqueCutter: it commands the strongest braking and does not wait. Earlier goals no longer
// drive the base: the next Sends brake until it is at rest and switch its motors off, as Halt does. Without power they
// do not brake.
func (b *Base) CutTorque() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := &b.drive
	d.arming, d.on, d.valid = false, false, false
	d.wants = true // so that only a new Enable counts
	if b.line == nil {
		return nil // Halt reports it
	}
	now := b.clock.Now()
	d.braking, d.braked, d.insisted, d.sentAt = true, now, now, now
	b.put(p2oswire.Command{Op: p2oswire.OpEStop})
	return b.flush()
}

// Halt brakes the base as strongly as possible, switches its motors off and waits for the base to report it, for at
// most a second. It does not wait if the base is at rest with its motors off. It returns an error for each wheel.
// Motors go on again only after the wheels were disabled once.
func (b *Base) Halt() []error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.wheels {
		b.wheels[i].goal = servo.Goal{}
	}
	inert := b.inert(b.clock.Now())
	b.drive.release()
	b.drive.wants = true // so that only a new Enable counts
	err := b.halt(inert)
	return slices.Repeat([]error{err}, len(b.wheels))
}

func (b *Base) halt(inert bool) error {
	if b.line == nil {
		return b.unlined()
	}
	began := b.clock.Now()
	if inert {
		b.put(p2oswire.Command{Op: p2oswire.OpEStop}, number(p2oswire.OpEnable, 0))
		b.drive.sent = true
		return b.flush()
	}
	off := false // it was commanded to switch its motors off, too
	for askedAt := began - time.Second; ; {
		now := b.clock.Now()
		if now-began > haltTimeout {
			return b.silent
		}
		// Motors without power do not brake: they stay on until the base is at rest. A report that was already being
		// sent may show the state before.
		stopped := b.at > began+settling && b.report.Left == 0 && b.report.Right == 0
		if !off && (stopped || now-began > brakeTime) {
			off, askedAt = true, began-time.Second
		}
		// Repeated: a packet may be lost, and this one is critical.
		if now-askedAt >= settling {
			b.put(p2oswire.Command{Op: p2oswire.OpEStop})
			if off {
				b.put(number(p2oswire.OpEnable, 0))
				b.drive.switched, b.drive.to, b.drive.sent = now, false, true
			}
			askedAt = now
			if err := b.flush(); err != nil {
				return err
			}
		}
		if err := b.receive(10 * time.Millisecond); err != nil {
			return err
		}
		if off && b.at > b.drive.switched && b.at > began+settling && b.report.Flags&p2oswire.FlagMotors == 0 {
			b.updateWheels(nil)
			return nil
		}
	}
}

// inert reports whether the base has reported that it is at rest with its motors off, and got no other command since.
func (b *Base) inert(now time.Duration) bool {
	d, r := &b.drive, &b.report
	return b.stage == running && b.at >= 0 && now-b.at <= tolerable && d.sent && !d.to && b.at > d.switched &&
		b.at-d.began > settling && r.Flags&p2oswire.FlagMotors == 0 && r.Left == 0 && r.Right == 0
}

// Timeouts of a halt: until the base is at rest, and until it reports its motors off.
const (
	brakeTime   = 400 * time.Millisecond
	haltTimeout = time.Second
)
