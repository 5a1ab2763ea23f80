package odcp

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
	"github.com/halyard-robotics/halyard/protocols"
)

var port = netip.MustParseAddrPort("127.0.0.1:45453")

// seen is what a rig's observer learns.
type seen struct{ events []hal.EventID }

func (s *seen) Cycle(c *hal.Cycle) { s.events = append(s.events, c.Events...) }

// stage is a rig with one scripted body of joints a and b, range ±π, soft limits ±2, and its server.
type stage struct {
	rig    *hal.Rig
	agent  *hal.Agent
	body   *haltest.Body
	server *Server
	log    strings.Builder
	seen   seen
	party  *hal.Session
	lease  *hal.Lease
}

func newStage(t testing.TB, mode hal.ClockMode, reality hal.BodyKind, listen protocols.Listener,
	at netip.AddrPort) *stage {
	t.Helper()
	s := &stage{body: haltest.NewBody("a", "b")}
	var err error
	if s.rig, err = hal.New(hal.Config{Name: "test", Mode: mode, Period: 10 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	if s.agent, err = s.rig.Add(hal.AgentConfig{Name: "arm", Body: s.body, World: s.body,
		BodyKind: reality}); err != nil {
		t.Fatal(err)
	}
	conn, err := listen(at)
	if err != nil {
		t.Fatal(err)
	}
	s.server = NewServer(s.rig, s.agent, conn, slog.New(slog.NewTextHandler(&s.log, nil)))
	s.party = s.rig.NewSession("test", &s.seen)
	if s.lease, err = s.party.Acquire(s.agent); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.server.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return s
}

// step runs n cycles; the holder of the lease commands nothing.
func (s *stage) step(t testing.TB, n int) {
	t.Helper()
	for range n {
		if err := s.party.Step(s.lease, nil); err != nil {
			t.Fatal(err)
		}
	}
}

func (s *stage) happened(t *testing.T, name string) int {
	t.Helper()
	id, ok := s.rig.Events().Lookup(name)
	if !ok {
		t.Fatalf("event %s: not declared", name)
	}
	n := 0
	for _, e := range s.seen.events {
		if e == id {
			n++
		}
	}
	return n
}

// TestTranscript is a whole conversation, byte by byte, with cycles in between.
func TestTranscript(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net protocolstest.Net
		s := newStage(t, hal.Lockstep, hal.Emulated, net.Listen, port)
		conn, err := net.Listen(netip.MustParseAddrPort("127.0.0.1:0"))
		if err != nil {
			t.Fatal(err)
		}
		in := make([]byte, 1<<16)
		for _, line := range []struct {
			send  string
			want  string // "" = no answer
			steps int    // afterwards
			a, b  float64
			limit float64 // of joint a, as commanded to the body; NaN = as it was
		}{
			// at 0: nearest is 512
			{"96", "97 00020000 00020000", 0, 0, 0, 0},
			{"05", "06 0f000000 01000000", 1, 0, 0, math.NaN()}, // connect
			// angles alone; the slew takes 0.06 rad a step
			{"64 ff030000 00020000", "", 9, 0.54, 0.003071, math.NaN()},
			// 511.5 + 0.54/π·511.5
			{"96", "97 57020000 00020000", 0, 0.54, 0.003071, math.NaN()},
			// torques, the second one torn
			{"64 ff030000 00020000 ff010000 ff0300", "", 1, 0.60, 0.003071, 0.74926686},
			// clamped; a has torque off, b at its soft limit
			{"64 ffff0000 0000ffff 00000000", "", 40, 0.60, -2, 0},
			// one angle alone
			{"64 00020000", "", 1, 0.60, -2, 0},
			// more than there are
			{"64 00020000 00020000 ff030000 ff030000 ff030000 01000000", "", 60, 0.003071, 0.003071, 1.5},
			{"07", "08", 1, 0.003071, 0.003071, 1.5},
		} {
			conn.WriteToUDPAddrPort(unhex(t, line.send), port)
			synctest.Wait()
			conn.SetReadDeadline(time.Now().Add(time.Nanosecond))
			n, _, _ := conn.ReadFromUDPAddrPort(in)
			if want := unhex(t, line.want); !slices.Equal(in[:n], want) {
				t.Errorf("%s: answer: got %x, want %x", line.send, in[:n], want)
			}
			s.step(t, line.steps)
			at := s.agent.Measured(nil)
			if math.Abs(at[0]-line.a) > 1e-5 || math.Abs(at[1]-line.b) > 1e-5 {
				t.Errorf("%s: joints: got %v, want %v and %v", line.send, at[:2], line.a, line.b)
			}
			if limit := s.body.Last[1]; math.Abs(limit-line.limit) > 1e-6 ||
				math.IsNaN(limit) != math.IsNaN(line.limit) {
				t.Errorf("%s: torque limit: got %v, want %v", line.send, limit, line.limit)
			}
		}
		for name, want := range map[string]int{connectionEvent: 1, disconnectionEvent: 1, receivedSetEvent: 5} {
			if got := s.happened(t, name); got != want {
				t.Errorf("%s: got %d, want %d", name, got, want)
			}
		}
	})
}

