package nml

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestSocket is a server and a client on loopback sockets, found by a configuration file.
func TestSocket(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	config, err := ParseConfig("test.nml", strings.NewReader("B cmd SHMEM 127.0.0.1 4096 0 * 1 * 1 TCP="+port+
		"\nB log SHMEM 127.0.0.1 4096 0 * 2 * 2 TCP="+port+" xdr queue confirm_write\n"))
	if err != nil {
		t.Fatal(err)
	}
	var buffers []*Buffer
	for i := range config.Buffers {
		b, err := NewBuffer(config.Buffers[i].Options(words))
		if err != nil {
			t.Fatal(err)
		}
		buffers = append(buffers, b)
	}
	s, err := NewServer(ln, buffers, Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.Serve(ctx) })
	defer running.Wait()
	defer cancel()

	cmd, log := dial(t, config, "cmd"), dial(t, config, "log")
	defer cmd.Close()
	defer log.Close()
	running.Go(func() { buffers[0].Write(&vel{1, 2, 3}) })
	if m, err := cmd.BlockingRead(words, 5*time.Second); err != nil || *m.(*vel) != (vel{1, 2, 3}) {
		t.Errorf("blocking read: got %+v, %v", m, err)
	}
	for i := range int32(3) {
		if err := log.Write(&vel{Serial: i}, false); err != nil {
			t.Error(err)
		}
	}
	for i := range int32(3) {
		if m, err := log.Read(words); err != nil || m.(*vel).Serial != i {
			t.Errorf("queue: got %+v, %v, want %d", m, err, i)
		}
	}
}

func dial(t *testing.T, config *Config, name string) *Client {
	t.Helper()
	line, ok := config.Buffer(name)
	if !ok {
		t.Fatalf("no buffer %s", name)
	}
	c, err := Dial(line)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
