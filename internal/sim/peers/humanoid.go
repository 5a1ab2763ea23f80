package peers

import (
	"math"

	"github.com/halyard-robotics/halyard/internal/sim/exact"
	"github.com/halyard-robotics/halyard/sim/collide"
	"github.com/halyard-robotics/halyard/sim/dynamics"
)

// segment is a box-shaped link of the humanoid that hangs from another by one hinge.
type segment struct {
	name   string
	parent int
	at     [3]float64 // of the hinge in the parent's frame, m
	axis   byte       // 'x', 'y' or 'z'
	mass   float64
	size   [3]float64 // m
	com    float64    // along z from the hinge, m
	x      float64    // of the centre of mass from the hinge, m
}

// Half the size of a foot, and how far its centre lies below the ankle and ahead of it, m.
var foot = [3]float64{0.11, 0.05, 0.02}

const (
	footBelow, footAhead = 0.04, 0.03

	// Upright, with the pelvis here, the soles are 1 mm above the floor, m.
	pelvisHeight = 0.30 + 0.30 + footBelow + 0.02 + 0.05 + 0.001
)

// limb appends the segments of a leg or an arm, of which each hangs from the one before.
func limb(list []segment, parent int, chain ...segment) []segment {
	for i, s := range chain {
		s.parent = parent
		if i > 0 {
			s.parent = len(list)
		}
		list = append(list, s)
	}
	return list
}

// segments lists the humanoid's links but for the pelvis, which is body 0.
func segments() []segment {
	small := [3]float64{0.06, 0.06, 0.06}
	list := limb(nil, 0,
		segment{name: "waist_yaw", at: [3]float64{0, 0, 0.06}, axis: 'z', mass: 0.5, size: small},
		segment{name: "waist_pitch", axis: 'y', mass: 6, size: [3]float64{0.14, 0.24, 0.30}, com: 0.16},
		segment{name: "neck_yaw", at: [3]float64{0, 0, 0.32}, axis: 'z', mass: 1, size: [3]float64{0.12, 0.12, 0.16},
			com: 0.09})
	for _, y := range [...]float64{1, -1} {
		list = limb(list, 2,
			segment{name: "shoulder_pitch", at: [3]float64{0, 0.16 * y, 0.28}, axis: 'y', mass: 0.4, size: small},
			segment{name: "shoulder_roll", axis: 'x', mass: 0.8, size: [3]float64{0.06, 0.06, 0.22}, com: -0.11},
			segment{name: "elbow_pitch", at: [3]float64{0, 0, -0.22}, axis: 'y', mass: 0.6,
				size: [3]float64{0.05, 0.05, 0.22}, com: -0.11})
	}
	for _, y := range [...]float64{1, -1} {
		list = limb(list, 0,
			segment{name: "hip_yaw", at: [3]float64{0, 0.08 * y, -0.05}, axis: 'z', mass: 0.4, size: small},
			segment{name: "hip_roll", axis: 'x', mass: 0.4, size: small},
			segment{name: "hip_pitch", axis: 'y', mass: 2, size: [3]float64{0.09, 0.09, 0.30}, com: -0.15},
			segment{name: "knee_pitch", at: [3]float64{0, 0, -0.30}, axis: 'y', mass: 1.2,
				size: [3]float64{0.07, 0.07, 0.30}, com: -0.15},
			segment{name: "ankle_pitch", at: [3]float64{0, 0, -0.30}, axis: 'y', mass: 0.3, size: small},
			segment{name: "ankle_roll", axis: 'x', mass: 0.8, size: [3]float64{2 * foot[0], 2 * foot[1], 2 * foot[2]},
				com: -footBelow, x: footAhead})
	}
	return list
}

// Humanoid returns the model of a biped: 22 bodies, 21 hinges, 27 degrees of freedom, 24.3 kg, with a box for each foot
// on the plane z = 0, so that it stands on eight corners. Body 0 is the pelvis; then waist and neck, the left arm, the
// right arm, the left leg, the right leg.
func Humanoid() dynamics.Spec {
	rough := collide.Material{Friction: 0.8}
	spec := dynamics.Spec{
		Bodies: []dynamics.Body{{
			Name: "pelvis", Parent: dynamics.World, Position: [3]float64{0, 0, pelvisHeight},
			Joint: dynamics.Joint{Kind: dynamics.Free}, Mass: 3, Inertia: box(3, 0.14, 0.20, 0.12),
		}},
		Geoms: []collide.Geom{
			{Shape: collide.Shape{Kind: collide.Plane}, Material: rough, Body: dynamics.World,
				Local: collide.Identity(), Group: 1, Mask: 2},
		},
		Options: dynamics.Options{Gravity: [3]float64{0, 0, -9.81}},
	}
	for i, s := range segments() {
		axis := [3]float64{}
		axis[s.axis-'x'] = 1
		spec.Bodies = append(spec.Bodies, dynamics.Body{
			Name: s.name, Parent: s.parent, Position: s.at, Joint: dynamics.Joint{Kind: dynamics.Hinge, Axis: axis},
			Mass: s.mass, COM: [3]float64{s.x, 0, s.com}, Inertia: box(s.mass, s.size[0], s.size[1], s.size[2]),
		})
		if s.name == "ankle_roll" {
			spec.Geoms = append(spec.Geoms, collide.Geom{
				Shape: collide.Shape{Kind: collide.Box, Half: foot}, Material: rough, Body: i + 1,
				Local: collide.At(footAhead, 0, -footBelow), Group: 2, Mask: 1,
			})
		}
	}
	return spec
}

// Stand is the control law of the humanoid, for System.Before: explicit PD that holds its joints, bends its knees by up
// to 0.2 rad in half a second and then by 0.1 rad more and less at 0.5 Hz, and swings its arms by 0.3 rad at 1 Hz. Legs
// and waist have 300 N·m/rad, 3 N·m·s/rad and 80 N·m at most, arms and neck a tenth.
func Stand(s *dynamics.System, _ float64) {
	t := s.Time
	bend := float64(math.Min(1, t/0.5) * (0.2 + float64(0.1*exact.Sin(float64(math.Pi*t)))))
	swing := float64(0.3 * exact.Sin(float64(2*math.Pi*t)))
	for i := range 21 {
		kp, kd, most, goal := 300.0, 3.0, 80.0, 0.0
		switch {
		case i >= 2 && i < 9: // neck and arms
			kp, kd, most = 30, 0.3, 8
			if i == 3 || i == 6 {
				goal = swing
				if i == 6 {
					goal = -swing
				}
			}
		case i >= 9:
			switch (i - 9) % 6 {
			case 2, 4:
				goal = -bend / 2
			case 3:
				goal = bend
			}
		}
		tau := float64(kp*(goal-s.Q[7+i])) - float64(kd*s.V[6+i])
		s.Tau[6+i] = math.Max(-most, math.Min(most, tau))
	}
}

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
