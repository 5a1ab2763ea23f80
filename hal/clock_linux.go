package hal

import (
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

const (
	clockMonotonic  = 1
	timerAbsolute   = 1
	prSetTimerSlack = 29
	timerSlackNanos = 1
)

// SleepUntil sleeps on CLOCK_MONOTONIC to an absolute target, so that what passes between reading the clock and
// sleeping is not added (clock_nanosleep(2)). Signals that interrupt it are slept through.
func (w wallClock) SleepUntil(t time.Duration) {
	if t <= w.Now() {
		return
	}
	var now syscall.Timespec
	if _, _, e := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&now)), 0); e != 0 {
		time.Sleep(t - w.Now())
		return
	}
	target := syscall.NsecToTimespec(now.Nano() + int64(t-w.Now()))
	for {
		_, _, e := syscall.Syscall6(syscall.SYS_CLOCK_NANOSLEEP, clockMonotonic, timerAbsolute,
			uintptr(unsafe.Pointer(&target)), 0, 0, 0)
		if e != syscall.EINTR {
			break
		}
	}
	if left := t - w.Now(); left > 0 { // never early: the two readings of the clock above are not one
		time.Sleep(left)
	}
}

// lockThread binds the calling goroutine to its thread and asks the kernel to wake it without slack (the default of
// 50 µs lets wake-ups be batched). The returned function undoes the binding.
func lockThread() (unlock func()) {
	runtime.LockOSThread()
	syscall.RawSyscall(syscall.SYS_PRCTL, prSetTimerSlack, timerSlackNanos, 0)
	return runtime.UnlockOSThread
}
