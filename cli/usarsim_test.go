package cli

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/imageserver"
	gamebotsserve "github.com/halyard-robotics/halyard/internal/serve/gamebots"
	"github.com/halyard-robotics/halyard/protocols/gamebots"
	"github.com/halyard-robotics/halyard/sim"
	"github.com/halyard-robotics/halyard/sim/model"
)

// controller is a client of a running arena, written only from the manual.
type controller struct {
	*gamebots.Client
	t *testing.T
}

func gamebotsClient(t *testing.T, r *running) *controller {
	t.Helper()
	for _, s := range r.Servers {
		if s.Protocol == "gamebots" {
			c, err := gamebots.Dial(s.Address, gamebots.ClientOptions{Timeout: 20 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
			return &controller{c, t}
		}
	}
	t.Fatal("no gamebots server")
	return nil
}

func (c *controller) spawn(class, name string, at [3]float64) {
	c.t.Helper()
	if err := c.Init(class, name, at, [3]float64{}); err != nil {
		c.t.Fatal(err)
	}
}

func (c *controller) say(format string, args ...any) {
	c.t.Helper()
	if err := c.Send(format, args...); err != nil {
		c.t.Fatal(err)
	}
}

func (c *controller) wait(kind string, pairs ...string) *gamebots.Message {
	c.t.Helper()
	m, err := c.Wait(kind, pairs...)
	if err != nil {
		c.t.Fatal(err)
	}
	return m
}

// numbers is a value of a message.
func (c *controller) numbers(m *gamebots.Message, name string) []float64 {
	c.t.Helper()
	v, err := m.Numbers(name, nil)
	if err != nil {
		c.t.Fatalf("%s: %v", name, err)
	}
	return v
}

// place is where the next state has the robot, once n states have passed.
func (c *controller) place(n int) (at []float64) {
	c.t.Helper()
	for range n {
		at = c.numbers(c.wait("STA"), "Location")
	}
	return at
}

// sonar is the range of one sonar in the next message of all.
func (c *controller) sonar(name string) float64 {
	c.t.Helper()
	m := c.wait("SEN", "Type", "Sonar")
	for i := range m.Pairs {
		if string(m.Pairs[i].Value) == name {
			rest := gamebots.Message{Pairs: m.Pairs[i+1 : i+2]}
			return c.numbers(&rest, "Range")[0]
		}
	}
	c.t.Fatalf("no sonar %q", name)
	return 0
}

// TestUSARSimCommand: over a real socket a P2AT is spawned in the yellow arena, says what it senses, drives and
// answers.
func TestUSARSimCommand(t *testing.T) {
	t.Parallel()
	r := start(t, "usarsim", "--set", "name=yellow", "--map", "DM-USAR_yellow", "--listen", "gamebots=127.0.0.1:0",
		"--listen", "imageserver=127.0.0.1:0")
	c := gamebotsClient(t, r)
	if m := c.wait("NFO"); m.Text("Level") != "DM-USAR_yellow" {
		t.Errorf("level: got %q", m.Text("Level"))
	}
	c.say("GETSTARTPOSES")
	if m := c.wait("NFO"); m.Text("StartPoses") != "3" || !strings.HasPrefix(m.Text("start"), "4.5000,1.9000,1.8000 ") {
		t.Errorf("starts: got %q at %q", m.Text("StartPoses"), m.Text("start"))
	}
	c.spawn("USARBot.P2AT", "R1", [3]float64{4.5, 1.9, 1.8})

	// At rest: where the manual's example rests, 16 cm above the floor.
	if at := c.place(5); math.Abs(at[0]-4.5) > 0.01 || math.Abs(at[1]-1.9) > 0.01 || math.Abs(at[2]-1.82) > 0.01 {
		t.Errorf("rest: got %v", at)
	}
	// Two cells of 1.2 m lie to its left, and half of its own; the wall is 5 cm thick.
	if left := c.sonar("F1"); math.Abs(left-(1.8-0.13-0.025)) > 0.09 {
		t.Errorf("sonar to the left: got %g m, want 1.645 within 5 %%", left)
	}
	scan := c.numbers(c.wait("SEN", "Type", "RangeScanner", "Name", "Scanner1"), "Range")
	if len(scan) != 181 || math.Abs(scan[180]-(1.8-0.025)) > 0.02 {
		t.Errorf("scanner: got %d rays, the leftmost %g m, want 181 and 1.775", len(scan), scan[len(scan)-1])
	}
	if m := c.wait("MIS"); m.Text("Name") != "CameraPanTilt" {
		t.Errorf("packages: got %q", m.Text("Name"))
	}

	// Forward, and what moves agrees with what odometry says.
	c.say("SET {Type Odometry} {Name Odometry} {Opcode RESET}")
	if m := c.wait("RES", "Type", "Odometry"); m.Text("Status") != "OK" {
		t.Errorf("reset: got %q", m.Text("Status"))
	}
	from := c.place(1)
	c.say("DRIVE {Left 3.0} {Right 3.0}")
	to := c.place(10)
	c.say("DRIVE {Left 0} {Right 0}")
	if to[0]-from[0] < 0.2 || math.Abs(to[1]-from[1]) > 0.05 {
		t.Errorf("drove from %v to %v, want north", from, to)
	}
	end := c.place(5)
	pose := c.numbers(c.wait("SEN", "Type", "Odometry"), "Pose")
	if math.Abs(pose[0]-(end[0]-from[0])) > 0.05 {
		t.Errorf("odometry: got %v, drove %g m", pose, end[0]-from[0])
	}

	// The pan-tilt, by its package and by CAMERA; to the right is positive.
	c.say("MISPKG {Name CameraPanTilt} {Rotation 0,0.2,0.5} {Order 0}")
	c.place(10)
	if v := c.numbers(lastPart(c.wait("MIS"), "CameraPan"), "Orientation"); math.Abs(v[2]-0.5) > 0.02 {
		t.Errorf("pan: got %v, want a yaw of 0.5", v)
	}
	c.say("GETGEO {Type Sonar} {Name F1}")
	if m := c.wait("GEO"); m.Text("Location") != "0.1450,-0.1300,-0.0000" &&
		m.Text("Location") != "0.1450,-0.1300,0.0000" {
		t.Errorf("F1: got %q", m.Text("Location"))
	}
	c.say("GETCONF {Type Sonar}")
	if m := c.wait("CONF"); m.Text("MaxRange") != "5.0000" || m.Text("BeamAngle") != "0.3491" {
		t.Errorf("sonars: got %q and %q", m.Text("MaxRange"), m.Text("BeamAngle"))
	}
	c.say("CAMERA {Zoom 1.0}")
	if m := c.wait("RES", "Type", "Camera"); m.Text("Status") != "1.0000" {
		t.Errorf("zoom: got %q", m.Text("Status"))
	}
	c.say("INIT {ClassName USARBot.P2AT} {Location 5.7,1.9,1.8}")
	if m := c.wait("RES"); m.Text("Status") != "Failed" {
		t.Errorf("a second INIT: got %q", m.Text("Status"))
	}
}

// lastPart is what a MIS message says of a part.
func lastPart(m *gamebots.Message, name string) *gamebots.Message {
	for i := range m.Pairs {
		if string(m.Pairs[i].Value) == name {
			return &gamebots.Message{Pairs: m.Pairs[i+1:]}
		}
	}
	return &gamebots.Message{}
}

// TestUSARSimTwo: two robots of two connections see and push each other; who leaves is gone, and its name free.
func TestUSARSimTwo(t *testing.T) {
	t.Parallel()
	r := start(t, "usarsim", "--set", "name=two", "--map", "hall", "--listen", "gamebots=127.0.0.1:0", "--listen",
		"imageserver=127.0.0.1:0")
	a, b := gamebotsClient(t, r), gamebotsClient(t, r)
	a.spawn("USARBot.P2AT", "A", [3]float64{4.5, 6, 1.8})
	if free := a.sonar("F4"); free < 4.7 {
		t.Errorf("before: got %g m, want nothing in reach", free)
	}
	b.spawn("P2DX", "B", [3]float64{6, 6, 1.8})
	a.place(5)
	if front := a.sonar("F4"); math.Abs(front-(1.5-0.24-0.22)) > 0.1 {
		t.Errorf("the other: got %g m, want it at 1.04", front)
	}
	from := b.place(1)
	a.say("DRIVE {Left 100} {Right 100} {Normalized True}")
	a.place(20)
	if to := b.place(25); to[0]-from[0] < 0.3 {
		t.Errorf("pushed from %v to %v, want 0.3 m", from, to)
	}
	a.say("DRIVE {Left 0} {Right 0}")
	b.Close()
	for range 100 {
		if a.sonar("F4") > 4.7 {
			break
		}
	}
	if free := a.sonar("F4"); free < 4.7 {
		t.Errorf("after: got %g m, want nothing in reach", free)
	}
	again := gamebotsClient(t, r)
	again.spawn("USARBot.Omni", "B", [3]float64{10, 6, 1.8})
	from = again.place(5)
	again.say("OMNIDRIVE {STRAIGHT 0.2} {SIDE 0.1} {ROT 0}")
	to := again.place(11)
	// A machine that is busy elsewhere loses cycles, and the robot their way; its direction stays.
	if dx, dy := to[0]-from[0], to[1]-from[1]; dx < 0.1 || dx > 0.45 || math.Abs(dy/dx-0.5) > 0.1 {
		t.Errorf("omnidrive: moved %.3f, %.3f m in two seconds, want 0.4 and 0.2", dx, dy)
	}
}

// TestUSARSimPictures: the image server shows what the robot's camera sees.
func TestUSARSimPictures(t *testing.T) {
	r := start(t, "usarsim", "--map", "yellow", "--listen", "gamebots=127.0.0.1:0", "--listen",
		"imageserver=127.0.0.1:0", "--set", "servers[1].format=raw")
	c := gamebotsClient(t, r)
	c.spawn("USARBot.P2AT", "R1", [3]float64{4.5, 1.9, 1.8})
	i := slices.IndexFunc(r.Servers, func(s halyard.Server) bool { return s.Protocol == "imageserver" })
	eye, err := imageserver.Dial(r.Servers[i].Address, 20*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer eye.Close()
	p, err := eye.Next()
	if err != nil {
		t.Fatal(err)
	}
	if p.Format != imageserver.Raw || len(p.Data) < 320*240*3 {
		t.Fatalf("got format %v, %d bytes, want 320 by 240 raw", p.Format, len(p.Data))
	}
	seen := map[byte]bool{}
	for _, v := range p.Data {
		seen[v] = true
	}
	if len(seen) < 20 {
		t.Errorf("got %d shades, want a picture", len(seen))
	}
}

// Every class of the config can be described to the protocol, with the names of the manual.
func TestDescribeRescue(t *testing.T) {
	rig, err := hal.New(hal.Config{Period: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	wheels := map[string]string{"usarsim-p2at": "LeftFWheel RightFWheel LeftRWheel RightRWheel",
		"usarsim-rover": "LeftFWheel RightFWheel LeftRWheel RightRWheel"}
	for _, name := range model.RescueNames() {
		m, err := model.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		s := sim.NewScene(sim.SceneConfig{})
		body, err := s.Add(name, m, hal.Pose{})
		if err != nil {
			t.Fatal(err)
		}
		agent, err := rig.Add(hal.AgentConfig{Name: name, Body: body, World: s})
		if err != nil {
			t.Fatal(err)
		}
		d := gamebotsserve.DescribeRescue(strings.TrimPrefix(m.Rescue.Class, "USARBot."), agent, m, body)
		if d.State == hal.None || len(d.Joints) != len(m.Joints) || len(d.Sensors) == 0 || d.Size.Mass != m.Mass() {
			t.Errorf("%s: got state %d, %d joints, %d sensors, %g kg", name, d.State, len(d.Joints), len(d.Sensors),
				d.Size.Mass)
		}
		for _, want := range strings.Fields(wheels[name]) {
			if !slices.ContainsFunc(d.Joints, func(j gamebots.Joint) bool { return j.Name == want && !j.Reversed }) {
				t.Errorf("%s: no joint %s that turns forward", name, want)
			}
		}
		for _, j := range d.Joints {
			if (j.Name == "CameraPan" || j.Name == "CameraTilt") && !j.Reversed {
				t.Errorf("%s: %s is not turned to the axes of the wire", name, j.Name)
			}
		}
	}
}

// TestUSARSimLater: --dialect later on a whole arena: GroundTruth is where INIT put the robot, an INS is beside the
// INU, and the scanner scans every 0.22 s.
func TestUSARSimLater(t *testing.T) {
	r := start(t, "usarsim", "--map", "hall", "--dialect", "later", "--listen", "gamebots=127.0.0.1:0", "--listen",
		"imageserver=127.0.0.1:0")
	c := gamebotsClient(t, r)
	c.say("INIT {ClassName USARBot.P3AT} {Name R1} {Location 4.5,1.9,1.8}")
	seen := map[string]bool{}
	var times []float64
	for len(times) < 5 || len(seen) < 3 {
		m := c.wait("SEN")
		switch kind := m.Text("Type"); kind {
		case "GroundTruth":
			at, err := m.Numbers("Location", nil)
			if err != nil || len(at) != 3 || math.Abs(at[0]-4.5) > 0.1 || math.Abs(at[1]-1.9) > 0.1 {
				t.Fatalf("GroundTruth: got %v (%v), want 4.5, 1.9", at, err)
			}
			seen[kind] = true
		case "INS", "INU":
			if m.Pairs[0].Segment != 0 || string(m.Pairs[0].Name) != "Type" {
				t.Errorf("%s: begins with %s, want Type", kind, m.Pairs[0].Name)
			}
			seen[kind] = true
		case "RangeScanner":
			at, err := m.Numbers("Time", nil)
			if err != nil || len(at) != 1 {
				t.Fatalf("scan without a time: %v", err)
			}
			times = append(times, at[0])
		}
	}
	if every := (times[4] - times[0]) / 4; math.Abs(every-0.22) > 0.03 {
		t.Errorf("scans: got one every %.3f s, want 0.22", every)
	}
}
