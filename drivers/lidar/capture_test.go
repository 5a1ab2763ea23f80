package lidar

import (
	"math"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/wire/lidarwire"
)

// A URG-04LX's answer to GD, as it came.
func TestCapturedGD(t *testing.T) {
	lines := haltest.Capture(t, "hokuyo_urg04lx_gd_1.txt")
	p := NewSCIPParser()
	for _, line := range lines {
		p.Feed([]byte(line + "\n"))
	}
	p.Feed([]byte("\n"))
	var k SCIPBlock
	if !p.Next(&k) || !k.Is(lidarwire.SCIPOnce) || string(k.Status) != lidarwire.SCIPOK {
		t.Fatalf("got echo %q, status %q", k.Echo, k.Status)
	}
	m, err := HokuyoModelOf("URG-04LX")
	if err != nil {
		t.Fatal(err)
	}
	metres := make([]float64, 682)
	ms, err := k.Scan(3, &m, metres)
	none, far := 0, 0.0
	for _, v := range metres {
		if math.IsNaN(v) {
			none++
		} else {
			far = math.Max(far, v)
		}
	}
	if err != nil || ms != 513 || none != 358 || far != 5.54 || math.Abs(metres[384-44]-5.24) > 0.005 {
		t.Errorf("got %d ms, %d without a range, %g m at most, %g m ahead, %v; want 513, 358, 5.54, 5.24", ms, none,
			far, metres[384-44], err)
	}
}

// A whole scan of an LMS, which tells in three bits of each value in which field it lies.
func TestCapturedSICK(t *testing.T) {
	p := lidarwire.NewSICKParser(0x80)
	p.Feed(haltest.Bytes(t, strings.Join(haltest.Capture(t, "sick_lms_scan361.txt"), " ")))
	body := p.Body()
	if body == nil || p.Garbage != 0 {
		t.Fatalf("got no telegram and %d bytes lost", p.Garbage)
	}
	metres := make([]float64, 361)
	status, err := lidarwire.DecodeSICKScan(body, 13, metres)
	if err != nil || status != 0x10 {
		t.Fatalf("got status %02X, %v", status, err)
	}
	for i, want := range []float64{2.251, 2.251, 2.242, 2.242, 2.243} {
		if math.Abs(metres[i]-want) > 1e-9 {
			t.Errorf("value %d: got %g, want %g", i, metres[i], want)
		}
	}
}
