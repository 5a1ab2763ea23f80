//go:build unix && !linux

package supervise

import "time"

type starved struct{}

func starvedOf(int) *starved { return nil }

func (*starved) since() (longest time.Duration, ready bool) { return 0, false }
