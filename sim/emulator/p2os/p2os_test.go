package p2os_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/drivers/base"
	"github.com/halyard-robotics/halyard/drivers/lidar"
	"github.com/halyard-robotics/halyard/drivers/serial"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/p2oswire"
	"github.com/halyard-robotics/halyard/sim/emulator/p2os"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// From power-on to a square metre: the base does not move before an enable, then it drives the commanded distance and
// reports it.
func TestDrive(t *testing.T) {
	for _, kind := range []string{"p2dx", "p2at", "p3dx", "p3at"} {
		for _, coarse := range []bool{false, true} {
			r := newRobot(t, kind, 1, func(s *base.Settings) { s.Coarse, s.Runtime = coarse, time.Hour })
			must(t, r.base.Open())
			model, _ := base.RobotOf(kind)
			w := 0.3 / model.Radius // 0.3 m/s
			r.drive(w, w)
			r.run(time.Second)
			if on, _, _ := r.board.Motors(); on || left(r) != 0 {
				t.Fatalf("%s: motors %v, %g m before an enable", kind, on, left(r))
			}
			r.enable(true)
			r.run(4 * time.Second)
			r.drive(-w, w)
			r.run(2 * time.Second)
			r.drive(0, 0)
			r.run(2 * time.Second)
			// The truth of the floor, which dead reckoning on a floor without slip must meet.
			got, status := r.sensor("odometry")
			want := []float64{r.floor.X, r.floor.Y, math.Remainder(r.floor.Heading, 2*math.Pi)}
			for i, tol := range []float64{0.02, 0.02, 0.01} {
				if math.Abs(got[i]-want[i]) > tol || status.Err != nil {
					t.Errorf("%s coarse %v: odometry: got %v %v, want %v", kind, coarse, got, status.Err, want)
					break
				}
			}
			if r.floor.X < 0.8 || math.Abs(r.floor.Heading) < 0.5 {
				t.Errorf("%s: went %g m and %g rad only", kind, r.floor.X, r.floor.Heading)
			}
			for i := range r.body.Layout().Actuators {
				l, right := r.floor.Rims()
				rim := math.Remainder([2]float64{l, right}[i%2]/model.Radius, 2*math.Pi)
				if got := r.f.Measured[2*i]; math.Abs(math.Remainder(got-rim, 2*math.Pi)) > 0.2 ||
					r.f.Status[i].Err != nil {
					t.Errorf("%s wheel %d: got %g %v, want %g", kind, i, got, r.f.Status[i].Err, rim)
				}
			}
			if v, s := r.sensor("battery"); s.Err != nil || math.Abs(v[0]-3600*1.3/1.8) > 1 {
				t.Errorf("battery: got %v %v", v, s.Err)
			}
		}
	}
}

// A goal of one wheel drives its side, and the other side does not move; wheels that are not enabled do not count.
func TestOneSide(t *testing.T) {
	r := newRobot(t, "p2at", 1, nil)
	must(t, r.base.Open())
	r.run(300 * time.Millisecond)
	r.f.Enable[2], r.f.Inputs[2] = true, 2 // the left rear one
	r.run(4 * time.Second)
	on, left, right := r.board.Motors()
	if !on || math.Abs(left-2*0.11) > 0.01 || math.Abs(right) > 0.01 {
		t.Errorf("got motors %v, %.3f and %.3f m/s, want 0.22 and 0", on, left, right)
	}
	r.enable(false)
	r.run(300 * time.Millisecond)
	if on, _, _ := r.board.Motors(); on {
		t.Error("no wheel enabled: the motors are on")
	}
}

