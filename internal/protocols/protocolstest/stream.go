package protocolstest

import (
	"io"
	"net"
	"sync"
	"testing"
)

// Pipes is a net.Listener in memory, for the tests of stream protocols: its connections are net.Pipes, whose writes
// wait until they are read.
type Pipes struct {
	name     string
	accepted chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

// NewPipes returns a listener whose address prints as name.
func NewPipes(name string) *Pipes {
	return &Pipes{name: name, accepted: make(chan net.Conn), closed: make(chan struct{})}
}

// Accept waits for a Dial; after Close it is net.ErrClosed.
func (p *Pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accepted:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept; connections stay.
func (p *Pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr is the listener's name.
func (p *Pipes) Addr() net.Addr { return pipesAddr(p.name) }

type pipesAddr string

func (pipesAddr) Network() string  { return "pipe" }
func (a pipesAddr) String() string { return string(a) }

// Dial waits until the listener has accepted the other end of a new connection; after Close that is closed.
func (p *Pipes) Dial() net.Conn {
	near, far := net.Pipe()
	p.Offer(far)
	return near
}

// Offer waits until the listener has accepted far, which it closes after Close: for ends with an address of their own.
func (p *Pipes) Offer(far net.Conn) {
	select {
	case p.accepted <- far:
	case <-p.closed:
		far.Close()
	}
}

// BareTCP returns a function that makes one round trip of so many bytes out and back over loopback, between sockets
// that do nothing else: what a benchmark of a protocol has for its bound.
func BareTCP(b *testing.B, out, back int) (trip func()) {
	b.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer ln.Close()
	var wg sync.WaitGroup
	var far net.Conn
	wg.Go(func() { far, _ = ln.Accept() })
	near, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	wg.Wait()
	wg.Go(func() {
		in, answer := make([]byte, out), make([]byte, back)
		for {
			if _, err := io.ReadFull(far, in); err != nil {
				return
			}
			far.Write(answer)
		}
	})
	b.Cleanup(func() {
		near.Close()
		far.Close()
		wg.Wait()
	})
	in, ask := make([]byte, back), make([]byte, out)
	return func() {
		near.Write(ask)
		if _, err := io.ReadFull(near, in); err != nil {
			b.Error(err)
		}
	}
}
