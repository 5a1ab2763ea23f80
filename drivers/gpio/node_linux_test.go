package gpio

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/halyard-robotics/halyard/internal/wire/gpiochip"
)

// The kernel's side of reading, on a pipe: what has come is read, what does not come is waited for no longer than told,
// and a far end that is gone is a chip that is gone. Nothing of it allocates.
func TestKernelNode(t *testing.T) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	n := (&kernelNode{}).Lines(int32(ends[0]))
	e := gpiochip.Event{At: n.Now(), Line: 4, Rising: true, Seq: 1}
	press, p := e.AppendTo(nil), make([]byte, 2*gpiochip.EventSize)
	cycle := func() {
		if _, err := unix.Write(ends[1], press); err != nil {
			t.Fatal(err)
		}
		if got, err := n.Read(p, time.Second); err != nil || got != gpiochip.EventSize {
			t.Fatalf("got %d bytes, %v", got, err)
		}
		if _, err := n.Read(p, 0); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("nothing there: got %v", err)
		}
	}
	if allocs := testing.AllocsPerRun(100, cycle); allocs > 0 {
		t.Errorf("got %g allocations a read, want none", allocs)
	}
	before := n.Now()
	if _, err := n.Read(p, 2*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) ||
		n.Now()-before < 2*time.Millisecond {
		t.Errorf("waited %v: %v", n.Now()-before, err)
	}
	n.SleepUntil(n.Now() + time.Millisecond)
	var c gpiochip.ChipInfo
	if err := n.Ioctl(gpiochip.GetChipInfo, c.AppendTo(nil)); !errors.As(err, new(errInvalid)) {
		t.Errorf("a request that it does not know: got %v", err)
	}
	if err := unix.Close(ends[1]); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Read(p, time.Second); !errors.Is(err, syscall.ENODEV) {
		t.Errorf("the far end is gone: got %v", err)
	}
	if err := errors.Join(n.Close(), n.Close()); err != nil {
		t.Error(err)
	}
	if _, err := n.Read(p, 0); !errors.Is(err, os.ErrClosed) ||
		!errors.Is(n.Ioctl(gpiochip.GetValues, p[:gpiochip.ValuesSize]), os.ErrClosed) {
		t.Errorf("closed: got %v", err)
	}
}
