package ros2

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/halyard-robotics/halyard/internal/protocols/rosmsg"
)

const (
	broadcaster = "joint_state_broadcaster"
	strict      = 2 // of switch_controller's strictness: all or nothing
)

// controllers are those that ros2_control's tools see. All command the same joints, through the same lease and guard.
type controllers struct {
	mu   sync.Mutex
	list []rosmsg.ControllerState
}

// is reports whether a controller is active.
func (c *controllers) is(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := c.find(name)
	return i >= 0 && c.list[i].State == "active"
}

// find returns the index of a controller, -1 if unknown. Under mu.
func (c *controllers) find(name string) int {
	return slices.IndexFunc(c.list, func(k rosmsg.ControllerState) bool { return k.Name == name })
}

// controllers adds the controller manager.
func (s *Server) controllers() error {
	rate := uint16(min(1/s.robot.Rig.Period().Seconds(), 65535))
	add := func(name, kind string, joints []string, claim string) {
		k := rosmsg.ControllerState{Name: name, State: "active", Type: kind, UpdateRate: rate}
		for _, j := range joints {
			if claim != "" {
				k.ClaimedInterfaces = append(k.ClaimedInterfaces, j+"/"+claim)
			}
			k.RequiredStateInterfaces = append(k.RequiredStateInterfaces, j+"/position", j+"/velocity")
		}
		k.RequiredCommandInterfaces = k.ClaimedInterfaces
		s.control.list = append(s.control.list, k)
	}
	add(broadcaster, broadcaster+"/JointStateBroadcaster", s.names(), "")
	if len(s.modes[0]) > 0 {
		add(forward[0], "position_controllers/JointGroupPositionController", s.modes[0], "position")
	}
	if len(s.modes[0]) > 0 {
		add(follower, follower+"/JointTrajectoryController", s.modes[0], "position")
	}
	if len(s.modes[1]) > 0 {
		add(forward[1], "velocity_controllers/JointGroupVelocityController", s.modes[1], "velocity")
	}
	if err := s.node.Serve("controller_manager/list_controllers", &rosmsg.ListControllersRequest{},
		&rosmsg.ListControllers{}, Default, func(ctx context.Context, call *Call) {
			c := &s.control
			c.mu.Lock()
			out := &rosmsg.ListControllers{Controller: slices.Clone(c.list)}
			c.mu.Unlock()
			for i := range out.Controller { // an inactive one claims nothing
				if out.Controller[i].State != "active" {
					out.Controller[i].ClaimedInterfaces = nil
				}
			}
			call.Reply(ctx, out)
		}, s.refuse); err != nil {
		return err
	}
	return s.node.Serve("controller_manager/switch_controller", &rosmsg.SwitchControllerRequest{},
		&rosmsg.SwitchController{}, Default, func(ctx context.Context, call *Call) {
			out := &rosmsg.SwitchController{OK: true}
			if err := s.control.change(call.Request.(*rosmsg.SwitchControllerRequest)); err != nil {
				out.OK, out.Message = false, err.Error()
			}
			if !s.control.is(follower) {
				s.follow.deactivate("the controller is inactive")
			}
			call.Reply(ctx, out)
		}, s.refuse)
}

// change activates and deactivates controllers. Strict, it does all or nothing; else what it can.
func (c *controllers) change(m *rosmsg.SwitchControllerRequest) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	set := map[int]string{}
	var first error
	for k, names := range [...][]string{m.DeactivateControllers, m.ActivateControllers} {
		for _, name := range names {
			i := c.find(name)
			switch {
			case i < 0:
				first = fmt.Errorf("switch_controller: got %.100q, want a controller of list_controllers", name)
			case name == broadcaster && k == 0:
				first = fmt.Errorf("switch_controller: %s: it is always active", name)
			default:
				set[i] = [...]string{"inactive", "active"}[k]
			}
		}
	}
	if first != nil && m.Strictness == strict {
		return first
	}
	for i, state := range set {
		c.list[i].State = state
	}
	if len(set) == 0 {
		return first
	}
	return nil
}
