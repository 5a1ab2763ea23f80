package main

import (
	"os"

	"golang.org/x/term"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/keys"
)

// watchKeys lets Space in the terminal that rigs were started from be their emergency stop. end ends that; without a terminal it
// does nothing.
func watchKeys(a *app, rigs []*hal.Rig) (end func()) {
	if in, ok := a.in.(*os.File); !ok || !term.IsTerminal(int(in.Fd())) {
		return func() {}
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return func() {}
	}
	k, err := keys.Watch(tty, func() {
		joints := stopRigs(rigs, "space was pressed")
		show(a, joints)
		if err := unacknowledged(joints); err != nil {
			a.complain(err)
		}
		a.note("EMERGENCY STOP, latched. Next: halyard reset, then halyard arm")
	}, func() { a.note("the keyboard is gone: space stops nothing any more; halyard estop does") })
	if err != nil {
		return func() {}
	}
	a.note("Space is the emergency stop.")
	return k.Close
}
