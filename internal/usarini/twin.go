package usarini

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// Base is the robot file of a built-in class. The mechanics come from the file, the sensors and effecters from the INI.
type Base struct {
	YAML    []byte
	Chassis string               // its root body
	Joints  map[string][2]string // by the names of the wire in small letters: the joint and the body that it moves
	Package map[string]string    // likewise: the mission package that a part belongs to
	Poses   map[string]hal.Pose  // of the parts on the chassis, all joints at 0
}

// Twin is a robot of an INI file, converted to an equivalent robot file of sim/model.
type Twin struct {
	YAML  []byte
	Notes yaml.Faults // keys without a meaning here, and assumptions

	file   string
	places map[string]entry // source of the YAML's entries: "sensors[3]" → line and key of the INI
}

// Twin makes the robot file of a class. base is nil if the class is not built in: then its parts make its mechanics.
// With lenient, sensors of unknown classes are skipped with a note; without, they are faults. The error is yaml.Faults.
func (b *Bots) Twin(class string, base *Base, lenient bool) (*Twin, error) {
	r := b.Robot(class)
	if r == nil {
		return nil, yaml.Faults{fault(b.File, 1, "["+class+"]", "no such section", "one of a robot")}
	}
	w := &writer{bots: b, robot: r, lenient: lenient, faults: slices.Clone(r.Faults),
		twin: &Twin{file: b.File, places: map[string]entry{}}, names: map[string]bool{}}
	w.decoder = decoder{file: b.File, section: r.Class, line: r.Line, faults: &w.faults}
	for _, e := range r.unread {
		w.note(e.line, e.key, "an item of a kind that is unknown here",
			"Sensors, Cameras, Effecters or JointParts: it is left out")
	}
	switch {
	case base != nil && w.known(base):
		if r.Bare() {
			w.note(r.Line, "", "no part or item that is read", "one: the robot is the built-in one")
		}
		w.keep(base)
	case len(r.Parts) > 0:
		w.base = &Base{Chassis: "chassis", Joints: map[string][2]string{}, Package: map[string]string{},
			Poses: map[string]hal.Pose{}}
		w.build()
	default:
		w.fault("JointParts", "none, and a class that is not built in", "its parts")
	}
	if w.base != nil {
		w.equip()
	}
	w.twin.YAML = w.out.Bytes()
	return w.twin, w.faults.Err()
}

// Blame moves faults of the twin's robot file to the keys of the INI that they come from.
func (t *Twin) Blame(own yaml.Faults) (faults yaml.Faults) {
	for _, f := range own {
		at, known := entry{key: string(f.Path), line: 1}, false
		// the longest beginning that has a place
		for p := string(f.Path); p != "" && !known; {
			if e, ok := t.places[p]; ok {
				at, known = e, true
			}
			p = p[:max(0, strings.LastIndexAny(p, ".["))]
		}
		f.Source, f.Line, f.Column, f.Path = t.file, at.line, 0, yaml.Path(at.key)
		faults.Add(f)
	}
	return faults
}

// fault returns a fault of an INI, which has lines but no columns. key is "[USARBot.P2AT] Sensors.Position.X"; empty if
// the line has no key.
func fault(file string, line int, key, got, want string) yaml.Fault {
	return yaml.Fault{Source: file, Line: line, Path: yaml.Path(key), Got: got, Rule: want}
}

// writer writes a twin.
type writer struct {
	decoder
	lenient bool
	bots    *Bots
	robot   *Robot
	base    *Base
	twin    *Twin
	faults  yaml.Faults
	out     bytes.Buffer
	names   map[string]bool // of sensors, which must be unique in the robot file

	packages string // the section of packages, where the INI names some
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(&w.out, format+"\n", args...) }

// note adds a note, which is not a fault.
func (w *writer) note(line int, key, got, want string) {
	w.twin.Notes = append(w.twin.Notes, fault(w.file, line, where(w.robot.Class, key), got, want))
}

// place stores the source of an entry of the YAML.
func (w *writer) place(path string, line int, key string) {
	w.twin.places[path] = entry{key: where(w.robot.Class, key), line: line}
}

// known reports whether all parts of the robot are those of the built-in one. Then the built-in mechanics are better:
// an INI has no shapes and masses.
func (w *writer) known(base *Base) bool {
	for i := range w.robot.Parts {
		if _, ok := base.Joints[strings.ToLower(w.robot.Parts[i].Name)]; !ok {
			return false
		}
	}
	return true
}

