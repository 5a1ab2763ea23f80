package cli

import (
	"bufio"
	"fmt"
	"math"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/sim/model"
)

// pilot drives one robot by lines of text over a socket, on a clock that it tows itself.
type pilot struct {
	t     *testing.T
	st    *assembly.System
	clock *towed
	conn  net.Conn
	in    *bufio.Scanner
	name  string
	model *model.Robot
}

// newPilot spawns a robot of class in the middle of the hall.
func newPilot(t *testing.T, class string) *pilot {
	t.Helper()
	p := &pilot{t: t, clock: newTowed(), name: "It"}
	p.clock.timeout = time.Hour
	var address string
	p.st, address = runArena(t, p.clock, usarsimFlags{arena: "hall"})
	t.Cleanup(func() { p.clock.allow(24 * time.Hour) })
	var err error
	if p.conn, err = net.Dial("tcp", address); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.conn.Close() })
	p.in = bufio.NewScanner(p.conn)
	p.in.Buffer(nil, 1<<20)
	p.say("INIT {ClassName " + class + "} {Location 8,6,1.7} {Name It}")
	p.model = p.st.Plan.Classes[class].Robot
	p.pass(time.Second)
	return p
}

// say sends a line and returns what is answered until the server has obeyed it.
func (p *pilot) say(line string) (answers []string) {
	p.t.Helper()
	p.conn.SetDeadline(time.Now().Add(time.Minute)) // for each answer: a busy machine takes minutes for all
	fmt.Fprintf(p.conn, "%s\r\nGETSTARTPOSES\r\n", line)
	for p.in.Scan() {
		switch kind, rest, _ := strings.Cut(p.in.Text(), " "); {
		case kind == "NFO" && strings.HasPrefix(rest, "{StartPoses"):
			return answers
		case kind != "STA" && kind != "MIS" && kind != "SEN" && kind != "NFO":
			answers = append(answers, p.in.Text())
		}
	}
	p.t.Fatalf("after %q: %v", line, p.in.Err())
	return nil
}

// pass lets time pass, and reads what comes meanwhile.
func (p *pilot) pass(d time.Duration) {
	p.t.Helper()
	for ; d > 0; d -= 100 * time.Millisecond {
		p.clock.pass(min(d, 100*time.Millisecond))
		p.say("")
	}
}

// Joint is what a joint truly is at and turns at: rad or m, and by the second.
func (p *pilot) Joint(name string) (at, speed float64) {
	p.t.Helper()
	i := p.model.Joint(name)
	if i == hal.None {
		p.t.Fatalf("no joint %s", name)
	}
	agent := p.st.Rig.Agent(p.name)
	measured := agent.Measured(nil)
	a := agent.Layout().Actuators[i]
	return measured[a.Position], measured[a.Velocity]
}

// part is the pose of a body of the robot, seen from the robot's frame.
func (p *pilot) part(name string) (at hal.Pose) {
	p.t.Helper()
	p.st.Rig.BetweenCycles(func() {
		body := p.st.Scene.Body(p.name)
		for i := range p.model.Bodies {
			if p.model.Bodies[i].Name == name {
				at = body.Pose(0).Inverse().Times(body.Pose(i))
			}
		}
	})
	return at
}

// Every joint of every robot obeys DRIVE over the wire: wheels a speed, hinges an angle, both a torque; and a wheel
// that can be steered is steered. Two robots have tracks of many wheels on flippers, and take most of the time.
func TestEveryJoint(t *testing.T) {
	t.Parallel()
	for _, name := range model.RescueNames() {
		m, err := model.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(m.Rescue.Class, func(t *testing.T) {
			if len(m.Joints) > haltest.Sample(10, math.MaxInt) {
				t.Skip("HALYARD_FULL=1 runs it")
			}
			p := newPilot(t, m.Rescue.Class)
			describe := p.st.Rig.Agent("It").Layout()
			for i := range m.Joints {
				j, wire := &m.Joints[i], strings.TrimPrefix(m.Joints[i].Path, "/")
				sign := 1.0
				if !j.Wraps && j.Against() {
					sign = -1
				}
				if j.Wraps {
					p.say(fmt.Sprintf("drive {name %s} {order 1} {value 1.5}", strings.ToUpper(wire)))
					p.pass(400 * time.Millisecond)
					if _, v := p.Joint(j.Name); math.Abs(v-1.5) > 0.15 {
						t.Errorf("%s: got %.3f rad/s, want 1.5", wire, v)
					}
					p.say("DRIVE {Name " + wire + "} {Order 1} {Value 0}")
					p.pass(200 * time.Millisecond)
				} else {
					goal := math.Max(j.Limits[0], math.Min(j.Limits[1], 0.3))
					p.say(fmt.Sprintf("DRIVE {Name %s} {Order 0} {Value %.4f}", wire, sign*goal))
					p.pass(1500 * time.Millisecond)
					if at, _ := p.Joint(j.Name); math.Abs(at-goal) > 0.03 {
						t.Errorf("%s: got %.3f rad, want %.3f", wire, at, goal)
					}
				}
				// A torque overrides what was asked before: the channel says so.
				if describe.Actuators[i].Goal[hal.TorqueMode] != hal.None {
					p.say(fmt.Sprintf("DRIVE {Name %s} {Order 2} {Value %.3f}", wire, -sign*0.9*j.MaxTorque()))
					p.pass(100 * time.Millisecond)
					if _, v := p.Joint(j.Name); !(v < -0.5) || v < -1.1*j.MaxVelocity() {
						t.Errorf("%s: a torque turned it at %.3f rad/s, want it backwards, no faster than it can", wire,
							v)
					}
					p.say("DRIVE {Name " + wire + "} {Order 1} {Value 0}")
					p.pass(100 * time.Millisecond)
				}
			}
			for _, s := range m.Rescue.Steers {
				wire := strings.TrimPrefix(m.Joints[s.Wheel].Path, "/")
				p.say("DRIVE {Name " + wire + "} {Steer 0.2}")
				p.pass(500 * time.Millisecond)
				if at, _ := p.Joint(m.Joints[s.Joint].Name); math.Abs(at+0.2) > 0.03 {
					t.Errorf("%s steered by %.3f, want 0.2 to the right", wire, -at)
				}
			}
		})
	}
}

