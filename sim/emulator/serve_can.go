package emulator

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/drivers/can"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// canRetry is the pause between two attempts to open an interface that is down.
const canRetry = 100 * time.Millisecond

// ServeCAN serves a CAN bus on an interface of the kernel, which must be up at the bus's rate: its motors answer any
// other socket or node on it. An interface that goes down is opened again when it is up. It returns once the interface
// is open; wait blocks until ctx is done and all is closed. Linux only.
func (b *Bus) ServeCAN(ctx context.Context, name string) (wait func() error, err error) {
	line, err := can.Open(name, b.baud)
	if err != nil {
		return nil, err
	}
	done := make(chan error, 1) // result of the goroutine; the caller of wait owns it
	go func() { done <- b.onCAN(ctx, name, line) }()
	return sync.OnceValue(func() error { return <-done }), nil
}

func (b *Bus) onCAN(ctx context.Context, name string, line *can.Line) error {
	tick := time.NewTicker(canRetry)
	defer tick.Stop()
	for {
		b.Lock()
		b.net.open()
		b.Unlock()
		err := wire.Serve(ctx, &b.Medium, busEnd{b}, canDevice{line})
		line.Close()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil && !errors.Is(err, servo.ErrDisconnected) {
			return err
		}
		for line = nil; line == nil; {
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
			}
			line, _ = can.Open(name, b.baud) // down still
		}
	}
}

// canDevice adapts an interface to the device that a bus is served on. Its reads are short, so they need no
// interruption.
type canDevice struct{ *can.Line }

func (d canDevice) Read(p []byte, deadline time.Time) (int, error) {
	return d.Line.Read(p, time.Until(deadline))
}
func (canDevice) Interrupt() {}
