package assembly_test

import (
	"log/slog"
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/rigtest"
)

// The humanoid's accelerometer boards read gravity while it stands, simulated and on emulated servos, whose physics is
// the same.
func TestBoardsReadGravity(t *testing.T) {
	for _, body := range []string{"sim", "emulated"} {
		t.Run(body, func(t *testing.T) {
			sys, err := assembly.Build(rigtest.PlanOf(t, "a-series", configs.Options{Body: body}),
				slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			defer sys.Close()
			agent := sys.Rig.Agents()[0]
			party := sys.Rig.NewSession("test", nil)
			lease, err := party.Acquire(agent)
			if err != nil {
				t.Fatal(err)
			}
			l := agent.Layout()
			inputs := make([]float64, len(l.Inputs))
			for i := range inputs {
				inputs[i] = math.NaN()
			}
			for i := range l.Actuators {
				inputs[l.Actuators[i].Goal[hal.PositionMode]] = l.Actuators[i].Default
			}
			for range 100 {
				if err := party.Step(lease, inputs); err != nil {
					t.Fatal(err)
				}
			}
			measured, boards := agent.Measured(nil), 0
			for _, s := range l.Sensors {
				if s.Kind != "accelerometer" {
					continue
				}
				boards++
				if ahead, up := measured[s.First], measured[s.First+1]; math.Abs(ahead) > 0.2 ||
					math.Abs(up-9.81) > 0.2 {
					t.Errorf("%s: got %.3f ahead and %.3f up, want 0 and 9.81 m/s²", s.Name, ahead, up)
				}
			}
			if boards != 8 {
				t.Errorf("got %d boards, want 8", boards)
			}
		})
	}
}
