// Package dynamics is a multibody engine in reduced coordinates: trees of rigid bodies with joints, motors, contacts,
// stops, dry friction and loops.
//
//	sys := dynamics.NewSystem(model)   // allocates all memory; a step does not allocate
//	sys.Tau[i] = torque                // commands, kept until they are changed
//	err := sys.Step(0.001)             // *Diverged: the step was reverted
//	pose := sys.Pose(body)
//
// # Conventions
//
// SI units. The world is right-handed, z up. Quaternions are w, x, y, z. The pose of a body is that of its link frame.
// A joint's coordinates are in State.Q from Joint.Q on, its velocities in State.V from Joint.V on:
//
//	kind   Q                                    V
//	Free   position, quaternion (7)             velocity of the origin, angular velocity, both in world axes (6)
//	Ball   quaternion, child in parent (4)      angular velocity relative to the parent, in the axes the child has at rest (3)
//	Hinge  angle, right hand about the axis (1) rad/s
//	Slide  distance along the axis (1)          m/s
//	Weld   none                                 none: the bodies become one link when the model is built
//
// # Algorithms
//
// Spatial vectors are in world axes about one reference point a tree (the anchor of its root joint), so composite
// inertias are sums of ten numbers. Bias forces come from RNEA, the mass matrix from CRBA with entries for ancestors
// only, its factor from LTDL in place, without fill-in: R. Featherstone, Rigid Body Dynamics Algorithms (2008),
// sections 5.3, 6.2 and 6.4. Deep trees without a constraint in this step use the articulated-body recursion instead
// (section 7.3), which gives the same values to rounding. Constraints are soft as in E. Todorov, "Convex and
// analytically-invertible dynamics with contacts and constraints", ICRA 2014. They are solved by block Gauss-Seidel
// from the forces of the previous step, see solve.go. Between the sweeps of small islands there are Newton steps on the
// roles of contacts (open, holding, sliding), see leap.go. Each island of trees connected by constraints is solved
// independently: see island.go. Loose things at rest sleep, if the spec allows it: see sleep.go.
//
// # Water
//
// A body with Added inertia is in water. Its added mass and its drag are both inside the mass matrix: see Water. Trees
// without such a body are computed as if there were none.
//
// # The same bits
//
// A step is a pure function of State: no goroutines, no maps, no random numbers, and no product is fused with a sum,
// so every machine, every run and every restored state gives the same bits.
package dynamics
