package wire

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/internal/emulator/pty"
)

// checkEvery bounds how long a terminal of a second host waits for bytes before it checks whether it is to end.
const checkEvery = 100 * time.Millisecond

// Exchange sends p at a rate, bit/s, appends the line's reply to dst, and returns the time on the line.
type Exchange func(p []byte, baud int, dst []byte) (answer []byte, took time.Duration)

// ServeSecondHost puts a line whose host is in memory on a new pseudo terminal, for a second host. Each write of a
// client is exchanged at once, and its reply arrives after the line time. It returns and ends as ServePTY.
func ServeSecondHost(ctx context.Context, name string, baud int, link string, exchange Exchange) (path string,
	wait func() error, err error) {
	s := &server{link: link}
	p, err := s.plugIn(baud)
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", name, err)
	}
	done := make(chan error, 1) // result of the goroutine; the caller of wait owns it
	go func() {
		err := secondHost(ctx, p, exchange)
		s.plugOut(p)
		p.Close()
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
		done <- err
	}()
	return p.Path, sync.OnceValue(func() error { return <-done }), nil
}

func secondHost(ctx context.Context, p *pty.PTY, exchange Exchange) error {
	defer context.AfterFunc(ctx, p.Interrupt)()
	var in [4096]byte
	var out []byte
	quiet := time.Now()
	for {
		n, err := p.Read(in[:], time.Now().Add(checkEvery))
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
			return err
		case n == 0:
			if time.Since(quiet) > release {
				p.Release()
				quiet = time.Now()
			}
			continue
		}
		quiet = time.Now()
		var took time.Duration
		out, took = exchange(in[:n], p.Baud(), out[:0])
		over := time.NewTimer(took - time.Since(quiet))
		select {
		case <-over.C:
		case <-ctx.Done():
			over.Stop()
			return nil
		}
		if _, err := p.Write(out); err != nil {
			return err
		}
	}
}
