// Package ws serves WebSocket connections (RFC 6455) for the protocols and pages that use them: bounded in number and
// size, closed to the scripts of foreign web pages, and ended with their server.
package ws

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/halyard-robotics/halyard/protocols"
)

// DefaultMaxMessage is the longest message of a client, bytes, where Options has none.
const DefaultMaxMessage = 1 << 20

// Options are what a server accepts.
type Options struct {
	// Subprotocols are accepted, the most wanted first. With any, a client that offers none of them is refused.
	Subprotocols []string
	// MaxMessage bounds a client's message, bytes; 0 = DefaultMaxMessage. A longer one ends the connection.
	MaxMessage int64
	// Origins are the hosts of web pages that may connect, "app.foxglove.dev"; pages of this computer always may.
	Origins []string
	// WriteTimeout is how long a client may leave a message unread until its connection ends; 0 = 5 s. Accept ignores
	// it.
	WriteTimeout time.Duration
}

// Conn is one connection. One goroutine reads and one writes.
type Conn struct {
	conn    *websocket.Conn
	request *http.Request
	timeout time.Duration
	writing atomic.Int64 // Unix time, ns, since which a write waits; 0 = none does
}

// Open is Accept, and gives a connection whose writes have a deadline.
func Open(w http.ResponseWriter, r *http.Request, o Options) (*Conn, error) {
	conn, err := Accept(w, r, o)
	if err != nil {
		return nil, err
	}
	protocols.Positive(&o.WriteTimeout, 5*time.Second)
	return &Conn{conn: conn, request: r, timeout: o.WriteTimeout}, nil
}

// Read waits for the next message. With the first one the connection is a client's; see Recognize.
func (c *Conn) Read(ctx context.Context) (text bool, b []byte, err error) {
	kind, b, err := c.conn.Read(ctx)
	if err == nil && !Recognize(c.request) {
		err = protocols.ErrStranger
	}
	return kind == websocket.MessageText, b, err
}

// Write sends a message, or ends the connection where the client does not take it in time.
func (c *Conn) Write(ctx context.Context, text bool, b []byte) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	c.writing.Store(time.Now().UnixNano())
	defer c.writing.Store(0)
	kind := websocket.MessageBinary
	if text {
		kind = websocket.MessageText
	}
	return c.conn.Write(ctx, kind, b)
}

// Blocked is how long a write has waited for the client; 0 where none waits. Any goroutine may call it.
func (c *Conn) Blocked() time.Duration {
	since := c.writing.Load()
	if since == 0 {
		return 0
	}
	return time.Since(time.Unix(0, since))
}

// Close ends the connection at once.
func (c *Conn) Close() error { return c.conn.CloseNow() }

// Accept upgrades a request to a WebSocket. Where it is refused, by its Origin or its subprotocols, it has been
// answered. The caller closes the connection.
func Accept(w http.ResponseWriter, r *http.Request, o Options) (*websocket.Conn, error) {
	if err := CheckOrigin(r, o.Origins); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return nil, err
	}
	if len(o.Subprotocols) > 0 && !offers(r, o.Subprotocols) {
		err := fmt.Errorf("websocket: subprotocol: got %q, want one of %q", r.Header.Values("Sec-WebSocket-Protocol"),
			o.Subprotocols)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return nil, err
	}
	// The library's own check of the Origin takes a page for its own where Host names the same host, also a foreign
	// name that leads here: the one above does not.
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: o.Subprotocols, InsecureSkipVerify: true,
		CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return nil, err
	}
	protocols.Positive(&o.MaxMessage, DefaultMaxMessage)
	conn.SetReadLimit(o.MaxMessage)
	return conn, nil
}

// offers reports whether the request offers one of the subprotocols.
func offers(r *http.Request, wanted []string) bool {
	for _, line := range r.Header.Values("Sec-WebSocket-Protocol") {
		for name := range strings.SplitSeq(line, ",") {
			if slices.Contains(wanted, strings.TrimSpace(name)) {
				return true
			}
		}
	}
	return false
}

// CheckOrigin refuses requests that a foreign web page makes its visitor's browser send. Programs that are no browsers
// send no Origin and pass, and so do pages of this computer, pages that the server's own address delivered, and those
// of the named hosts. Addresses are compared, never names that someone else's name server decides.
func CheckOrigin(r *http.Request, origins []string) error {
	given := r.Header.Get("Origin")
	if given == "" {
		return nil
	}
	origin, err := url.Parse(given)
	if err == nil && origin.Host != "" {
		host := origin.Hostname()
		if local(host) || slices.Contains(origins, host) || slices.Contains(origins, origin.Host) {
			return nil
		}
		if _, err := netip.ParseAddr(host); err == nil && strings.EqualFold(origin.Host, r.Host) {
			return nil
		}
	}
	return fmt.Errorf("websocket: origin: got %.100q, want a page of this computer or one of %q (try: origins)", given,
		origins)
}

// local reports whether host is localhost or a loopback address, which no other computer can have.
func local(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}

// readTimeout is how long a client may take to send a whole request, AnswerTimeout to take the answer, counted from the
// request. Of a WebSocket neither counts; a handler that takes longer sets the deadline of its answer itself
// (http.ResponseController).
const (
	readTimeout   = 10 * time.Second
	AnswerTimeout = 30 * time.Second
)

// connection is the key of a request's connection in its context.
type connection struct{}

// Recognize marks the connection of a request that Serve passed to its handler as a client's; see protocols.Recognize.
func Recognize(r *http.Request) bool {
	conn, ok := r.Context().Value(connection{}).(net.Conn)
	return !ok || protocols.Recognize(conn)
}

// Serve answers HTTP requests that come to listener, within the limits, until ctx ends or the listener breaks; then it
// ends their contexts and waits for every call of handler. It closes listener.
func Serve(ctx context.Context, listener net.Listener, limits protocols.Limits, handler http.Handler) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var mu sync.Mutex
	var ended bool
	var calls sync.WaitGroup
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			if ended {
				mu.Unlock()
				return
			}
			calls.Add(1)
			mu.Unlock()
			defer calls.Done()
			handler.ServeHTTP(w, r)
		}),
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnContext: func(ctx context.Context,
			c net.Conn) context.Context {
			return context.WithValue(ctx, connection{}, c)
		},
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       readTimeout,
		WriteTimeout:      AnswerTimeout,
		IdleTimeout:       30 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          log.New(io.Discard, "", 0), // a client's mistakes are its own
	}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	limits.HTTP = true
	err := server.Serve(protocols.Bound(listener, limits))
	cancel()
	server.Close()
	mu.Lock()
	ended = true
	mu.Unlock()
	calls.Wait()
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
