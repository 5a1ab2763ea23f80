// Package autopilot implements control laws for any body: Okon's PIDs, mixer, and manual, acro and stable modes with
// depth hold. A Pilot is the hal.Autopilot of an agent; its layout must have thrusters and an attitude sensor:
//
//	imu, pressure, pose ─► Estimate ─► Law at 50 Hz: mode, targets, PIDs ─► Mixer ─► duty of each thruster, -1..1
//
// # Axes
//
// All values are in hal's axes: a body's x points forward, y left, z up, the world's z up. Turns are right-handed: a
// positive roll lowers the right side, a positive pitch the nose, and a positive yaw turns left. Angles are radians,
// rates rad/s, depths metres, downwards.
//
// # Laws
//
// They are those of knr-auv/simulation (RobotController.cs and PID.cs, 2021-11), which use Unity's left-handed axes.
// With t the target attitude, q the present one, and w the rates about the body's axes:
//
//	turn    = vector part of conj(q)·t, the shorter way   half the remaining turn, about the body's axes
//	stable  : roll, pitch, yaw = PID of 50·turn + w       heave = PID of depth - target, off where the target is 0
//	acro    : roll, pitch, yaw = PID of target - w        no heave
//	manual  : the duties as given, and no mixer
//
// The rate in the stable law has the sign of the original. It accelerates, although one expects it to damp; the damping
// comes from the derivative of 50·turn. The original's acro mode has a wrong sign and diverges from its target (its
// document lists it as not working); here the sign is correct.
//
// The heave pushes along the world's vertical, in every attitude: the mixer distributes it to the thrusters.
package autopilot
