package record

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// cyclesIn are the first and last cycle of a recording, which must be whole.
func cyclesIn(t *testing.T, name string) (first, last uint64) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, err := NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for {
		m, err := d.Next()
		if err != nil {
			break
		}
		if TopicOf(m.Topic) == CycleTopic {
			c, err := ParseCycle(m.Data)
			if err != nil {
				t.Fatal(err)
			}
			if first == 0 {
				first = c.Number
			} else if c.Number != last+1 {
				t.Errorf("%s: got cycle %d after %d", name, c.Number, last)
			}
			last = c.Number
		}
	}
	if d.Cut != nil || d.Info.First != first {
		t.Errorf("%s: got cut %v, says it begins with %d, want %d", name, d.Cut, d.Info.First, first)
	}
	return first, last
}

// TestRing: of ten seconds in spans of two, the last two to four are there, and what was before and after a stop is
// kept.
func TestRing(t *testing.T) {
	r := rig(t, hal.Lockstep)
	dir := t.TempDir()
	name := filepath.Join(dir, "run.mcap")
	ring, err := NewRing(name, 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	ring.wall = func() time.Time { return time.Unix(1_700_000_000, 0) }
	rec, err := Start(r, nil, ring, info, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		if i == 450 || i == 500 { // the second one comes with the first
			r.EmergencyStop("test")
		}
		if err := r.ReplayCycle(0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := rec.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := ring.Close(); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string][2]uint64{"run.mcap": {951, 1000}, "run-before.mcap": {751, 950},
		"run-saved-20231114-221320.000-before.mcap": {200, 399}, "run-saved-20231114-221320.000.mcap": {400, 550}} {
		if first, last := cyclesIn(t, filepath.Join(dir, file)); first != want[0] || last != want[1] {
			t.Errorf("%s: got cycles %d..%d, want %d..%d", file, first, last, want[0], want[1])
		}
	}
	if all, _ := filepath.Glob(filepath.Join(dir, "*")); len(all) != 4 || len(ring.Saved) != 2 {
		t.Errorf("got %v, %v, want 4 files, two kept", all, ring.Saved)
	}
}
