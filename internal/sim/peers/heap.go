package peers

import (
	"github.com/halyard-robotics/halyard/internal/sim/exact"
	"github.com/halyard-robotics/halyard/sim/collide"
	"github.com/halyard-robotics/halyard/sim/dynamics"
)

// crate is half the size of a box of the heap, m.
var crate = [3]float64{0.1, 0.075, 0.05}

// heapBoxes is how many there are.
const heapBoxes = 50

// Heap returns the model of 50 loose boxes of 1 kg, 0.2 x 0.15 x 0.1 m, that fall on the plane z = 0 and on each other:
// ten layers of five, 0.25 m apart. Box i is 0.18 m off the middle, in the direction of 2.4 i rad, and tilted by half a
// radian about a horizontal axis in the direction of i rad.
func Heap() dynamics.Spec {
	rough := collide.Material{Friction: 0.6}
	spec := dynamics.Spec{
		Geoms: []collide.Geom{
			{Shape: collide.Shape{Kind: collide.Plane}, Material: rough, Body: dynamics.World,
				Local: collide.Identity()},
		},
		Options: dynamics.Options{Gravity: [3]float64{0, 0, -9.81}},
	}
	for i := range heapBoxes {
		n := float64(i)
		sin, cos := exact.Sin(2.4*n), exact.Cos(2.4*n)
		lean, upright := exact.Sin(0.25), exact.Cos(0.25)
		spec.Bodies = append(spec.Bodies, dynamics.Body{
			Parent: dynamics.World, Joint: dynamics.Joint{Kind: dynamics.Free},
			Position: [3]float64{0.18 * cos, 0.18 * sin, 0.15 + 0.25*float64(i/5)},
			Rotation: [4]float64{upright, lean * exact.Cos(n), lean * exact.Sin(n), 0},
			Mass:     1, Inertia: box(1, 2*crate[0], 2*crate[1], 2*crate[2]),
		})
		spec.Geoms = append(spec.Geoms, collide.Geom{
			Shape: collide.Shape{Kind: collide.Box, Half: crate}, Material: rough, Body: i, Local: collide.Identity(),
		})
	}
	return spec
}
