package emulator

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// socket is an interface of the kernel, as wire.Serve sees it.
type socket struct{ in, out chan []byte }

func (s socket) Read(p []byte, deadline time.Time) (int, error) {
	late := time.NewTimer(time.Until(deadline))
	defer late.Stop()
	select {
	case b := <-s.in:
		return copy(p, b), nil
	case <-late.C:
		return 0, os.ErrDeadlineExceeded
	}
}

func (s socket) Write(p []byte) (int, error) {
	s.out <- append([]byte(nil), p...)
	return len(p), nil
}

func (socket) Baud() int  { return 0 }
func (socket) Interrupt() {}

// serveOnSocket serves b as ServeCAN does, until the test ends.
func serveOnSocket(t *testing.T, b *Bus) socket {
	s := socket{make(chan []byte, 1), make(chan []byte, 64)}
	b.net.open()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- wire.Serve(ctx, &b.Medium, busEnd{b}, s) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}

// ServeOnSocket is for external tests: ask sends a frame and returns the next received one.
func ServeOnSocket(t *testing.T, b *Bus) (ask func(f servo.CANFrame) servo.CANFrame) {
	s := serveOnSocket(t, b)
	return func(f servo.CANFrame) (got servo.CANFrame) {
		t.Helper()
		s.in <- servo.AppendCAN(nil, &f)
		select {
		case p := <-s.out:
			if err := servo.ParseCAN(p[:servo.CANSize], &got); err != nil {
				t.Fatal(err)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%v: no answer", &f)
		}
		return got
	}
}
