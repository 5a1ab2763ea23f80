package halyard_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/hal"
)

// open opens an embedded config in lock-step, until the test ends.
func open(t *testing.T, name string, settings ...halyard.Setting) *halyard.System {
	t.Helper()
	cfg, err := halyard.Load(name, append([]halyard.Setting{halyard.Set("clock.mode", "lockstep")}, settings...)...)
	if err != nil {
		t.Fatal(err)
	}
	sys, err := halyard.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sys.Close(); err != nil {
			t.Error(err)
		}
	})
	return sys
}

func steps(t *testing.T, sys *halyard.System, n int) {
	t.Helper()
	for range n {
		if err := sys.Step(); err != nil {
			t.Fatal(err)
		}
	}
}

// The stop switches torque off and is latched; reset and arm are separate commands.
func TestStopResetArm(t *testing.T) {
	for _, body := range []string{"sim", "emulated"} {
		sys := open(t, "so101", halyard.Set("agents[0].body", body))
		arm := sys.Agent("so101")
		move := func() {
			if err := arm.Command("shoulder_pan", halyard.Position(0.5)); err != nil {
				t.Fatal(err)
			}
			steps(t, sys, 1)
		}
		move()
		if err := sys.Stop("test"); err != nil {
			t.Fatalf("%s: stop: %v", body, err)
		}
		if got := arm.State("shoulder_pan").Guard; got != hal.Stopped {
			t.Errorf("%s: after Stop: got %v, want stopped", body, got)
		}
		if err := sys.Arm(); hal.KindOf(err) != hal.Unsafe {
			t.Errorf("%s: Arm while stopped: got %v, want refused as unsafe", body, err)
		}
		at := arm.State("shoulder_pan").Position
		move()
		steps(t, sys, 20)
		if moved := math.Abs(arm.State("shoulder_pan").Position - at); moved > 0.05 {
			t.Errorf("%s: moved %.3f rad while stopped", body, moved)
		}
		if err := sys.Reset(); err != nil {
			t.Fatal(err)
		}
		if err := sys.Arm(); err != nil {
			t.Fatal(err)
		}
		for range 300 {
			move()
		}
		if got := arm.State("shoulder_pan").Position; math.Abs(got-0.5) > 0.05 {
			t.Errorf("%s: after Arm: got %.3f rad, want 0.5", body, got)
		}
	}
}

// A VESC that drives its motor acknowledges a stop: without torque it has no current.
func TestStopOfAVESC(t *testing.T) {
	for _, n := range []int{2, 5, 20, 100} {
		sys := open(t, "internal/interop/testdata/configs/vesc.yaml")
		a := sys.Agents()[0]
		steps(t, sys, 5)
		if err := a.Command(a.Joints()[0], halyard.Duty(0.1)); err != nil {
			t.Fatal(err)
		}
		steps(t, sys, n)
		if err := sys.Stop("test"); err != nil {
			t.Errorf("after %d cycles: %v", n, err)
		}
	}
}

func TestCommandRefuses(t *testing.T) {
	sys := open(t, "so101")
	arm := sys.Agent("so101")
	if sys.Agent("nil") != nil {
		t.Error("an agent that the config does not have")
	}
	for _, c := range []struct {
		joint   string
		command halyard.Command
		want    string
	}{
		{"elbow", halyard.Position(0), `joint "elbow"`},
		{"elbow_flex", halyard.Command{}, "mode"},
	} {
		if err := arm.Command(c.joint, c.command); hal.KindOf(err) != hal.Invalid ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want invalid: %s", c.joint, err, c.want)
		}
	}
	if s := arm.State("elbow"); s.Err == nil || !math.IsNaN(s.Position) {
		t.Errorf("state of no joint: got %+v", s)
	}
}

// Of several commands of a joint before a step the last one counts, and a torque limit stays until another one.
func TestLastCommandCounts(t *testing.T) {
	sys := open(t, "xm430-arm")
	arm := sys.Agents()[0]
	joint := arm.Joints()[0]
	command := func(list ...halyard.Command) {
		t.Helper()
		for _, c := range list {
			if err := arm.Command(joint, c); err != nil {
				t.Fatal(err)
			}
		}
	}
	command(halyard.Position(0.5), halyard.Velocity(0))
	steps(t, sys, 1)
	if got := sys.Rig().Agents()[0].Goals(nil)[0]; got != (hal.Goal{Mode: hal.VelocityMode}) {
		t.Errorf("a position, then velocity 0: got %+v, want velocity 0", got)
	}
	at := arm.State(joint).Position
	command(halyard.Position(at+0.5).WithTorqueLimit(0), halyard.Position(at+0.4))
	steps(t, sys, 100)
	if moved := math.Abs(arm.State(joint).Position - at); moved > 0.05 {
		t.Errorf("a torque limit of 0, then a command without one: moved %.3f rad", moved)
	}
}