// TestHostile: what is no datagram of the protocol is dropped and counted by its cause, and nothing moves.
func TestHostile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net protocolstest.Net
		s := newStage(t, hal.Lockstep, hal.Emulated, net.Listen, port)
		conn, err := net.Listen(netip.MustParseAddrPort("127.0.0.1:0"))
		if err != nil {
			t.Fatal(err)
		}
		long := append([]byte{byte(setMotors)}, make([]byte, MaxDatagram)...)
		for _, b := range [][]byte{{}, {100}, {100, 1, 2, 3}, long, {0}, {120}, {6, 1, 0, 0, 0}, {151, 0, 0, 0, 0}} {
			conn.WriteToUDPAddrPort(b, port)
		}
		synctest.Wait()
		for c, want := range map[protocols.Cause]uint64{protocols.Truncated: 3, protocols.Oversized: 1,
			protocols.Unknown: 4} {
			if got := s.server.Traffic().Dropped(c); got != want {
				t.Errorf("dropped as %v: got %d, want %d", c, got, want)
			}
		}
		s.step(t, 3)
		if slices.Contains(s.body.Enabled, true) {
			t.Errorf("enabled: got %v, want none", s.body.Enabled)
		}
		if sent := s.server.Traffic().Sent(); sent != 0 {
			t.Errorf("answers: got %d, want 0", sent)
		}
	})
}

// TestReal: a real body executes commands only while its lease is free; refused commands are counted.
func TestReal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net protocolstest.Net
		s := newStage(t, hal.Realtime, hal.Real, net.Listen, port)
		c, err := Open(port.String(), ClientOptions{Listen: net.Listen})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		set := func() uint64 {
			if err := c.Set([]int32{800, 200}, []int32{1023, 1023}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			_, _, overrides := s.agent.Guard()
			return overrides
		}
		if got := set(); got != 0 {
			t.Errorf("overrides while held: got %d, want 0", got)
		}
		if got := s.server.Traffic().Dropped(protocols.Refused); got != 1 {
			t.Errorf("refused: got %d, want 1", got)
		}
		s.party.Release(s.lease)
		if got := set(); got != 1 {
			t.Errorf("overrides once free: got %d, want 1", got)
		}
	})
}

