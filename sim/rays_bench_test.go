package sim

import (
	"fmt"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/model"
)

// A cycle of 10 ms of so many P2AT in the yellow arena, all sensors at work. The bound is real time on one core; what
// is reported is the share of it that is used.
func BenchmarkArena(b *testing.B) {
	for _, n := range []int{1, 4, 16} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := arena("yellow")
			frames := make([]*hal.Frame, n)
			bodies := make([]*Body, n)
			for i := range n {
				m, err := model.Load("usarsim-p2at")
				if err != nil {
					b.Fatal(err)
				}
				at := hal.Pose{Position: [3]float64{0.9 + 1.2*float64(i%8), -0.7 - 1.2*float64(i/8), -1.82}}
				if bodies[i], err = s.Add(fmt.Sprint("r", i), m, at); err != nil {
					b.Fatal(err)
				}
				frames[i] = hal.NewFrame(bodies[i].Layout())
				for k := range frames[i].Enable {
					frames[i].Enable[k] = true
				}
				for k := range 4 {
					frames[i].Inputs[bodies[i].Layout().Actuators[k].Goal[hal.VelocityMode]] = float64(2*(k%2)) - 0.5
				}
			}
			for b.Loop() {
				for i := range bodies {
					bodies[i].Write(frames[i])
				}
				if err := s.Advance(cycle); err != nil {
					b.Fatal(err)
				}
				for i := range bodies {
					bodies[i].Read(frames[i])
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/cycle.Seconds(), "of-real-time")
		})
	}
}
