package model

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// Parse reads a robot file, of at most 4 MiB. Unknown keys are errors; whatever else is wrong is reported together, each
// fault with its path, what was found and what would be right. The error's kind is hal.Invalid.
func Parse(b []byte) (*Robot, error) {
	var f file
	var faults faults
	if !read(&faults, b, &f, "robot") {
		return nil, faults.err("model")
	}
	r := f.robot(&faults)
	if err := faults.err("model"); err != nil {
		return nil, err
	}
	return r, nil
}

func (f *file) robot(faults *faults) *Robot {
	r := &Robot{Name: f.Name, Title: f.Title, Supply: Supply{f.Supply.Volts, f.Supply.Ohms}, Simloid: hal.None}
	if !namePattern.MatchString(f.Name) {
		faults.add("name: got %q, want lower-case letters, digits, - and _", f.Name)
	}
	if f.Simloid != nil {
		r.Simloid = *f.Simloid
		faults.number("simloid", float64(r.Simloid), 0, 999)
	}
	// A robot of Simloid's own motors has no supply of its own.
	if f.Supply != (supplyFile{}) || f.JointDefaults.Motor == "" {
		faults.number("supply.volts", f.Supply.Volts, 1, 60)
		faults.number("supply.ohms", f.Supply.Ohms, 0, 100)
	}
	if len(f.Joints) == 0 {
		faults.add("joints: got none, want at least one")
		return r
	}
	if !faults.count("joints", len(f.Joints)+len(f.Passive), maxJoints) || !faults.count("bodies", len(f.Bodies), maxBodies) {
		return r
	}
	// Bodies come first: the joints name them.
	bodies := f.bodies(r, faults)
	names := map[string]int{}
	for i := range f.Joints {
		path := fmt.Sprintf("joints[%d]", i)
		j := &f.Joints[i]
		faults.name(path, "joints", j.Name, i, names)
		j.inherit(f)
		r.Joints = append(r.Joints, j.joint(path, faults))
		r.Joints[i].Linkage = j.Link.linkage(path, bodies, faults)
		r.Joints[i].Partner = i
		l := &r.Joints[i].Load
		if r.Joints[i].Stops = [2]float64{l.Min, l.Max}; len(bodies) > 0 {
			l.Min, l.Max = 0, 0 // the bodies meet the stops, not the load that stands for them
		}
	}
	if r.Supply == (Supply{}) && r.Joints[0].Motor != nil {
		r.Supply.Volts = r.Joints[0].Motor.Volts
	}
	// Partners and passive joints may name joints further down, so all joints are read by now.
	f.partners(r, names, faults)
	f.passive(r, names, bodies, faults)
	f.equip(r, bodies, faults)
	f.tree(r, faults)
	return r
}

// inherit fills what the joint leaves to the file.
func (f *jointFile) inherit(all *file) {
	d := &all.JointDefaults
	if f.RangeDeg == nil {
		f.RangeDeg = all.RangeDeg
	}
	if f.Servo == "" && f.Motor == "" {
		f.Servo, f.Motor = d.Servo, d.Motor
	}
	if f.Link.Sign == 0 {
		f.Link.Sign = d.Sign
	}
	if f.StartDeg == nil {
		f.StartDeg = d.StartDeg
	}
	if f.Link.Random == (jointRandomFile{}) {
		f.Link.Random = d.Random
	}
	if f.TorqueFactor == 0 {
		f.TorqueFactor = d.TorqueFactor
	}
}

func (f *jointFile) joint(path string, faults *faults) Joint {
	j := Joint{
		Name: f.Name, Path: f.Path, Default: radians(f.DefaultDeg), Spread: radians(f.SpreadDeg),
		Noise: radians(f.NoiseDeg), Source: f.Load.Source, Wraps: f.Wraps, Strength: 1,
	}
	// The even range around the centre: the ticks end one short of it on one side.
	whole := [2]float64{-math.Pi, math.Pi}
	can := f.drive(path, &j, faults)
	if j.Servo != nil && j.Servo.DeadSector {
		whole = [2]float64{radians(-150), radians(150)}
	}
	j.Range = faults.pair(path+".range_deg", f.RangeDeg, whole)
	limits := f.LimitsDeg
	if limits == nil && j.Motor != nil {
		limits = f.StopsDeg // Simloid's limits are its stops
	}
	j.Limits = faults.pair(path+".limits_deg", limits, j.Range)
	if limits == nil && !(f.Wraps && j.Motor != nil) {
		faults.add("%s.limits_deg: missing, want two rising angles, degrees", path)
	}
	if j.Limits[0] < j.Range[0] || j.Limits[1] > j.Range[1] {
		faults.add("%s.limits_deg: got %v, want within range_deg", path, limits)
	}
	if !(j.Default >= j.Limits[0] && j.Default <= j.Limits[1]) {
		faults.add("%s.default_deg: got %g, want within limits_deg", path, f.DefaultDeg)
	}
	if j.Start = j.Default; f.StartDeg != nil {
		j.Start = radians(*f.StartDeg)
		if !(j.Start >= j.Range[0] && j.Start <= j.Range[1]) {
			faults.add("%s.start_deg: got %g, want within range_deg", path, *f.StartDeg)
		}
	}
	faults.number(path+".start_spread_deg", f.SpreadDeg, 0, 180)
	faults.number(path+".noise_deg", f.NoiseDeg, 0, 10)
	j.Modes = f.modes(path, can, faults)
	f.load(path+".load", &j, faults)
	return j
}

