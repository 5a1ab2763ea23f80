// Package hydro computes the forces of water on a vehicle of package dynamics: buoyancy of the submerged part, added mass,
// drag, currents and propeller thrust.
//
//	v, err := hydro.Load("bluerov2-heavy")
//	spec.Bodies = append(spec.Bodies, v.Body())        // and v.Geoms(b), v.Cameras(b)
//	craft := hydro.New(v, b)
//	sys.Before = func(s *dynamics.System, h float64) { craft.Act(s, &sea, h) }
//	craft.Input[i] = 0.4                               // -1..1 of thruster i, kept until it is changed
//
// Vehicles are data: a YAML file each, read strictly, two of them built in. Lengths are metres in the vehicle's frame,
// x forward, y left, z up, whose origin is the designer's.
//
// # What is reckoned
//
// Buoyancy acts on each element of the volume by its share under the surface: a swimming vehicle finds its draught and
// its trim, and rights itself when it is whole under water by the way from its centre of mass to that of buoyancy. Drag
// and added mass fade with the share of the volume that is under water, and a thruster with that of its propeller. What
// the body takes along when it enters the water is taken from its momentum (T. von Kármán, NACA TN 321, 1929).
//
// Thrust follows the curve of the thruster over the pulse of its speed controller, scaled by the supply. Its root, which
// goes with the speed of the propeller, follows with a first-order lag.
//
// Left out are waves, the water's flow about the bodies, propeller torque, and thrust lost at speed.
//
// # The same bits
//
// A step depends on nothing but the State of the system and that of the craft. Products are rounded before they are
// added, functions come from package exact, and nothing is allocated.
package hydro
