package base

import (
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/wire/p2oswire"
)

// The beginning of a P3-DX-SH's configuration, whose checksum is always wrong: it is taken when it has come twice.
func TestCapturedConfig(t *testing.T) {
	head := haltest.Bytes(t, strings.Join(haltest.Capture(t, "p2os_configpac_p3dxsh.txt"), " "))
	packet := append(head, make([]byte, 3+int(head[2])-len(head))...)
	packet[len(packet)-1] = 1 // makes the checksum wrong
	p := p2oswire.NewParser()
	feed := func(b []byte) []byte {
		p.Feed(b)
		return p.Data()
	}
	if data := feed(packet); data != nil {
		t.Fatalf("once: got % X", data)
	}
	other := append([]byte(nil), packet...)
	other[10]++
	if data := feed(other); data != nil {
		t.Fatalf("another: got % X", data)
	}
	if data := feed(packet); data != nil {
		t.Fatalf("after another: got % X", data)
	}
	var c p2oswire.ConfigReport
	if err := c.Decode(feed(packet)); err != nil {
		t.Fatal(err)
	}
	want := p2oswire.ConfigReport{Class: "Pioneer", Subclass: "p3dx-sh", Serial: "GJC_3156", RotVelTop: 360,
		TransVelTop: 1000,
		RotAccTop:   300,
		TransAccTop: 2000, PWMMax: 500, Name: "FAPESP_3156", Cycle: 100}
	if c != want {
		t.Errorf("got %+v, want %+v", c, want)
	}
}
