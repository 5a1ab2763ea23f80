package ws

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
	"github.com/halyard-robotics/halyard/protocols"
)

func TestCheckOrigin(t *testing.T) {
	for _, c := range []struct {
		host, origin string
		ok           bool
	}{
		{"127.0.0.1:9090", "", true},
		{"127.0.0.1:9090", "http://localhost:8080", true},
		{"127.0.0.1:9090", "http://127.0.0.1", true},
		{"[::1]:9090", "http://[::1]:8642", true},
		{"192.168.1.7:8642", "http://192.168.1.7:8642", true},
		{"192.168.1.7:8642", "http://192.168.1.8:8642", false},
		{"192.168.1.7:8642", "http://192.168.1.7", false},
		{"127.0.0.1:9090", "https://app.foxglove.dev", true},
		{"127.0.0.1:9090", "http://lab:8080", true},
		{"127.0.0.1:9090", "http://lab:8081", false},
		{"127.0.0.1:9090", "https://evil.example", false},
		{"evil.example:9090", "http://evil.example:9090", false}, // its name leads to 127.0.0.1
		{"127.0.0.1:9090", "http://localhost.evil.example", false},
		{"127.0.0.1:9090", "null", false},
		{"127.0.0.1:9090", "file://", false},
		{"127.0.0.1:9090", "http://127.0.0.1.nip.io", false},
		{"127.0.0.1:9090", "::", false},
	} {
		r := &http.Request{Host: c.host, Header: http.Header{}}
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		if err := CheckOrigin(r, []string{"app.foxglove.dev", "lab:8080"}); (err == nil) != c.ok {
			t.Errorf("page of %q at %q: got %v, want passed: %v", c.origin, c.host, err, c.ok)
		}
	}
}

// echo sends every message back.
func echo(o Options) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := Accept(w, r, o)
		if err != nil {
			return
		}
		defer conn.CloseNow()
		for {
			kind, b, err := conn.Read(r.Context())
			if err != nil {
				return
			}
			Recognize(r)
			conn.Write(r.Context(), kind, b)
		}
	})
}

// dial connects through pipes.
func dial(ctx context.Context, pipes *protocolstest.Pipes, header http.Header, subprotocols ...string) (*websocket.Conn,
	*http.Response, error) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(context.Context, string, string) (net.Conn, error) { return pipes.Dial(), nil }}}
	return websocket.Dial(ctx, "ws://127.0.0.1/", &websocket.DialOptions{HTTPClient: client, HTTPHeader: header,
		Subprotocols: subprotocols})
}

func TestServe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pipes := protocolstest.NewPipes("ws")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			ended <- Serve(ctx, pipes, protocols.Limits{Connections: 2},
				echo(Options{Subprotocols: []string{"b", "a"}, MaxMessage: 10}))
		}()
		conn, _, err := dial(ctx, pipes, nil, "c", "a", "b")
		if err != nil || conn.Subprotocol() != "b" && conn.Subprotocol() != "a" {
			t.Fatalf("got %v, want a connection of subprotocol a or b", err)
		}
		conn.Write(ctx, websocket.MessageText, []byte("0123456789"))
		if _, b, err := conn.Read(ctx); string(b) != "0123456789" {
			t.Fatalf("got %q, %v, want the echo", b, err)
		}
		if _, r, err := dial(ctx, pipes, nil, "c"); err == nil || r == nil || r.StatusCode != http.StatusBadRequest {
			t.Errorf("no common subprotocol: got %v, want it refused", err)
		}
		synctest.Wait() // the refused one has gone
		if _, r, err := dial(ctx, pipes, http.Header{"Origin": {"https://evil.example"}}, "a"); err == nil ||
			r == nil || r.StatusCode != http.StatusForbidden {
			t.Errorf("a foreign page: got %v, want it refused", err)
		}
		synctest.Wait() // the refused ones have gone
		long, _, err := dial(ctx, pipes, nil, "a")
		if err != nil {
			t.Fatal(err)
		}
		long.Write(ctx, websocket.MessageBinary, nil)
		long.Read(ctx)
		if _, _, err := dial(ctx, pipes, nil, "a"); err == nil {
			t.Error("a third connection: got one, want it closed")
		}
		long.Write(ctx, websocket.MessageBinary, []byte("0123456789a"))
		if _, _, err := long.Read(ctx); websocket.CloseStatus(err) != websocket.StatusMessageTooBig {
			t.Errorf("a long message: got %v, want its refusal", err)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the end: got %v", err)
		}
		if _, _, err := conn.Read(context.Background()); err == nil {
			t.Error("after the end: the connection is open")
		}
	})
}

// TestSlowRequest holds a connection open without ever sending a whole request: it ends by itself.
func TestSlowRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pipes := protocolstest.NewPipes("ws")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- Serve(ctx, pipes, protocols.Limits{Connections: 1}, echo(Options{})) }()
		conn := pipes.Dial()
		conn.Write([]byte("GET / HTTP/1.1\r\nHost: " + strings.Repeat("a", 100)))
		begin := time.Now()
		conn.Read(make([]byte, 1))
		if after := time.Since(begin); after > 6*time.Second {
			t.Errorf("half a request: closed after %v, want 5 s", after)
		}
		cancel()
		<-ended
	})
}

// TestUnfinishedClients: neither a client that never sends the body of its request nor one that does not read its
// answer keeps its place.
func TestUnfinishedClients(t *testing.T) {
	for name, request := range map[string]string{
		"body":   "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n\r\n",
		"answer": "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pipes := protocolstest.NewPipes("ws")
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error)
				go func() { ended <- Serve(ctx, pipes, protocols.Limits{Connections: 1}, echo(Options{})) }()
				unfinished := pipes.Dial()
				defer unfinished.Close()
				unfinished.Write([]byte(request))
				time.Sleep(AnswerTimeout + time.Second)
				conn, _, err := dial(ctx, pipes, nil)
				if err != nil {
					t.Errorf("the next client: got %v, want a connection", err)
				} else {
					conn.CloseNow()
				}
				cancel()
				<-ended
			})
		})
	}
}

// TestLongConnection: a WebSocket lives longer than a request may.
func TestLongConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pipes := protocolstest.NewPipes("ws")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- Serve(ctx, pipes, protocols.Limits{Connections: 1}, echo(Options{})) }()
		conn, _, err := dial(ctx, pipes, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			time.Sleep(AnswerTimeout)
			conn.Write(ctx, websocket.MessageText, []byte("still here"))
			if _, b, err := conn.Read(ctx); string(b) != "still here" {
				t.Fatalf("got %q, %v, want the echo", b, err)
			}
		}
		cancel()
		<-ended
	})
}
