package bench

import "testing"

// TestBenchStop: each source stops an emulated arm; the last line's torque-off comes before the last acknowledgement,
// which comes no sooner than its bytes can pass.
func TestBenchStop(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	err := withStopRig(t.Context(), "so101", stopLoad{}, func(s *stopRig) error {
		for _, source := range stopSources() {
			f, err := s.measure(t.Context(), source, 2)
			if err != nil {
				t.Errorf("%s: %v", source, err)
				continue
			}
			cut, ack, bound := f.Get("cut_median_us"), f.Get("ack_median_us"), f.Get("bound_us")
			if source == "deadline" {
				cut, bound = 0, 0 // torque goes off as goals do: nothing is asked for it
			}
			if !(cut >= 0 && ack > cut && ack >= bound) || f.Get("stops") != 2 {
				t.Errorf("%s: got %v", source, f)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		return
	}
	for _, load := range []stopLoad{{lines: 2, dead: true}, {lines: 2, blocked: true, connections: 50, busy: 1}} {
		err := withStopRig(t.Context(), "", load, func(s *stopRig) error {
			_, err := s.measure(t.Context(), "control socket", 2)
			return err
		})
		if err != nil {
			t.Errorf("%v: %v", load, err)
		}
	}
}
