package batch_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/batch"
)

// TestUnknown is what a step returns of lost joints, and of a rig whose joints follow no action.
func TestUnknown(t *testing.T) {
	lost := errors.New("no reply")
	for _, c := range []struct {
		name  string
		do    func(a *hal.Agent, b *haltest.Body, r *hal.Rig)
		known [2]bool
		want  string // the error of a step with actions; "" = none
	}{
		{"all known", func(*hal.Agent, *haltest.Body, *hal.Rig) {}, [2]bool{true, true}, ""},
		{"a lost joint", func(_ *hal.Agent, b *haltest.Body, _ *hal.Rig) { b.Silent[0] = lost }, [2]bool{false, true},
			""},
		{"all lost", func(_ *hal.Agent, b *haltest.Body, _ *hal.Rig) { b.Silent[0], b.Silent[1] = lost, lost },
			[2]bool{},
			"no joint follows its goals: x: no reply (try: halyard reset)"},
		{"disarmed", func(a *hal.Agent, _ *haltest.Body, _ *hal.Rig) { a.Disarm() }, [2]bool{true, true},
			"disarmed (try: halyard arm)"},
		{"stopped", func(_ *hal.Agent, _ *haltest.Body, r *hal.Rig) { r.EmergencyStop("test") }, [2]bool{true, true},
			"the emergency stop is latched (try: halyard reset)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := hal.New(hal.Config{Name: "test", Mode: hal.Lockstep, Period: 10 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			body := haltest.NewBody("x", "y")
			r.AddWorld(body)
			a, err := r.Add(hal.AgentConfig{Name: "arm", Body: body, World: body})
			if err != nil {
				t.Fatal(err)
			}
			l, err := batch.OpenLive(r, batch.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			c.do(a, body, r)
			seen, nothing := make([]float64, 2), []float64{math.NaN(), math.NaN()}
			for range 20 {
				if err := l.Step(t.Context(), nothing, seen); err != nil {
					t.Fatalf("a step without a command: got %v", err)
				}
			}
			err = l.Step(t.Context(), []float64{0.1, 0.1}, seen)
			if (err == nil) != (c.want == "") || err != nil && (hal.KindOf(err) != hal.Unsafe ||
				!strings.Contains(err.Error(), c.want)) {
				t.Errorf("step: got %v, want %q", err, c.want)
			}
			for i, known := range c.known {
				if math.IsNaN(seen[i]) == known {
					t.Errorf("observations: got %v, want known %v", seen, c.known)
				}
			}
		})
	}
}