// MISPKG brings the terminal of an arm where it is told to be, or nothing moves; of order 1 the terminal moves as told.
func TestArmPackage(t *testing.T) {
	p := newPilot(t, "USARBot.ATRVJr")
	mount := [3]float64{0.3, 0.13, 0.3} // of Arm1 on the chassis
	hand := func() [3]float64 {
		at := p.part("arm_hand").Position
		return [3]float64{at[0] - mount[0], -(at[1] - mount[1]), -(at[2] - mount[2])} // the wire's axes
	}
	near := func(what string, want [3]float64) {
		t.Helper()
		if got := hand(); math.Abs(got[0]-want[0])+math.Abs(got[1]-want[1])+math.Abs(got[2]-want[2]) > 0.01 {
			t.Errorf("%s: the hand is at %.4f, want %.4f", what, got, want)
		}
	}
	p.say("MISPKG {Name Arm1} {Translation 0.35,0.1,-0.2} {Order 0}")
	p.pass(5 * time.Second)
	near("a place", [3]float64{0.35, 0.1, -0.2})
	// The name as the manual misspells it; a turn is a pitch of the hand, nose up.
	p.say("MISPGK {Name arm1} {Translation 0.4,0,-0.1} {Rotation 0,0.4,0}")
	p.pass(5 * time.Second)
	near("a place and a turn", [3]float64{0.4, 0, -0.1})
	if nose := p.part("arm_hand").Turn([3]float64{1}); math.Abs(nose[2]-math.Sin(0.4)) > 0.02 ||
		math.Abs(nose[1]) > 0.02 {
		t.Errorf("the hand points to %.3f, want 0.4 rad up", nose)
	}
	p.say("MISPKG {Name Arm1} {Translation 3,0,0} {Order 0}")
	p.say("MISPKG {Name Arm1} {Translation NaN,0,0} {Order 0}")
	p.pass(time.Second)
	near("out of reach", [3]float64{0.4, 0, -0.1})
	from := hand()
	p.say("MISPKG {Name Arm1} {Translation 0,0,-0.05} {Order 1}")
	p.pass(time.Second)
	if to := hand(); math.Abs(to[2]-from[2]+0.05) > 0.015 {
		t.Errorf("moved from %.4f to %.4f in a second, want 5 cm up", from, to)
	}
	for _, ask := range []struct{ line, want string }{
		{"GETGEO {Type Arm}", "GEO {Type Arm} {Name Arm1 Location 0.3000,-0.1300,-0.3000 Orientation "},
		{"GETCONF {Type Arm}", "CONF {Type Arm} {ScanInterval 0.20} {Name Arm1} {Part ArmTurn Parent None Mount " +
			"M_ArmTurn_ArmShoulder Location 0.0000,"},
	} {
		if got := p.say(ask.line); len(got) != 1 || !strings.HasPrefix(got[0], ask.want) {
			t.Errorf("%s: got %q, want %q", ask.line, got, ask.want)
		}
	}
}

// Flippers and pan-tilts are packages too: MISPKG turns each joint by its own part of the rotation.
func TestFlipperPackages(t *testing.T) {
	t.Parallel()
	p := newPilot(t, "USARBot.Tarantula")
	for _, flipper := range []string{"LeftFFlipper", "LeftRFlipper", "RightFFlipper", "RightRFlipper"} {
		p.say("MISPKG {Name " + flipper + "} {Rotation 0,0.5,0} {Order 0}")
	}
	p.pass(1500 * time.Millisecond)
	for name, tip := range map[string][3]float64{"left_front_flipper": {0.22, 0, 0},
		"right_front_flipper": {0.22, 0, 0}, "left_rear_flipper": {-0.22, 0, 0}, "right_rear_flipper": {-0.22, 0, 0}} {
		at := p.part(name)
		// A pitch of 0.5 on the wire is nose up: the front ones rise, the rear ones sink, but for the floor.
		rise := at.Of(tip)[2] - at.Position[2]
		if want := tip[0] * math.Sin(0.5); math.Abs(rise-want) > 0.03 {
			t.Errorf("%s: its end is %.3f m above its joint, want %.3f", name, rise, want)
		}
	}
}
