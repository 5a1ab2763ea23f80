// Package hydro computes the forces of water on a vehicle of package dynamics: buoyancy of the submerged part, added
// mass, drag, currents and propeller thrust.
//
//	v, err := hydro.Load("bluerov2-heavy")
//	spec.Bodies = append(spec.Bodies, v.Body())        // and v.Geoms(b), v.Cameras(b)
//	craft := hydro.New(v, b)
//	sys.Before = func(s *dynamics.System, h float64) { craft.Act(s, &sea, h) }
//	craft.Input[i] = 0.4                               // -1..1 of thruster i, kept until it is changed
//
// Vehicles are data: a YAML file each, read strictly, two of them built in. Lengths are metres in the vehicle's frame,
// x forward, y left, z up; the designer chooses its origin.
//
// # Model
//
// Buoyancy acts on each element of the volume by its submerged share: a floating vehicle finds its draught and its
// trim. A submerged one rights itself by the distance between its centres of mass and buoyancy. Drag and added mass
// scale with the submerged share of the volume, and a thruster with that of its propeller. On entry the momentum of the
// added water mass is subtracted from the body's (T. von Kármán, NACA TN 321, 1929).
//
// Thrust follows the curve of the thruster over the pulse of its speed controller, scaled by the supply. Its root,
// which is proportional to the propeller's speed, follows with a first-order lag.
//
// Not modelled are waves, the water's flow about the bodies, propeller torque, and thrust lost at speed.
//
// # The same bits
//
// A step depends only on the State of the system and that of the craft. Products are rounded before they are added,
// functions come from package exact, and no memory is allocated.
package hydro
