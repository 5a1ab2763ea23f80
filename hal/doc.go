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
// In real time a cycle starts at each tick of the wall clock: a command that arrives between two ticks is executed at
// the second tick. In lock-step a cycle starts when every session has requested it.
//
// # Locks
//
// A goroutine takes the locks of this package in this order only, at most one of a rank:
//
//  1. the turn: Rig.mu. Its holder is between two cycles, or runs one: it alone uses bodies, buses, worlds and frames. It is held for
//     as long as a cycle takes. Observers, stop inputs, values and BetweenCycles run in the turn.
//  2. Agent.mu: commands, guard, published measurements. It is held for a computation or a copy.
//  3. the leaves: Events, Values, Sink, Journal. They are held for a copy.
//
// Code of others is called with the turn or without a lock, never under rank 2 or 3: log records and journals are
// queues of values that another goroutine reads. The one exception is Autopilot.Disengage, which only sets a state.
// What runs in the turn must not wait for another goroutine that calls the rig.
//
// A stop takes no lock from its request to the bytes on the lines: it is latched, and the lines are found, by atomic
// values; the rest waits with a bound. A test build, whose locks allocate, checks this:
//
//	go test -tags lockcheck -skip 'Allocat|TestSocket' ./hal/... ./internal/record ./internal/batch ./protocols/...
//
// All quantities are in SI units, angles in radians, temperatures in °C. NaN in an input means "no command", NaN in a
// measured value "unknown".
package hal
