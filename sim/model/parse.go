package model

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

//go:embed *.yaml
var embedded embed.FS

// Names lists the robots that are built in.
func Names() []string {
	entries, _ := embedded.ReadDir(".") // an embedded folder can always be read
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// Load returns the built-in robot called name; else an error of kind hal.Invalid.
func Load(name string) (*Robot, error) {
	if !slices.Contains(Names(), name) {
		return nil, &hal.Error{
			Kind: hal.Invalid, Op: "model",
			Err: fmt.Errorf("%q: got no such robot, want one of %s", name, strings.Join(Names(), ", ")),
		}
	}
	b, err := embedded.ReadFile(name + ".yaml")
	if err != nil {
		return nil, err
	}
	return Parse(b)
}

// Source returns the YAML of the built-in robot called name, to start a file of one's own from.
func Source(name string) ([]byte, error) { return embedded.ReadFile(name + ".yaml") }

// The file, as it is written.
type file struct {
	Name     string      `yaml:"name"`
	Title    string      `yaml:"title"`
	RangeDeg []float64   `yaml:"range_deg"`
	Supply   supplyFile  `yaml:"supply"`
	Joints   []jointFile `yaml:"joints"`
}

type supplyFile struct {
	Volts float64 `yaml:"volts"`
	Ohms  float64 `yaml:"ohms"`
}

type jointFile struct {
	Name       string    `yaml:"name"`
	Path       string    `yaml:"path"`
	Servo      string    `yaml:"servo"`
	Modes      []string  `yaml:"modes"`
	LimitsDeg  []float64 `yaml:"limits_deg"`
	RangeDeg   []float64 `yaml:"range_deg"`
	StopsDeg   []float64 `yaml:"stops_deg"`
	DefaultDeg float64   `yaml:"default_deg"`
	SpreadDeg  float64   `yaml:"start_spread_deg"`
	NoiseDeg   float64   `yaml:"noise_deg"`
	Load       loadFile  `yaml:"load"`
	Wraps      bool      `yaml:"wraps"`
}

type loadFile struct {
	Inertia  float64 `yaml:"inertia_kgm2"`
	Mass     float64 `yaml:"mass_kg"`
	Length   float64 `yaml:"length_m"`
	DownDeg  float64 `yaml:"down_deg"`
	Damping  float64 `yaml:"damping_nms"`
	Backlash float64 `yaml:"backlash_deg"`
	Source   string  `yaml:"source"`
}

// Parse reads a robot file. Unknown keys are errors; whatever else is wrong is reported together, each fault with its
// path, what was found and what would be right. The error's kind is hal.Invalid.
func Parse(b []byte) (*Robot, error) {
	var f file
	var faults faults
	if err := decode(b, &f, yaml.Strict()); errors.Is(err, io.EOF) {
		faults.add("got an empty file, want a robot")
	} else if err != nil {
		faults.add("%s", strings.TrimSpace(yaml.FormatError(err, false, false)))
		// Whatever can be read is checked all the same, so that all faults come together.
		f = file{}
		if err := decode(b, &f); err != nil {
			return nil, faults.err("model")
		}
	}
	r := f.robot(&faults)
	if err := faults.err("model"); err != nil {
		return nil, err
	}
	return r, nil
}

// decode reads one YAML document. Some malformed ones make goccy/go-yaml 1.19.2 panic (testdata/fuzz keeps one), which
// a file that somebody edits must not do to a running rig.
func decode(b []byte, f *file, options ...yaml.DecodeOption) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: got %v, want a document", r)
		}
	}()
	return yaml.NewDecoder(bytes.NewReader(b), options...).Decode(f)
}

// faults collects everything that is wrong with a file.
type faults []error

func (f *faults) add(format string, args ...any) { *f = append(*f, fmt.Errorf(format, args...)) }

func (f faults) err(op string) error {
	if len(f) == 0 {
		return nil
	}
	return &hal.Error{Kind: hal.Invalid, Op: op, Err: errors.Join(f...)}
}

// number checks that x is finite and within low..high.
func (f *faults) number(path string, x, low, high float64) {
	if !(x >= low && x <= high) {
		f.add("%s: got %g, want %g..%g", path, x, low, high)
	}
}

// pair checks that v is two rising angles, degrees, and returns them in radians, or whole where v is not given.
func (f *faults) pair(path string, v []float64, whole [2]float64) [2]float64 {
	if v == nil {
		return whole
	}
	const most = 360 * 256.0
	if len(v) != 2 || !(v[0] < v[1]) || !(v[0] >= -most) || !(v[1] <= most) {
		f.add("%s: got %v, want two rising angles, degrees", path, v)
		return whole
	}
	return [2]float64{radians(v[0]), radians(v[1])}
}

