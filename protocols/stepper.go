package protocols

import (
	"errors"
	"math"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

const (
	// heartbeat is how often a Stepper checks its client in real time.
	heartbeat = 100 * time.Millisecond
	// MaxUnread is how long a client may leave a message unread before it no longer counts as alive.
	MaxUnread = 500 * time.Millisecond
)

// Stepper steps the robot of a client whose protocol has no steps and whose commands persist. In real time it renews
// the lease; in lock-step it advances time at the pace of the wall clock. Its methods are for the goroutine that reads,
// Write for the one that writes.
type Stepper struct {
	Rig     *hal.Rig
	Session *hal.Session
	Conn    net.Conn
	Timeout time.Duration // after which Read fails with Silent if the client sends no message; 0 = never
	Silent  error
	Beat    func(now time.Time) error // the protocol's own work before each step

	Received time.Time // when the last message came
	Held     []float64 // in lock-step: goals since the last step; NaN = none
	lease    *hal.Lease
	next     time.Time // of the next beat
	writing  atomic.Int64
}

// Begin steps the robot of lease from now on.
func (s *Stepper) Begin(lease *hal.Lease, l *hal.Layout) {
	s.lease, s.next, s.Held = lease, time.Time{}, make([]float64, len(l.Inputs))
	hal.FillNaN(s.Held)
}

// Deaf reports whether the client has left a message unread for so long that it no longer counts as alive. In
// lock-step, where time waits, it always does.
func (s *Stepper) Deaf() bool {
	since := s.writing.Load()
	return since != 0 && time.Now().UnixNano()-since > int64(MaxUnread) && s.Rig.Mode() == hal.Realtime
}

// Renew is for each message that comes: it lets the client's commands persist.
func (s *Stepper) Renew() {
	if s.lease != nil && !s.Deaf() {
		s.Session.Renew(s.lease)
	}
}

// Commit passes inputs to the robot, an agent with layout l: at once in real time, with the next step in lock-step. A
// goal replaces the actuator's goals of other modes. Those of a client that is deaf are dropped: the guard's deadline
// stops the robot. It sets inputs to NaN.
func (s *Stepper) Commit(l *hal.Layout, inputs []float64) error {
	defer hal.FillNaN(inputs)
	if s.Deaf() {
		return nil
	}
	if s.Rig.Mode() == hal.Realtime {
		return s.Session.Step(s.lease, inputs)
	}
	for i := range l.Actuators {
		goals := &l.Actuators[i].Goal
		for _, given := range goals {
			if given == hal.None || math.IsNaN(inputs[given]) {
				continue
			}
			for _, at := range goals {
				if at != hal.None {
					s.Held[at] = inputs[at]
				}
			}
		}
	}
	return nil
}

// Read waits for bytes of the client and steps meanwhile.
func (s *Stepper) Read(b []byte) (int, error) {
	for {
		if err := s.step(); err != nil {
			return 0, err
		}
		n, err := s.Conn.Read(b)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		if s.Timeout > 0 && time.Since(s.Received) >= s.Timeout {
			return 0, s.Silent
		}
	}
}

func (s *Stepper) step() error {
	now := time.Now()
	if now.Before(s.next) {
		return nil
	}
	realtime, every := s.Rig.Mode() == hal.Realtime, heartbeat
	if !realtime && s.lease != nil {
		every = s.Rig.Period()
	}
	// on a grid, so that the mean pace is exact; after a pause the grid restarts
	if s.next = s.next.Add(every); s.next.Before(now) {
		s.next = now.Add(every)
	}
	s.Conn.SetReadDeadline(s.next)
	if s.lease == nil {
		return nil
	}
	// a client that does not read must not keep driving: its lease is not renewed, and the guard's deadline stops the
	// robot
	if s.Deaf() {
		return nil
	}
	if err := s.Beat(now); err != nil {
		return err
	}
	if !realtime && s.lease.Pending() {
		return nil
	}
	err := s.Session.Step(s.lease, s.Held)
	hal.FillNaN(s.Held)
	return err
}

// Write sends b. Set the deadline of Conn before.
func (s *Stepper) Write(b []byte) error {
	s.writing.Store(time.Now().UnixNano())
	defer s.writing.Store(0)
	_, err := s.Conn.Write(b)
	return err
}

// Measure returns the newest measurements of a, NaN for what is not known, and the time of the newest. It reuses the
// memory of measured and status.
func Measure(a *hal.Agent, measured []float64, status []hal.Status) (_ []float64, _ []hal.Status,
	newest time.Duration) {
	measured, status = a.Measured(measured), a.Status(status)
	for i := range status {
		newest = max(newest, status[i].Time)
	}
	return measured, status, newest
}
