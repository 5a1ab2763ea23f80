// Package dynamics is a multibody engine in reduced coordinates: trees of rigid bodies with joints, motors, contacts,
// stops, dry friction and loops.
//
//	sys := dynamics.NewSystem(model)   // everything is sized here; a step allocates nothing
//	sys.Tau[i] = torque                // commands, kept until they are changed
//	err := sys.Step(0.001)             // *Diverged: the step was reverted
//	pose := sys.Pose(body)
//
// # Conventions
//
// SI units. The world is right-handed, z up. Quaternions are w, x, y, z. The pose of a body is that of its link frame.
// A joint's coordinates stand in State.Q from Joint.Q on, its velocities in State.V from Joint.V on:
//
//	kind   Q                                    V
//	Free   position, quaternion (7)             velocity of the origin, angular velocity, both in world axes (6)
//	Ball   quaternion, child in parent (4)      angular velocity relative to the parent, in the axes the child has at rest (3)
//	Hinge  angle, right hand about the axis (1) rad/s
//	Slide  way along the axis (1)               m/s
//	Weld   none                                 none: the bodies are made one when the model is built
//
// # Algorithms
//
// Spatial vectors are in world axes about one reference point a tree (the anchor of its root joint), so composite
// inertias are sums of ten numbers. Bias forces come from RNEA, the mass matrix from CRBA with entries for ancestors
// only, its factor from LTDL in place, without fill-in: R. Featherstone, Rigid Body Dynamics Algorithms (2008),
// sections 5.3, 6.2 and 6.4. Trees that are deep and without constraint in this step use the articulated-body
// recursion instead (section 7.3), which gives the same numbers to rounding. Constraints are soft as in E. Todorov,
// "Convex and analytically-invertible dynamics with contacts and constraints", ICRA 2014, and solved by block
// Gauss-Seidel from the forces of the step before, see solve.go, with Newton steps on what holds, slides or opens between
// the sweeps of small islands, see leap.go.
// Each island of trees that constraints join is solved for itself: see island.go. Loose things that lie still are left
// alone, where the spec allows it: see sleep.go.
//
// # Water
//
// A body with Added inertia is in water, which it takes along and which brakes it, both inside the mass matrix: see Water.
// Trees without such a body are reckoned as if there were none.
//
// # The same bits
//
// A step is a pure function of State: no goroutines, no maps, no random numbers, and no product is fused with a sum,
// so every machine, every run and every restored state gives the same bits.
package dynamics
