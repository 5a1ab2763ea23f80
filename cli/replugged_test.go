package cli

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
	"github.com/halyard-robotics/halyard/internal/emulator/pty"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
)

// turning is a rig that runs in real time, watched cycle by cycle.
type turning struct {
	t     *testing.T
	sys   *assembly.System
	agent *hal.Agent
	cycle chan struct{} // has room for one
}

// Cycle implements hal.Observer.
func (r *turning) Cycle(*hal.Cycle) {
	select {
	case r.cycle <- struct{}{}:
	default:
	}
}

// builtReal opens a plan whose devices are emulated on ptys, in real time: on a busy machine they answer late, or not
// in time. Such an open is tried again, for a minute.
func builtReal(t *testing.T, p *plan.Plan) *assembly.System {
	t.Helper()
	for begin := time.Now(); ; {
		sys, err := assembly.Build(p, slog.New(slog.DiscardHandler))
		if err == nil {
			return sys
		}
		if !slices.Contains([]hal.Kind{hal.BusFault, hal.Absent, hal.Busy}, hal.KindOf(err)) ||
			time.Since(begin) > time.Minute {
			t.Fatal(err)
		}
		t.Logf("opened again: %v", err)
	}
}

// turn runs the rig of a config until the test ends.
func turn(t *testing.T, path string, o configs.Options) *turning {
	t.Helper()
	sys := builtReal(t, rigtest.PlanOf(t, path, o))
	if err := sys.Rig.Arm(); err != nil { // a real body starts disarmed
		t.Fatal(err)
	}
	r := &turning{t: t, sys: sys, agent: sys.Rig.Agents()[0], cycle: make(chan struct{}, 1)}
	party := sys.Rig.NewSession("test", r)
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- sys.Rig.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-ran, sys.Close()); err != nil {
			t.Error(err)
		}
		party.Close()
	})
	return r
}

// until waits for all devices of the agent to be as ok says.
func (r *turning) until(what string, ok func(s []hal.Status) bool) {
	r.t.Helper()
	for late := time.After(time.Minute); ; {
		status := r.agent.Status(nil)
		if ok(status) {
			return
		}
		select {
		case <-r.cycle:
		case <-late:
			r.t.Fatalf("%s: not within a minute: %+v", what, status)
		}
	}
}

// each makes a condition of all devices of one of each.
func each(ok func(s *hal.Status) bool) func([]hal.Status) bool {
	return func(all []hal.Status) bool {
		for i := range all {
			if !ok(&all[i]) {
				return false
			}
		}
		return true
	}
}

// stable is a name that leads to a port until it is made to lead to another, as udev's below /dev/serial/by-id.
func stable(t *testing.T, port string) (name string, lead func(to string)) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "usb-FTDI_U2D2-if00-port0")
	lead = func(to string) {
		t.Helper()
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if to == "" {
			return
		}
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	lead(port)
	return name, lead
}

// A line of servos whose adapter is pulled out and comes back as another /dev/pts: it is found by its stable name,
// every joint says so and waits to be enabled, and obeys then.
func TestServosReplugged(t *testing.T) {
	first, pull := startEmulate(t, "xm430-arm")
	second, _ := startEmulate(t, "xm430-arm") // both are there at once, or it would have the number of the first
	if first == second {
		t.Fatalf("both are %s", first)
	}
	name, lead := stable(t, first)
	r := turn(t, realConfig(t, name),
		configs.Options{Body: "real", Set: []string{"clock.period=20ms", "buses.arm.latency=20ms"}})
	well := each(func(s *hal.Status) bool { return s.Err == nil && s.Time >= 0 })
	r.until("well", well)
	goals := make([]float64, len(r.agent.Layout().Inputs))
	for i := range goals {
		goals[i] = math.NaN()
	}
	for _, a := range r.agent.Layout().Actuators {
		goals[a.Goal[hal.PositionMode]] = 0.05
	}
	r.until("all under way", func([]hal.Status) bool {
		// A busy machine lets the cycle stand still, or joints be lost, and the guard waits for its operator then.
		if err := errors.Join(r.agent.Arm(), r.agent.Override(goals)); err != nil {
			t.Fatal(err)
		}
		v := r.agent.Measured(nil)
		for _, a := range r.agent.Layout().Actuators {
			if !(v[a.Position] > 0.02) {
				return false
			}
		}
		return true
	})
	pull()
	// The rig looks for its port still: where it is another's now, of this suite or of another, it would take that.
	if other, err := pty.Open(9600); err != nil || other.Path == first {
		t.Errorf("a new terminal at %s: got %v, want another number than the one that was pulled", first, err)
	} else {
		other.Close()
	}
	lead("")
	r.until("gone, and said to be", each(func(s *hal.Status) bool { return hal.KindOf(s.Err) == hal.Absent }))
	lead(second)
	r.until("back, and held", each(func(s *hal.Status) bool {
		var why *hal.Error
		return errors.As(s.Err, &why) && why.Op == "torque"
	}))
	r.agent.Disarm()
	r.until("disarmed", well)
	if err := r.agent.Arm(); err != nil {
		t.Fatal(err)
	}
	r.until("enabled again", well)
	r.sys.Rig.BetweenCycles(func() {
		if n := r.sys.Lines[0].Chain.Stats().Reopened; n != 1 {
			t.Errorf("reopened %d times, want once", n)
		}
	})
}

// feltRig is a robot of which nothing but its inertial sensor is real.
const feltRig = `
name: felt
clock: {mode: realtime, period: 20ms}
buses: {usb: {type: serial, port: PORT}}
agents:
  - name: felt
    model: nodder-robot.yaml
    body: sim
    parts: {imu: real}
    hardware: {sensors: {imu: {bus: usb, device: bno055, calibration: imu.yaml}}}
servers: []
`

// An inertial sensor whose adapter comes back as another /dev/pts: what it measures there is what is told.
func TestSensorReplugged(t *testing.T) {
	before, after := chip.NewBNO055(imu.BNO055Address), chip.NewBNO055(imu.BNO055Address)
	after.Motion.Rates = [3]float64{0, 0, 1}
	first, second := rigtest.Plug(t, before), rigtest.Plug(t, after)
	name, lead := stable(t, first.Path)
	rig := rigtest.RigOf(t, feltRig, doctor.Nodder, "PORT", name)
	const lies = "sensor: imu\nmodel: bno055\nmethod: manual\ndate: 2026-11-21T14:03:00Z\naxes: [x, y, z]\n"
	if err := os.WriteFile(filepath.Join(filepath.Dir(rig), "imu.yaml"), []byte(lies), 0o600); err != nil {
		t.Fatal(err)
	}
	r := turn(t, rig, configs.Options{})
	l := r.agent.Layout()
	s := rigtest.SensorOf(t, l, "imu")
	device := len(l.Actuators) + catalog.SensorIndex(l, "imu")
	turns := func(rate float64) func([]hal.Status) bool {
		return func(all []hal.Status) bool {
			return all[device].Err == nil && math.Abs(r.agent.Measured(nil)[s.First+6]-rate) < 0.01
		}
	}
	r.until("at rest", turns(0))
	first.Pull()
	lead("")
	r.until("gone", func(all []hal.Status) bool { return hal.KindOf(all[device].Err) == hal.Absent })
	lead(second.Path)
	r.until("another", turns(1))
}
