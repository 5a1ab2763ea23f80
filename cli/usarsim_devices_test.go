package cli

import (
	"io"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	"github.com/halyard-robotics/halyard/protocols/gamebots"
)

// pioneerClass is a P2AT as a class: what is emulated or real of it, the body says.
const pioneerClass = `
name: pioneer
clock: {mode: realtime, period: 10ms}
world: {scene: yellow, seed: 1}
buses:
  base: {type: serial, port: /dev/serial/by-id/nobody}
  laser: {type: serial, port: /dev/serial/by-id/nobody-else}
  main: {type: i2c, port: /dev/i2c-nobody}
classes:
  USARBot.P2AT:
    model: usarsim-p2at
    body: emulated
    parts: {camera_pan: sim, camera_tilt: sim}
    hardware:
      base: {bus: base, device: p2os, robot: p2at}
      sensors:
        scanner1: {bus: laser, device: sick-lms200}
        inu: {bus: main, device: bno055}
servers:
  - {protocol: gamebots, listen: "127.0.0.1:3000"}
  - {protocol: imageserver, listen: "127.0.0.1:5003"}
`

// Show 1 on the real stack: the same bytes of client code drive P2OS, the LMS200, the servos of the camera, the IMU and
// the bumpers on emulated devices through the yellow arena, by sonar echoes and dead reckoning, for two minutes and
// back.
func TestUSARSimRescueEmulated(t *testing.T) {
	if !haltest.Full() {
		t.Skip("HALYARD_FULL=1 runs it")
	}
	clock := newTowed()
	st, address := runArena(t, clock, usarsimFlags{flags: configFlags{body: "emulated"}}, "p2at")
	showRescue(t, st, address, clock.tow, 0.6) // it knows its place by reckoning alone, after 28 m with many turns
}

