package emulator_test

import (
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/sim/emulator"
	emudynamixel "github.com/halyard-robotics/halyard/sim/emulator/dynamixel"
)

// One delay a reply, fitted once, must give the published rates of real servos.
func TestRatesMatchThePublishedOnes(t *testing.T) {
	rates, err := emudynamixel.Rates(emulator.Timing{Reply: emulator.DefaultReply})
	if err != nil {
		t.Fatal(err)
	}
	// One cell more was measured through a USB2DXL, on one bus at 1 Mbaud and 2 Mbaud each.
	close, cells := 0, 0
	count := func(hz, published float64) float64 {
		off := hz/published - 1
		if cells++; math.Abs(off) <= 0.10 {
			close++
		}
		return 100 * off
	}
	for _, r := range rates {
		t.Logf("%d Mbaud, %d buses (%2d servos): wire %4.0f Hz, emulated %4.0f Hz, published %4.0f Hz, %+.1f %%",
			r.Baud/1e6, r.Buses, r.Servos, r.Wire, r.Hz, r.Published, count(r.Hz, r.Published))
	}
	for i, usb2dxl := range []float64{153, 272} {
		t.Logf("%d Mbaud, 1 bus, USB2DXL: published %4.0f Hz, %+.1f %%", i+1, usb2dxl, count(rates[i].Hz, usb2dxl))
	}
	if close < 13 {
		t.Errorf("within 10 %%: got %d of %d cells, want 13", close, cells)
	}
}

func TestFastSyncReadRate(t *testing.T) {
	hz, wire, err := emudynamixel.CycleRate(20, 1_000_000, true, emulator.Timing{Reply: emulator.DefaultReply})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("fast sync read, 20 servos, 1 Mbaud: %.1f Hz of %.1f", hz, wire)
	if hz < 200 {
		t.Errorf("got %.1f Hz, want 200", hz)
	}
}

// The wire itself, against the formulas of the datasheets.
func TestWireTime(t *testing.T) {
	for _, x := range []struct {
		n, baud int
		fast    bool
		hz      float64
	}{
		{20, 1_000_000, false, 176}, {20, 2_000_000, false, 352}, {20, 4_000_000, false, 704},
		{10, 1_000_000, false, 335.6}, {5, 4_000_000, false, 2454}, {20, 1_000_000, true, 229.4},
	} {
		hz, wire, err := emudynamixel.CycleRate(x.n, x.baud, x.fast, emulator.Timing{})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(wire/x.hz-1) > 0.002 || math.Abs(hz/wire-1) > 1e-3 {
			t.Errorf("%d servos, %d baud: got %.1f Hz, wire %.1f, want %.1f", x.n, x.baud, hz, wire, x.hz)
		}
	}
}

// LeRobot's measurements of six servos at 1 Mbaud (pull request 3456): whole USB frames, however short the wire time.
func TestFrames(t *testing.T) {
	for _, x := range []struct {
		latency, frame time.Duration
		turns          int
		want           time.Duration
	}{
		{0, time.Millisecond, 1, time.Millisecond},
		{0, time.Millisecond, 3, 3 * time.Millisecond},
		{0, time.Millisecond, 4, 4 * time.Millisecond},
		{16 * time.Millisecond, 125 * time.Microsecond, 3, 48 * time.Millisecond}, // FTDI from the factory
		{time.Millisecond, 125 * time.Microsecond, 3, 3 * time.Millisecond},
	} {
		r := newRig(t, emulator.Timing{Frame: x.frame, Latency: x.latency}, newServo(t, "xm430-w350", 1, "return_delay", 0))
		start := r.line.Now()
		for range x.turns {
			r.line.Write(unhex(t, "FF FF FD 00 01 07 00 02 84 00 04 00 1D 15"))
			for got := 0; got < 15; {
				n, err := r.line.Read(make([]byte, 64), time.Second)
				if err != nil {
					t.Fatal(err)
				}
				got += n
			}
		}
		if got := r.line.Now() - start; got != x.want {
			t.Errorf("latency %v, frame %v: %d turns: got %v, want %v", x.latency, x.frame, x.turns, got, x.want)
		}
	}
}