// TestClientLosses: a client asks again for what got lost, and gives up in the end.
func TestClientLosses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net protocolstest.Net
		lost := map[byte]bool{}
		net.Lose = func(_, _ netip.AddrPort, b []byte) bool { // the first of each kind, in both directions
			first := !lost[b[0]]
			lost[b[0]] = true
			return first
		}
		newStage(t, hal.Lockstep, hal.Emulated, net.Listen, port)
		c, err := Open(port.String(), ClientOptions{Listen: net.Listen})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.Connect(); err != nil {
			t.Error(err)
		}
		if got, err := c.Get(); err != nil || !slices.Equal(got, []int32{512, 512}) {
			t.Errorf("get: got %v, %v, want 512 512", got, err)
		}
		if err := c.Disconnect(); err != nil {
			t.Error(err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		var net protocolstest.Net
		c, err := Open(port.String(), ClientOptions{Listen: net.Listen})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		start := time.Now()
		if _, err := c.Get(); hal.KindOf(err) != hal.Timeout || time.Since(start) != 2*time.Second {
			t.Errorf("no server: got %v after %v, want kind %v after 2 s", err, time.Since(start), hal.Timeout)
		}
	})
}

// TestSocket is the same over a real socket, and counts allocations of client and server together.
func TestSocket(t *testing.T) {
	s := newStage(t, hal.Lockstep, hal.Emulated, protocols.ListenUDP, netip.MustParseAddrPort("127.0.0.1:0"))
	c, err := Open(s.server.Address().String(), ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	angles, torques := []int32{700, 300}, []int32{1023, 1023}
	exchange := func() {
		if err := c.Set(angles, torques); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Get(); err != nil { // answered after the set was taken
			t.Fatal(err)
		}
		s.party.Step(s.lease, nil)
	}
	for range 30 {
		exchange()
	}
	if got, err := c.Get(); err != nil || !slices.Equal(got, angles) {
		t.Errorf("after 30 steps: got %v, %v, want %v", got, err, angles)
	}
	s.seen.events = make([]hal.EventID, 0, 10_000)
	if n := testing.AllocsPerRun(100, exchange); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

// TestUnknown: an angle that is not known is -1, which is no pose and moves nothing when it is sent back; a robot that
// no command moves counts commands as refused, and the log has the reason once.
func TestUnknown(t *testing.T) {
	for _, c := range []struct {
		name    string
		do      func(s *stage)
		want    []int32
		refused uint64
		log     string
	}{
		{"all known", func(*stage) {}, []int32{512, 512}, 0, ""},
		{"a lost joint", func(s *stage) { s.body.Silent[0] = errors.New("no reply") }, []int32{-1, 512}, 0, ""},
		{"all lost", func(s *stage) { s.body.Silent = map[int]error{0: errors.New("no reply"), 1: errors.New("dead")} },
			[]int32{-1, -1}, 2, "no joint follows its goals: a: no reply"},
		{"disarmed", func(s *stage) { s.agent.Disarm() }, []int32{512, 512}, 2, "disarmed (try: halyard arm)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var net protocolstest.Net
				s := newStage(t, hal.Lockstep, hal.Emulated, net.Listen, port)
				client, err := Open(port.String(), ClientOptions{Listen: net.Listen})
				if err != nil {
					t.Fatal(err)
				}
				defer client.Close()
				c.do(s)
				s.step(t, 20)
				got, err := client.Get()
				if err != nil || !slices.Equal(got, c.want) {
					t.Errorf("get: got %v, %v, want %v", got, err, c.want)
				}
				for range 2 {
					if err := client.Set(got, nil); err != nil {
						t.Error(err)
					}
				}
				synctest.Wait()
				s.step(t, 1)
				if i := s.agent.Layout().Actuators[0].Goal[hal.PositionMode]; c.want[0] < 0 &&
					!math.IsNaN(s.body.Last[i]) {
					t.Errorf("goal of an unknown angle: got %g, want none", s.body.Last[i])
				}
				if n := s.server.Traffic().Dropped(protocols.Refused); n != c.refused {
					t.Errorf("refused: got %d, want %d", n, c.refused)
				}
				if n := strings.Count(s.log.String(), "move nothing"); n > 1 ||
					!strings.Contains(s.log.String(), c.log) {
					t.Errorf("log: got %s, want once %q", s.log.String(), c.log)
				}
			})
		})
	}
}
