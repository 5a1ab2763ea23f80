package simloid

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// paced is a connection that has a byte to read after each of waits. Polls find nothing and are counted.
type paced struct {
	net.Conn
	waits []time.Duration
	polls int
}

func (p *paced) SyscallConn() (syscall.RawConn, error) { return counter{p}, nil }

func (p *paced) Read([]byte) (int, error) {
	time.Sleep(p.waits[0])
	p.waits = p.waits[1:]
	return 1, nil
}

type counter struct{ of *paced }

func (c counter) Read(func(uintptr) bool) error  { c.of.polls++; return nil }
func (c counter) Write(func(uintptr) bool) error { return nil }
func (c counter) Control(func(uintptr)) error    { return nil }

// A read polls only after one that took less than pollFor.
func TestPollOnlyClientsInLockstep(t *testing.T) {
	if !canPoll {
		t.Skip("connections are not polled on this system")
	}
	synctest.Test(t, func(t *testing.T) {
		const soon, late = pollFor / 2, 10 * time.Millisecond
		conn := &paced{waits: []time.Duration{late, late, soon, soon, soon, late, late, late}}
		in := pollConn(conn)
		for i, want := range []int{0, 0, 0, 1, 2, 3, 3, 3} {
			if _, err := in.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			if conn.polls != want {
				t.Fatalf("after read %d: %d polls, want %d", i+1, conn.polls, want)
			}
		}
	})
}

// Polled reads of a socket lose and repeat nothing, and end as those of the connection do.
func TestPollSocket(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	client, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()

	in, b := pollConn(server), make([]byte, 4)
	for i := range byte(200) {
		client.Write([]byte{i, i, i})
		if n, err := io.ReadFull(in, b[:3]); err != nil || b[0] != i || b[2] != i {
			t.Fatalf("read %d: got % x, %v", i, b[:n], err)
		}
	}
	poll := func() { // as after a quick read
		if p, ok := in.(*poller); ok {
			p.soon = true
		}
	}
	poll()
	server.SetReadDeadline(time.Unix(1, 0))
	if _, err := in.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after the deadline: %v", err)
	}
	server.SetReadDeadline(time.Time{})
	client.Write([]byte{7})
	poll()
	if n, err := in.Read(b); n != 1 || b[0] != 7 || err != nil {
		t.Errorf("after a deadline passed: got % x, %v", b[:n], err)
	}
	client.Close()
	poll()
	if _, err := in.Read(b); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
	server.Close()
	poll()
	if _, err := in.Read(b); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
