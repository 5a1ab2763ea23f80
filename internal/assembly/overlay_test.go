package assembly

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/sim"
	"github.com/halyard-robotics/halyard/sim/model"
)

// TestOverlay: a real scanner that sees a free room of 3 m sees a simulated wall at 1 m too, the rays are counted, a
// reading that stays does not keep a wall that is gone, and one that is lost is not laid over.
func TestOverlay(t *testing.T) {
	s := sim.NewScene(sim.SceneConfig{Scene: func(seed int64) (*model.Scene, error) {
		g, err := model.LoadScene("flat", seed)
		if err == nil {
			g.Fixed = append(g.Fixed, model.Shape{Kind: model.Box, Half: [3]float64{0.05, 0.5, 1},
				Pose: hal.Pose{Position: [3]float64{1.2, 0, 1}, Rotation: [4]float64{1, 0, 0, 0}}})
		}
		return g, err
	}})
	m, err := model.Load("usarsim-p2at")
	if err != nil {
		t.Fatal(err)
	}
	twin, err := s.Add("r", m, hal.Pose{Position: [3]float64{0, 0, 0.2}, Rotation: [4]float64{1, 0, 0, 0}})
	if err != nil {
		t.Fatal(err)
	}
	l := twin.Layout()
	i := slices.IndexFunc(l.Sensors, func(s hal.Sensor) bool { return s.Kind == "range" })
	x := l.Sensors[i]
	body := haltest.NewBodyOf(l)
	c := &configs.Agent{Robot: configs.Robot{Hardware: &configs.Hardware{
		Sensors: map[string]configs.Sensor{x.Name: {Overlay: "scene"}}}}}
	laid, err := overlay(&plan.AgentPlan{Config: c}, &measuring{body, 3, nil, i}, twin)
	if err != nil {
		t.Fatal(err)
	}
	f := hal.NewFrame(laid.Layout())
	read := func() (nearest float64, count float64) {
		t.Helper()
		if err := errors.Join(s.Advance(time.Second), laid.Read(f)); err != nil {
			t.Fatal(err)
		}
		f.Time += time.Second
		return slices.Min(f.Measured[x.First:][:x.Count]), f.Measured[len(f.Measured)-1]
	}
	if near, count := read(); !(near < 1.2) || count < 3 || count > float64(x.Count)/2 {
		t.Errorf("a simulated wall in front: got %.3f m, %g of %d rays", near, count, x.Count)
	}
	if err := s.Place("r", hal.Pose{Position: [3]float64{-50, 0, 0.2}, Rotation: [4]float64{1, 0, 0, 0}}); err != nil {
		t.Fatal(err)
	}
	laid.(*overlaid).Body.(*measuring).real = math.NaN() // no new reading: what was measured stays
	if near, count := read(); near != 3 || count != 0 {
		t.Errorf("far from it: got %.3f m, %g rays", near, count)
	}
	c.Hardware.Sensors = map[string]configs.Sensor{l.Sensors[0].Name: {Overlay: "scene"}}
	if l.Sensors[0].Kind != "range" && l.Sensors[0].Kind != "sonar" {
		if _, err := overlay(&plan.AgentPlan{Config: c}, body, twin); err == nil {
			t.Error("overlay of a sensor without rays: no error")
		}
	}
}

// measuring is a body whose sensor measures real, NaN = nothing new, on all rays.
type measuring struct {
	hal.Body
	real   float64
	err    error
	sensor int
}

func (m *measuring) Read(f *hal.Frame) error {
	l := m.Layout()
	for k := range l.Sensors[m.sensor].Count {
		if !math.IsNaN(m.real) {
			f.Measured[l.Sensors[m.sensor].First+k] = m.real
		}
	}
	f.Status[len(l.Actuators)+m.sensor] = hal.Status{Time: f.Time, Err: m.err}
	return nil
}
