package hiwonder

import (
	"testing"

	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/wire/hiwonderwire"
)

// A position as an LX-16A sent it.
func TestCapturedPosition(t *testing.T) {
	p := hiwonderwire.NewParser()
	p.Feed(haltest.Bytes(t, haltest.Capture(t, "lx16a_position.txt")[0]))
	var k hiwonderwire.Packet
	if !p.Next(&k) || k.ID != 1 || k.Command != 28 || len(k.Params) != 2 ||
		int(k.Params[0])|int(k.Params[1])<<8 != 492 {
		t.Errorf("got %+v, want position 492 of servo 1", k)
	}
}
