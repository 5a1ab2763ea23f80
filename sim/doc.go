// Package sim implements the simulated Body: robots of sim/model in one Scene, which is their World.
//
// The rig's cycle calls a Scene: Body.Write passes commands to the simulated servos, Scene.Advance advances time,
// Body.Read returns the result. Everything runs in the caller's goroutine, in the order in which robots were added;
// the same seed and the same inputs give the same bits on every machine. A joint may be driven from outside instead, by
// an emulated device that writes the same servo from its registers (sim/emulator).
//
// All robots with bodies, the ground and loose things form one system of sim/dynamics. In each step a servo of
// sim/actuator gives the torque of its motor and gear on its joint, and receives the resulting motion:
//
//	Joint.drive: Servo.Couple ──torque, damping, friction──► System.Step ──position, velocity──► Joint.finishSubstep: Servo.Moved
//
// Loose things at rest sleep until another body moves them, so a scene of two hundred stones costs only its moving
// bodies.
//
// A robot without bodies consists only of joints: each servo moves the load given in the file, independent of the
// others.
//
// Underwater vehicles of sim/hydro are bodies of that system too (vehicle.go). Before each step the scene's water,
// which has no effect on robots, and their thrusters act on them. Their progress on the scene's course is computed at
// the end of each Advance (course.go). The pictures of their cameras are rendered in another goroutine, for viewers
// (view.go). The caller must Close a Scene with vehicles.
//
// Simloid's robots have their own motor model (motor.go), which reproduces the recordings of the original.
package sim