func TestSenses(t *testing.T) {
	r := newRobot(t, "p2at", 1, nil)
	must(t, r.base.Open())
	r.run(time.Second)
	check := func(name string, want float64) {
		t.Helper()
		got, s := r.sensor(name)
		if s.Err != nil || math.Abs(got[0]-want) > 0.005 || r.f.Time-s.Time > 400*time.Millisecond {
			t.Errorf("%s: got %v %v of %v, want %g", name, got, s.Err, r.f.Time-s.Time, want)
		}
	}
	check("F1", 1.5)
	check("R8", 5) // no echo
	check("front_left", 0)
	check("gyro", 0)
	r.floor.Pressed = [2]int{1, 5}
	r.run(300 * time.Millisecond)
	check("front_left", 1)
	check("rear_left", 1)
	// The charge of this battery is not known: the sensor reports an error instead of a value.
	if _, s := r.sensor("battery"); s.Err == nil || s.Time >= 0 {
		t.Errorf("battery: got %v", s)
	}
	// Between two reports values age.
	oldest := time.Duration(0)
	for range 20 {
		r.cycle()
		_, s := r.sensor("odometry")
		oldest = max(oldest, r.f.Time-s.Time)
	}
	if oldest < 60*time.Millisecond || oldest > 150*time.Millisecond {
		t.Errorf("odometry ages to %v, want up to 100 ms", oldest)
	}
	if w := r.f.Time - r.f.Status[0].Time; w > 150*time.Millisecond {
		t.Errorf("wheel: got of %v ago", w)
	}
	// Turning, by the gyro and by its learnt rest.
	r.enable(true)
	r.drive(-2, 2)
	r.run(3 * time.Second)
	got, _ := r.sensor("gyro")
	if want := r.floor.Turn(); math.Abs(got[0]-want) > 2*base.GyroScale || want < 0.3 {
		t.Errorf("gyro: got %v, want %g", got, want)
	}
	if r.base.Config().Watchdog != 2000 || r.base.Names().Name != "TestBot" {
		t.Errorf("config %+v, names %+v", r.base.Config(), r.base.Names())
	}
}

// left is how far the left rim has gone, m.
func left(r *robot) float64 {
	l, _ := r.floor.Rims()
	return l
}

// A base without calls of Send stops by itself; so does one with an unplugged cable.
func TestWatchdog(t *testing.T) { synctest.Test(t, watchdog) }

func watchdog(t *testing.T) {
	stops := func(name string, r *robot, cut func(*robot)) {
		must(t, r.base.Open())
		r.enable(true)
		r.drive(2, 2)
		r.run(3 * time.Second)
		if _, speed, _ := r.board.Motors(); speed < 0.1 {
			t.Fatalf("%s: got %g m/s", name, speed)
		}
		began, moved := r.line.Edge(), left(r)
		cut(r)
		for r.line.Edge() < began+4*time.Second {
			must(t, r.line.Advance(period))
			must(t, r.floor.Advance(period))
			if name == "cable" {
				r.cycle()
			}
		}
		if _, left, right := r.board.Motors(); left != 0 || right != 0 {
			t.Errorf("%s: after 4 s: got %g and %g m/s, want 0", name, left, right)
		}
		// Two seconds of watchdog and the ramp down: no farther.
		if far := left(r) - moved; far > 0.22*3.5 {
			t.Errorf("%s: went on for %g m", name, far)
		}
	}
	stops("silence", newRobot(t, "p2dx", 1, nil), func(*robot) {})
	r := newRobot(t, "p2dx", 1, nil)
	r.wait = synctest.Wait
	stops("cable", r, func(r *robot) { r.line.Fault(wire.Fault{Kind: wire.Unplugged}) })
	// After the loss it measures within a second, and does not move until it is enabled again.
	r.line.ClearFaults()
	r.run(time.Second)
	if _, s := r.sensor("odometry"); s.Err != nil || r.f.Time-s.Time > 200*time.Millisecond {
		t.Errorf("back: got %v of %v ago", s.Err, r.f.Time-s.Time)
	}
	if s := r.f.Status[0]; hal.KindOf(s.Err) != hal.Unsafe || r.floor.Turn() != 0 {
		t.Errorf("back: wheel: got %v and %v, want unsafe and no motion", s.Err, r.floor.Turn())
	}
	r.enable(false)
	r.cycle()
	r.enable(true)
	r.run(2 * time.Second)
	if on, left, _ := r.board.Motors(); !on || left < 0.1 || r.f.Status[0].Err != nil {
		t.Errorf("enabled again: got %v %g %v", on, left, r.f.Status[0].Err)
	}
}

