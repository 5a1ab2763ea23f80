package emulator_test

import (
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	emucybergear "github.com/halyard-robotics/halyard/internal/emulator/cybergear"
	emuodrive "github.com/halyard-robotics/halyard/internal/emulator/odrive"
	emuvesc "github.com/halyard-robotics/halyard/internal/emulator/vesc"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/cybergear"
	"github.com/halyard-robotics/halyard/servo/odrive"
	"github.com/halyard-robotics/halyard/servo/vesc"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// motorActuator is the physics of a motor with a light load.
func motorActuator(t testing.TB, model string) *actuator.Servo {
	t.Helper()
	spec, ok := actuator.Lookup(model)
	if !ok {
		t.Fatalf("no actuator %q", model)
	}
	act := actuator.NewServo(spec)
	act.Load.Inertia = 3 * spec.Armature
	return act
}

// motorBus is n motors of a model on a bus of its vendor, and the chain that drives them.
func motorBus(t testing.TB, model string, n, rate int, onCAN bool) *rostered {
	t.Helper()
	var servos []*emulator.Servo
	var v servo.ChainConfig
	var o servo.ChainConfig
	var g servo.ChainConfig
	first := 1
	if odrive.ModelByName(model) != nil && !onCAN {
		first = 0
	}
	for id := first; id < first+n; id++ {
		act := motorActuator(t, model)
		if m := vesc.ModelByName(model); m != nil {
			servos = append(servos, emuvesc.New(m, id, act, emulator.GroundTruth{}))
			v.Servos = append(v.Servos, servo.ServoConfig{ID: byte(id), Model: m})
		}
		if m := odrive.ModelByName(model); m != nil && onCAN {
			servos = append(servos, emuodrive.NewCAN(m, id, act, emulator.GroundTruth{}))
			axis := servo.ServoConfig{ID: byte(id), Model: m}
			if m.Endpoints != nil {
				axis.Settings = []servo.Setting{{Register: "watchdog_endpoint", Value: emuodrive.WatchdogEndpoint},
					{Register: "enable_endpoint", Value: emuodrive.EnableEndpoint},
					{Register: "limit_endpoint", Value: emuodrive.LimitEndpoint}}
			}
			o.Servos = append(o.Servos, axis)
		} else if m != nil {
			servos = append(servos, emuodrive.New(m, id, act, emulator.GroundTruth{}))
			o.Servos = append(o.Servos, servo.ServoConfig{ID: byte(id), Model: m})
		}
		if m := cybergear.ModelByName(model); m != nil {
			servos = append(servos, emucybergear.New(m, id, act, emulator.GroundTruth{}))
			g.Servos = append(g.Servos, servo.ServoConfig{ID: byte(id), Model: m})
		}
	}
	bus := emulator.NewBus(emulator.BusConfig{Name: "motors", Baud: rate}, servos...)
	line, err := bus.Open()
	if err != nil {
		t.Fatal(err)
	}
	d := &rostered{rig: &rig{t, bus, line, servos}, watched: &watchedLine{Line: line}}
	var c interface {
		servo.Chain
		Stats() servo.Stats
		Fault(int) error
		Close() error
	}
	v.Name, v.Line, v.Reopen = "motors", d.watched, bus.Open
	o.Name, o.Line, o.Reopen = "motors", d.watched, bus.Open
	g.Name, g.Line, g.Reopen = "motors", d.watched, bus.Open
	switch {
	case len(v.Servos) > 0:
		c = vesc.NewChain(v)
	case len(g.Servos) > 0:
		c = cybergear.NewChain(g)
	case onCAN:
		c = odrive.NewCANChain(o)
	default:
		c = odrive.NewSerialChain(o)
	}
	d.Chain, d.stats, d.fault, d.close = c, c.Stats, c.Fault, c.Close
	t.Cleanup(func() { c.Close() })
	if err := c.Open(); err != nil {
		t.Fatal(err)
	}
	return d
}

func openVESC(t *testing.T, model string, n int) *rostered {
	return motorBus(t, model, n, 1000000, false)
}

func openODriveCAN(t *testing.T, model string, n int) *rostered {
	return motorBus(t, model, n, 1000000, true)
}

func openCyberGear(t *testing.T, model string, n int) *rostered {
	return motorBus(t, model, n, 1000000, true)
}

// motors are all vendors with their modes.
func motors(t *testing.T, test func(t *testing.T, d *rostered)) {
	for _, c := range []struct {
		name, model string
		rate        int
		can         bool
	}{
		{"vesc", "vesc-6", 115200, false}, {"odrive-0.5", "odrive-v3", 115200, false},
		{"odrive-can-0.6", "odrive-s1", 250000, true},
		{"odrive-can-0.5", "odrive-v3", 250000, true}, {"cybergear", "cybergear", 1000000, true},
	} {
		t.Run(c.name, func(t *testing.T) { test(t, motorBus(t, c.model, 2, c.rate, c.can)) })
	}
}

// Position, speed, torque and back; a hold keeps the present position after any mode.
func TestMotorModes(t *testing.T) {
	motors(t, func(t *testing.T, d *rostered) {
		d.cycles(30, servo.Goal{})
		start := d.State(0).Position
		d.cycles(40, servo.Goal{Enable: true, Mode: hal.NoMode, Limit: 1})
		d.follows("torque on", start, 5)
		d.cycles(200, to(start+2000))
		d.follows("goal", start+2000, 40)
		d.cycles(200, servo.Goal{Enable: true, Mode: hal.VelocityMode, Velocity: 3, Limit: 1})
		for i := range d.servos {
			if v := d.State(i).Velocity; math.Abs(v-3) > 0.2 {
				t.Errorf("speed: motor %d: got %.2f rad/s, want 3: %v", i, v, d.fault(i))
			}
		}
		u := d.Units(0)
		d.cycles(60, servo.Goal{Enable: true, Mode: hal.TorqueMode, Effort: 0.02 * u.MaxEffort, Limit: 1})
		for i := range d.servos {
			if e := d.State(i).Effort; math.Abs(e-0.02*u.MaxEffort) > 0.005*u.MaxEffort ||
				d.servos[i].Actuator().Velocity < 4 {
				t.Errorf("torque: motor %d: got %.2f of %.2f, at %.2f rad/s", i, e, u.MaxEffort,
					d.servos[i].Actuator().Velocity)
			}
		}
		// It is fast now; to be limp it coasts, and holds where it is then.
		d.cycles(20, servo.Goal{})
		for i := range d.servos {
			d.servos[i].Actuator().Reset(0)
		}
		d.cycles(30, servo.Goal{})
		if d.servos[0].Actuator().Enable {
			t.Error("limp: driven")
		}
		at := d.State(0).Position
		d.cycles(60, servo.Goal{Enable: true, Mode: hal.NoMode, Limit: 1})
		d.follows("hold again", at, 10)
	})
}

// The host stops sending, as when a cable is pulled or a program dies: every motor switches torque off by itself.
func TestMotorsStopWithoutAHost(t *testing.T) {
	motors(t, func(t *testing.T, d *rostered) {
		d.cycles(30, servo.Goal{})
		d.cycles(100, servo.Goal{Enable: true, Mode: hal.VelocityMode, Velocity: 3, Limit: 1})
		for i, s := range d.servos {
			if !s.Actuator().Enable {
				t.Fatalf("motor %d is not driven: %v", i, d.fault(i))
			}
		}
		d.pass(1200 * time.Millisecond)
		for i, s := range d.servos {
			if s.Actuator().Enable && s.Name() != "odrive-v3" || s.Actuator().Enable && d.bus.Baud() == 115200 {
				t.Errorf("motor %d goes on without a host", i)
			}
		}
	})
}

// A line lost for less than any watchdog's time: a turning motor loses torque, and its watchdog is not fed.
func TestMotorsLetGoOfALineRegained(t *testing.T) {
	motors(t, func(t *testing.T, d *rostered) {
		d.cycles(30, servo.Goal{})
		g := servo.Goal{Enable: true, Mode: hal.VelocityMode, Velocity: 3, Limit: 1}
		d.cycles(100, g)
		d.plant("unplug bus for=30ms")
		for n := 0; d.stats().Reopened == 0 && n < 1000; n++ {
			d.cycles(1, g)
			runtime.Gosched() // the line is opened in its own goroutine
		}
		d.cycles(40, g)
		for i, s := range d.servos {
			if s.Actuator().Enable || !errors.Is(d.fault(i), servo.ErrRegained) {
				t.Errorf("motor %d: driven %v, %v", i, s.Actuator().Enable, d.fault(i))
			}
		}
	})
}

// A wheel that still turns when its line is back is stopped; an arm keeps holding.
func TestWheelsStopOnALineRegained(t *testing.T) {
	for _, c := range []struct {
		model  string
		open   func(t *testing.T, model string, n int) *rostered
		goal   servo.Goal
		driven bool
	}{
		{"sts3215", openFeetech, servo.Goal{Enable: true, Mode: hal.VelocityMode, Velocity: 2, Limit: 1}, false},
		{"sts3215", openFeetech, to(2600), true},
		{"lx-16a", openHiwonder, servo.Goal{Enable: true, Mode: hal.DutyMode, Duty: 0.5, Limit: 1}, false},
	} {
		d := c.open(t, c.model, 2)
		d.cycles(100, c.goal)
		d.plant("unplug bus for=30ms")
		for n := 0; d.stats().Reopened == 0 && n < 1000; n++ {
			d.cycles(1, c.goal)
			runtime.Gosched() // the line is opened in its own goroutine
		}
		d.cycles(60, c.goal)
		for i, s := range d.servos {
			if s.Actuator().Enable != c.driven || !errors.Is(d.fault(i), servo.ErrRegained) {
				t.Errorf("%s: servo %d: driven %v, want %v: %v", c.model, i, s.Actuator().Enable, c.driven, d.fault(i))
			}
		}
	}
}

// Nonexistent endpoints have no reply: the axis reports why it has no torque.
func TestODriveWithoutItsEndpoints(t *testing.T) {
	m := odrive.ModelByName("odrive-s1")
	s := emuodrive.NewCAN(m, 1, motorActuator(t, "odrive-s1"), emulator.GroundTruth{})
	bus := emulator.NewBus(emulator.BusConfig{Name: "motors", Baud: 1000000}, s)
	line, err := bus.Open()
	if err != nil {
		t.Fatal(err)
	}
	c := odrive.NewCANChain(servo.ChainConfig{Line: line, Servos: []servo.ServoConfig{{ID: 1, Model: m,
		Settings: []servo.Setting{{Register: "watchdog_endpoint", Value: 300}}}}})
	d := &rostered{rig: &rig{t, bus, line, []*emulator.Servo{s}}}
	d.Chain, d.stats, d.fault = c, c.Stats, c.Fault
	if err := c.Open(); err != nil {
		t.Fatal(err)
	}
	d.cycles(30, servo.Goal{})
	d.cycles(30, servo.Goal{Enable: true, Mode: hal.NoMode, Limit: 1})
	if err := d.fault(0); err == nil || !strings.Contains(err.Error(), "flat_endpoints.json") || s.Actuator().Enable {
		t.Errorf("got %v, driven %v", err, s.Actuator().Enable)
	}
}

// No limit lets a motor push more than its share.
func TestMotorLimits(t *testing.T) {
	motors(t, func(t *testing.T, d *rostered) {
		if d.servos[0].Name() == "vesc-6" {
			t.Skip("a VESC is limited in its torque mode alone")
		}
		d.cycles(30, servo.Goal{})
		start := d.State(0).Position
		g := to(start + 4000)
		g.Limit = 0.25
		for range 150 {
			d.cycles(1, g)
			a := d.servos[0].Actuator()
			if most := 0.25 * a.Spec.MaxCurrent; math.Abs(a.Current) > 1.02*most {
				t.Fatalf("got %.2f A, want at most %.2f", a.Current, most)
			}
		}
		d.follows("limited", start+4000, 80)
	})
}

func TestMotorAlarms(t *testing.T) {
	motors(t, func(t *testing.T, d *rostered) {
		d.cycles(30, servo.Goal{})
		g := to(d.State(0).Position)
		d.cycles(60, g)
		a := d.servos[0].Actuator()
		a.Temperature = 120
		d.cycles(60, g)
		s := d.State(0)
		if s.Alarm != servo.AlarmHeat || s.Torque || a.Enable || !errors.Is(d.fault(0), servo.ErrLatched) ||
			d.State(1).Alarm != 0 || !d.State(1).Torque {
			t.Fatalf("hot: got %v, torque %v, fault %v; the other %v %v", s.Alarm, s.Torque, d.fault(0),
				d.State(1).Alarm, d.fault(1))
		}
		clear := d.Chain.(interface{ ClearAlarm(int) error }).ClearAlarm
		if err := clear(0); err == nil {
			t.Error("cleared while it is hot")
		}
		a.Reset(a.Position)
		d.cycles(60, servo.Goal{})
		if err := clear(0); err != nil {
			t.Errorf("clear: %v", err)
		}
		d.cycles(100, g)
		d.follows("cured", g.Position, 40)
	})
}

func TestCyberGearZero(t *testing.T) {
	m := cybergear.ModelByName("cybergear")
	s := emucybergear.New(m, 5, motorActuator(t, "cybergear"), emulator.GroundTruth{})
	s.Actuator().Reset(1)
	line := emulator.NewBus(emulator.BusConfig{Name: "motors", Baud: 1000000}, s).Line()
	cfg := servo.ChainConfig{Line: line, Servos: []servo.ServoConfig{{ID: 5, Model: m}}}
	c := cybergear.NewChain(cfg)
	if err := errors.Join(c.Open(), c.Send(), c.Receive()); err != nil {
		t.Fatal(err)
	}
	if p := c.State(0).Position; math.Abs(p-16384/(2*math.Pi)) > 2 {
		t.Fatalf("before: got %.1f", p)
	}
	if err := c.SetZero(0); err != nil {
		t.Fatal(err)
	}
	if err := c.Receive(); err != nil || math.Abs(c.State(0).Position) > 2 {
		t.Errorf("after: got %.1f, %v", c.State(0).Position, err)
	}
	cfg.Servos[0].Calibrated = true
	if err := c.SetZero(0); hal.KindOf(err) != hal.Unsafe {
		t.Errorf("calibrated: got %v", err)
	}
}

// Served on an interface of the kernel, motors answer every node there.
func TestServeOnCAN(t *testing.T) {
	ask := emulator.ServeOnSocket(t, emulator.NewBus(emulator.BusConfig{Name: "motors", Baud: 1_000_000},
		emucybergear.New(cybergear.ModelByName("cybergear"), 1, motorActuator(t, "cybergear"), emulator.GroundTruth{})))
	began := time.Now()
	const rounds = 50
	for range rounds {
		if got := ask(servo.CANFrame{ID: 0x0000FD01, Extended: true, Len: 8}); got.ID != 0x000001FE || !got.Extended ||
			got.Len != 8 {
			t.Fatalf("who is it: got %v, want its identifier from 000001FE", &got)
		}
	}
	if took := time.Since(began) / rounds; took > 10*time.Millisecond {
		t.Logf("an answer took %v", took)
	}
	if got := ask(servo.CANFrame{ID: 0x0400FD01, Extended: true, Len: 8}); got.ID&0x1F00FFFF != 0x020001FD {
		t.Errorf("stop: got %v, want its state", &got)
	}
}
