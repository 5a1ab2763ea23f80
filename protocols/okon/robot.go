package okon

import (
	"errors"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/autopilot"
)

// Robot tells a server whose agent it serves and what there is around it. What is nil is answered as the protocol has it
// for nothing: no checkpoints, no pictures, an ERROR.
type Robot struct {
	Agent    *hal.Agent
	Pilot    *autopilot.Pilot // NewServer makes it the agent's autopilot
	Course   Course
	Placer   hal.Placer // for SET_ORIEN; it leaves the robot without speed
	Pictures *Pictures  // shared with a VideoServer; whoever made them closes them after both
}

// Course is what is to be done with a robot in its world. Its methods are called at the rig's edge, from one goroutine
// at a time, and must not call the rig.
type Course interface {
	// Checkpoints appends all of them to dst[:0], in the scene's order.
	Checkpoints(dst []Checkpoint) []Checkpoint
	// ActionPoints appends all of them to dst[:0], in the scene's order.
	ActionPoints(dst []ActionPoint) []ActionPoint
	// Hits appends the zones that the robot has come into since the last call to dst[:0]. It is called every cycle.
	Hits(dst []Hit) []Hit
	// Restart puts the robot into a start zone, without speed, and clears the checkpoints. Not called of a real robot.
	Restart() error
	// Clear clears the checkpoints.
	Clear()
}

// ActionPoint is a place where something can be done while the robot is in it.
type ActionPoint struct {
	ID     string
	Active bool
}

// Hit is a zone that the robot has come into.
type Hit struct {
	Finish bool // else a no-go zone
	ID     string
}

// validate reports what is wrong with r.
func (r *Robot) validate() error {
	switch {
	case r.Agent == nil:
		return &hal.Error{Kind: hal.Invalid, Op: "okon", Err: errors.New("robot: got no agent, want one")}
	case r.Pilot == nil:
		return &hal.Error{Kind: hal.Invalid, Op: "okon: robot " + r.Agent.Name(), Err: errors.New("got no autopilot, want one")}
	}
	return nil
}

// real reports whether the robot is one that nobody can put anywhere.
func (r *Robot) real() bool { return r.Agent.BodyKind() == hal.Real }