// dial is a client of a running arena.
func dialArena(t *testing.T, address string) *controller {
	t.Helper()
	c, err := gamebots.Dial(address, gamebots.ClientOptions{Timeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &controller{c, t}
}

// drives goes on saying an order until the robot has come at least so far from where it is, and reports where it is
// then.
func (c *controller) drives(far float64, order string) (at []float64) {
	c.t.Helper()
	from := c.place(1)
	for range 200 {
		c.say("%s", order) // what a busy machine takes for a lost scanner lets no wheel turn
		if at = c.place(1); math.Hypot(at[0]-from[0], at[1]-from[1]) > far {
			return at
		}
	}
	c.t.Fatalf("drove from %v to %v, want %g m", from, at, far)
	return nil
}

// stands waits until the robot says the same place for a while.
func (c *controller) stands() {
	c.t.Helper()
	last := c.place(1)
	for still, n := 0, 0; still < 5; n++ {
		at := c.place(1)
		if still++; math.Hypot(at[0]-last[0], at[1]-last[1]) > 1e-3 {
			still = 0
		}
		if last = at; n > 200 {
			c.t.Fatal("it does not come to stand")
		}
	}
}

// Robots of an emulated class come with devices of their own, obey wheel by wheel as a base does, count from where they
// are told, and are gone with their clients.
func TestUSARSimEmulatedClass(t *testing.T) {
	clock := newTowed()
	// The wall's heartbeats of a client are far apart in this time.
	st, address := runArena(t, clock, usarsimFlags{arena: "hall"},
		rigtest.RigOf(t, pioneerClass, "", "    body: emulated",
			"    body: emulated\n    guard: {command_timeout: 1h}"))
	goOn := make(chan struct{})
	t.Cleanup(func() { close(goOn) })
	go func() { // time passes as fast as it can
		for {
			select {
			case <-goOn:
				return
			default:
				clock.tow(50 * time.Millisecond)
			}
		}
	}()
	a, b := dialArena(t, address), dialArena(t, address)
	a.spawn("USARBot.P2AT", "A", [3]float64{5, 6, 1.82})
	b.spawn("USARBot.P2AT", "B", [3]float64{5, 9, 1.82})
	a.place(5)
	// One wheel of a base is its side, and only speeds can be told.
	a.say("DRIVE {Name LeftFWheel} {Order 0} {Value 1}")
	at := a.drives(0.3, "DRIVE {Name LeftFWheel} {Order 1} {Value 3} {Name RightRWheel} {Order 1} {Value 3}")
	if math.Abs(at[1]-6) > 0.05 || at[0] < 5.2 {
		t.Errorf("drove to %v, want north", at)
	}
	a.say("DRIVE {Name RightFWheel} {Order 1} {Value 0} {Name LeftRWheel} {Order 1} {Value 0}")
	a.stands()
	at = a.place(1) // it went on while the order was on its way
	if at := b.place(1); math.Hypot(at[0]-5, at[1]-9) > 0.01 {
		t.Errorf("the other: got %v, want it where it was", at)
	}
	a.say("SET {Type Odometry} {Name Odometry} {Opcode RESET}")
	if m := a.wait("RES", "Type", "Odometry"); m.Text("Status") != "OK" {
		t.Errorf("reset: got %q", m.Text("Status"))
	}
	a.place(2)
	if pose := a.numbers(a.wait("SEN", "Type", "Odometry"), "Pose"); math.Hypot(pose[0], pose[1]) > 0.01 {
		t.Errorf("odometry after its reset: got %v", pose)
	}
	if again := a.place(1); math.Hypot(again[0]-at[0], again[1]-at[1]) > 0.2 {
		t.Errorf("the reset moved it from %v to %v", at, again)
	}
	a.say("SET {Type INU} {Name INU} {Opcode RESET}")
	if m := a.wait("RES", "Type", "INU"); m.Text("Status") != "OK" {
		t.Errorf("reset: got %q", m.Text("Status"))
	}
	b.Close()
	for left := 2; left != 1; {
		a.place(1)
		st.Rig.BetweenCycles(func() { left = len(st.After.Worlds) })
	}
	c := dialArena(t, address)
	c.spawn("USARBot.P2AT", "B", [3]float64{5, 9, 1.82})
	c.place(3)
}

// All that is connected to the Pioneer of the embedded config is a part of the robot that its client has.
func TestUSARSimPioneerParts(t *testing.T) {
	t.Parallel()
	st, address := runArena(t, nil, usarsimFlags{arena: "hall", flags: configFlags{body: "emulated"}}, "p2at")
	c := dialArena(t, address)
	c.spawn("USARBot.P2AT", "A", [3]float64{19, 6, 1.8})
	c.place(5)
	var lit, real bool
	c.say("DRIVE {Light True}")
	for range 20 {
		if c.wait("STA").Text("LightToggle") == "True" {
			break
		}
	}
	c.place(2)
	st.Rig.BetweenCycles(func() { lit = st.Scene.Body("A").Lit() })
	if real = st.Rig.Agent("A").BodyKind() == hal.Emulated; !lit || !real {
		t.Errorf("headlight on its line: lit %v in the scene, emulated %v", lit, real)
	}
	c.say("MISPKG {Name CameraPanTilt} {Rotation 0,0.2,0.5} {Order 0}")
	turned := 0.0
	for range 50 {
		turned = c.numbers(lastPart(c.wait("MIS"), "CameraPan"), "Orientation")[2]
		if math.Abs(turned-0.5) < 0.03 {
			break
		}
	}
	if math.Abs(turned-0.5) > 0.03 {
		t.Errorf("pan by its servo: got %.3f, want 0.5", turned)
	}
	if m := c.wait("SEN", "Type", "Touch"); m.Text("Name") == "" {
		t.Error("no bumper")
	}
	if _, _, err := st.FindCamera("A", ""); err != nil {
		t.Errorf("camera: %v", err)
	}
	agent := st.Rig.Agent("A")
	for i, d := range agent.Status(nil) {
		if d.Err != nil {
			t.Errorf("device %d: %v", i, d.Err)
		}
	}
	// Touched by a wall, and only there.
	touched := false
	for range 100 {
		c.say("DRIVE {Left 4} {Right 4}") // an emulated body stops when its client falls silent
		m := c.wait("SEN", "Type", "Touch")
		if touched = strings.Contains(m.Text("Touch"), "True"); touched {
			break
		}
	}
	if !touched {
		t.Error("drove against the wall, and no bumper felt it")
	}
}

// A class that is real is one robot, here at the ends of terminals behind which the emulated devices are: it is bound
// where the client reports that it stands, by one client at a time.
func TestUSARSimRealClass(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, stop := emulated(t, rigtest.RigOf(t, rigtest.PioneerRig, "", "buses:",
		"buses:\n  head: {type: dynamixel1, port: /dev/serial/by-id/neck}",
		"    hardware:", "    hardware:\n      joints: {camera_pan: {bus: head, id: 1, model: ax-12a}, camera_tilt: "+
			"{bus: head, id: 2, model: ax-12a}}"), "--dir", dir)
	defer stop()
	path := rigtest.RigOf(t, pioneerClass, "", "/dev/serial/by-id/nobody-else", filepath.Join(dir, "laser"),
		"/dev/serial/by-id/nobody",
		filepath.Join(dir, "base"), "body: emulated", "body: real", "        inu: {bus: main, device: bno055}\n", "")
	t.Run("bound", func(t *testing.T) { bindReal(t, path) }) // it ends before its devices do
}

func bindReal(t *testing.T, path string) {
	st, address := runArena(t, nil, usarsimFlags{arena: "hall"}, path)
	arm := func() { // an operator's act, each time that a client has bound it
		if err := st.Rig.Arm(); err != nil {
			t.Fatal(err)
		}
	}
	arm()
	// Another process holds the base of a real class before a client binds it, and says so of what it cannot hold.
	held, without, err := st.Supervised()
	if err != nil || len(held) != 1 || len(without) > 0 {
		t.Errorf("supervised: got %d lines, without %v, %v; want that of the base", len(held), without, err)
	}
	for _, h := range held {
		h.File.Close()
	}
	a := dialArena(t, address)
	a.spawn("USARBot.P2AT", "A", [3]float64{1, 2, 3})
	if got := st.Rig.Agent("A").Condition().State; got != hal.Disarmed {
		t.Errorf("bound: got %v, want disarmed until an operator arms", got)
	}
	arm()
	if at := a.place(3); math.Hypot(at[0]-1, at[1]-2) > 1e-3 || at[2] != 3 {
		t.Errorf("bound: got %v, want where the client said", at)
	}
	if agent := st.Rig.Agent("A"); agent.BodyKind() != hal.Real ||
		!agent.Layout().Measured(rigtest.SensorOf(t, agent.Layout(), "groundtruth").First).Estimate {
		t.Error("want a real robot whose place is an estimate")
	}
	if scan := a.numbers(a.wait("SEN", "Type", "RangeScanner"), "Range"); len(scan) != 181 {
		t.Errorf("scanner: got %d rays", len(scan))
	}
	if f1 := a.sonar("F1"); f1 < 0.1 || f1 > 5 {
		t.Errorf("F1: got %g m", f1)
	}
	a.say("CAMERA {Zoom 1.0}")
	if m := a.wait("RES", "Type", "Camera"); m.Text("Status") != "-1" {
		t.Errorf("zoom of a real camera: got %q, want -1", m.Text("Status"))
	}
	b := dialArena(t, address)
	b.say("INIT {ClassName USARBot.P2AT} {Name B} {Location 0,0,0}")
	if m := b.wait("RES"); m.Text("Status") != "Failed" {
		t.Errorf("a second INIT while it is bound: got %q", m.Text("Status"))
	}
	a.drives(0.2, "DRIVE {Left 3} {Right 3}")
	// a client that leaves leaves the robot in place, for the next client
	a.Close()
	for st.Rig.Agent("A") != nil {
		b.say("GETSTARTPOSES") // what takes a moment
		b.wait("NFO", "StartPoses", "2")
	}
	c := dialArena(t, address)
	c.spawn("USARBot.P2AT", "C", [3]float64{})
	arm()
	if at := c.place(3); math.Hypot(at[0], at[1]) > 0.02 {
		t.Errorf("bound again: got %v, want the place in the client's INIT", at)
	}
	c.stands()
	c.drives(0.1, "DRIVE {Left 2} {Right 2}")
}

// A server of a real class warns as for any real body: a client's INIT makes the robot move.
func TestRealClassWarns(t *testing.T) {
	plan := rigtest.PlanOf(t, rigtest.RigOf(t, pioneerClass, "", "body: emulated", "body: real",
		"        inu: {bus: main, device: bno055}\n", ""), configs.Options{})
	var stderr strings.Builder
	a := &app{out: io.Discard, err: &stderr}
	a.announce([]*halyard.Config{plan.Config}, nil, nil, nil, "")
	if !strings.Contains(stderr.String(), "REAL") {
		t.Errorf("got %q", stderr.String())
	}
}

// The banner of a rig names what moves: nothing real, something, or all of it.
func TestBanner(t *testing.T) {
	agent := func(body configs.BodyKind, parts map[string]configs.BodyKind) configs.Agent {
		a := configs.Agent{}
		a.Body, a.Parts, a.Guard.Armed = body, parts, true
		return a
	}
	for _, c := range []struct {
		want   string
		agents []configs.Agent
	}{
		{"SIMULATED", []configs.Agent{agent(configs.Sim, nil)}},
		{"EMULATED", []configs.Agent{agent(configs.Sim, nil), agent(configs.Emulated, nil)}},
		// GPIO lines alone
		{"MIXED BODY", []configs.Agent{agent(configs.Sim, map[string]configs.BodyKind{"front": configs.Real})}},
		{"MIXED BODY", []configs.Agent{agent(configs.Real, nil), agent(configs.Sim, nil)}},
		{"REAL BODY", []configs.Agent{agent(configs.Real, nil)}},
	} {
		var stderr strings.Builder
		a := &app{out: io.Discard, err: &stderr}
		a.announce([]*halyard.Config{{Agents: c.agents}}, nil, nil, nil, "")
		if !strings.Contains(stderr.String(), c.want) {
			t.Errorf("want %s, got %q", c.want, stderr.String())
		}
	}
}

// heardEvents keeps what was raised.
type heardEvents []hal.EventID

func (h *heardEvents) Cycle(c *hal.Cycle) { *h = append(*h, c.Events...) }

// The alarms of a spawned robot's devices ring, too, and end with it.
func TestSpawnedAlarm(t *testing.T) {
	sys, err := assembly.Build(rigtest.PlanOf(t, rigtest.RigOf(t, pioneerClass, "", "mode: realtime", "mode: lockstep",
		"      sensors:\n", "      monitors:\n        leak: {bus: main, device: ads1115, above: -1}\n      sensors:\n"),
		configs.Options{}), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer sys.Close()
	heard := &heardEvents{}
	party := sys.Rig.NewSession("test", heard)
	y := sys.NewSpawner()
	a, err := y.Spawn("USARBot.P2AT", "A", hal.Pose{Rotation: [4]float64{1}})
	if err != nil {
		t.Fatal(err)
	}
	lease, err := party.Acquire(a)
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if err := party.Step(lease, nil); err != nil {
			t.Fatal(err)
		}
	}
	if id, ok := sys.Rig.Events().Lookup("/A/leak/Alarm"); !ok || !slices.Contains(*heard, id) {
		t.Errorf("got no alarm (declared %v)", ok)
	}
	party.Close()
	if err := y.Remove("A"); err != nil {
		t.Error(err)
	}
}
