package protocols

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Limits bound the connections of a server. Zero values give the defaults.
//
// A connection is a stranger's until Recognize makes it a client's. Strangers have places of their own. Where they are
// taken, one stranger's connection ends for a new one: the oldest of the address with the most strangers, not before
// its 50th millisecond, for which the new one waits. So a crowd of connections without a valid message keeps no client
// out.
type Limits struct {
	Connections int // of clients; 0 = 512
	PerAddress  int // from one address that is not this host's own; 0 = 128
	Strangers   int // from other computers, and as many from this one; 0 = as many as clients, within 16..128
	// clients send HTTP. Elsewhere a connection that begins with an HTTP request is closed; one with TLS everywhere
	HTTP bool
}

const (
	defaultConnections = 512
	defaultPerAddress  = 128
	minStrangers       = 16
	maxStrangers       = 128
	timeToSpeak        = 50 * time.Millisecond // of every stranger
)

// ErrStranger is the error of a connection that a server closed before it was a client's.
var ErrStranger = errors.New("not a client")

var (
	errWeb     = fmt.Errorf("%w: got an HTTP request or a TLS handshake, want this server's own protocol", ErrStranger)
	errEvicted = fmt.Errorf("%w: its place was needed", ErrStranger)
)

// Recognize makes conn, which a Bound listener or an Acceptor has accepted, a client's: it has sent a valid message, or
// its token. Where it is false, as many clients are served as may be, or the connection has ended: it is closed. Any
// goroutine may call it, at any time again.
func Recognize(conn net.Conn) bool {
	c, ok := conn.(interface{ recognize() bool })
	return !ok || c.recognize()
}

// door is the places of a server.
type door struct {
	limits Limits
	spare  *os.File // a descriptor that is closed to accept a connection where none is left; of the accepting goroutine

	mu        sync.Mutex
	clients   int
	from      map[netip.Addr]crowd
	strangers []*admitted   // the oldest first
	freed     chan struct{} // a place is free
}

// crowd is the connections of one address.
type crowd struct{ open, strangers int }

func newDoor(l Limits) *door {
	l.Connections = cmp.Or(l.Connections, defaultConnections)
	l.PerAddress = cmp.Or(l.PerAddress, defaultPerAddress)
	l.Strangers = cmp.Or(l.Strangers, min(max(l.Connections, minStrangers), maxStrangers))
	return &door{limits: l, from: map[netip.Addr]crowd{}, freed: make(chan struct{}, 1)}
}

// accept waits for a connection. After a transient error it tries again, until closed is.
func (d *door) accept(ln net.Listener, closed <-chan struct{}) (net.Conn, error) {
	for pause := firstRetry; ; pause = min(2*pause, lastRetry) {
		if d.spare == nil {
			d.spare, _ = os.Open(os.DevNull)
		}
		conn, err := ln.Accept()
		if err != nil && Passes(err) && d.spare != nil {
			d.spare.Close()
			d.spare = nil
			conn, err = ln.Accept()
		}
		if err == nil {
			return conn, nil
		}
		if !Passes(err) {
			if d.spare != nil {
				d.spare.Close()
				d.spare = nil
			}
			return nil, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-closed:
			timer.Stop()
			return nil, net.ErrClosed
		}
	}
}

// place gives conn a place; nil where there is none, or done is closed.
func (d *door) place(conn net.Conn, done <-chan struct{}) *admitted {
	c := &admitted{Conn: conn, door: d, at: TCPAddr(conn.RemoteAddr()), stranger: true}
	c.own = !c.at.IsValid() || c.at.IsLoopback()
	c.opening.http = d.limits.HTTP
	for {
		ok, wait := d.admit(c)
		if ok {
			return c
		}
		if wait <= 0 {
			return nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-done:
			timer.Stop()
			return nil
		}
	}
}

// admit gives c a place, if there is one now or after wait.
func (d *door) admit(c *admitted) (ok bool, wait time.Duration) {
	var evicted []*admitted
	defer func() {
		for _, v := range evicted {
			v.Conn.Close()
		}
	}()
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		of := d.full(c)
		if of == nil {
			break
		}
		v := d.victim(of)
		if v == nil {
			return false, 0
		}
		if young := timeToSpeak - time.Since(v.since); young > 0 {
			return false, young
		}
		v.evicted.Store(true)
		d.remove(v)
		evicted = append(evicted, v)
	}
	c.since = time.Now()
	here := d.from[c.at]
	d.from[c.at] = crowd{here.open + 1, here.strangers + 1}
	d.strangers = append(d.strangers, c)
	return true, 0
}

