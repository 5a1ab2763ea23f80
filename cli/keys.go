package cli

import (
	"os"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/keys"
)

// watchSpace calls stop for each Space in the terminal of the command and other for each other key, until end. Without
// a terminal it has no effect, and watched is false.
func watchSpace(a *app, stop func(), other func(key byte)) (end func(), watched bool) {
	if terminalOf(a.in) == nil {
		return func() {}, false
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return func() {}, false
	}
	k, err := keys.Watch(tty, func(key byte) {
		if key == keys.Stop {
			stop()
		} else {
			other(key)
		}
	}, func() {
		a.note("the keyboard is gone: space stops nothing any more; halyard estop does")
	})
	if err != nil {
		return func() {}, false
	}
	return k.Close, true
}

// watchKeys lets Space be the emergency stop of rigs, and calls other for each other key.
func watchKeys(a *app, rigs []*hal.Rig, other func(key byte)) (end func()) {
	end, watched := watchSpace(a, func() {
		joints := stopRigs(rigs, "space was pressed")
		show(a, joints)
		if err := unacknowledged(joints); err != nil {
			a.complain(err)
		}
		a.note("EMERGENCY STOP, latched. Next: halyard reset, then halyard arm")
	}, other)
	if watched {
		a.note("Space is the emergency stop.")
	}
	return end
}
