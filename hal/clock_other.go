//go:build !linux

package hal

import (
	"runtime"
	"time"
)

// SleepUntil sleeps with the runtime's own timers, which are good to about a millisecond.
func (w wallClock) SleepUntil(t time.Duration) {
	for left := t - w.Now(); left > 0; left = t - w.Now() {
		time.Sleep(left)
	}
}

// DozeUntil is SleepUntil.
func (w wallClock) DozeUntil(t time.Duration) { w.SleepUntil(t) }

func lockThread() (unlock func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}