// full is which strangers c needs a place of; nil where there is one. Under the lock.
func (d *door) full(c *admitted) (of func(*admitted) bool) {
	pool := func(s *admitted) bool { return s.own == c.own }
	n := 0
	for _, s := range d.strangers {
		if pool(s) {
			n++
		}
	}
	switch {
	case d.clients >= d.limits.Connections:
		return func(*admitted) bool { return false }
	case !c.own && d.from[c.at].open >= d.limits.PerAddress:
		return func(s *admitted) bool { return s.at == c.at }
	case n >= d.limits.Strangers:
		return pool
	}
	return nil
}

// victim is the stranger among those of who loses its place. Under the lock.
func (d *door) victim(of func(*admitted) bool) (v *admitted) {
	for _, s := range d.strangers {
		if of(s) && (v == nil || d.from[s.at].strangers > d.from[v.at].strangers) {
			v = s
		}
	}
	return v
}

// remove takes c's place from it. Under the lock.
func (d *door) remove(c *admitted) {
	if c.gone {
		return
	}
	c.gone = true
	if c.stranger {
		d.settle(c)
	}
	d.clients--
	here := d.from[c.at]
	if here.open--; here.open == 0 {
		delete(d.from, c.at)
	} else {
		d.from[c.at] = here
	}
	d.signal()
}

// signal wakes one that waits for a place.
func (d *door) signal() {
	select {
	case d.freed <- struct{}{}:
	default:
	}
}

// settle makes c, a stranger, a client. Under the lock.
func (d *door) settle(c *admitted) {
	c.stranger = false
	d.clients++
	here := d.from[c.at]
	d.from[c.at] = crowd{here.open, here.strangers - 1}
	d.strangers = slices.DeleteFunc(d.strangers, func(s *admitted) bool { return s == c })
}

// leave frees c's place.
func (d *door) leave(c *admitted) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.remove(c)
}

// wait gives conn the next place that becomes free before done; nil where none does.
func (d *door) wait(conn net.Conn, done <-chan struct{}) *admitted {
	for {
		select {
		case <-d.freed:
		case <-done:
			return nil
		}
		if c := d.place(conn, done); c != nil {
			d.signal() // another may be free
			return c
		}
	}
}

// admitted is a connection that has a place.
type admitted struct {
	net.Conn
	door    *door
	at      netip.Addr
	own     bool // of this computer
	evicted atomic.Bool
	known   atomic.Bool // Recognize was called
	traffic *Traffic

	// Of the reader.
	opening opening
	web     bool // it began like a browser's

	// Under door.mu.
	since          time.Time
	stranger, gone bool
}

// Read is that of a net.Conn.
func (c *admitted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil && c.evicted.Load() {
		err = errEvicted
	}
	if !c.opening.decided && !c.web && c.opening.web(b[:n]) {
		if c.web = true; c.traffic != nil {
			c.traffic.Drop(Unknown)
		}
	}
	if c.web {
		return 0, errWeb
	}
	return n, err
}

func (c *admitted) recognize() bool {
	if c.known.Load() {
		return true
	}
	d, full := c.door, false
	d.mu.Lock()
	switch {
	case c.gone:
	case c.stranger && d.clients < d.limits.Connections:
		d.settle(c)
		fallthrough
	case !c.stranger:
		c.known.Store(true)
	default:
		full = true
		c.evicted.Store(true)
		d.remove(c)
	}
	d.mu.Unlock()
	if full && c.traffic != nil {
		c.traffic.Drop(Full)
	}
	if !c.known.Load() {
		c.Conn.Close()
		return false
	}
	return Recognize(c.Conn)
}

// SetNoDelay is that of a TCP connection.
func (c *admitted) SetNoDelay(on bool) error {
	if t, ok := c.Conn.(interface{ SetNoDelay(bool) error }); ok {
		return t.SetNoDelay(on)
	}
	return nil
}

// SyscallConn is that of a TCP connection. What is read past Read is not checked.
func (c *admitted) SyscallConn() (syscall.RawConn, error) {
	if t, ok := c.Conn.(syscall.Conn); ok {
		return t.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}
