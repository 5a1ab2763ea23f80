package hydro

import (
	"slices"

	"github.com/halyard-robotics/halyard/internal/sim/camera"
	"github.com/halyard-robotics/halyard/sim/collide"
	"github.com/halyard-robotics/halyard/sim/dynamics"
)

// Vehicle is an underwater vehicle as data. It does not change after Parse.
type Vehicle struct {
	Name, Title string

	Mass    float64    // kg, without the water in it
	COM     [3]float64 // m
	Inertia [9]float64 // kg·m², about the COM, row by row
	Added   [6][6]float64

	Hull      Hull
	Drag      Drag
	Thrusters []Thruster
	Curve     Curve   // of all thrusters
	Lag       float64 // s, of a propeller's speed; 0 = none
	Propeller float64 // m across; 0: a thruster works as soon as its middle is under water
	Supply    Supply

	shapes  []collide.Geom
	cameras []camera.Camera
}

// Hull is the volume that displaces water.
type Hull struct {
	Volume float64    // m³
	Centre [3]float64 // m, of buoyancy, when all of it is under water
	// Box, m, is where the volume lies, evenly and about the centre, in Cells elements along x, y, z: an open frame has
	// more box than volume. Ramp, m, takes its place where it is above 0: buoyancy then grows evenly from the centre's
	// passing the surface to this depth, while drag and thrust are there as soon as they are under it.
	Box   [3]float64
	Cells [3]int
	Ramp  float64
}

// Drag brakes along x, y, z, N, and about them, N·m, by the velocity through the water at a point.
type Drag struct {
	At                [3]float64 // m
	Linear, Quadratic [6]float64 // N·s/m, N·m·s; N·s²/m², N·m·s²
	// Greater takes the greater of the two laws, by the length of the velocity, in place of their sum by axis.
	Greater bool
}

// Thruster is a propeller on an axis.
type Thruster struct {
	Name      string
	At        [3]float64 // m
	Direction [3]float64 // unit; where the vehicle is pushed at positive thrust
}

// Supply is how thrust follows the supply's voltage: by (V/Volts) to the power Exponent.
type Supply struct{ Volts, Exponent float64 }

// Body is the vehicle as a free body at the world's origin.
func (v *Vehicle) Body() dynamics.Body {
	added := v.Added
	return dynamics.Body{
		Name: v.Name, Parent: dynamics.World, Joint: dynamics.Joint{Kind: dynamics.Free},
		Mass: v.Mass, COM: v.COM, Inertia: v.Inertia, Added: &added,
	}
}

// Geoms are the vehicle's solids as those of body b.
func (v *Vehicle) Geoms(b int) []collide.Geom {
	geoms := slices.Clone(v.shapes)
	for i := range geoms {
		geoms[i].Body = b
	}
	return geoms
}

// Cameras are the vehicle's cameras on body b.
func (v *Vehicle) Cameras(b int) []camera.Camera {
	cameras := slices.Clone(v.cameras)
	for i := range cameras {
		cameras[i].Body = b
	}
	return cameras
}

// Resize sets how large the pictures of camera i are, pixels; how far it sees to the sides stays.
func (v *Vehicle) Resize(i, width, height int) {
	v.cameras[i].Width, v.cameras[i].Height = width, height
}

// Thruster returns the index of the thruster called name, or -1.
func (v *Vehicle) Thruster(name string) int {
	return slices.IndexFunc(v.Thrusters, func(t Thruster) bool { return t.Name == name })
}
