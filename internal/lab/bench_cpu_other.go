//go:build !unix

package lab

import (
	"time"
)

// cpuTime is what this process has computed: not known here.
func cpuTime() time.Duration { return 0 }
