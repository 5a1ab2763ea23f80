package pty

import (
	"errors"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestSafety21FullTerminal: a client that does not read, and one that closes in the middle of a stream, end no line.
func TestSafety21FullTerminal(t *testing.T) {
	p, err := Open(115200)
	if err != nil {
		t.Skip(err)
	}
	defer p.Close()
	block := make([]byte, 4096)
	fill := func(when string) (full bool) {
		t.Helper()
		for range 100 {
			n, err := p.Write(block)
			if err != nil || n < 0 || n > len(block) {
				t.Fatalf("%s: write to a full terminal: got %d, %v", when, n, err)
			}
			full = full || n < len(block)
		}
		return full
	}
	if !fill("no client reads") {
		t.Error("100 blocks fit: the terminal was never full")
	}
	if _, err := p.Read(block, time.Now().Add(time.Millisecond)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read: got %v, want a deadline", err)
	}
	c, err := os.OpenFile(p.Path, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := c.Read(make([]byte, 100)); n == 0 || err != nil {
		t.Errorf("a client: read %d, %v", n, err)
	}
	c.Close()
	fill("its client has closed")
	if _, err := p.Read(block, time.Now().Add(time.Millisecond)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read, its client has closed: got %v, want a deadline", err)
	}
}