func TestSubscribe(t *testing.T) {
	sys := open(t, "so101")
	n, events := 0, 0
	cancel := sys.OnCycle(func(*hal.Cycle) { n++ })
	if _, err := sys.OnEvent("/Control/Nothing", func() {}); hal.KindOf(err) != hal.Invalid {
		t.Errorf("an event that is not there: got %v", err)
	}
	if _, err := sys.OnEvent("/Control/StepCompleted", func() { events++ }); err != nil {
		t.Fatal(err)
	}
	steps(t, sys, 10)
	cancel()
	steps(t, sys, 10)
	if n != 10 || events != 20 {
		t.Errorf("got %d cycles and %d events, want 10 and 20", n, events)
	}
}

func TestSpawn(t *testing.T) {
	cfg, err := halyard.Load("usarsim", halyard.Set("clock.mode", "lockstep"))
	if err != nil {
		t.Skip(err)
	}
	sys, err := halyard.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer sys.Close()
	var class string
	for class = range cfg.Classes {
		break
	}
	before := len(sys.Agents())
	if _, err := sys.Spawn(class, "one", hal.Pose{Position: [3]float64{0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	steps(t, sys, 10)
	if err := sys.Remove("one"); err != nil || len(sys.Agents()) != before {
		t.Errorf("removed: %v, %d agents, want %d", err, len(sys.Agents()), before)
	}
}

// A robot that cannot be removed now goes on as before.
func TestRemoveRefused(t *testing.T) {
	sys := open(t, "usarsim")
	a, err := sys.Spawn("USARBot.P2AT", "one", hal.Pose{Position: [3]float64{0, 0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Command(a.Joints()[0], halyard.Velocity(1)); err != nil {
		t.Fatal(err)
	}
	steps(t, sys, 1)
	if err := sys.Remove("one"); hal.KindOf(err) != hal.Busy {
		t.Errorf("removed while the program commands it: got %v, want busy", err)
	}
	steps(t, sys, 1) // it stays as it is
	if sys.Agent("one") != a {
		t.Error("the robot has another Agent")
	}
	a.Release()
	if err := sys.Remove("one"); err != nil || sys.Agent("one") != nil {
		t.Errorf("removed: got %v", err)
	}
	steps(t, sys, 1)
}

// A hand moves a robot while a client spawns others.
func TestHandWhileRobotsSpawn(t *testing.T) {
	sys := open(t, "usarsim")
	var class string
	for class = range sys.Config().Classes {
		break
	}
	arm, err := sys.Spawn(class, "one", hal.Pose{Position: [3]float64{0, 0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	joint := arm.Joints()[0]
	var hand sync.WaitGroup
	hand.Go(func() {
		for range 20 {
			if err := arm.Hand(joint, math.NaN(), 0); err != nil {
				t.Error(err)
			}
		}
	})
	for i := range 5 {
		if _, err := sys.Spawn(class, fmt.Sprintf("more%d", i),
			hal.Pose{Position: [3]float64{3 * float64(i+1), 0, 1}}); err != nil {
			t.Error(err)
		}
	}
	hand.Wait()
}

// Step allocates nothing, with a simulated and with an emulated body.
func TestStepAllocatesNothing(t *testing.T) {
	for _, body := range []string{"sim", "emulated"} {
		sys := open(t, "so101", halyard.Set("agents[0].body", body))
		if err := sys.Agent("so101").Command("elbow_flex", halyard.Position(0.3)); err != nil {
			t.Fatal(err)
		}
		steps(t, sys, 100)
		if n := testing.AllocsPerRun(100, func() { sys.Step() }); n != 0 {
			t.Errorf("%s: got %v allocations a step, want 0", body, n)
		}
	}
}

// A program steps together with clients: while Run serves, Step is one of the parties of the lock-step.
func TestStepWhileItRuns(t *testing.T) {
	sys := open(t, "so101", halyard.Set("name", "step-while-it-runs"), halyard.Set("servers", "[]"))
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error)
	go func() { ran <- sys.Run(ctx) }()
	var err error
	for range 100 {
		if err = sys.Step(); err != nil {
			break
		}
	}
	stop()
	if ended := <-ran; ended != nil || err != nil {
		t.Errorf("run: %v, step: %v", ended, err)
	}
	done := make(chan error)
	go func() { done <- sys.Step() }()
	select {
	case err := <-done:
		if err == nil {
			t.Error("a step after the end: got nil, want an error")
		}
	case <-time.After(time.Minute):
		t.Fatal("a step after the end does not return")
	}
}

func TestRealtimeDoesNotStep(t *testing.T) {
	sys := open(t, "so101", halyard.Set("clock.mode", "realtime"))
	if err := sys.Step(); hal.KindOf(err) != hal.Invalid {
		t.Errorf("got %v, want invalid", err)
	}
}
