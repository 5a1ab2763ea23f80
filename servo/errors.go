package servo

import (
	"errors"
	"strings"
)

// ErrGone says that the adapter itself has vanished: unplugged, or its other end closed.
var ErrGone = errors.New("adapter gone")

var alarmNames = [...]string{"voltage", "heat", "overload", "shock", "encoder", "range"}

// String names every alarm in a, "none" where there is none.
func (a Alarm) String() string {
	var names []string
	for i, n := range alarmNames {
		if a&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
