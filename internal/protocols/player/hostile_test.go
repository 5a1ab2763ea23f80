package player

import (
	"fmt"
	"io"
	"math"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

// TestHostile: what is not a message ends the session; another client is served on.
func TestHostile(t *testing.T) {
	for name, in := range map[string]string{
		"text":           strings.Repeat("47455420", 10),
		"a large size":   player0 + " 00000005 0000000000000000 00000001 7fffffff",
		"a wide subtype": "00000000 00000000 00000004 00000000 00000003 00000100 0000000000000000 00000001 00000000",
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, config{mode: hal.Realtime}, nil)
			other := s.dial(t)
			defer other.Close()
			conn := s.pipes.Dial()
			io.ReadFull(conn, make([]byte, bannerSize))
			conn.Write(fromHex(in))
			if n, err := conn.Read(make([]byte, 1)); n > 0 || err == nil {
				t.Errorf("%s: got %d bytes, %v, want the end", name, n, err)
			}
			if s.server.Traffic().Dropped(protocols.Unknown)+s.server.Traffic().Dropped(protocols.Oversized) != 1 {
				t.Errorf("%s: not counted", name)
			}
			if list, err := other.Devices(); err != nil || len(list) == 0 {
				t.Errorf("%s: the other client: got %v, %v", name, list, err)
			}
		})
	}
}

// TestFull: a connection too many is closed.
func TestFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{mode: hal.Realtime,
			options: Options{MaxConnections: 1, ClientTimeout: 3 * time.Second}}, nil)
		c := s.dial(t)
		defer c.Close()
		if _, err := c.Devices(); err != nil {
			t.Fatal(err)
		}
		if _, err := NewClient(s.pipes.Dial()); err == nil {
			t.Error("a second client: got a session")
		}
		time.Sleep(5 * time.Second) // silent: its place is free
		again, err := NewClient(s.pipes.Dial())
		if err != nil {
			t.Fatalf("after the first was silent: %v", err)
		}
		again.Close()
	})
}

// TestSocket is several clients over real sockets; one drives.
func TestSocket(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t, config{mode: hal.Realtime}, ln)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			conn, err := net.Dial("tcp", ln.Addr().String())
			if err != nil {
				t.Error(err)
				return
			}
			c, err := NewClient(conn)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			position := Device{Position2D, 0}
			if _, err := c.Open(position); err != nil {
				t.Error(err)
				return
			}
			if i == 0 {
				c.Drive(1, 0)
			}
			for {
				m, err := c.Next()
				if err != nil {
					t.Error(fmt.Errorf("client %d: %w", i, err))
					return
				}
				var at position2Data
				if m.Type == Data && decodePayload(m.Payload, &at) == nil && math.Abs(at.Velocity.X-1) < 1e-9 &&
					at.Pose.X > 0.05 {
					return
				}
			}
		})
	}
	all.Wait()
	_ = s
}

func FuzzSession(f *testing.F) {
	for _, k := range transcripts {
		var in []byte
		for line := range strings.Lines(strings.TrimSpace(k.lines)) {
			if line[0] == 'C' {
				in = append(in, fromHex(line[1:])...)
			}
		}
		f.Add(in)
	}
	for _, d := range []Device{{Position2D, 0}, {ActArray, 0}, {Limb, 0}, {Opaque, 0}, {Simulation, 0}} {
		for subtype := range uint8(6) {
			h := Header{Device: d, Type: Cmd, Subtype: subtype, Size: 8}
			f.Add(append(h.Append(nil), make([]byte, 8)...))
		}
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, config{mode: hal.Realtime}, nil)
			conn := s.pipes.Dial()
			go io.Copy(io.Discard, conn)
			conn.Write(in)
			time.Sleep(time.Second)
			conn.Close()
			time.Sleep(time.Second)
			if s.agent.Holder() != "" {
				t.Errorf("a client that left: held by %q", s.agent.Holder())
			}
			s.rover.mu.Lock()
			defer s.rover.mu.Unlock()
			for i, v := range s.rover.joints {
				if math.IsNaN(v) || math.Abs(v) > 2+1e-9 && i >= 2 {
					t.Errorf("joint %d: got %g, want within its limits", i, v)
				}
			}
		})
	})
}
