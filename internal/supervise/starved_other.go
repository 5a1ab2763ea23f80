//go:build unix && !linux

package supervise

import "time"

type starved struct{}

func starvedOf(int) *starved { return nil }

func (*starved) since() (waits time.Duration, ready bool) { return 0, false }
