package peers

import "github.com/halyard-robotics/halyard/sim/dynamics"

// box returns the inertia of a solid box about its centre, kg·m².
func box(mass, x, y, z float64) [9]float64 {
	k := mass / 12
	x, y, z = float64(x*x), float64(y*y), float64(z*z)
	return [9]float64{0: k * (y + z), 4: k * (x + z), 8: k * (x + y)}
}

// linkLength is that of a link of the chain, m.
const linkLength = 0.2

// Chain returns the model of n equal links, 0.2 m and 1 kg each, joined by hinges about y, the first to the world at
// the origin. At angle 0 they are along x; link frames are at the centres of mass. There is no collision.
func Chain(n int) dynamics.Spec {
	spec := dynamics.Spec{Options: dynamics.Options{Gravity: [3]float64{0, 0, -9.81}}}
	for i := range n {
		b := dynamics.Body{
			Parent: i - 1, Position: [3]float64{linkLength, 0, 0},
			Joint: dynamics.Joint{Kind: dynamics.Hinge, Anchor: [3]float64{-linkLength / 2, 0, 0},
				Axis: [3]float64{0, 1, 0}},
			Mass: 1, Inertia: box(1, linkLength, 0.04, 0.04),
		}
		if i == 0 {
			b.Position = [3]float64{linkLength / 2, 0, 0}
		}
		spec.Bodies = append(spec.Bodies, b)
	}
	return spec
}
