// Package rigtest builds rigs and lines of emulated devices for the tests of other packages. It is for tests alone.
package rigtest

import (
	"context"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// PlanOf loads and resolves an embedded config.
func PlanOf(t testing.TB, name string, o configs.Options) *plan.Plan {
	t.Helper()
	c, err := configs.Load(name, o)
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Resolve(c, builtin.Catalog())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Subject builds p but for the rig's agents, and hands the first body out.
func Subject(t *testing.T, p *plan.Plan) haltest.Subject {
	t.Helper()
	sys, err := assembly.Build(p, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sys.Close() })
	s := haltest.Subject{Body: sys.Bodies[0], World: haltest.Worlds(sys.Worlds), Period: 10 * time.Millisecond}
	for _, l := range sys.Lines {
		s.Buses = append(s.Buses, l.Chain)
	}
	for _, r := range sys.Runners {
		s.Buses = append(s.Buses, r)
	}
	return s
}

// RigOf writes a config and its robot, and returns the config's path. pairs are replaced in the config.
func RigOf(t *testing.T, rig, robot string, pairs ...string) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "rig.yaml")
	for name, text := range map[string]string{path: strings.NewReplacer(pairs...).Replace(rig),
		filepath.Join(dir, "nodder-robot.yaml"): robot} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func SensorOf(t testing.TB, l *hal.Layout, name string) hal.Sensor {
	t.Helper()
	for _, s := range l.Sensors {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("no sensor %q", name)
	return hal.Sensor{}
}

// Stepped is a rig in lock-step under one lease, and the names of the events that it saw.
type Stepped struct {
	t      *testing.T
	Sys    *assembly.System
	Agent  *hal.Agent
	lease  *hal.Lease
	party  *hal.Session
	Inputs []float64
	Events []string
}

// Step builds a plan and takes the lease of its first agent.
func Step(t *testing.T, p *plan.Plan) *Stepped {
	t.Helper()
	sys, err := assembly.Build(p, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sys.Close(); err != nil {
			t.Error(err)
		}
	})
	s := &Stepped{t: t, Sys: sys, Agent: sys.Rig.Agents()[0]}
	s.party = sys.Rig.NewSession("test", s)
	if s.lease, err = s.party.Acquire(s.Agent); err != nil {
		t.Fatal(err)
	}
	for range s.Agent.Layout().Inputs {
		s.Inputs = append(s.Inputs, math.NaN())
	}
	return s
}

// Cycle implements hal.Observer.
func (s *Stepped) Cycle(c *hal.Cycle) {
	for _, id := range c.Events {
		s.Events = append(s.Events, s.Sys.Rig.Events().Name(id))
	}
}

// Run lets d pass and returns all that was measured, bit for bit.
func (s *Stepped) Run(d time.Duration) (bits []uint64) {
	s.t.Helper()
	var measured []float64
	for range d / s.Sys.Rig.Period() {
		s.party.Renew(s.lease) // the commander of an autopilot lives
		if err := s.party.Step(s.lease, s.Inputs); err != nil {
			s.t.Fatal(err)
		}
		measured = s.Agent.Measured(measured)
		for _, v := range measured {
			bits = append(bits, math.Float64bits(v))
		}
	}
	return bits
}

// Device is the status of a joint or sensor.
func (s *Stepped) Device(name string) hal.Status {
	s.t.Helper()
	l := s.Agent.Layout()
	i := l.Actuator(name)
	for k := range l.Sensors {
		if l.Sensors[k].Name == name {
			i = len(l.Actuators) + k
		}
	}
	return s.Agent.Status(nil)[i]
}

// Saw reports whether an event has been raised since the last call.
func (s *Stepped) Saw(event string) bool {
	seen := slices.Contains(s.Events, event)
	s.Events = nil
	return seen
}

// Wheels commands all wheels of both sides, rad/s.
func (s *Stepped) Wheels(left, right float64) {
	for i := range s.Agent.Layout().Actuators {
		a := &s.Agent.Layout().Actuators[i]
		if at := a.Goal[hal.VelocityMode]; strings.HasPrefix(a.Name, "left") {
			s.Inputs[at] = left
		} else if strings.HasPrefix(a.Name, "right") {
			s.Inputs[at] = right
		}
	}
}

