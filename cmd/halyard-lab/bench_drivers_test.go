package main

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/cmd/halyard-lab/internal/lab"
	"github.com/halyard-robotics/halyard/internal/bench"
)

// In virtual time the figures are the same on every machine, so here they are held to: no cycle is shorter than its
// bytes, none much longer but for a reason, and none allocates.
func TestDriversMeetTheirBounds(t *testing.T) {
	seen := map[string]bool{}
	err := lab.BenchDrivers(t.Context(), false, bench.Size{Steps: 40, Time: time.Second}, func(r bench.Result) {
		f := r.Figures
		if seen[r.Case] {
			t.Errorf("%s: measured twice", r.Case)
		}
		seen[r.Case] = true
		if allocs := f.Get("allocs"); allocs > 0 {
			t.Errorf("%s: got %g allocations a cycle, want 0", r.Case, allocs)
		}
		if math.IsNaN(f.Get("cycle_ms")) { // a decoder: its rate is the machine's
			return
		}
		if least := driverRatio(r.Case); f.Get("ratio") > 1.0005 || f.Get("ratio") < least {
			t.Errorf("%s: got %g ms, the bound is %g ms: ratio %.4f, want %g to 1", r.Case, f.Get("cycle_ms"),
				f.Get("bound_ms"), f.Get("ratio"), least)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) < 100 {
		t.Errorf("got %d cases", len(seen))
	}
}

// driverRatio is what of a cycle its bound must be at the least, by the reason why it is not all.
func driverRatio(name string) float64 {
	for _, x := range []struct {
		part  string
		least float64
	}{
		{"FTDI 16ms", 0.02}, {"FTDI 1ms", 0.38}, // its timer
		{"odrive-s1", 0.55},      // stuffed bits, heartbeats, a question now and then
		{"odrive-v3", 0.7},       // properties with long names, now and then
		{"cybergear", 0.8},       // stuffed bits
		{"kHz", 0.64},            // the look whether the chip was reset
		{"6 servos", 0.89},       // 83 bytes of a long read, and its request of 5 a servo, every fifth cycle
		{"vesc-6, 1000000", 0.9}, // the questions before the CAN bus has something to do
		{"mx-64-2", 0.94},        // a long read without the fast one
	} {
		if strings.Contains(name, x.part) {
			return x.least
		}
	}
	return 0.91
}

// The cells of hardware.md's table of section 7, driven: what the chain takes is what the formula says, to the byte.
// dynamixel's TestWireTimes holds the formulas against the table.
func TestDriversKeepTheTable(t *testing.T) {
	cells := 0
	for _, l := range lab.TableLines() {
		for _, n := range []int{6, 20} {
			f, err := l.Measure(t.Context(), n, 20)
			if err != nil {
				t.Fatalf("%s: %v", l.Name(n), err)
			}
			if cells++; math.Abs(f.Get("ratio")-1) > 0.0005 || f.Get("allocs") > 0 {
				t.Errorf("%s: got %+v", l.Name(n), f)
			}
		}
	}
	if cells != 300 {
		t.Errorf("got %d cells, want 300", cells)
	}
	// Some of its figures as they stand there, ms.
	for _, c := range []struct {
		name string
		n    int
		want float64
	}{
		{"xm430-w350, fast read of 4 bytes alone, 1000000 baud, 20 servos", 20, 3.16},
		{"xm430-w350, sync read of 4 bytes alone, 57600 baud, 6 servos", 6, 26.74},
		{"xm430-w350, single reads of 4 bytes alone, 4000000 baud, delay 250 µs, 18 servos", 18, 6.06},
		{"xm430-w350, fast read of 4 bytes alone, 4000000 baud, delay 500 µs, 20 servos", 20, 1.29},
		{"xm430-w350, sync read of 10 bytes alone, 1000000 baud, 20 servos", 20, 5.68},
		{"ax-12a, bare, 1000000 baud, delay 500 µs, 18 servos", 18, 13.58},
		{"ax-12a, bare, 115200 baud, 18 servos", 18, 39.8},
		{"sts3215, bare, 1000000 baud, 12 servos", 12, 2.92},
		{"sts3215, bare, 115200 baud, 20 servos", 20, 41.3},
	} {
		found := false
		for _, l := range lab.TableLines() {
			if l.Name(c.n) != c.name {
				continue
			}
			found = true
			f, err := l.Measure(t.Context(), c.n, 20)
			if err != nil || math.Abs(f.Get("cycle_ms")/c.want-1) > 0.005 {
				t.Errorf("%s: got %g ms, %v, want %g", c.name, f.Get("cycle_ms"), err, c.want)
			}
		}
		if !found {
			t.Errorf("%s: no such line", c.name)
		}
	}
}
