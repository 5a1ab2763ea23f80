package hal

import "time"

// Capabilities of some bodies or worlds. A session checks for one with a type assertion through the rig. If it is
// absent the session replies in its protocol's own terms; nothing moves.

// Resetter returns to its initial state at once and exactly; the same seed gives the same state, bit for bit.
// Seed 0 means "don't care" and gives the state of the seed before.
// Worlds are Resetters; in the room a body moves to its default pose instead.
type Resetter interface{ Reset(seed int64) error }

// Forgetter is a Bus of emulated devices. After a reset of their world Forget lets it begin as after power-on: what it
// read before says nothing of what it reads next. Real devices do not forget.
type Forgetter interface{ Forget() }

// Saver keeps one snapshot of itself and returns to it, bit for bit. Restore before Save returns to the initial state.
type Saver interface {
	Save() error
	Restore() error
}

// Follower lets a simulated actuator follow the measured motion of its real twin from the next Advance on:
// position in rad, velocity in rad/s. At the first call it is placed there, at rest. NaN releases it.
type Follower interface {
	Follow(actuator int, position, velocity float64)
}

// FrameFollower lets the frame of a simulated robot go to a pose in the world, evenly, in a time of an Advance or more.
// It pushes and is not pushed. At the first call it is placed there, at rest.
type FrameFollower interface {
	FollowFrame(p Pose, in time.Duration)
}

// TorqueReporter reports, before the first cycle, which actuators still have torque, when another program or the run
// before left them holding. The guard lets them go on holding where they are: cutting the torque would drop them.
type TorqueReporter interface{ Holding(actuator int) bool }

// Placer puts a body at a pose in the world.
type Placer interface {
	Place(agent string, p Pose) error
}

// Pusher applies a force (N, world axes) at a body's centre for the next step.
type Pusher interface {
	Push(agent, part string, force [3]float64) error
}

// Part names a body: of an agent or, where Agent is "", of the world. The world's Body "" is the ground and all else
// that never moves.
type Part struct{ Agent, Body string }

// Toucher reports which bodies touched during the last Advance. It looks for them from WatchTouches on, which any
// goroutine may call; only the cycle calls Touches, which reports each pair once.
type Toucher interface {
	WatchTouches()
	Touches(f func(a, b Part))
}

// GravitySetter sets the world's gravity, m/s².
type GravitySetter interface{ SetGravity(g [3]float64) error }

// ClockZeroer sets the world's own clock to zero.
type ClockZeroer interface{ ZeroClock() error }

// Spawner adds and removes agents between cycles; cmd supplies it.
type Spawner interface {
	Spawn(class, name string, at Pose) (*Agent, error)
	Remove(name string) error
}
