package main

import (
	"errors"
	"os"
	"sync"

	"golang.org/x/term"

	"github.com/halyard-robotics/halyard/hal"
)

// keys watches the terminal that rigs were started from: space is the emergency stop, without a confirmation.
type keys struct {
	tty  *os.File
	undo func()
	wg   sync.WaitGroup
}

// watchKeys starts to watch; without a terminal it does nothing.
func watchKeys(a *app, rigs []*hal.Rig) *keys {
	k := &keys{undo: func() {}}
	if in, ok := a.in.(*os.File); !ok || !term.IsTerminal(int(in.Fd())) {
		return k
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return k
	}
	// Not Fd(): that would make reads block beyond Close.
	raw, err := tty.SyscallConn()
	if err == nil {
		var undo func()
		e := raw.Control(func(fd uintptr) { undo, err = singleKeys(int(fd)) })
		if err = errors.Join(e, err); err == nil {
			k.undo = func() { raw.Control(func(uintptr) { undo() }) }
		}
	}
	if err != nil {
		tty.Close()
		return k
	}
	k.tty = tty
	k.wg.Go(func() { k.watch(a, rigs) })
	a.note("Space is the emergency stop.")
	return k
}

func (k *keys) watch(a *app, rigs []*hal.Rig) {
	var b [16]byte
	for {
		n, err := k.tty.Read(b[:])
		if err != nil {
			if !errors.Is(err, os.ErrClosed) {
				a.note("the keyboard is gone: space stops nothing any more; halyard estop does")
			}
			return
		}
		for _, c := range b[:n] {
			if c == ' ' {
				joints := stopRigs(rigs, "space was pressed")
				show(a, joints)
				if err := unacknowledged(joints); err != nil {
					a.complain(err)
				}
				a.note("EMERGENCY STOP, latched. Next: halyard reset, then halyard arm")
			}
		}
	}
}

// Close gives the terminal back as it was.
func (k *keys) Close() {
	if k.tty == nil {
		return
	}
	k.undo()
	k.tty.Close()
	k.wg.Wait()
}
