package imageserver

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
	"github.com/halyard-robotics/halyard/protocols/gamebots"
)

// TestSetCamera: SET {Type Camera} of Gamebots selects the view of the image server's clients. The sender needs no
// robot.
func TestSetCamera(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, protocolstest.NewPipes("pipes"), Options{FrameRate: 1000})
		s.world.add("R1")
		ln := protocolstest.NewPipes("pipes")
		server := gamebots.NewServer(s.rig, ln, gamebots.Arena{}, gamebots.Options{})
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- server.Serve(ctx) }()
		c := gamebots.NewClient(dialFrom(ln, "10.0.0.7"), gamebots.ClientOptions{})
		viewer := dialFrom(s.lines, "10.0.0.2")
		defer viewer.Close()
		if got := first(t, viewer)[0]; got != 10 {
			t.Errorf("before: got %d, want R1's first camera, 10", got)
		}
		for _, k := range []struct {
			line, status string
			want         byte
		}{
			{"SET {Type Camera} {Robot R1} {Name Rear} {Client 10.0.0.2}", "OK", 11},
			{"SET {Type Camera} {Robot R1} {Name Camera} {Client here}", "Failed", 11},
			{"SET {Type Camera} {Robot R1} {Camera Camera} {Client 10.0.0.2}", "OK", 10},
			{"SET {Type Camera} {Robot R9} {Name Camera} {Client 10.0.0.2}", "OK", 0},
			{"SET {Type Camera} {Client 10.0.0.2}", "OK", 10},
		} {
			if err := c.Send("%s", k.line); err != nil {
				t.Fatal(err)
			}
			m, err := c.Wait("RES")
			if err != nil || m.Text("Status") != k.status {
				t.Errorf("%s: got %s, %v, want %s", k.line, m.Text("Status"), err, k.status)
			}
			send(t, viewer, "OK")
			if got := first(t, viewer)[0]; got != k.want {
				t.Errorf("%s: got %d, want %d", k.line, got, k.want)
			}
		}
		c.Close()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