// The names that joints and robots may have: they become channel names, config keys and file names.
var namePattern = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)

func (f *file) robot(faults *faults) *Robot {
	r := &Robot{Name: f.Name, Title: f.Title, Supply: Supply{f.Supply.Volts, f.Supply.Ohms}}
	if !namePattern.MatchString(f.Name) {
		faults.add("name: got %q, want lower-case letters, digits, - and _", f.Name)
	}
	faults.number("supply.volts", f.Supply.Volts, 1, 60)
	faults.number("supply.ohms", f.Supply.Ohms, 0, 100)
	if len(f.Joints) == 0 {
		faults.add("joints: got none, want at least one")
	}
	names := map[string]int{}
	for i := range f.Joints {
		path := fmt.Sprintf("joints[%d]", i)
		j := &f.Joints[i]
		if !namePattern.MatchString(j.Name) {
			faults.add("%s.name: got %q, want lower-case letters, digits, - and _", path, j.Name)
		} else if first, twice := names[j.Name]; twice {
			faults.add("%s.name: got %q, which joints[%d] has too", path, j.Name, first)
		} else {
			names[j.Name] = i
		}
		if j.RangeDeg == nil {
			j.RangeDeg = f.RangeDeg
		}
		r.Joints = append(r.Joints, j.joint(path, faults))
	}
	return r
}

func (f *jointFile) joint(path string, faults *faults) Joint {
	j := Joint{
		Name: f.Name, Path: f.Path, Default: radians(f.DefaultDeg), Spread: radians(f.SpreadDeg),
		Noise: radians(f.NoiseDeg), Source: f.Load.Source, Wraps: f.Wraps,
	}
	spec, ok := actuator.Lookup(f.Servo)
	if !ok {
		faults.add("%s.servo: got %q, want one of %s", path, f.Servo, strings.Join(actuator.Names(), ", "))
		spec, _ = actuator.Lookup("ax-12a") // the rest is checked against something
	}
	j.Servo = spec
	// The even range around the centre: the ticks end one short of it on one side.
	whole := [2]float64{-math.Pi, math.Pi}
	if spec.DeadSector {
		whole = [2]float64{radians(-150), radians(150)}
	}
	j.Range = faults.pair(path+".range_deg", f.RangeDeg, whole)
	j.Limits = faults.pair(path+".limits_deg", f.LimitsDeg, j.Range)
	if f.LimitsDeg == nil {
		faults.add("%s.limits_deg: missing, want two rising angles, degrees", path)
	}
	if j.Limits[0] < j.Range[0] || j.Limits[1] > j.Range[1] {
		faults.add("%s.limits_deg: got %v, want within range_deg", path, f.LimitsDeg)
	}
	if !(j.Default >= j.Limits[0] && j.Default <= j.Limits[1]) {
		faults.add("%s.default_deg: got %g, want within limits_deg", path, f.DefaultDeg)
	}
	faults.number(path+".start_spread_deg", f.SpreadDeg, 0, 180)
	faults.number(path+".noise_deg", f.NoiseDeg, 0, 10)
	j.Modes = f.modes(path, spec, faults)
	f.load(path+".load", &j, faults)
	return j
}

// modes are those named, position where none is.
func (f *jointFile) modes(path string, spec *actuator.Spec, faults *faults) (modes [hal.NumModes]bool) {
	if f.Modes == nil {
		return [hal.NumModes]bool{hal.PositionMode: true}
	}
	for i, name := range f.Modes {
		at := slices.IndexFunc([]hal.Mode{0, 1, 2, 3}, func(m hal.Mode) bool { return m.String() == name })
		switch {
		case at < 0:
			faults.add("%s.modes[%d]: got %q, want position, velocity, torque or duty", path, i, name)
		case !spec.Modes[at]:
			faults.add("%s.modes[%d]: got %q, which %s does not have", path, i, name, spec.Name)
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
	if f.StopsDeg != nil {
		stops := faults.pair(path+".stops_deg", f.StopsDeg, j.Limits)
		if stops[0] > j.Limits[0] || stops[1] < j.Limits[1] {
			faults.add("%s: got stops %v inside limits_deg %v", strings.TrimSuffix(path, ".load")+".stops_deg", f.StopsDeg, f.LimitsDeg)
		}
		j.Load.Min, j.Load.Max = stops[0], stops[1]
	}
}
