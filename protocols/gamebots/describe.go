package gamebots

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

// Defaults of USARBot.ini.
const (
	defaultInterval = 200 * time.Millisecond
	defaultLife     = time.Hour
	defaultFOV      = 0.7854 // rad, of a camera
)

// SensorType is the type of the messages of a kind of sensor, "" without one.
func SensorType(kind string) string { return wireTypes[kind] }

var wireTypes = map[string]string{
	"sonar": "Sonar", "infrared": "IR", "range": "RangeScanner", "odometry": "Odometry", "inertial": "INU",
	"encoder": "Encoder",
	"contact": "Touch", "rfid": "RFID", "victim": "VictRFID", "sound": "Sound", "motion": "HumanMotion",
}

// channels are how many channels a sensor of a kind has at least, where that is more than one.
var channels = map[string]int{"odometry": 3, "inertial": 3, "sound": 2, "body": 6, "pose": 13}

// Describe derives a robot from a's layout: its actuators are joints, DRIVE {Left} {Right} drives the wheels whose
// names begin with Left and Right, and its sensors are sent in the form of their kinds. It is the default for a robot
// without a description of its own.
func Describe(class string, a *hal.Agent) *Robot {
	l := a.Layout()
	r := &Robot{Class: class, State: hal.None, AbsoluteCamera: true}
	for i := range l.Actuators {
		j := &l.Actuators[i]
		name := strings.ToLower(j.Name)
		switch {
		case j.Kind == hal.Wheel && strings.HasPrefix(name, "left"):
			r.Left = append(r.Left, len(r.Joints))
		case j.Kind == hal.Wheel && strings.HasPrefix(name, "right"):
			r.Right = append(r.Right, len(r.Joints))
		}
		r.Joints = append(r.Joints, Joint{Name: one(j.Name), Actuator: i, Steer: hal.None})
	}
	for i, s := range l.Sensors {
		if (s.Kind == "pose" || s.Kind == "body") && r.State == hal.None {
			r.State = i
			r.Sensors = append(r.Sensors, Sensor{Type: "GroundTruth", Name: "GroundTruth", Index: i, Since: Later})
		}
		if t := wireTypes[s.Kind]; t != "" {
			r.Sensors = append(r.Sensors, Sensor{Type: t, Name: one(s.Name), Index: i, TimeStamp: true})
		}
	}
	for i, c := range l.Cameras {
		r.Cameras = append(r.Cameras, Camera{Name: one(c.Name), Index: i, Package: hal.None,
			Default: c.FieldOfView, Min: c.FieldOfView, Max: c.FieldOfView})
	}
	return r
}

// one is name as one word.
func one(name string) string { return strings.Join(strings.Fields(name), "_") }

// complete fills in the defaults, and returns all faults of r together.
func (r *Robot) complete(l *hal.Layout) error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	index := func(where string, got, n int) {
		if got < 0 || got >= n {
			fault("%s: got %d, want below %d", where, got, n)
		}
	}
	optional := func(where string, got, n int) {
		if got != hal.None {
			index(where, got, n)
		}
	}
	named := func(where string, names ...string) {
		for _, name := range names {
			if !proper(name) {
				fault("%s: name: got %q, want one word without braces and commas", where, name)
			}
		}
	}
	protocols.Positive(&r.Interval, defaultInterval)
	protocols.Positive(&r.BatteryLife, defaultLife)
	r.Size.Steering = cmp.Or(r.Size.Steering, "SkidSteered")
	optional("state", r.State, len(l.Sensors))
	for i, j := range r.Joints {
		where := fmt.Sprintf("joints[%d]", i)
		named(where, j.Name)
		index(where+": actuator", j.Actuator, len(l.Actuators))
		optional(where+": steer", j.Steer, len(l.Actuators))
	}
	for _, list := range [][]int{r.Left, r.Right, r.Front, r.Rear} {
		for _, i := range list {
			index("wheels", i, len(r.Joints))
		}
	}
	for i := range r.Sensors {
		s, where := &r.Sensors[i], fmt.Sprintf("sensors[%d]", i)
		named(where, s.Type, s.Name)
		if index(where+": index", s.Index, len(l.Sensors)); s.Index < 0 || s.Index >= len(l.Sensors) {
			continue
		}
		// the channels that a message of this kind needs exist, so that sense need not check
		k := &l.Sensors[s.Index]
		if want := max(1, channels[k.Kind]); k.Count < want {
			fault("%s: channels: got %d, want %d of a sensor of kind %s", where, k.Count, want, k.Kind)
		}
		if k.Kind == "range" && k.Count > 1 && !(s.FOV > 0) {
			s.FOV = math.Pi
		}
		if k.Kind == "range" && k.Count > 1 && !(s.Resolution > 0) {
			s.Resolution = s.FOV / float64(k.Count-1)
		}
		if (k.Kind == "rfid" || k.Kind == "victim") && s.Hits == nil {
			s.Hits = &Hits{}
		}
	}
	for i := range r.Cameras {
		c, where := &r.Cameras[i], fmt.Sprintf("cameras[%d]", i)
		named(where, c.Name)
		index(where+": index", c.Index, len(l.Cameras))
		optional(where+": package", c.Package, len(r.Packages))
		if !(c.Default > 0) {
			c.Default = defaultFOV
		}
		if !(c.Min > 0 && c.Min <= c.Default && c.Default <= c.Max) {
			c.Min, c.Max = c.Default, c.Default
		}
	}
	for i, e := range r.Effecters {
		named(fmt.Sprintf("effecters[%d]", i), e.Type, e.Name)
	}
	for i, p := range r.Packages {
		named(fmt.Sprintf("packages[%d]", i), p.Type, p.Name)
		for k, part := range p.Parts {
			where := fmt.Sprintf("packages[%d].parts[%d]", i, k)
			named(where, part.Name)
			optional(where+": joint", part.Joint, len(r.Joints))
			if a := part.Axis; part.Joint != hal.None && !(math.Abs(a[0]*a[0]+a[1]*a[1]+a[2]*a[2]-1) < 1e-6) {
				fault("%s: axis: got %g, want a unit vector", where, a)
			}
		}
	}
	if faults == nil {
		return nil
	}
	return &hal.Error{Kind: hal.Invalid, Op: "gamebots: robot " + r.Class, Err: errors.Join(faults...)}
}

// maxName bounds names given by clients.
const maxName = 64

// proper reports whether name is a name on the wire: one word of printable ASCII without characters of the grammar.
func proper(name string) bool {
	if len(name) == 0 || len(name) > maxName {
		return false
	}
	return !strings.ContainsFunc(name, func(c rune) bool {
		return c <= ' ' || c > '~' || strings.ContainsRune("{},/", c)
	})
}
