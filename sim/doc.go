// Package sim implements the simulated Body: robots of sim/model in one Scene, which is their World.
//
// The rig's cycle calls a Scene: Body.Write passes commands to the simulated servos, Scene.Advance advances time,
// Body.Read returns the result. Everything runs in the caller's goroutine, in the order in which robots were added;
// the same seed and the same inputs give the same bits on every machine. A joint may be driven from outside instead, by
// an emulated device that writes the same servo from its registers (sim/emulator).
//
// All robots that have bodies, what they stand on and what lies about make one system of sim/dynamics. In each of its
// steps a servo of sim/actuator describes what its motor and its gear do to its joint, and receives where that went:
//
//	Joint.drive: Servo.Couple ──torque, damping, friction──► System.Step ──position, velocity──► Joint.finishSubstep: Servo.Moved
//
// Loose things that lie still sleep until something moves them, so that a scene of two hundred stones costs what moves.
//
// A robot without bodies is joints alone: each servo moves the load that the file gives it and feels no other.
//
// Underwater vehicles of sim/hydro are bodies of that system too (vehicle.go): before each step the scene's water, which
// no robot feels, and their thrusters act on them. Where they are on the scene's course is found at the end of each
// Advance (course.go); what their cameras see is rendered in its own goroutine, for who watches (view.go). Who makes a Scene
// with vehicles closes it.
//
// Simloid's robots have motors of their own (motor.go), which do what the original's did, to its recordings.
package sim
