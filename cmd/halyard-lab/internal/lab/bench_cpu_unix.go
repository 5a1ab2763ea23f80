//go:build unix

package lab

import (
	"syscall"
	"time"
)

// cpuTime returns the processor time of this process, of all cores together, system time included; 0 if unknown.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
