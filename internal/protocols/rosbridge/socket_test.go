package rosbridge

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest/topicstest"
)

// TestSocket connects over TCP: a client and a foreign web page.
func TestSocket(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	newStage(t, topicstest.Config{Mode: hal.Realtime, Listener: ln}, Options{Origins: []string{"robots.example"}})
	url := "ws://" + ln.Addr().String()
	dial := func(origin string) (*client, error) {
		conn, _, err := websocket.Dial(context.Background(), url,
			&websocket.DialOptions{HTTPHeader: http.Header{"Origin": {origin}}})
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { conn.CloseNow() })
		return &client{t, conn, context.Background()}, nil
	}
	if _, err := dial("https://evil.example"); err == nil {
		t.Error("a foreign page: got a connection, want it refused")
	}
	c, err := dial("https://robots.example")
	if err != nil {
		t.Fatal(err)
	}
	c.send(`{"op":"subscribe","topic":"/joint_states","type":"sensor_msgs/JointState"}`)
	for range 3 {
		if _, m := c.next(); !strings.HasPrefix(m,
			`{"op":"publish","topic":"/joint_states","msg":{"header":{"seq":0,"stamp":{"secs":`) {
			t.Fatalf("got %s", m)
		}
	}
	if r, err := http.Get("http://" + ln.Addr().String()); err != nil || r.StatusCode != http.StatusUpgradeRequired {
		t.Errorf("a browser: got %v, %v, want to be told to upgrade", r, err)
	}
}
