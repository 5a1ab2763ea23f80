package halyard_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/hal"
)

// recorded runs a config for some cycles with a swinging joint, and returns its recording.
func recorded(t *testing.T, c *halyard.Config, cycles int) []byte {
	t.Helper()
	s, err := halyard.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var file bytes.Buffer
	r, err := s.Record(&file)
	if err != nil {
		t.Fatal(err)
	}
	s.Arm()
	a := s.Agents()[0]
	for i := range cycles {
		if err := a.Command(a.Joints()[0], halyard.Position(0.4*math.Sin(float64(i)/20))); err != nil {
			t.Fatal(err)
		}
		if i == cycles/2 {
			s.Stop("test")
			s.Reset()
			s.Arm()
		}
		if err := s.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if stats, err := r.Stop(); err != nil || stats.Dropped > 0 || stats.Cycles != uint64(cycles) {
		t.Fatalf("got %+v, %v, want %d cycles", stats, err, cycles)
	}
	return file.Bytes()
}

func TestReplayIsIdentical(t *testing.T) {
	for _, body := range []string{"sim", "emulated"} {
		c, err := halyard.Load("so101", halyard.Set("agents[0].body", body))
		if err != nil {
			t.Fatal(err)
		}
		file := recorded(t, c, 300)
		got, err := halyard.Replay(bytes.NewReader(file), halyard.ReplayOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes, %d cycles", body, len(file), got.Cycles)
		if got.Cycles != 300 || got.Different != 0 || len(got.Divergences) > 0 || got.Cut != "" {
			t.Errorf("%s: got %d cycles, %d different, %+v, cut %q, want 300 identical", body, got.Cycles, got.Different, got.Divergences, got.Cut)
		}
	}
}

func TestReplayRealtime(t *testing.T) {
	c, err := halyard.Load("so101", halyard.Set("agents[0].body", "emulated"), halyard.Set("clock.mode", "realtime"), halyard.Set("servers", "[]"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := halyard.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var file bytes.Buffer
	r, err := s.Record(&file)
	if err != nil {
		t.Fatal(err)
	}
	s.Arm()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	n := 0.0
	stop := s.OnCycle(func(*hal.Cycle) {})
	defer stop()
	go func() {
		a := s.Agents()[0]
		for ctx.Err() == nil {
			n++
			a.Command(a.Joints()[0], halyard.Position(0.4*math.Sin(n/20)))
			time.Sleep(3 * time.Millisecond)
		}
	}()
	if err := s.Run(ctx); err != nil {
		t.Fatal(err)
	}
	stats, err := r.Stop()
	t.Log(stats, err, file.Len())
	got, err := halyard.Replay(bytes.NewReader(file.Bytes()), halyard.ReplayOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d cycles, %d different, %.2000v", got.Cycles, got.Different, got.Divergences)
}

// TestRecordRing keeps what was before a stop, by the config alone.
func TestRecordRing(t *testing.T) {
	dir := t.TempDir()
	c, err := halyard.Load("so101", halyard.Set("record.file", filepath.Join(dir, "run.mcap")), halyard.Set("record.ring", "1s"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := halyard.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 500 {
		if i == 250 {
			s.Stop("test")
		}
		if err := s.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if saved, _ := filepath.Glob(filepath.Join(dir, "run-saved-*.mcap")); len(saved) != 2 {
		t.Errorf("got %v, want two files that were saved", saved)
	}
}

// BenchmarkStep is a cycle of the humanoid, alone and recorded with its lines; in lock-step it waits for the writer too, so that what
// it shows is the most that a recording may cost.
func BenchmarkStep(b *testing.B) {
	for _, body := range []string{"sim", "emulated"} {
		for _, recorded := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/recorded=%t", body, recorded), func(b *testing.B) {
				c, err := halyard.Load("a-series", halyard.Set("agents[0].body", body), halyard.Set("clock.period", "1ms"), halyard.Set("servers", "[]"))
				if err != nil {
					b.Fatal(err)
				}
				s, err := halyard.Open(c)
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				if recorded {
					r, err := s.Record(io.Discard)
					if err != nil {
						b.Fatal(err)
					}
					defer r.Stop()
				}
				b.ReportAllocs()
				for b.Loop() {
					if err := s.Step(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
