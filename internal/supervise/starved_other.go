//go:build unix && !linux

package supervise

type starved struct{}

func starvedOf(int) *starved { return nil }

func (*starved) since() (longest int64, ready bool) { return 0, false }
