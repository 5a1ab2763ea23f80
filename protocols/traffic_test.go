package protocols

import (
	"net/netip"
	"strings"
	"testing"
)

func TestTraffic(t *testing.T) {
	var n Traffic
	n.Receive()
	n.Receive()
	n.Send()
	for c := range NumCauses {
		for range c + 1 {
			n.Drop(c)
		}
	}
	if n.Received() != 2 || n.Sent() != 1 {
		t.Errorf("got %d received and %d sent, want 2 and 1", n.Received(), n.Sent())
	}
	seen := map[string]bool{}
	for c := range NumCauses {
		if got := n.Dropped(c); got != uint64(c)+1 {
			t.Errorf("%v: got %d, want %d", c, got, c+1)
		}
		if name := c.String(); seen[name] || strings.Contains(name, "(") {
			t.Errorf("cause %d: name %q: used twice, or none", c, name)
		} else {
			seen[name] = true
		}
	}
	if got := NumCauses.String(); !strings.Contains(got, "cause(") {
		t.Errorf("no cause: got %q", got)
	}
}

func TestPlain(t *testing.T) {
	wrapped, plain := netip.MustParseAddrPort("[::ffff:127.0.0.1]:9"), netip.MustParseAddrPort("127.0.0.1:9")
	if got := Plain(wrapped); got != plain {
		t.Errorf("got %v, want %v", got, plain)
	}
}
