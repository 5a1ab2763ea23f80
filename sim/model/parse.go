package model

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// Parse reads a robot file, named source in faults. All faults are reported together, each with its place, its path,
// the value found and the values allowed. The error's kind is hal.Invalid.
func Parse(b []byte, source string) (*Robot, error) {
	var f file
	d, ok := yaml.Decode(b, source, &f)
	if !ok {
		return nil, d.Err()
	}
	return yaml.Valid(d, f.robot(&faults{d}))
}

func (f *file) robot(faults *faults) *Robot {
	r := &Robot{Name: f.Name, Title: f.Title, Simloid: hal.None}
	if f.Simloid != nil {
		r.Simloid, r.ODE = *f.Simloid, true
	}
	// A robot of Simloid's own motors has no supply of its own.
	if f.Supply != nil {
		r.Supply = Supply{Volts: f.Supply.Volts, Resistance: f.Supply.Ohms}
	} else if f.JointDefaults.Motor == "" {
		faults.add("supply", "got nothing, want a table with volts")
	}
	if len(f.Joints) == 0 {
		faults.add("joints", "got none, want at least one")
		return r
	}
	if !faults.count("joints", len(f.Joints)+len(f.Passive), maxJoints) {
		return r
	}
	supplies := map[string]int{"": 0}
	for _, name := range slices.Sorted(maps.Keys(f.Supplies)) {
		r.Supplies = append(r.Supplies, Supply{name, f.Supplies[name].Volts, f.Supplies[name].Ohms})
		supplies[name] = len(r.Supplies)
	}
	// Bodies come first: the joints name them.
	bodies := f.bodies(r, faults)
	names := places(f.Joints, func(j *jointFile) string { return j.Name })
	for i := range f.Joints {
		path := yaml.Path("joints").Index(i)
		j := &f.Joints[i]
		j.inherit(f)
		r.Joints = append(r.Joints, j.joint(path, faults))
		r.Joints[i].Linkage = j.Link.linkage(path, bodies, faults)
		r.Joints[i].Partner = i
		var known bool
		if r.Joints[i].Supply, known = supplies[j.Supply]; !known {
			faults.add(path+".supply", "got %s, want one of supplies", yaml.Quote(j.Supply))
		}
		l := &r.Joints[i].Load
		if r.Joints[i].Stops = [2]float64{l.Min, l.Max}; len(bodies) > 0 {
			l.Min, l.Max = 0, 0 // the stops act on the bodies, not on the servo's own load
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

// inherit fills unset keys of the joint from the file's defaults.
func (f *jointFile) inherit(all *file) {
	d := &all.JointDefaults
	f.RangeDeg = cmp.Or(f.RangeDeg, all.RangeDeg)
	if f.Servo == "" && f.Motor == "" {
		f.Servo, f.Motor = d.Servo, d.Motor
	}
	f.Link.Sign = cmp.Or(f.Link.Sign, d.Sign)
	f.StartDeg = cmp.Or(f.StartDeg, d.StartDeg)
	if f.Link.Random == (jointRandomFile{}) {
		f.Link.Random = d.Random
	}
	f.TorqueFactor = cmp.Or(f.TorqueFactor, d.TorqueFactor)
}

func (f *jointFile) joint(path yaml.Path, faults *faults) Joint {
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
	j.Range = inRadians(f.RangeDeg, whole)
	limits := f.LimitsDeg
	if limits == nil && j.Motor != nil {
		limits = f.StopsDeg // Simloid's limits are its stops
	}
	j.Limits = inRadians(limits, j.Range)
	if limits == nil && !(f.Wraps && j.Motor != nil) {
		faults.add(path+".limits_deg", "got nothing, want two rising angles, degrees")
	}
	if j.Limits[0] < j.Range[0] || j.Limits[1] > j.Range[1] {
		faults.add(path+".limits_deg", "got %v, want within range_deg", *limits)
	}
	if !(j.Default >= j.Limits[0] && j.Default <= j.Limits[1]) {
		faults.add(path+".default_deg", "got %g, want within limits_deg", f.DefaultDeg)
	}
	if j.Start = j.Default; f.StartDeg != nil {
		j.Start = radians(*f.StartDeg)
		if !(j.Start >= j.Range[0] && j.Start <= j.Range[1]) {
			faults.add(path+".start_deg", "got %g, want within range_deg", *f.StartDeg)
		}
	}
	j.Modes = f.modes(path, can, faults)
	f.load(path, &j, faults)
	return j
}

// drive looks up the servo or motor of the joint, and returns its modes.
func (f *jointFile) drive(path yaml.Path, j *Joint, faults *faults) (can [hal.NumModes]bool) {
	if f.Motor == idealName && f.Servo == "" && f.TorqueFactor == nil {
		return f.Ideal.motor(path, j, faults)
	}
	if f.Ideal != (idealFile{}) {
		faults.add(path, "got torque_nm, speed_rads, kp or kd, want motor: %s with them", idealName)
	}
	if f.Motor != "" {
		m, ok := lookupMotor(f.Motor)
		if !ok {
			faults.add(path+".motor", "got %q, want simloid-rx-28 or simloid-sensorimotor", f.Motor)
			m = bristleMotors()[0] // the rest is checked against something
		}
		if f.Servo != "" {
			faults.add(path+".motor", "got %q and servo %q, want one of the two", f.Motor, f.Servo)
		}
		if f.TorqueFactor != nil {
			m.Factor = *f.TorqueFactor
		}
		j.Motor = &m
		return [hal.NumModes]bool{hal.PositionMode: true, hal.DutyMode: true}
	}
	if f.TorqueFactor != nil {
		faults.add(path+".torque_factor", "got %g, want none with a servo", *f.TorqueFactor)
	}
	spec, ok := actuator.Lookup(f.Servo)
	if !ok {
		faults.add(path+".servo", "got %q, want one of %s", f.Servo, strings.Join(actuator.Names(), ", "))
		spec, _ = actuator.Lookup(actuator.Names()[0]) // the rest is checked against something
	}
	j.Servo = spec
	return spec.Modes
}

// modes are the named modes. The default is position; for a motor that is not a servo, or has no position mode, it is
// all modes that the motor has.
func (f *jointFile) modes(path yaml.Path, can [hal.NumModes]bool, faults *faults) (modes [hal.NumModes]bool) {
	if !faults.Has(path + ".modes") {
		if f.Motor != "" || !can[hal.PositionMode] {
			return can
		}
		return [hal.NumModes]bool{hal.PositionMode: true}
	}
	for i, name := range f.Modes {
		at := slices.IndexFunc([]hal.Mode{0, 1, 2, 3}, func(m hal.Mode) bool { return m.String() == name })
		switch {
		case at < 0:
			faults.add((path + ".modes").Index(i), "got %q, want position, velocity, torque or duty", name)
		case !can[at]:
			faults.add((path + ".modes").Index(i), "got %q, which %s does not have", name, f.Servo+f.Motor)
		default:
			modes[at] = true
		}
	}
	if len(f.Modes) == 0 {
		faults.add(path+".modes", "got none, want at least one")
	}
	return modes
}

func (f *jointFile) load(path yaml.Path, j *Joint, faults *faults) {
	l := &f.Load
	if (l.Mass > 0) != (l.Length > 0) {
		faults.add(path+".load", "got mass_kg %g and length_m %g, want both or neither", l.Mass, l.Length)
	}
	if l.Backlash > 0 && l.Inertia == 0 && l.Mass == 0 {
		faults.add(path+".load.backlash_deg", "got %g without a load, want inertia_kgm2 too", l.Backlash)
	}
	j.Load = actuator.Load{
		Inertia: l.Inertia, Mass: l.Mass, Length: l.Length, Down: radians(l.DownDeg),
		Damping: l.Damping, Backlash: radians(l.Backlash),
	}
	// Soft limits outside the stops would let a goal press a joint against its end for ever.
	if f.StopsDeg != nil {
		stops := inRadians(f.StopsDeg, j.Limits)
		if stops[0] > j.Limits[0] || stops[1] < j.Limits[1] {
			faults.add(path+".stops_deg", "got stops %v inside limits_deg", *f.StopsDeg)
		}
		j.Load.Min, j.Load.Max = stops[0], stops[1]
	}
}
