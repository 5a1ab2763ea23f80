package protocolstest

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/protocols"
)

// TestAlike: the network in memory behaves as loopback sockets do, as far as protocols can see.
func TestAlike(t *testing.T) {
	var memory Net
	for name, listen := range map[string]protocols.Listener{"memory": memory.Listen, "udp": protocols.ListenUDP} {
		t.Run(name, func(t *testing.T) {
			open := func() protocols.PacketConn {
				c, err := listen(netip.MustParseAddrPort("127.0.0.1:0"))
				if err != nil {
					t.Fatal(err)
				}
				return c
			}
			a, b := open(), open()
			defer b.Close()
			if _, err := listen(protocols.Address(b)); err == nil {
				t.Error("an address in use: got nil, want an error")
			}
			a.WriteToUDPAddrPort([]byte("12345"), protocols.Address(b))
			in := make([]byte, 3)
			n, from, err := b.ReadFromUDPAddrPort(in)
			if n != 3 || string(in) != "123" || protocols.Plain(from) != protocols.Address(a) || err != nil {
				t.Errorf("read: got %q from %v, %v, want 123 from %v", in[:n], from, err, protocols.Address(a))
			}
			b.SetReadDeadline(time.Now().Add(-time.Second))
			if _, _, err := b.ReadFromUDPAddrPort(in); !errors.Is(err, os.ErrDeadlineExceeded) ||
				!protocols.Transient(err) {
				t.Errorf("past the deadline: got %v, want %v", err, os.ErrDeadlineExceeded)
			}
			a.Close()
			if _, err := b.WriteToUDPAddrPort([]byte("x"), protocols.Address(a)); err != nil {
				t.Errorf("to a closed socket: got %v, want nil", err)
			}
			if _, _, err := a.ReadFromUDPAddrPort(in); !errors.Is(err, net.ErrClosed) || protocols.Transient(err) {
				t.Errorf("closed: got %v, want %v", err, net.ErrClosed)
			}
			if _, err := a.WriteToUDPAddrPort([]byte("x"), protocols.Address(b)); !errors.Is(err, net.ErrClosed) {
				t.Errorf("closed: got %v, want %v", err, net.ErrClosed)
			}
		})
	}
}

func TestDeadlineAndLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := Net{Lose: func(_, _ netip.AddrPort, b []byte) bool { return b[0] == 'x' }}
		a, _ := n.Listen(netip.MustParseAddrPort("127.0.0.1:1"))
		b, _ := n.Listen(netip.MustParseAddrPort("127.0.0.1:2"))
		a.WriteToUDPAddrPort([]byte("x"), protocols.Address(b))
		start := time.Now()
		b.SetReadDeadline(start.Add(time.Minute))
		if _, _, err := b.ReadFromUDPAddrPort(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) ||
			time.Since(start) != time.Minute {
			t.Errorf("got %v after %v, want %v after a minute", err, time.Since(start), os.ErrDeadlineExceeded)
		}
	})
}
