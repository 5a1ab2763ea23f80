//go:build !unix

package lab

import (
	"time"
)

// cpuTime returns the processor time of this process: unknown on this system.
func cpuTime() time.Duration { return 0 }