// Sensor is what the device says.
func (s *Stepped) Sensor(name string) []float64 {
	s.t.Helper()
	at := SensorOf(s.t, s.Agent.Layout(), name)
	return s.Agent.Measured(nil)[at.First : at.First+at.Count]
}

// Truth is where the robot truly is and looks.
func (s *Stepped) Truth() (x, y, heading float64) {
	at := s.Sys.Scene.Body(s.Agent.Name()).Pose(0)
	return at.Position[0], at.Position[1], at.RollPitchYaw()[2]
}

// Line is the wire of a bus, for its faults.
func (s *Stepped) Line(bus string) *wire.Line {
	line, _ := s.Sys.Emulation.Lines[bus].(*wire.Line)
	return line
}

// moves reports whether the robot truly goes while d passes, in steps of 10 ms, and when it stood for good.
func (s *Stepped) Stops(d time.Duration) (after time.Duration, still bool) {
	s.t.Helper()
	x, y, h := s.Truth()
	for passed := time.Duration(0); passed < d; passed += s.Sys.Rig.Period() {
		s.Run(s.Sys.Rig.Period())
		nx, ny, nh := s.Truth()
		if math.Hypot(nx-x, ny-y) > 2e-4 || math.Abs(math.Remainder(nh-h, 2*math.Pi)) > 5e-4 {
			after, still = passed, false
		} else {
			still = true
		}
		x, y, h = nx, ny, nh
	}
	return after, still
}

// Look lets time pass until camera i has a picture newer than after, for d at most of the wall's time and of the rig's.
func (s *Stepped) Look(i int, after uint64, d time.Duration) (p *hal.Picture, err error) {
	s.t.Helper()
	sight, err := s.Sys.Sight(s.Agent)
	if err != nil {
		return nil, err
	}
	w, err := sight.Watch(i)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		p, err = w.Next(ctx, after)
	}()
	// Goroutines outside the cycle have the wall's time; the rig's passes as fast as it can.
	pause := time.NewTicker(time.Millisecond)
	defer pause.Stop()
	for late := time.Now().Add(d); time.Now().Before(late); {
		s.Run(s.Sys.Rig.Period())
		select {
		case <-done:
			return p, err
		case <-pause.C:
		}
	}
	cancel()
	<-done
	return p, err
}

// Duties are what the thrusters truly do.
func (s *Stepped) Duties() (most float64) {
	for _, r := range s.Sys.Emulation.Robots {
		for i := range r.Outputs {
			most = math.Max(most, math.Abs(r.Frame.Inputs[r.Outputs[i].Input]))
		}
	}
	return most
}

// At puts the robot where its reader is over a place, and lets d pass; it returns which tags a reader told there.
func (s *Stepped) At(t *testing.T, told *[]int, x, y float64, d time.Duration) []int {
	t.Helper()
	s.Sys.Rig.BetweenCycles(func() {
		if err := s.Sys.Scene.Place("seeker",
			hal.Pose{Position: [3]float64{x - 0.2, y, -1.82}, Rotation: [4]float64{1}}); err != nil {
			t.Error(err)
		}
	})
	s.Run(400 * time.Millisecond) // what was read before is forgotten
	*told = nil
	s.Run(d)
	slices.Sort(*told)
	return slices.Compact(*told)
}

func Near(a, b [4]float64, within float64) bool {
	for i := range a {
		if !(math.Abs(a[i]-b[i]) <= within) {
			return false
		}
	}
	return true
}

// Machine is a made-up machine in a folder.
func Machine(t *testing.T, more map[string]string) string {
	t.Helper()
	root := t.TempDir()
	if err := doctor.MakeMachine(root, more); err != nil {
		t.Fatal(err)
	}
	return root
}

// Exits is what is good of a command whose exit code alone counts.
func Exits(want int) func(int, string) bool {
	return func(code int, _ string) bool { return code == want }
}
