package peers

import (
	"math"

	"github.com/halyard-robotics/halyard/internal/sim/exact"
	"github.com/halyard-robotics/halyard/sim/collide"
	"github.com/halyard-robotics/halyard/sim/dynamics"
)

// footRadius is that of the quad's feet, m.
const footRadius = 0.02

// Quad returns the model of a four-legged robot: 13 bodies, 12 hinges, 18 degrees of freedom, 5.2 kg, spheres for
// feet, on the plane z = 0. Body 0 is the torso; then, for the legs FL, FR, HL and HR, hip, upper and lower leg.
func Quad() dynamics.Spec {
	rough := collide.Material{Friction: 0.8}
	spec := dynamics.Spec{
		Bodies: []dynamics.Body{{
			Name: "torso", Parent: dynamics.World, Position: [3]float64{0, 0, 0.42},
			Joint: dynamics.Joint{Kind: dynamics.Free},
			Mass:  3, Inertia: box(3, 0.3, 0.2, 0.1),
		}},
		Geoms: []collide.Geom{
			{Shape: collide.Shape{Kind: collide.Plane}, Material: rough, Body: dynamics.World,
				Local: collide.Identity(), Group: 1, Mask: 2},
			{Shape: collide.Shape{Kind: collide.Box, Half: [3]float64{0.15, 0.1, 0.05}}, Material: rough, Body: 0,
				Local: collide.Identity(), Group: 2, Mask: 1},
		},
		Options: dynamics.Options{Gravity: [3]float64{0, 0, -9.81}},
	}
	for _, leg := range [...]struct {
		name string
		x, y float64
	}{{"fl", 0.15, 0.1}, {"fr", 0.15, -0.1}, {"hl", -0.15, 0.1}, {"hr", -0.15, -0.1}} {
		n := len(spec.Bodies)
		hinge := func(x, y float64) dynamics.Joint {
			return dynamics.Joint{Kind: dynamics.Hinge, Axis: [3]float64{x, y, 0}}
		}
		half := [3]float64{0, 0, -0.075}
		spec.Bodies = append(spec.Bodies,
			dynamics.Body{Name: leg.name + "_hip", Parent: 0, Position: [3]float64{leg.x, leg.y, 0}, Joint: hinge(1, 0),
				Mass: 0.15, Inertia: box(0.15, 0.05, 0.05, 0.05)},
			dynamics.Body{Name: leg.name + "_upper", Parent: n, Joint: hinge(0, 1),
				Mass: 0.25, COM: half, Inertia: box(0.25, 0.03, 0.03, 0.15)},
			dynamics.Body{Name: leg.name + "_lower", Parent: n + 1, Position: [3]float64{0, 0, -0.15},
				Joint: hinge(0, 1),
				Mass:  0.15, COM: half, Inertia: box(0.15, 0.02, 0.02, 0.15)})
		spec.Geoms = append(spec.Geoms, collide.Geom{
			Shape: collide.Shape{Kind: collide.Sphere, Radius: footRadius}, Material: rough, Body: n + 2,
			Local: collide.At(0, 0, -0.15), Group: 2, Mask: 1,
		})
	}
	return spec
}

// Squat is the control law of the quad, for System.Before: explicit PD towards a squat at 1.5 Hz, at most 6 N·m.
func Squat(s *dynamics.System, _ float64) {
	t := s.Time
	wave := float64(0.2 * exact.Sin(float64(2*math.Pi*1.5*t)))
	rise := math.Min(1, t/0.5)
	goals := [3]float64{0, rise * (0.5 + wave), rise * (-1 - float64(2*wave))}
	for i := range 12 {
		tau := float64(20*(goals[i%3]-s.Q[7+i])) - float64(0.3*s.V[6+i])
		s.Tau[6+i] = math.Max(-6, math.Min(6, tau))
	}
}