// keep copies a built-in robot file, except the values of the INI.
func (w *writer) keep(base *Base) {
	w.base = base
	if n := len(w.robot.Parts); n > 0 {
		w.note(w.robot.Parts[0].Line, "JointParts", fmt.Sprintf("%d parts of a built-in class", n),
			"nothing: it keeps its own sizes and masses")
		w.pack()
	}
	section := ""
	for line := range strings.Lines(string(base.YAML)) {
		line = strings.TrimRight(line, "\r\n")
		if line != "" && line[0] >= 'a' && line[0] <= 'z' {
			section, _, _ = strings.Cut(line, ":")
		}
		if section != "sensors" && section != "cameras" && section != "usarsim" {
			w.line("%s", line)
		}
	}
}

// pack groups the parts into mission packages, in the file's order. w.base has their joints.
func (w *writer) pack() {
	var order []string
	kinds, joints := map[string]string{}, map[string][]string{}
	for i := range w.robot.Parts {
		p := &w.robot.Parts[i]
		if p.Package == "" {
			continue
		}
		if kinds[p.Package] == "" {
			order = append(order, p.Package)
			kinds[p.Package] = p.PackageType
		} else if kinds[p.Package] != p.PackageType {
			w.decoder.line = p.Line
			w.fault("JointParts.PackageType", yaml.Quote(p.PackageType), yaml.Quote(kinds[p.Package])+
				", as the parts before it")
		}
		at := strings.ToLower(p.Name)
		joints[p.Package] = append(joints[p.Package], w.base.Joints[at][0])
		w.base.Package[at] = p.Package
	}
	if len(order) == 0 {
		return
	}
	w.packages = "  packages:\n"
	for i, name := range order {
		w.place(fmt.Sprintf("usarsim.packages[%d]", i), w.robot.Line, "JointParts.PackageName")
		w.packages += fmt.Sprintf("    - {type: %s, name: %s, joints: [%s]}\n", strconv.Quote(kinds[name]),
			strconv.Quote(name), strings.Join(joints[name], ", "))
	}
}

// own is a name as robot files have them, each once.
func (w *writer) own(name string) string {
	plain := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' {
			return c
		}
		return '_'
	}, strings.ToLower(name))
	if plain == "" || plain[0] < 'a' || plain[0] > 'z' || plain == "null" || plain == "true" || plain == "false" {
		plain = "x" + plain // no name there, or no text
	}
	for n := 2; w.names[plain]; n++ {
		plain = fmt.Sprintf("%s_%d", strings.TrimSuffix(plain, fmt.Sprintf("_%d", n-1)), n)
	}
	w.names[plain] = true
	return plain
}

// num is a number without the rounding of unit conversions: 7.6125 uu are 0.145 m.
func num(v float64) string {
	v = math.Round(v*1e12) / 1e12
	if v == 0 {
		v = 0 // no -0
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// list3 is a vector.
func list3(v [3]float64) string { return "[" + num(v[0]) + ", " + num(v[1]) + ", " + num(v[2]) + "]" }

// inDegrees is rad in degrees.
func inDegrees(rad float64) float64 { return rad * 180 / math.Pi }

// turns are roll, pitch and yaw of a unit quaternion, degrees.
func turns(q [4]float64) [3]float64 {
	a, x, y, z := q[0], q[1], q[2], q[3]
	sin := math.Max(-1, math.Min(1, 2*(a*y-z*x)))
	if math.Abs(sin) > 1-1e-12 {
		// straight up or down roll and yaw are one turn
		return [3]float64{0, math.Copysign(90, sin), inDegrees(2 * math.Atan2(z, a))}
	}
	return [3]float64{inDegrees(math.Atan2(2*(a*x+y*z), 1-2*(x*x+y*y))), inDegrees(math.Asin(sin)),
		inDegrees(math.Atan2(2*(a*z+x*y), 1-2*(y*y+z*z)))}
}

// pose is where something is on a body: at_m and, where it is turned, rotation_deg; "" where it is neither.
func pose(p hal.Pose) (s string) {
	if at := list3(p.Position); at != "[0, 0, 0]" {
		s = ", at_m: " + at
	}
	return s + turned(p.Rotation)
}
