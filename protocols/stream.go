package protocols

import (
	"context"
	"errors"
	"net"
	"sync"
)

// Accept serves the connections that come to listener, at most limit at a time and each in a goroutine of its own, until
// ctx ends or the listener breaks; then it ends their contexts and waits for them. It closes listener and, when serve or
// refuse has returned, each connection. refuse gets a connection too many. contain is deferred in each connection's
// goroutine: see hal.Rig.Contain.
func Accept(ctx context.Context, listener net.Listener, limit int, contain func(what string), refuse func(net.Conn), serve func(context.Context, net.Conn)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { listener.Close() })
	defer stop()
	var sessions sync.WaitGroup
	free := make(chan struct{}, limit)
	for {
		conn, err := listener.Accept()
		if err != nil {
			cancel()
			listener.Close()
			sessions.Wait()
			if errors.Is(err, net.ErrClosed) {
				return nil
			}
			return err
		}
		select {
		case free <- struct{}{}:
		default:
			refuse(conn)
			conn.Close()
			continue
		}
		sessions.Go(func() {
			defer func() { <-free }()
			defer contain("session")
			defer conn.Close()
			if c, ok := conn.(interface{ SetNoDelay(bool) error }); ok {
				c.SetNoDelay(true) // messages are small, and waited for
			}
			serve(ctx, conn)
		})
	}
}
