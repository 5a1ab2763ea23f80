package chaos

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// Generated are the names of the robots that are generated, TYPE/MODEL: one for each model on each type of bus that can
// be emulated.
func Generated() (names []string) {
	buses := catalog.BuiltinBuses()
	for _, kind := range buses.Names() {
		for _, m := range buses.Of(kind).Driver.Models() {
			if name := m.Units().Name; buses.Motor(name) != nil {
				names = append(names, kind+"/"+name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Sample is one of Generated for each type of bus.
func Sample() (names []string) {
	types := map[string]bool{}
	for _, name := range Generated() {
		if kind, _, _ := strings.Cut(name, "/"); !types[kind] {
			types[kind] = true
			names = append(names, name)
		}
	}
	return names
}

// kit is how one variant of a generated robot is made.
type kit struct {
	joints   int
	mirrored bool // ticks fall with the angle, and zero is not in the middle
	wheel    bool // turns without end
	backlash float64
	adapter  time.Duration // latency timer
	guard    []string
}

// kits are the variants of every generated robot.
func kits() []kit {
	return []kit{
		{joints: 2, guard: []string{"on_timeout=hold"}},
		{joints: 3, mirrored: true, guard: []string{"on_timeout=torque_off"}},
		{joints: 1, wheel: true, guard: []string{"on_timeout=hold"}},
		{joints: 2, backlash: 0.02, adapter: time.Millisecond, guard: []string{"armed=false"}},
		{joints: 2, guard: []string{"on_timeout=park"}},
	}
}

const kitRobot = `
name: kit
title: servos with a weight each
supply: {volts: %g, ohms: 0.02}
joints:
`

const kitJoint = `  - {name: %s, servo: %s, modes: [%s], limits_deg: [%g, %g], %s load: {mass_kg: %g, length_m: 0.1, inertia_kgm2: %g}}
`

const kitRig = `
name: kit
clock: {period: %s}
world: {seed: 1}
buses:
  line: {type: %s, baud: %d, port: /dev/null, timing: {latency_timer: %s}}
agents:
  - name: kit
    model: robot.yaml
    body: emulated
    hardware:
      joints:
`

// motorFollowing bounds the following error of the first variant of a motor on a controller. Without it the bound grows
// with the free speed, to more than a joint can turn, and the joint cannot be pushed that far outside its soft limits.
const motorFollowing = "following_error=0.2"

// generate makes the variants of the robot of a model on a type of bus.
func (r *Robot) generate(cat *catalog.Catalog, kind, model string) error {
	t := cat.Buses.Of(kind)
	motor := cat.Buses.Motor(model)
	for i, k := range kits() {
		if i == 0 && motor.Firmware == actuator.FOC {
			k.guard = append(k.guard, motorFollowing)
		}
		dir, err := os.MkdirTemp("", "halyard-chaos")
		if err != nil {
			return err
		}
		for name, text := range k.files(&t, t.Lookup(model), motor) {
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)
			}
		}
		if err == nil {
			err = r.load(cat, filepath.Join(dir, "rig.yaml"), k.guard)
		}
		os.RemoveAll(dir)
		if err != nil {
			return fmt.Errorf("%s/%s: %w", kind, model, err)
		}
	}
	return nil
}

// zeroShare of a turn is how far the zero of a mirrored joint is off the middle.
const zeroShare = 40

// files are the files of a kit: a rig, its robot and calibrations.
func (k *kit) files(t *catalog.BusType, m servo.Model, spec *actuator.Spec) map[string]string {
	files := map[string]string{}
	u := m.Units()
	first := 1
	if t.LastID == 1 {
		first = 0
	}
	// An arm that takes a seventh of the stall torque to hold, and limits on both sides of 0.
	mass := 0.15 * spec.StallTorque / (actuator.StandardGravity * 0.1)
	var modes []string
	for mode := range hal.NumModes {
		// A motor controller that counts one turn drives a wheel to no position beyond it.
		single := k.wheel && spec.Firmware == actuator.FOC && u.MaxTicks-u.MinTicks <= u.TicksPerTurn
		if spec.Modes[mode] && !(single && mode == hal.PositionMode) {
			modes = append(modes, strings.ToLower(mode.String()))
		}
	}
	// A shaft that can turn no farther than it can be measured, wherever its zero is.
	stops := 140.0
	if spread := u.MaxTicks - u.MinTicks; spread < u.TicksPerTurn {
		stops = math.Floor(min(stops, 180*spread/u.TicksPerTurn-360./zeroShare))
	}
	robot, joints := &strings.Builder{}, &strings.Builder{}
	fmt.Fprintf(robot, kitRobot, spec.NominalVolts)
	for i := range min(k.joints, t.LastID-first+1) {
		name, id := string(rune('a'+i)), first+i
		low, high, turns := -50-10*float64(i), 60.0, fmt.Sprintf("stops_deg: [%g, %g],", -stops, stops)
		if k.wheel && len(modes) > 1 && !spec.DeadSector {
			low, high, turns = -180, 180, "wraps: true,"
		}
		fmt.Fprintf(robot, kitJoint, name, spec.Name, strings.Join(modes, ", "), low, high, turns, mass, 0.1*mass*0.01)
		fmt.Fprintf(joints, "        %s: {bus: line, id: %d, model: %s", name, id, u.Name)
		if k.backlash > 0 {
			fmt.Fprintf(joints, ", ground_truth: {backlash: %g}", k.backlash)
		}
		if k.mirrored && u.TicksPerTurn > 0 {
			c := calibration.Nominal(name, calibration.Servo{Model: u.Name, ID: id}, calibration.Model{
				TicksPerTurn: u.TicksPerTurn, CentreTicks: u.CentreTicks, MinTicks: u.MinTicks, MaxTicks: u.MaxTicks,
				TorqueConstant: u.TorqueConstant})
			c.Method, c.Date, c.Direction = calibration.ByManual, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), -1
			c.ZeroTicks += math.Round(u.TicksPerTurn / zeroShare)
			c.RangeTicks = [2]float64{math.Round(c.Ticks(high * math.Pi / 180)),
				math.Round(c.Ticks(low * math.Pi / 180))}
			files[name+".yaml"] = string(c.Encode())
			fmt.Fprintf(joints, ", calibration: %s.yaml", name)
		}
		joints.WriteString("}\n")
	}
	baud := 1_000_000
	if _, ok := m.BaudCode(baud); !ok && len(t.Bauds) > 0 {
		baud = t.Bauds[0]
	}
	period := 10 * time.Millisecond
	if baud < 200_000 && t.Filters == nil {
		period = 20 * time.Millisecond
	}
	files["robot.yaml"] = robot.String()
	files["rig.yaml"] = fmt.Sprintf(kitRig, period, t.Type, baud, k.adapter) + joints.String()
	return files
}
