package halyard_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/hal"
)

// A reset of an emulated robot in lock-step is a new power-on: no joint takes its jump for a fault, whatever was
// commanded, and the joints follow again.
func TestEmulatedResets(t *testing.T) {
	for _, config := range []string{"so101", "a-series", "rov", "hobby-hexapod"} {
		t.Run(config, func(t *testing.T) {
			cfg, err := halyard.Load(config, halyard.Set("agents[0].body", "emulated"),
				halyard.Set("clock.mode", "lockstep"))
			if err != nil {
				t.Fatal(err)
			}
			sys, err := halyard.Open(cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer sys.Close()
			rig := sys.Rig()
			a := rig.Agents()[0]
			session := rig.NewSession("test", nil)
			defer session.Close()
			l, err := session.Acquire(a)
			if err != nil {
				t.Fatal(err)
			}
			layout, inputs := a.Layout(), make([]float64, len(a.Layout().Inputs))
			var first []float64
			for n := range 40 {
				if err := session.Reset(l, 1); err != nil {
					t.Fatal(err)
				}
				if got := slices.Clone(l.Frame().Outputs); n == 0 {
					first = got
				} else if !same(first, got) {
					t.Fatalf("episode %d: got %v, want %v", n, got, first)
				}
				for k := range 20 + n%7 {
					for i := range inputs {
						inputs[i] = math.NaN()
					}
					for i := range layout.Actuators {
						if g := layout.Actuators[i].Goal[hal.PositionMode]; g != hal.None {
							inputs[g] = 0.3 * math.Sin(float64(k)*0.2+float64(i))
						}
					}
					if err := session.Step(l, inputs); err != nil {
						t.Fatal(err)
					}
				}
				for i := range layout.Actuators {
					if err := errors.Join(a.JointFault(i), l.Frame().Status[i].Err); err != nil {
						t.Fatalf("episode %d: %v", n, err)
					}
				}
			}
		})
	}
}

// Episodes of emulated copies that are reset give the same numbers each time.
func TestEmulatedBatchResets(t *testing.T) {
	b := batchOf(t, "so101", 3, halyard.Set("agents[0].body", "emulated"))
	var first []float64
	for n := range 20 {
		switch got := trace(t, b, 25); {
		case n == 0:
			first = got
		case !same(first, got):
			t.Fatalf("episode %d differs from the first", n)
		}
	}
}
