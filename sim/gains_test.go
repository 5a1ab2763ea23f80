package sim

import (
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/model"
)

// TestIdealGains: an ideal motor with gains is a spring and a damper up to its torque, and gives way by its load;
// without a command it keeps its own law.
func TestIdealGains(t *testing.T) {
	text := `name: nodder
supply: {volts: 12}
base: fixed
bodies:
- {name: head, position_m: [0, 0, 0.5], mass_kg: 1, inertia_kgm2: [1, 1, 1]}
- {name: arm, position_m: [0.2, 0, 0.5], mass_kg: 0.5, inertia_kgm2: [0.01, 0.01, 0.01]}
joints:
- {name: nod, motor: ideal, torque_nm: 8, speed_rads: 10, limits_deg: [-80, 80], parent: head, child: arm,
   anchor_m: [0, 0, 0.5], axis: [0, 1, 0]}
`
	m, err := model.Parse([]byte(text), "nodder.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m.Gains = true
	s := NewScene(SceneConfig{Seed: 1})
	b, err := s.Add("r", m, hal.Pose{})
	if err != nil {
		t.Fatal(err)
	}
	f := hal.NewFrame(b.Layout())
	a := &b.Layout().Actuators[0]
	f.Enable[0], f.Inputs[a.Goal[hal.PositionMode]] = true, 0
	run := func(kp, kd float64) float64 {
		f.Inputs[a.Gains[0].Input], f.Inputs[a.Gains[2].Input] = kp, kd
		for range 300 {
			b.Write(f)
			s.Advance(10e6)
			f.Time += 10e6
			b.Read(f)
		}
		return f.Measured[a.Position]
	}
	if own := run(math.NaN(), math.NaN()); math.Abs(own) > 0.02 {
		t.Errorf("its own law: got %.4f rad, want about 0", own)
	}
	load := 0.5 * 9.81 * 0.2
	for _, kp := range []float64{5, 20, 200} {
		at := run(kp, 0.5)
		if want := load * math.Cos(at) / kp; math.Abs(at-want) > 0.002 {
			t.Errorf("kp %g: got %.4f rad, want %.4f", kp, at, want)
		}
		if push := f.Measured[a.Torque]; math.Abs(push+load*math.Cos(at)) > 0.02 {
			t.Errorf("kp %g: got a torque of %.3f N m, want %.3f", kp, push, -load*math.Cos(at))
		}
	}
	if a.Gains[1].Input != hal.None {
		t.Error("ki: got an input, want none")
	}
}
