package moast

import (
	"context"
	"net"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/internal/protocols/nml"
)

// TestSocket carries a command and a map of the largest size over a loopback socket.
func TestSocket(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cells := &SensorData2D{X: 200, Y: 225, Features: make([]float64, MaxCells)}
	options := []nml.BufferOptions{
		{Name: ModuleNamed("primMobJA").Buffer(Cmd, 1, 0), Number: 1, Vocabulary: New},
		{Name: MapBuffer(1), Number: 2, Size: int(nml.Size(cells)), Encoding: nml.XDR, Vocabulary: New},
	}
	var buffers []*nml.Buffer
	for _, o := range options {
		b, err := nml.NewBuffer(o)
		if err != nil {
			t.Fatal(err)
		}
		buffers = append(buffers, b)
	}
	s, err := nml.NewServer(ln, buffers, nml.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.Serve(ctx) })
	defer running.Wait()
	defer cancel()
	var clients []*nml.Client
	for _, o := range options {
		conn, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		c, err := nml.NewClient(conn, o)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		clients = append(clients, c)
	}

	want := &PrimMobCmdVel{CmdHead{7}, 0.5, -0.25}
	if err := clients[0].Write(want, false); err != nil {
		t.Fatal(err)
	}
	within, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	if err := buffers[0].Wait(within, 0); err != nil {
		t.Fatal(err)
	}
	if m, _, err := buffers[0].Read(New, 0); err != nil || !reflect.DeepEqual(m, want) {
		t.Errorf("command: got %+v, %v, want %+v", m, err, want)
	}
	cells.Features[MaxCells-1] = 0.25
	if err := buffers[1].Write(cells); err != nil {
		t.Fatal(err)
	}
	if m, err := clients[1].BlockingRead(New, 5*time.Second); err != nil || !reflect.DeepEqual(m, cells) {
		t.Errorf("map: got %v", err)
	}
}
