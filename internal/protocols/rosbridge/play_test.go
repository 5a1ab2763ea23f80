package rosbridge

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest/topicstest"
	"github.com/halyard-robotics/halyard/internal/protocols/topics"
)

// newStage runs a rover and its server until the test ends.
func newStage(t testing.TB, c topicstest.Config, o Options) *topicstest.Stage {
	return topicstest.New(t, c, func(ln net.Listener, r *topics.Robot) (topicstest.Server,
		error) {
		return NewServer(ln, r, o)
	})
}

// client is a client of a test.
type client struct {
	t    testing.TB
	conn *websocket.Conn
	ctx  context.Context
}

// dial connects to a stage without a socket.
func dial(t testing.TB, s *topicstest.Stage) *client {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), "ws://127.0.0.1/", &websocket.DialOptions{HTTPClient: s.HTTP()})
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(1 << 22)
	t.Cleanup(func() { conn.CloseNow() })
	return &client{t, conn, context.Background()}
}

func (c *client) send(text string) {
	c.t.Helper()
	if err := c.conn.Write(c.ctx, websocket.MessageText, []byte(text)); err != nil {
		c.t.Fatalf("send %.100s: %v", text, err)
	}
}

// next is the next message, "" where none comes within 2 s.
func (c *client) next() (websocket.MessageType, string) {
	ctx, cancel := context.WithTimeout(c.ctx, 2*time.Second)
	defer cancel()
	kind, b, err := c.conn.Read(ctx)
	if err != nil {
		return 0, ""
	}
	return kind, string(b)
}
