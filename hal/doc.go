// Package hal defines the robot interface of Halyard and runs its cycle. It imports only the standard library.
//
// A Layout describes the channels of a robot, a Frame holds their values of one cycle. A Body is a robot, simulated or
// real; a World advances time. An Agent is a Body under control: one client holds its Lease, and its Guard checks every
// command. A Rig runs all agents and worlds in one cycle:
//
//	controllers set inputs ─► autopilots ─► guards ─► every Body.Write ─► every Bus.Send ─► every World.Advance
//	        ▲                                                                                      │
//	        └────────────────────────── observers ◄── every Body.Read ◄── every Bus.Receive ◄──────┘
//
// In real time a cycle starts at each tick of the wall clock: a command that arrives between two ticks is executed at the
// second tick. In lock-step a cycle starts when every session has requested it.
//
// All quantities are in SI units, angles in radians, temperatures in °C. NaN in an input means "no command", NaN in a
// measured value "unknown".
package hal
