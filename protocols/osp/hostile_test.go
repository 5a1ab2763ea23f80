package osp

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

// TestHostile: malformed datagrams are dropped and counted by their cause, on the main port and in a session, and the
// rig is unchanged.
func TestHostile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, Options{}, "pendulum")
		s.play(registered)
		was := s.rig.Agent("pendulum").Measured(nil)

		a, long := s.wire("a"), make([]byte, MaxDatagram+1)
		long[0] = byte(NextStep)
		for _, to := range []netip.AddrPort{mainPort, a.to} {
			for _, b := range [][]byte{
				{}, {byte(NextStep)}, {byte(NextStep), 1, 0, 0, 0, 255, 255, 255, 127}, // truncated
				long,            // oversized
				{0}, {255}, {6}, // none, none, a server's (truncated)
			} {
				a.conn.WriteToUDPAddrPort(b, to)
			}
			a.conn.WriteToUDPAddrPort(Append(nil, &Datagram{Command: NextStepAck, ID: 1}), to) // a server's
		}
		synctest.Wait()
		s.play(`
		x> 05 01 01
		x< 06 01 01 78
		`)
		s.wire("x").conn.WriteToUDPAddrPort(Append(nil, &Datagram{Command: deregisterFromAgent, ID: 1}), a.to)
		synctest.Wait()

		s.quiet(0)
		s.dropped(map[protocols.Cause]uint64{protocols.Truncated: 8, protocols.Oversized: 2, protocols.Unknown: 6,
			protocols.Stranger: 1})
		if got := s.rig.Agent("pendulum").Measured(nil); !slices.Equal(got, was) {
			t.Errorf("measured: got %v, want %v", got, was)
		}
		s.play(`
		a> 50 i1 i0
		a< 51 i1 78
		a< 55 i1 i1 i1 i0 i0 f0 f0 78
		a> 56 i1
		`)
	})
}

// TestNoise sends a session ten thousand random and damaged datagrams; it answers a good one afterwards.
func TestNoise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, Options{}, "pendulum")
		s.play(registered)
		a := s.wire("a")
		random := rand.New(rand.NewPCG(1, 2))
		for range 10_000 {
			c := cases[random.IntN(len(cases))]
			b := unhex(t, c.bytes)
			if command := c.value.Command; command == endCommunication || command == resetCommunication {
				continue
			}
			for n := random.IntN(4); n > 0 && len(b) > 1; n-- {
				b[1+random.IntN(len(b)-1)] = byte(random.Uint32())
			}
			a.conn.WriteToUDPAddrPort(b[:random.IntN(len(b)+1)], a.to)
			if random.IntN(100) == 0 {
				synctest.Wait()
				for a.next() != nil {
				}
			}
		}
		synctest.Wait()
		for a.next() != nil {
		}
		s.play(`
		a> 32 i99999
		a< 33 i-1 s 78
		`)
	})
}

// TestFlood: session requests from ever new addresses open at most MaxSessions sessions and do not evict a client that
// controls an agent; a later client gets a session again.
func TestFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, Options{MaxSessions: 4}, "pendulum")
		s.play(registered)
		flood := func(n int) {
			for range n {
				conn, err := s.net.Listen(netip.MustParseAddrPort("127.0.0.1:0"))
				if err != nil {
					t.Fatal(err)
				}
				conn.WriteToUDPAddrPort([]byte{5, 1, 1}, mainPort)
				time.Sleep(time.Millisecond)
				conn.Close()
			}
		}
		flood(100)
		if n := s.server.Sessions(); n != 4 {
			t.Errorf("sessions: got %d, want 4", n)
		}
		s.dropped(map[protocols.Cause]uint64{protocols.Full: 97})
		time.Sleep(2 * time.Second)
		s.play(`
		late> 05 01 01
		late< 06 01 01 78
		a> 50 i1 i0
		a< 51 i1 78
		a< 55 i1 i1 i1 i0 i0 f0 f0 78
		a> 56 i1
		`)
		if n := s.server.Sessions(); n != 4 {
			t.Errorf("sessions: got %d, want 4", n)
		}
	})
}

// TestTooManyEvents: a client may register for so many events and no more.
func TestTooManyEvents(t *testing.T) {
	var k knownEvents
	for i := range maxEvents {
		if id := k.register(hal.EventID(i + 1)); id != int32(i+1) {
			t.Fatalf("event %d: got id %d, want %d", i, id, i+1)
		}
	}
	if id := k.register(maxEvents + 1); id != 0 {
		t.Errorf("one more: got id %d, want 0", id)
	}
	if id := k.register(1); id != 1 {
		t.Errorf("the first again: got id %d, want 1", id)
	}
}
