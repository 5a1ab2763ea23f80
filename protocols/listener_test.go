package protocols

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
)

// scripted is a listener whose Accept returns the errors of words, one a call; nil is a connection.
type scripted struct {
	words chan error
	far   chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (s *scripted) Accept() (net.Conn, error) {
	select {
	case err := <-s.words:
		if err != nil {
			return nil, &net.OpError{Op: "accept", Err: err}
		}
		near, far := net.Pipe()
		s.far <- far
		return near, nil
	case <-s.done:
		return nil, net.ErrClosed
	}
}

func (s *scripted) Close() error   { s.once.Do(func() { close(s.done) }); return nil }
func (s *scripted) Addr() net.Addr { return &net.TCPAddr{} }

// TestSafety14AcceptSurvives: no descriptor left and a client that was gone already end no server; a connection too
// many is closed, and one that leaves makes room.
func TestSafety14AcceptSurvives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{words: make(chan error, 9), far: make(chan net.Conn, 9), done: make(chan struct{})}
		ln := Bound(s, Limits{Connections: 2})
		accepted, ended := make(chan net.Conn, 9), make(chan error, 1)
		go func() {
			for {
				c, err := ln.Accept()
				if err != nil {
					ended <- err
					return
				}
				accepted <- c
			}
		}()
		for _, word := range []error{syscall.EMFILE, nil, syscall.ECONNABORTED, nil} {
			s.words <- word
		}
		first, second := <-accepted, <-accepted
		Recognize(first)
		Recognize(second)
		<-s.far
		<-s.far
		s.words <- nil
		if _, err := (<-s.far).Read(make([]byte, 1)); err == nil {
			t.Error("the third of two: got a connection, want it closed")
		}
		first.Close()
		s.words <- nil
		<-accepted
		ln.Close()
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Errorf("closed: got %v", err)
		}
	})
}

// TestSafety14AcceptorSurvives: likewise the servers that bound their connections by an Acceptor.
func TestSafety14AcceptorSurvives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{words: make(chan error, 9), far: make(chan net.Conn, 9), done: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		served, ended := make(chan struct{}, 9), make(chan error, 1)
		go func() {
			a := Acceptor{Name: "test", Listener: s, Limit: 1, Log: Logger(nil)}
			ended <- a.Serve(ctx, func(context.Context, net.Conn) { served <- struct{}{} })
		}()
		for _, word := range []error{syscall.EMFILE, syscall.ECONNABORTED, nil, syscall.EMFILE} {
			s.words <- word
		}
		select {
		case <-served:
		case err := <-ended:
			t.Fatalf("ended: got %v, want a session", err)
		}
		synctest.Wait()
		cancel() // in the pause after the last error
		if err := <-ended; err != nil {
			t.Errorf("stopped: got %v", err)
		}
	})
}

// from is a connection of an address.
type from struct {
	net.Conn
	at string
}

func (c from) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.at)) }

// TestSafety14OneAddress: one client cannot take all connections; programs of this host may.
func TestSafety14OneAddress(t *testing.T) {
	d := newDoor(Limits{Connections: 5, PerAddress: 2})
	for k, c := range []struct {
		at   string
		want bool
	}{{"192.0.2.1:1", true}, {"192.0.2.1:2", true}, {"192.0.2.1:3", false}, {"192.0.2.2:1", true},
		{"127.0.0.1:1", true}, {"127.0.0.1:2", true}, {"127.0.0.1:3", false}} {
		near, _ := net.Pipe()
		admitted := d.place(from{near, c.at}, nil)
		if got := admitted != nil && Recognize(admitted); got != c.want {
			t.Errorf("connection %d of %s: got %v, want %v", k, c.at, got, c.want)
		}
	}
}
