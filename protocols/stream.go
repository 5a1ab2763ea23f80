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

// Acceptor serves the connections of a listener.
type Acceptor struct {
	Name     string // of the protocol, for the log
	Listener net.Listener
	Limit    int            // of connections at a time
	Grace    time.Duration  // for which one too many waits: a client may have left, but its session not yet ended
	Contain  func(string)   // deferred in each connection's goroutine: hal.Rig.Contain; nil = a panic ends the process
	Log      *slog.Logger   // receives the refused connections
	Traffic  *Traffic       // counts them; nil = nothing does
	Refuse   func(net.Conn) // sends the reason to a refused client, and must not block; nil = its connection is only closed
}

// Serve calls serve for each connection, in a goroutine of its own, until ctx ends or the listener breaks; then it ends their
// contexts and waits for them. A transient error of the listener does not end it: see Bound. It closes the listener, a
// connection too many and each connection: when its context ends, and when serve has returned.
func (a *Acceptor) Serve(ctx context.Context, serve func(context.Context, net.Conn)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { a.Listener.Close() })
	defer stop()
	contain := a.Contain
	if contain == nil {
		contain = func(string) {}
	}
	var sessions sync.WaitGroup
	free := make(chan struct{}, a.Limit)
	for {
		conn, err := accept(a.Listener, ctx.Done())
		if err != nil {
			cancel()
			a.Listener.Close()
			sessions.Wait()
			if errors.Is(err, net.ErrClosed) {
				return nil
			}
			return err
		}
		if !a.admit(ctx, free) {
			a.Log.Warn(a.Name+": connection refused", "client", conn.RemoteAddr(), "connections", a.Limit)
			if a.Traffic != nil {
				a.Traffic.Drop(Full)
			}
			if a.Refuse != nil {
				a.Refuse(conn)
			}
			conn.Close()
			continue
		}
		sessions.Go(func() {
			defer func() { <-free }()
			defer contain(a.Name + " session")
			defer conn.Close()
			defer context.AfterFunc(ctx, func() { conn.Close() })()
			if c, ok := conn.(interface{ SetNoDelay(bool) error }); ok {
				c.SetNoDelay(true) // messages are small, and waited for
			}
			serve(ctx, conn)
		})
	}
}

// admit reserves a place for a connection, and reports whether one was free within the grace.
func (a *Acceptor) admit(ctx context.Context, free chan<- struct{}) bool {
	select {
	case free <- struct{}{}:
		return true
	default:
	}
	if a.Grace == 0 {
		return false
	}
	t := time.NewTimer(a.Grace)
	defer t.Stop()
	select {
	case free <- struct{}{}:
		return true
	case <-ctx.Done():
	case <-t.C:
	}
	return false
}
