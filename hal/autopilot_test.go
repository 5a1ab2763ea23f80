package hal

import (
	"testing"
	"time"
)

// thrusters is a body of one thruster in duty mode and one joint.
type thrusters struct {
	layout *Layout
	inputs []float64
	enable []bool
}

func (b *thrusters) Layout() *Layout { return b.layout }
func (b *thrusters) Write(f *Frame) error {
	b.inputs, b.enable = append(b.inputs[:0], f.Inputs...), append(b.enable[:0], f.Enable...)
	return nil
}
func (b *thrusters) Read(*Frame) error { return nil }
func (b *thrusters) Halt() error       { clear(b.enable); return nil }

// constant is an autopilot that pushes with half its power while it is armed.
type constant struct {
	armed bool
	rests int
}

func (c *constant) Update(_ *Frame, inputs []float64, _ time.Duration) bool {
	if c.armed {
		inputs[1] = 0.5
	}
	return c.armed
}
func (c *constant) Disengage() { c.armed = false; c.rests++ }

func pilotedRig(t *testing.T, c GuardConfig) (*Rig, *Agent, *thrusters, *constant) {
	t.Helper()
	l := oneJoint()
	none := [NumModes]int{None, None, None, 1}
	l.Inputs = []Channel{l.Inputs[3], {Name: "t/duty", Quantity: Duty, Min: -1, Max: 1}}
	l.Actuators[0].Goal, l.Actuators[0].TorqueLimit = [NumModes]int{None, None, None, 0}, None
	l.Actuators[0].Position = None // its body measures nothing
	l.Actuators = append(l.Actuators, Actuator{Name: "t", Kind: Thruster, Goal: none, TorqueLimit: None, Position: None,
		Velocity: None, Torque: None, Voltage: None, Temperature: None, Limits: Limits{MaxVelocity: 1, MaxTorque: 1}})
	r, err := New(Config{Mode: Realtime, Period: tick})
	if err != nil {
		t.Fatal(err)
	}
	b := &thrusters{layout: l}
	a, err := r.Add(AgentConfig{Name: "rov", Body: b, BodyKind: Emulated, Guard: c})
	if err != nil {
		t.Fatal(err)
	}
	law := &constant{armed: true}
	a.SetAutopilot(law)
	return r, a, b, law
}

// cycles runs n cycles, as the loop does.
func cycles(r *Rig, n int) {
	for range n {
		r.mu.Lock()
		r.run()
		r.mu.Unlock()
	}
}

func (b *thrusters) want(t *testing.T, what string, enabled bool, duty float64) {
	t.Helper()
	if b.enable[1] != enabled || enabled && b.inputs[1] != duty {
		t.Errorf("%s: got enabled %v at %g, want %v at %g", what, b.enable[1], b.inputs[1], enabled, duty)
	}
}

// TestAutopilotWithoutDeadline: it commands for as long as it is armed, and leaves other joints to their commanders.
func TestAutopilotWithoutDeadline(t *testing.T) {
	r, a, b, law := pilotedRig(t, GuardConfig{})
	cycles(r, 3)
	b.want(t, "flying", true, 0.5)
	if b.enable[0] {
		t.Error("the other joint is enabled, want it unchanged")
	}
	a.Override([]float64{0.25, nan})
	cycles(r, 1)
	if b.inputs[0] != 0.25 {
		t.Errorf("the other joint: got %g, want 0.25", b.inputs[0])
	}
	law.armed = false
	cycles(r, 1)
	b.want(t, "disarmed", false, 0)
	if !b.enable[0] {
		t.Error("the other joint has no torque either, want only the thruster without torque")
	}
	a.Override([]float64{nan, -0.5})
	cycles(r, 2)
	b.want(t, "another commander while it is disarmed", true, -0.5)
}

// TestAutopilotDeadline: the autopilot's own commands renew no deadline. A client that returns, even before the next
// cycle, moves nothing.
func TestAutopilotDeadline(t *testing.T) {
	r, a, b, law := pilotedRig(t, GuardConfig{CommandTimeout: 3 * tick})
	cycles(r, 1)
	b.want(t, "no command", false, 0)
	quiet := []float64{nan, nan}
	a.Override(quiet) // commands no joint, and does not renew the command
	cycles(r, 1)
	b.want(t, "a message without a command", false, 0)
	a.Renew()
	law.armed = true
	cycles(r, 3)
	b.want(t, "received", true, 0.5)
	a.Renew()
	cycles(r, 4)
	b.want(t, "received again", true, 0.5)
	cycles(r, 1)
	b.want(t, "silent", false, 0)
	a.Renew()
	cycles(r, 1)
	b.want(t, "back", false, 0)
	if _, counts, _ := a.Guard(); counts.Expired != 1 || law.armed {
		t.Errorf("got %d deadlines, armed %v; want 1, at rest", counts.Expired, law.armed)
	}
}

// TestAutopilotRests: every stop of the robot disengages the autopilot, which does not resume by itself.
func TestAutopilotRests(t *testing.T) {
	for name, stop := range map[string]func(*Rig, *Agent){
		"emergency stop": func(r *Rig, a *Agent) { r.EmergencyStop("test"); r.Recover(); a.Arm() },
		"disarm":         func(_ *Rig, a *Agent) { a.Disarm(); a.Arm() },
		"reset": func(r *Rig, a *Agent) {
			r.mu.Lock()
			r.reset()
			r.mu.Unlock()
		},
		"replaced": func(_ *Rig, a *Agent) { a.SetAutopilot(nil) },
		"closed":   func(r *Rig, _ *Agent) { r.close() },
	} {
		r, a, b, _ := pilotedRig(t, GuardConfig{})
		cycles(r, 2)
		b.want(t, name, true, 0.5)
		stop(r, a)
		if name != "closed" {
			cycles(r, 2)
		}
		b.want(t, name, false, 0)
	}
}

func TestAutopilotDoesNotAllocate(t *testing.T) {
	r, a, _, _ := pilotedRig(t, GuardConfig{})
	cycles(r, 1)
	if n := testing.AllocsPerRun(100, func() { a.decide(r.time, r.time, tick, true) }); n != 0 && !locksChecked {
		t.Errorf("got %v allocations, want 0", n)
	}
}