// drive looks up what moves the joint, and returns the modes that it has.
func (f *jointFile) drive(path string, j *Joint, faults *faults) (can [hal.NumModes]bool) {
	if f.Motor == idealName && f.Servo == "" && f.TorqueFactor == 0 {
		return f.Ideal.motor(path, j, faults)
	}
	if f.Ideal != (idealFile{}) {
		faults.add("%s: got torque_nm or speed_rads, want motor: %s with them", path, idealName)
	}
	if f.Motor != "" {
		m, ok := LookupMotor(f.Motor)
		if !ok {
			faults.add("%s.motor: got %q, want simloid-rx-28 or simloid-sensorimotor", path, f.Motor)
			m = bristleMotors()[0] // the rest is checked against something
		}
		if f.Servo != "" {
			faults.add("%s.motor: got %q beside servo %q, want one of the two", path, f.Motor, f.Servo)
		}
		if f.TorqueFactor != 0 {
			faults.positive(path+".torque_factor", f.TorqueFactor, 1000)
			m.Factor = f.TorqueFactor
		}
		j.Motor = &m
		return [hal.NumModes]bool{hal.PositionMode: true, hal.DutyMode: true}
	}
	if f.TorqueFactor != 0 {
		faults.add("%s.torque_factor: got %g, want none with a servo", path, f.TorqueFactor)
	}
	spec, ok := actuator.Lookup(f.Servo)
	if !ok {
		faults.add("%s.servo: got %q, want one of %s", path, f.Servo, strings.Join(actuator.Names(), ", "))
		spec, _ = actuator.Lookup("ax-12a") // the rest is checked against something
	}
	j.Servo = spec
	return spec.Modes
}

// modes are those named; where none is, position, or whatever a motor has that is no servo, or has no position.
func (f *jointFile) modes(path string, can [hal.NumModes]bool, faults *faults) (modes [hal.NumModes]bool) {
	if f.Modes == nil {
		if f.Motor != "" || !can[hal.PositionMode] {
			return can
		}
		return [hal.NumModes]bool{hal.PositionMode: true}
	}
	for i, name := range f.Modes {
		at := slices.IndexFunc([]hal.Mode{0, 1, 2, 3}, func(m hal.Mode) bool { return m.String() == name })
		switch {
		case at < 0:
			faults.add("%s.modes[%d]: got %q, want position, velocity, torque or duty", path, i, name)
		case !can[at]:
			faults.add("%s.modes[%d]: got %q, which %s does not have", path, i, name, f.Servo+f.Motor)
		default:
			modes[at] = true
		}
	}
	if len(f.Modes) == 0 {
		faults.add("%s.modes: got none, want at least one", path)
	}
	return modes
}

func (f *jointFile) load(path string, j *Joint, faults *faults) {
	l := &f.Load
	faults.number(path+".inertia_kgm2", l.Inertia, 0, 100)
	faults.number(path+".mass_kg", l.Mass, 0, 100)
	faults.number(path+".length_m", l.Length, 0, 10)
	faults.number(path+".down_deg", l.DownDeg, -360, 360)
	faults.number(path+".damping_nms", l.Damping, 0, 1000)
	faults.number(path+".backlash_deg", l.Backlash, 0, 20)
	if (l.Mass > 0) != (l.Length > 0) {
		faults.add("%s: got mass_kg %g and length_m %g, want both or neither", path, l.Mass, l.Length)
	}
	if l.Backlash > 0 && l.Inertia == 0 && l.Mass == 0 {
		faults.add("%s.backlash_deg: got %g without a load, want inertia_kgm2 too", path, l.Backlash)
	}
	j.Load = actuator.Load{
		Inertia: l.Inertia, Mass: l.Mass, Length: l.Length, Down: radians(l.DownDeg),
		Damping: l.Damping, Backlash: radians(l.Backlash),
	}
	// Soft limits outside the stops would let a goal press a joint against its end for ever.
	if f.StopsDeg != nil {
		stops := faults.pair(strings.TrimSuffix(path, ".load")+".stops_deg", f.StopsDeg, j.Limits)
		if stops[0] > j.Limits[0] || stops[1] < j.Limits[1] {
			faults.add("%s: got stops %v inside limits_deg %v", strings.TrimSuffix(path, ".load")+".stops_deg", f.StopsDeg, f.LimitsDeg)
		}
		j.Load.Min, j.Load.Max = stops[0], stops[1]
	}
}