// After a power loss a base measures again within a second, and does not move: earlier commands do not apply.
func TestPower(t *testing.T) {
	r := newRobot(t, "p2at", 1, nil)
	must(t, r.base.Open())
	r.enable(true)
	r.drive(2, 2)
	r.run(2 * time.Second)
	r.line.Fault(wire.Fault{Kind: wire.PowerLoss, For: time.Second})
	r.run(time.Second)
	if s := r.f.Status[0]; s.Err == nil || r.f.Time-s.Time < 800*time.Millisecond {
		t.Errorf("off: got %v of %v ago", s.Err, r.f.Time-s.Time)
	}
	stood, before := left(r), r.base.Stats().Sessions
	r.run(time.Second)
	// Its own counts restart at zero; the driver's continue from the present position.
	at, s := r.sensor("odometry")
	if s.Err != nil || r.base.Stats().Sessions != before+1 || math.Hypot(at[0]-r.floor.X, at[1]-r.floor.Y) > 0.05 {
		t.Errorf("back: got %v, %+v, at %v, want %g %g", s.Err, r.base.Stats(), at, r.floor.X, r.floor.Y)
	}
	r.run(2 * time.Second)
	if s := r.f.Status[0]; hal.KindOf(s.Err) != hal.Unsafe || left(r) != stood {
		t.Errorf("back: got %v, %g m", s.Err, left(r)-stood)
	}
}

// Motors that the button on the robot switched off are not switched on again by the driver.
func TestButton(t *testing.T) {
	r := newRobot(t, "p3dx", 1, nil)
	must(t, r.base.Open())
	r.enable(true)
	r.drive(1, 1)
	r.run(2 * time.Second)
	r.board.EmergencyStop(true)
	r.run(time.Second)
	if err := r.f.Status[1].Err; err == nil || !strings.Contains(err.Error(), "emergency stop is pressed") {
		t.Errorf("pressed: got %v", err)
	}
	r.board.EmergencyStop(false)
	r.run(2 * time.Second)
	if err := r.f.Status[1].Err; err == nil || !strings.Contains(err.Error(), "the base was stopped") {
		t.Errorf("released: got %v", err)
	}
	if on, _, _ := r.board.Motors(); on || hal.KindOf(r.f.Status[1].Err) != hal.Unsafe {
		t.Errorf("got motors %v, status %v, want them off and unsafe", on, r.f.Status[1].Err)
	}
	r.enable(false)
	r.run(100 * time.Millisecond)
	r.enable(true)
	r.run(time.Second)
	if on, _, _ := r.board.Motors(); !on || r.f.Status[1].Err != nil {
		t.Errorf("enabled again: got %v, %v", on, r.f.Status[1].Err)
	}
}

// Motors that stay off because the red button is pressed also stay off when it is released.
func TestButtonDown(t *testing.T) {
	r := newRobot(t, "p3dx", 1, nil)
	must(t, r.base.Open())
	r.board.EmergencyStop(true)
	r.enable(true)
	r.drive(1, 1)
	r.run(3 * time.Second)
	if hal.KindOf(r.f.Status[1].Err) != hal.Unsafe {
		t.Errorf("held down: got %v, want unsafe", r.f.Status[1].Err)
	}
	r.board.EmergencyStop(false)
	r.run(2 * time.Second)
	if on, _, _ := r.board.Motors(); on || left(r) != 0 {
		t.Errorf("let go of: got motors %v, %g m", on, left(r))
	}
	r.enable(false)
	r.run(100 * time.Millisecond)
	r.enable(true)
	r.run(time.Second)
	if on, _, _ := r.board.Motors(); !on || r.f.Status[1].Err != nil {
		t.Errorf("enabled again: got %v, %v", on, r.f.Status[1].Err)
	}
}

// CutTorque brakes the base and does not wait.
func TestBrake(t *testing.T) {
	r := newRobot(t, "p2at", 1, nil)
	must(t, r.base.CutTorque()) // not open: nothing to brake
	must(t, r.base.Open())
	r.enable(true)
	r.drive(2, 2)
	r.run(2 * time.Second)
	before := r.line.Now()
	must(t, r.base.CutTorque())
	if r.line.Now() != before {
		t.Error("it waited")
	}
	must(t, r.line.Advance(50*time.Millisecond))
	if _, left, right := r.board.Motors(); left != 0 || right != 0 {
		t.Errorf("got %g and %g m/s, want it to stand", left, right)
	}
}

