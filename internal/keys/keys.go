// Package keys reads the keys of a terminal one by one: Space is the emergency stop.
package keys

import (
	"errors"
	"os"
	"sync"
)

// Stop is the key of the emergency stop, without a confirmation.
const Stop = ' '

// Keys watches the keys of a terminal.
type Keys struct {
	tty  *os.File
	undo func()
	wg   sync.WaitGroup
}

// Watch calls pressed for each key that is typed in tty, which it owns from here on, and lost when the terminal is
// gone. Both are called from one goroutine: pressed must not block, since the next key may be Stop. Close ends it.
func Watch(tty *os.File, pressed func(key byte), lost func()) (*Keys, error) {
	k := &Keys{tty: tty}
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
		return nil, err
	}
	k.wg.Go(func() { k.watch(pressed, lost) })
	return k, nil
}

func (k *Keys) watch(pressed func(key byte), lost func()) {
	var b [16]byte
	for {
		n, err := k.tty.Read(b[:])
		if err != nil {
			if !errors.Is(err, os.ErrClosed) {
				lost()
			}
			return
		}
		for _, c := range b[:n] {
			pressed(c)
		}
	}
}

// Close gives the terminal back as it was.
func (k *Keys) Close() {
	k.undo()
	k.tty.Close()
	k.wg.Wait()
}
