package rigtest

import (
	"sync"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/internal/emulator/pty"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
)

// Wired is an emulated board at the other end of a port of the operating system.
type Wired struct {
	sync.Mutex // held while the board is told something
	board      chip.Endpoint
	Path       string
	heard      chan struct{} // has room for one
	Pull       func()        // takes it away; the test's end does too
}

// Plug serves board on a pty until the test ends.
func Plug(t *testing.T, board chip.Endpoint) *Wired {
	t.Helper()
	line, err := pty.Open(115200)
	if err != nil {
		t.Skip(err)
	}
	w := &Wired{board: board, Path: line.Path, heard: make(chan struct{}, 1)}
	board.Power(true, -time.Hour)
	start, stop := time.Now(), make(chan struct{})
	var served sync.WaitGroup
	served.Go(func() {
		buffer, answer := make([]byte, 256), []byte(nil)
		for {
			n, err := line.Read(buffer, time.Now().Add(50*time.Millisecond))
			select {
			case <-stop:
				return
			default:
			}
			if err != nil || n == 0 {
				continue
			}
			w.Lock()
			answer = board.Receive(buffer[:n], time.Since(start), answer[:0])
			w.Unlock()
			line.Write(answer)
			select {
			case w.heard <- struct{}{}:
			default:
			}
		}
	})
	// Its number is no other terminal's until the test ends: a rig looks for its port again and again.
	t.Cleanup(func() { line.Close() })
	w.Pull = sync.OnceFunc(func() {
		close(stop)
		line.Interrupt()
		served.Wait()
		line.Unplug()
	})
	t.Cleanup(w.Pull)
	return w
}

// Until waits for what the board is told to become true.
func (w *Wired) Until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	late := time.After(time.Minute)
	for {
		w.Lock()
		done := ok()
		w.Unlock()
		if done {
			return
		}
		select {
		case <-w.heard:
		case <-late:
			t.Fatalf("%s: not within a minute", what)
		}
	}
}