// After CutTorque the cycle under way sends its goals of before the stop: they must not drive the base on, nor switch
// its motors on.
func TestCutEndsGoals(t *testing.T) {
	r := newRobot(t, "p2dx", 1, nil)
	must(t, r.base.Open())
	r.run(time.Second)
	r.drive(3, 3)
	must(t, r.body.Write(r.f)) // a cycle has just begun
	r.enable(true)
	must(t, r.body.Write(r.f))
	must(t, r.base.CutTorque())
	r.run(2 * time.Second)
	if on, _, _ := r.board.Motors(); on || left(r) != 0 {
		t.Errorf("stopped as it was enabled: motors %v, %g m, want none", on, left(r))
	}
	r.enable(false)
	r.run(300 * time.Millisecond)
	r.enable(true)
	r.run(3 * time.Second)
	if _, speed, _ := r.board.Motors(); speed < 0.2 {
		t.Fatalf("got %g m/s, want it to drive", speed)
	}
	must(t, r.base.CutTorque())
	r.run(time.Second)
	if on, l, right := r.board.Motors(); on || l != 0 || right != 0 {
		t.Errorf("stopped as it drove: motors %v, %g and %g m/s, want it at rest", on, l, right)
	}
	r.enable(false)
	r.run(300 * time.Millisecond)
	r.enable(true)
	r.run(3 * time.Second)
	if _, speed, _ := r.board.Motors(); speed < 0.2 {
		t.Errorf("enabled again: got %g m/s, want it to drive", speed)
	}
}

func TestHalt(t *testing.T) {
	r := newRobot(t, "p2at", 1, nil)
	if err := r.body.Halt(); err == nil || !strings.Contains(err.Error(), "LeftFWheel") {
		t.Errorf("before Open: got %v, want an error a wheel", err)
	}
	must(t, r.base.Open())
	r.enable(true)
	r.drive(2, 2)
	r.run(2 * time.Second)
	must(t, r.body.Halt())
	if on, left, right := r.board.Motors(); on || left != 0 || right != 0 {
		t.Errorf("got motors %v at %g %g", on, left, right)
	}
	r.run(2 * time.Second) // enabled all the time: that is no new enable
	if on, _, _ := r.board.Motors(); on {
		t.Error("motors came back by themselves")
	}
	// The base is at rest with its motors off, and has just reported it: Halt does not wait.
	before := r.line.Now()
	if must(t, r.body.Halt()); r.line.Now() != before {
		t.Errorf("inert: waited for %v", r.line.Now()-before)
	}
	r.enable(false)
	r.run(100 * time.Millisecond)
	r.enable(true)
	r.run(time.Second)
	r.line.Fault(wire.Fault{Kind: wire.OpenWire})
	if err := r.body.Halt(); err == nil {
		t.Error("deaf: got no error")
	}
	// An old report does not count.
	r.run(time.Second)
	if err := r.body.Halt(); err == nil {
		t.Error("deaf for long: got no error")
	}
}

// A robot of another type is refused. A session left open by another program is taken over. A missing robot is an error
// in bounded time.
func TestOpen(t *testing.T) {
	r := newRobot(t, "p2dx", 1, func(s *base.Settings) { s.Robot, _ = base.RobotOf("p3dx") })
	if err := r.base.Open(); err == nil || !strings.Contains(err.Error(), "got a p2dx, want a p3dx") {
		t.Errorf("another robot: got %v", err)
	}
	r = newRobot(t, "p2dx", 1, nil)
	must(t, r.base.Open())
	again, err := base.New(base.Settings{Name: "base", Robot: mustRobot(t, "p2dx"), Line: r.line.Open, Clock: r.line})
	must(t, err)
	must(t, again.Open())
	if s := again.Stats(); s.Sessions != 1 {
		t.Errorf("left open: got %+v, want a session of its own", s)
	}
	r = newRobot(t, "p2dx", 1, nil)
	r.line.Fault(wire.Fault{Kind: wire.PowerLoss})
	began := r.line.Now()
	if err := r.base.Open(); hal.KindOf(err) != hal.Absent || r.line.Now()-began > 3*time.Second {
		t.Errorf("none: got %v after %v", err, r.line.Now()-began)
	}
}

func mustRobot(t *testing.T, name string) base.Robot {
	t.Helper()
	r, err := base.RobotOf(name)
	must(t, err)
	return r
}

