package base

import (
	"time"

	"github.com/halyard-robotics/halyard/internal/wire/p2oswire"
	"github.com/halyard-robotics/halyard/servo"
)

// handle takes one packet's data.
func (b *Base) handle(data []byte, now time.Duration) {
	var err error
	switch data[0] {
	case byte(p2oswire.OpPulse), byte(p2oswire.OpOpen): // the echo of a SYNC has its number
		if len(data) == 1 && b.stage < syncing2 && stage(data[0]) == b.stage {
			b.advance()
		}
	case byte(p2oswire.OpClose):
		// The echo of our own command is no answer: it has no names.
		if len(data) == 1 || b.stage != syncing2 {
			return
		}
		if err = b.names.Decode(data); err == nil {
			if b.refuse = b.sameRobot(); b.refuse == nil {
				b.advance()
				b.put(p2oswire.Command{Op: p2oswire.OpPulse})
			}
		}
	case p2oswire.TypeStopped, p2oswire.TypeMoving:
		var r p2oswire.Report // decoded apart: one that does not make sense leaves the last
		if err = r.Decode(data); err == nil {
			b.handleReport(&r, now)
		}
	case p2oswire.TypeConfig:
		var c p2oswire.ConfigReport
		if err = c.Decode(data); err == nil {
			b.config = c
		}
	case p2oswire.TypeEncoder:
		var e p2oswire.EncoderReport
		if err = e.Decode(data); err == nil {
			b.ticks.update(&e)
			b.senses[Encoders].set(now, float64(b.ticks.total[Left]), float64(b.ticks.total[Right]))
		}
	case p2oswire.TypeGyro:
		var g p2oswire.GyroReport
		if err = g.Decode(data); err == nil {
			b.handleGyro(&g, now)
		}
	case p2oswire.TypeIO:
		var r p2oswire.IOReport
		if err = r.Decode(data); err == nil {
			b.io, b.ioAt = r, now
		}
	case p2oswire.TypeGripper:
		var g p2oswire.GripperReport
		if err = g.Decode(data); err == nil {
			b.gripper, b.gripperAt = g, now
		}
	}
	if err != nil {
		b.stats.Malformed++
	}
}

// handleReport is a report's way into everything. The first one of a session ends its opening.
func (b *Base) handleReport(r *p2oswire.Report, now time.Duration) {
	switch b.stage {
	case knocking:
		if b.fresh { // left open by another program; the base does not reply to CLOSE
			b.put(p2oswire.Command{Op: p2oswire.OpClose})
			b.asked = now - knock/2
			return
		}
		// Our own session continues. If the base stopped by itself, the user must start it again.
		if now-b.at > watchdog {
			b.drive.release()
		}
		b.stage = running
	case opening:
		b.stage, b.start, b.fresh = running, 0, false
		b.stats.Sessions++
		b.drive.release()
		b.odo.rebase()
		b.ticks.known = false
		b.reminded, b.configs = now, 0 // allow the new requests their time
	case syncing1, syncing2:
		return // of a session that ends
	}
	b.stats.Reports++
	dt := now - b.at
	if b.at < 0 {
		dt = 0
	}
	b.report, b.at = *r, now
	if !b.odo.update(r, &b.robot, dt) {
		b.stats.Jumps++
	}
	b.sense(now)
}

// updateWheels updates the wheels' states at the end of a cycle; err is the error of the line.
func (b *Base) updateWheels(err error) {
	now := b.clock.Now()
	age := now - b.at
	if b.stage == running && age > lostAfter {
		b.restart(false)
	}
	switch {
	case err != nil:
	case b.refuse != nil:
		err = b.refuse
	case b.at < 0 || b.stage != running || age > tolerable:
		err = b.silent
	}
	fault := err
	if err == nil {
		err = b.drive.fault(b)
	}
	for i := range b.wheels {
		w := &b.wheels[i]
		s := &w.state
		if s.Err = err; fault != nil {
			continue
		}
		r := &b.report
		// Wheels turn like their side. The base reports the speed; the distance is dead reckoned.
		speed, stalled := r.Left, r.Stall&1 != 0
		if w.side == Right {
			speed, stalled = r.Right, r.Stall>>8&1 != 0
		}
		s.Position = b.odo.travel[w.side] * 1000
		s.Velocity = float64(speed) * b.robot.Speed / b.robot.Radius
		s.Voltage = r.Volts()
		if r.Extra >= 10 && r.Celsius != -127 {
			s.Temperature = float64(r.Celsius)
		}
		s.Time, s.Torque, s.Alarm = b.at, r.Flags&p2oswire.FlagMotors != 0, 0
		if stalled {
			s.Alarm = servo.AlarmOverload
		}
	}
}
