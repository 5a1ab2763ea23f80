package calibrate

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/commission"
)

// A person pushes a robot with a wrong odometry, measures its position to a millimetre, and gets the correction. A walk
// without motion and a malformed position are each asked again.
func TestWheelsSession(t *testing.T) {
	truth := calibration.Odometry{Distance: 1.03, Turn: 0.98, Curve: -0.01}
	var walks [][][2]float64
	for _, way := range []float64{0, 0, -1, 1} {
		var steps [][2]float64
		for range 4 {
			for range 50 {
				steps = append(steps, [2]float64{0.06, 0})
				if way == 0 {
					steps = append(steps, [2]float64{0.001, 0})
				}
			}
			for range 50 {
				steps = append(steps, [2]float64{0, way * math.Pi / 100})
			}
		}
		walks = append(walks, steps)
	}
	walks[0] = [][2]float64{{0.01, 0}}
	g, out := guide(t, t.TempDir(), "", configs.Options{Body: "emulated"})
	calls, asked := 0, false
	w := &watcher{out: out}
	w.answer = func(prompt string, _ float64) string {
		switch {
		case strings.Contains(prompt, "end after the last"):
			return "end"
		case !strings.Contains(prompt, "Where does it stand"):
			return ""
		case !asked:
			asked = true
			return "here"
		}
		walk := calibration.Walk{Steps: walks[(calls-1)/2]}
		x, y, _ := walk.End(truth)
		return fmt.Sprintf("%.3f %.3f", x, y)
	}
	g.In = commission.NewAsker(w)
	got, err := g.wheels(context.Background(), func() ([][2]float64, error) {
		calls++
		return walks[(calls-1)/2], nil
	})
	if err != nil || math.Abs(got.Distance-truth.Distance) > 0.001 || math.Abs(got.Turn-truth.Turn) > 0.001 ||
		math.Abs(got.Curve-truth.Curve) > 0.001 {
		t.Errorf("got %+v, %v, want %+v\n%s", got, err, truth, out)
	}
	for _, want := range []string{`got "here"`, "that is no walk", "odometry: {distance: 1.03"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got %s, want %q", out, want)
		}
	}
}

// The session reads the emulated base of a robot that is not pushed; a config without a base is refused.
func TestWheelsOfEmulated(t *testing.T) {
	g, out := guide(t, t.TempDir(), "\n0 0\n", configs.Options{Body: "emulated", Set: []string{"clock.mode=lockstep"}})
	g.Config = "p2at"
	if err := g.Wheels(context.Background()); err == nil || !strings.Contains(out.String(), "that is no walk") {
		t.Errorf("got %v and %s, want no walk, and the end of the input", err, out)
	}
	g.Config = "so101"
	if err := g.Wheels(context.Background()); hal.KindOf(err) != hal.Invalid {
		t.Errorf("got %v, want that there is no base", err)
	}
}
