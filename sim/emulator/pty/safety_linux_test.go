package pty

import (
	"testing"
	"time"
)

// TestSafety21FullTerminal: a client that does not read, and one that closes in the middle of a stream, end no line.
func TestSafety21FullTerminal(t *testing.T) {
	p, err := Open(115200)
	if err != nil {
		t.Skip(err)
	}
	defer p.Close()
	block := make([]byte, 4096)
	lost := false
	for range 100 {
		n, err := p.Write(block)
		if err != nil || n < 0 || n > len(block) {
			t.Fatalf("write to a full terminal: got %d, %v", n, err)
		}
		lost = lost || n < len(block)
	}
	if !lost {
		t.Error("100 blocks fit: the terminal was never full")
	}
	if _, err := p.Read(block, time.Now().Add(time.Millisecond)); err == nil {
		t.Error("read: got bytes, want a deadline")
	}
}
