package vesc

import (
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/wire/vescwire"
)

// What a CubeMars drive, whose firmware comes of VESC's, answered at rest.
func TestCapturedAnswers(t *testing.T) {
	p := vescwire.NewParser()
	for _, line := range haltest.Capture(t, "vesc_cubemars_uart.txt") {
		what, text, _ := strings.Cut(line, " | ")
		p.Feed(haltest.Bytes(t, text))
		payload := p.Next()
		if payload == nil || p.Garbage != 0 {
			t.Fatalf("%s: got no payload and %d bytes lost", what, p.Garbage)
		}
		switch {
		case strings.HasPrefix(what, "COMM_GET_VALUES"):
			var v vescwire.Values
			mask, err := v.Parse(payload)
			for f := range vescwire.NumFields {
				want := 0.0
				switch f {
				case vescwire.PosNow:
					want = float64(0x0A796140) / 1e6
				case vescwire.ControllerID:
					want = 0x68
				}
				if mask&(1<<f) != 0 && v[f] != want {
					t.Errorf("field %d: got %g, want %g", f, v[f], want)
				}
			}
			if err != nil || mask&vescwire.Mask(vescwire.ERPM, vescwire.Volts, vescwire.PosNow,
				vescwire.ControllerID) != vescwire.Mask(vescwire.ERPM, vescwire.Volts, vescwire.PosNow,
				vescwire.ControllerID) {
				t.Errorf("got fields %X, %v", mask, err)
			}
		case strings.HasPrefix(what, "COMM_FW"):
			if payload[0] != 0 || payload[1] != 5 || payload[2] != 1 ||
				!strings.HasPrefix(string(payload[3:]), "\nMIT TEST V2\x00") {
				t.Errorf("%s: got % X", what, payload)
			}
		}
	}
}
