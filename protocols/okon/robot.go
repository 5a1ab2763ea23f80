package okon

import (
	"errors"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/autopilot"
)

// Robot is the agent of a server and its surroundings. For a nil field the server answers as the protocol specifies for
// an absent item: no checkpoints, no pictures, an ERROR.
type Robot struct {
	Agent    *hal.Agent
	Pilot    *autopilot.Pilot // NewServer makes it the agent's autopilot
	Course   Course
	Placer   hal.Placer // for SET_ORIEN; it leaves the robot without speed
	Pictures *pictures  // shared with a VideoServer; its creator closes it after both servers
}

// Course is the course of a robot in its world: checkpoints and zones. Its methods are called between cycles, from one
// goroutine at a time, and must not call the rig.
type Course interface {
	// Checkpoints appends all of them to dst[:0], in the scene's order.
	Checkpoints(dst []Checkpoint) []Checkpoint
	// ActionPoints appends all of them to dst[:0], in the scene's order.
	ActionPoints(dst []ActionPoint) []ActionPoint
	// Hits appends the zones that the robot has entered since the last call to dst[:0]. It is called every cycle.
	Hits(dst []Hit) []Hit
	// Restart puts the robot into a start zone, without speed, and clears the checkpoints. Not called for a real robot.
	Restart() error
	// Clear clears the checkpoints.
	Clear()
}

// ActionPoint is a place where something can be done while the robot is in it.
type ActionPoint struct {
	ID     string
	Active bool
}

// Hit is a zone that the robot has entered.
type Hit struct {
	Finish bool // else a no-go zone
	ID     string
}

// validate returns the first fault of r.
func (r *Robot) validate() error {
	switch {
	case r.Agent == nil:
		return &hal.Error{Kind: hal.Invalid, Op: "okon", Err: errors.New("robot: no agent")}
	case r.Pilot == nil:
		return &hal.Error{Kind: hal.Invalid, Op: "okon: robot " + r.Agent.Name(),
			Err: errors.New("robot: no autopilot")}
	}
	return nil
}

// real reports whether the body is real, so that software cannot place it.
func (r *Robot) real() bool { return r.Agent.BodyKind() == hal.Real }
