package protocols

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// Positive sets v to its default if it is not above 0: 0 in a server's options is the default.
func Positive[T ~int | ~int64 | ~float64](v *T, otherwise T) {
	if !(*v > 0) {
		*v = otherwise
	}
}

// Logger returns log, or a silent one for nil.
func Logger(log *slog.Logger) *slog.Logger { return cmp.Or(log, slog.New(slog.DiscardHandler)) }

// Fault is err of a client's operation op: of kind hal.Timeout if a deadline was exceeded, else hal.Unexpected.
func Fault(op string, err error) error {
	kind := hal.Unexpected
	if errors.Is(err, os.ErrDeadlineExceeded) {
		kind = hal.Timeout
	}
	return &hal.Error{Kind: kind, Op: op, Err: err}
}

// Acceptor serves the connections of a listener, within Limits of Limit connections.
type Acceptor struct {
	Name     string // of the protocol, for the log
	Listener net.Listener
	Limit    int           // of connections at a time
	Grace    time.Duration // for which one too many waits: a client may have left, but its session not yet ended
	Contain  func(string)  // deferred in each connection's goroutine: hal.Rig.Contain; nil = a panic ends the process
	Log      *slog.Logger  // receives the refused connections
	Traffic  *Traffic      // counts them; nil = nothing does
	// sends the reason to a refused client, and must not block; nil = its connection is only closed
	Refuse func(net.Conn)
}

// maxWaiting bounds the connections that wait for a place.
const maxWaiting = 16

// Serve calls serve for each connection, in a goroutine of its own, until ctx ends or the listener breaks; then it ends
// their contexts and waits for them. A transient error of the listener does not end it: see Bound. It closes the
// listener, a connection too many and each connection: when its context ends, and when serve has returned. serve calls
// Recognize at the first valid message.
func (a *Acceptor) Serve(ctx context.Context, serve func(context.Context, net.Conn)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { a.Listener.Close() })
	defer stop()
	if a.Contain == nil {
		a.Contain = func(string) {}
	}
	var sessions sync.WaitGroup
	d, waiting := newDoor(Limits{Connections: a.Limit}), make(chan struct{}, maxWaiting)
	for {
		conn, err := d.accept(a.Listener, ctx.Done())
		if err != nil {
			cancel()
			a.Listener.Close()
			sessions.Wait()
			if errors.Is(err, net.ErrClosed) {
				return nil
			}
			return err
		}
		c := d.place(conn, ctx.Done())
		if c == nil {
			select {
			case waiting <- struct{}{}:
			default:
				a.refuse(conn)
				continue
			}
		}
		sessions.Go(func() {
			defer a.Contain(a.Name + " session")
			if c == nil {
				c = a.wait(ctx, d, conn)
				<-waiting
			}
			if c != nil {
				a.session(ctx, d, c, serve)
			}
		})
	}
}

// session serves one connection.
func (a *Acceptor) session(ctx context.Context, d *door, c *admitted, serve func(context.Context, net.Conn)) {
	c.traffic = a.Traffic
	defer d.leave(c)
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	c.SetNoDelay(true) // messages are small, and waited for
	serve(ctx, c)
}

// wait gives conn a place, or refuses it.
func (a *Acceptor) wait(ctx context.Context, d *door, conn net.Conn) *admitted {
	within, cancel := context.WithTimeout(ctx, a.Grace)
	defer cancel()
	c := d.wait(conn, within.Done())
	if c == nil {
		a.refuse(conn)
	}
	return c
}

// refuse closes a connection too many.
func (a *Acceptor) refuse(conn net.Conn) {
	a.Log.Warn(a.Name+": connection refused", "client", conn.RemoteAddr(), "connections", a.Limit)
	if a.Traffic != nil {
		a.Traffic.Drop(Full)
	}
	if a.Refuse != nil {
		a.Refuse(conn)
	}
	conn.Close()
}