// Player's recorded requests at its start (hardware.md, section 4), and the replies of the base.
func TestPlayersStart(t *testing.T) {
	model, err := base.RobotOf("p2at")
	must(t, err)
	floor := p2os.NewFloor(model.Difference)
	b := p2os.New(model, "MyRobot", 9600, false, floor)
	b.Power(true, 0)
	now := 100 * time.Millisecond
	say := func(text string) string {
		p, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
		must(t, err)
		b.Receive(p, now)
		now += 2 * time.Millisecond
		return fmt.Sprintf("% X", b.Transmit(nil, now))
	}
	for _, c := range []struct{ sent, received string }{
		{"FA FB 03 00 00 00", "FA FB 03 00 00 00"},
		{"FA FB 03 01 00 01", "FA FB 03 01 00 01"},
		{"FA FB 03 02 00 02", "FA FB 18 02 4D 79 52 6F 62 6F 74 00 50 69 6F 6E 65 65 72 00 70 32 61 74 00 3E DC"},
		{"FA FB 03 01 00 01", ""},          // OPEN
		{"FA FB 03 00 00 00", ""},          // PULSE
		{"FA FB 04 07 3B 07 3B", ""},       // SETO, with a kind and no argument
		{"FA FB 06 04 3B 01 00 05 3B", ""}, // ENABLE
		{"FA FB 06 1C 3B 01 00 1D 3B", ""}, // SONAR
		{"FA FB 06 20 3B 0A 0A 2A 45", ""}, // VEL2: 0.2 m/s
	} {
		if got := say(c.sent); got != c.received {
			t.Errorf("%s: got %s, want %s", c.sent, got, c.received)
		}
	}
	for range 80 {
		now += 20 * time.Millisecond
		b.Transmit(nil, now)
	}
	if on, left, right := b.Motors(); !on || math.Abs(left-0.2) > 1e-9 || left != right {
		t.Errorf("got motors %v at %g and %g m/s, want 0.2", on, left, right)
	}
}

func TestDo(t *testing.T) {
	r := newRobot(t, "p2at", 1, func(s *base.Settings) { s.IO, s.Gripper = true, true })
	must(t, r.base.Open())
	r.run(time.Second)
	must(t, r.base.Do(p2oswire.Command{Op: p2oswire.OpDigOut, Kind: p2oswire.Number, Int: 1<<8 | 1}))
	must(t, r.base.Do(p2oswire.Command{Op: p2oswire.OpGripper, Kind: p2oswire.Number, Int: 2}))
	r.run(300 * time.Millisecond)
	if io, g := r.base.IO(), r.base.GripperState(); io.Out[0] != 1 || io.Ins != 4 || g.State != 2 {
		t.Errorf("got %+v and %+v", io, g)
	}
	if err := r.base.Do(p2oswire.Command{Op: p2oswire.OpVel, Kind: p2oswire.Number, Int: 1}); hal.KindOf(
		err) != hal.Unsafe {
		t.Errorf("motion: got %v, want unsafe", err)
	}
}

func TestCycleAllocatesNothing(t *testing.T) {
	r := newRobot(t, "p2at", 1, nil)
	must(t, r.base.Open())
	r.enable(true)
	r.drive(1, 1)
	r.run(2 * time.Second)
	// The line allocates for what is on its way; the driver's own part is Write, Send and Read of a cycle without
	// bytes.
	if n := testing.AllocsPerRun(100, func() {
		r.body.Write(r.f)
		r.base.Receive()
		r.body.Read(r.f)
	}); n != 0 {
		t.Errorf("got %g allocations a cycle, want 0", n)
	}
}

// The same over a pty and the driver of real adapters, by the wall clock.
func TestPTY(t *testing.T) {
	r := newRobot(t, "p2dx", 1, nil)
	ctx, cancel := context.WithCancel(context.Background())
	path, wait, err := r.line.ServePTY(ctx, "")
	if err != nil {
		cancel()
		t.Skip(err)
	}
	defer func() { cancel(); must(t, wait()) }()
	b, err := base.New(base.Settings{Name: "pty", Robot: mustRobot(t, "p2dx"), Line: serial.Reopener(path, 9600, "")})
	must(t, err)
	must(t, b.Open())
	defer b.Close()
	if b.Names().Name != "TestBot" || b.State(0).Err != nil {
		t.Errorf("got %+v, %v", b.Names(), b.State(0).Err)
	}
}

// The same over a socket, which has no rate.
func TestTCP(t *testing.T) {
	model := mustRobot(t, "p2dx")
	line := wire.NewLine("base", 0, 1, p2os.New(model, "TestBot", 0, true, p2os.NewFloor(model.Difference)))
	n, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- line.ServeTCP(ctx, n) }()
	b, err := base.New(base.Settings{Name: "tcp", Robot: model, Line: lidar.DialTCP(n.Addr().String())})
	must(t, err)
	must(t, b.Open())
	must(t, b.Send())
	must(t, b.Receive())
	if b.Names().Name != "TestBot" || b.State(0).Err != nil {
		t.Errorf("got %+v, %v", b.Names(), b.State(0).Err)
	}
	must(t, b.Close())
	cancel()
	must(t, <-done)
}
