package osp

import (
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/protocols"
)

// lateConn is a socket that receives one more datagram while it is being closed.
type lateConn struct {
	protocols.PacketConn
	late func()
}

func (c *lateConn) Close() error {
	c.late()
	return c.PacketConn.Close()
}

// TestRegisterWhileSessionEnds: a client registers for its agent in the moment in which another one resets the
// communication. The agent is not left with a session that has ended.
func TestRegisterWhileSessionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, Options{}, "pendulum")
		agent := s.rig.Agent("pendulum")
		var victim *wire
		s.server.options.Listen = func(at netip.AddrPort) (protocols.PacketConn, error) {
			conn, err := s.net.Listen(at)
			if err != nil {
				return nil, err
			}
			return &lateConn{conn, func() {
				if victim != nil && protocols.Address(conn) == victim.to {
					victim.conn.WriteToUDPAddrPort([]byte{byte(registerForAgent), 1, 0, 0, 0}, victim.to)
					time.Sleep(time.Millisecond)
				}
			}}, nil
		}
		s.play(`
		a> 05 01 01
		a< 06 01 01 78
		b> 05 01 01
		b< 06 01 01 78
		`)
		b := s.wire("b")
		victim = s.wire("a")
		victim.conn.WriteToUDPAddrPort([]byte{byte(getAgentOverview)}, victim.to)
		synctest.Wait()
		b.conn.WriteToUDPAddrPort([]byte{byte(resetCommunication)}, b.to)
		time.Sleep(time.Second)
		if n, holder := s.server.Sessions(), agent.Holder(); n != 0 || holder != "" {
			t.Errorf("got %d sessions, the agent held by %q, want none", n, holder)
		}
	})
}
