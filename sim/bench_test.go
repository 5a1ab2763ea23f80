package sim

import (
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/model"
)

// BenchmarkStanding is a cycle of 10 ms of the humanoid that holds its default pose, in the steps that it needs: of all
// that a robot does the most frequent. Kept awake it is solved in full; else it sleeps as soon as it stands still.
func BenchmarkStanding(b *testing.B) {
	m, err := model.Load("a-series")
	if err != nil {
		b.Fatal(err)
	}
	for _, awake := range []bool{true, false} {
		name := "asleep"
		if awake {
			name = "awake"
		}
		b.Run(name, func(b *testing.B) {
			r := &rig{Scene: NewScene(SceneConfig{Seed: 1, Substep: Need([]*model.Robot{m})}), t: b}
			if r.body, err = r.Add("robot", m, hal.Pose{}); err != nil {
				b.Fatal(err)
			}
			r.frame = hal.NewFrame(r.body.Layout())
			r.enable(true)
			for i := range r.body.Layout().Actuators {
				a := &r.body.Layout().Actuators[i]
				r.frame.Inputs[a.Goal[hal.PositionMode]] = a.Default
			}
			r.cycle(200)
			b.ReportAllocs()
			for b.Loop() {
				if awake {
					r.system.Moved()
				}
				r.cycle(1)
			}
			b.ReportMetric(float64(r.system.Sweeps()), "sweeps")
		})
	}
}

// BenchmarkScene is a cycle of 10 ms of a whole scene, with the commands and their effects. The value to read is
// x-real, the simulated time by the time that it takes; its bound is 1, below which no controller can be served in real
// time. Simloid's robots make one step of 10 ms as the original did, the humanoid ten of 1 ms.
func BenchmarkScene(b *testing.B) {
	for _, c := range []stress{
		{robot: "simloid-31", scene: "flat"},
		{robot: "simloid-50", scene: "flat"},
		{robot: "a-series", scene: "flat"},
		{robot: "simloid-31", scene: "shaky"},
		{robot: "simloid-31", scene: "shaky", amid: true},
		{robot: "a-series", scene: "shaky"},
	} {
		name := c.robot + "/" + c.scene
		if c.amid {
			name += "/amid"
		}
		b.Run(name, func(b *testing.B) {
			r := newStress(b, c)
			for range 300 { // stones fall, and come to rest
				r.cycle(1)
			}
			k := 0
			b.ReportAllocs()
			for b.Loop() {
				r.wave(k)
				r.cycle(1)
				k++
			}
			b.ReportMetric(float64(b.N)*period.Seconds()/b.Elapsed().Seconds(), "x-real")
		})
	}
}
