//go:build unix

package lab

import (
	"syscall"
	"time"
)

// cpuTime is what this process has computed, on all cores together, the kernel's part included; 0 where it is not known.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
