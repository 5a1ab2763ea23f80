package hal

import "time"

// Clock is the time base of a rig's real-time loop. Its zero lies anywhere; it never goes back.
type Clock interface {
	Now() time.Duration
	// SleepUntil blocks until Now is at or past t. It may wake late, never early.
	SleepUntil(t time.Duration)
}

// dozer is a Clock that can also wait without holding a processor, and may then wake later: by 50 µs on Linux.
type dozer interface{ DozeUntil(t time.Duration) }

// ClockMode is how time passes.
type ClockMode uint8

const (
	// Lockstep lets time pass only when every registered session has asked for the step; without one the rig
	// ticks in real time. For simulated and emulated bodies.
	Lockstep ClockMode = iota
	// Realtime ticks on the wall clock every period; late sessions are not waited for.
	Realtime
)

func (m ClockMode) String() string {
	if m == Realtime {
		return "realtime"
	}
	return "lockstep"
}

// wallClock is the machine's monotonic clock. Its SleepUntil is the operating system's absolute sleep where there is
// one (clock_linux.go): the runtime's own timers wait in whole milliseconds and cannot carry a 1 kHz loop.
type wallClock struct{ start time.Time }

func (w wallClock) Now() time.Duration { return time.Since(w.start) }

// WallClock returns the machine's monotonic clock, zero now.
func WallClock() Clock { return wallClock{time.Now()} }
