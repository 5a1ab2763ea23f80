package usarini

import (
	"fmt"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// Robot is one section of a robot class. Omitted keys have USARSim's defaults.
type Robot struct {
	Class          string // "USARBot.P2AT"
	Line           int
	Interval       float64 // msgTimer: between messages, s
	AbsoluteCamera bool    // bAbsoluteCamera
	SpeedControl   bool    // bSpeedControl: DRIVE is a speed, else a torque
	MountByUU      bool
	Weight         float64 // kg, only for the description
	Payload        float64 // kg
	BatteryLife    float64 // s
	ChassisMass    float64 // Karma's unit
	MotorTorque    float64 // Karma's unit
	MaxTorque      float64
	MotorSpeed     float64 // rad/s
	SafeDistance   float64 // m
	PID            PID     // of an obsolete robot's wheels
	Joints         Joints
	Tires          Tires
	Sensors        []Item
	Cameras        []Item // the first is the main one
	Effecters      []Item
	Added          []Item // by AddParts, of UDK: the class of each decides its kind
	Parts          []Part // parents first

	unread []entry // items of unknown kinds

	Faults yaml.Faults // of its section; Twin returns them
}

// Bare reports whether the robot has no parts or items: the section is a base of other classes, or its body is
// elsewhere.
func (r *Robot) Bare() bool {
	return len(r.Sensors)+len(r.Cameras)+len(r.Effecters)+len(r.Added)+len(r.Parts)+len(r.Faults) == 0
}

// PID are the gains and bounds of a speed control.
type PID struct{ P, I, D, Min, Max float64 }

// Joints is the common settings of all joints of a robot, in the file's units (section 12.4.2.3 of the manual).
type Joints struct {
	HingePropGap, SteerPropGap, SteerTorque, SteerSpeed     float64
	SuspStiffness, SuspDamping, SuspHighLimit, SuspLowLimit float64
}

// Tires is the common settings of all tires of a robot, likewise.
type Tires struct {
	RollFriction, LateralFriction, RollSlip, LateralSlip float64
	MinSlip, SlipRate, Softness, Adhesion, Restitution   float64
}

// Item is a sensor, a camera or an effecter on a robot. Its pose is relative to its parent.
type Item struct {
	Line   int
	Class  string // "USARBot.SonarSensor"
	Name   string
	Parent string // the part that carries it, "" = the chassis
	Pose   hal.Pose
}

// Part is a part and the joint that connects it to its parent. Positions are m, axes unit vectors or zero.
type Part struct {
	Line                             int
	Name, Class                      string
	Joint                            string // "KCarWheelJoint" or "KDHinge"
	DrawScale                        [3]float64
	SteeringLocked, SuspensionLocked bool
	BrakeTorque                      float64
	Parent                           string     // "" = the chassis
	ParentPosition                   [3]float64 // of the joint, relative to the parent
	ParentAxis, ParentAxis2          [3]float64 // of a wheel: steering, then spin; of a hinge: spin
	SelfPosition                     [3]float64 // of the joint, relative to the part
	SelfAxis, SelfAxis2              [3]float64
	Package, PackageType             string // the mission package that it belongs to
}

// Wheel and Hinge are the kinds of joint.
const (
	Wheel = "KCarWheelJoint"
	Hinge = "KDHinge"
)

// newRobot has the manual's defaults.
func newRobot(s *section) Robot {
	return Robot{Class: s.name, Line: s.line, Interval: 0.2, SpeedControl: true, BatteryLife: 3600, ChassisMass: 1,
		MotorTorque: 20, MaxTorque: 60, MotorSpeed: 0.1745,
		Joints: Joints{HingePropGap: 364, SteerPropGap: 1000, SteerTorque: 1000, SteerSpeed: 15000, SuspStiffness: 150,
			SuspDamping: 15, SuspHighLimit: 1, SuspLowLimit: -1},
		Tires: Tires{RollFriction: 15, LateralFriction: 15, RollSlip: 0.06, LateralSlip: 0.06, MinSlip: 0.001,
			SlipRate: 0.0005}}
}

// slots are the keys of one value (manual, sections 10.1.2, 10.5.2 and 12.4.2.3, and the tutorial's safeDistance).
func (r *Robot) slots() []slot {
	return []slot{
		{"msgTimer", &r.Interval, 1e-3, 3600}, {"bAbsoluteCamera", &r.AbsoluteCamera, 0, 0},
		{"bAbsoluteCameras", &r.AbsoluteCamera, 0, 0},
		{"bSpeedControl", &r.SpeedControl, 0, 0}, {"bMountByUU", &r.MountByUU, 0, 0},
		{"Weight", &r.Weight, 0, 1e5}, {"Payload", &r.Payload, 0, 1e5}, {"batteryLife", &r.BatteryLife, 0, wide},
		{"ChassisMass", &r.ChassisMass, 0, 1e5}, {"MotorTorque", &r.MotorTorque, 0, wide},
		{"MaxTorque", &r.MaxTorque, 0, wide},
		{"MotorSpeed", &r.MotorSpeed, 0, 1e4}, {"safeDistance", &r.SafeDistance, 0, 1e3},
		{"Kp", &r.PID.P, -wide, wide}, {"Ki", &r.PID.I, -wide, wide}, {"Kd", &r.PID.D, -wide, wide},
		{"MinOut", &r.PID.Min, -wide, wide}, {"MaxOut", &r.PID.Max, -wide, wide},
		{"HingePropGap", &r.Joints.HingePropGap, 0, wide}, {"SteerPropGap", &r.Joints.SteerPropGap, 0, wide},
		{"SteerTorque", &r.Joints.SteerTorque, 0, wide}, {"SteerSpeed", &r.Joints.SteerSpeed, 0, wide},
		{"SuspStiffness", &r.Joints.SuspStiffness, 0, wide}, {"SuspDamping", &r.Joints.SuspDamping, 0, wide},
		{"SuspHighLimit", &r.Joints.SuspHighLimit, -wide, wide}, {"SuspLowLimit", &r.Joints.SuspLowLimit, -wide, wide},
		{"TireRollFriction", &r.Tires.RollFriction, 0, wide},
		{"TireLateralFriction", &r.Tires.LateralFriction, 0, wide},
		{"TireRollSlip", &r.Tires.RollSlip, 0, wide}, {"TireLateralSlip", &r.Tires.LateralSlip, 0, wide},
		{"TireMinSlip", &r.Tires.MinSlip, 0, wide}, {"TireSlipRate", &r.Tires.SlipRate, 0, wide},
		{"TireSoftness", &r.Tires.Softness, 0, wide}, {"TireAdhesion", &r.Tires.Adhesion, 0, wide},
		{"TireRestitution", &r.Tires.Restitution, 0, wide},
	}
}

// lists are the keys whose values are structures, one an item: they make a section a robot's.
var lists = [...]string{"Sensors", "Cameras", "Effecters", "AddParts", "JointParts"}

// list is the index of a key in lists, or -1.
func list(key string) int {
	return slices.IndexFunc(lists[:], func(name string) bool { return strings.EqualFold(key, name) })
}

// robot decodes one robot's section.
func (d *decoder) robot(s *section) (r Robot, ignored []entry) {
	r = newRobot(s)
	rest := d.scalars(s.entries, r.slots())
	if r.PID.Min > r.PID.Max {
		d.line = s.line
		d.fault("MinOut", fmt.Sprintf("%g", r.PID.Min), fmt.Sprintf("at most MaxOut, %g", r.PID.Max))
	}
	parts := map[string]bool{"": true, "none": true}
	names := map[string]int{}
	// parts first: an item may precede the part that carries it
	for pass := range 2 {
		for _, e := range rest {
			at := list(e.key)
			if at < 0 || (lists[at] == "JointParts") != (pass == 0) {
				continue
			}
			v, ok := d.parse(e)
			if !ok {
				continue
			}
			if pass == 0 {
				r.Parts = append(r.Parts, d.part(e, v, r.MountByUU, parts))
				continue
			}
			to := [...]*[]Item{&r.Sensors, &r.Cameras, &r.Effecters, &r.Added}[at]
			*to = append(*to, d.item(e, v, r.MountByUU, names))
		}
	}
	for _, e := range rest {
		if list(e.key) < 0 {
			ignored = append(ignored, e)
		}
	}
	return r, ignored
}

// item decodes one Sensors, Cameras or Effecters.
func (d *decoder) item(e entry, v value, uu bool, names map[string]int) Item {
	it := Item{Line: e.line}
	var at [3]float64
	var to direction
	d.names(e.key, v, []slot{
		{"ItemClass", &it.Class, 0, 0}, {"ItemName", &it.Name, 0, 0}, {"Parent", &it.Parent, 0, 0},
		{"Position", &at, 0, 0},
		{"Direction", &to, 0, 0},
		{"SensorClass", &it.Class, 0, 0}, {"SenName", &it.Name, 0, 0}, // the obsolete robots'
	})
	d.word(e.key+".ItemClass", it.Class)
	if it.Name == "" && strings.EqualFold(e.key, "AddParts") { // then UDK calls it as its class
		it.Name = short(it.Class)
	}
	d.word(e.key+".ItemName", it.Name)
	// Twin checks that the part exists: a built-in class may omit its parts, as the manual's P2AT does.
	if strings.EqualFold(it.Parent, "None") {
		it.Parent = ""
	}
	id := strings.ToLower(it.Class + " " + it.Name)
	if line, twice := names[id]; twice {
		d.fault(e.key+".ItemName", yaml.Quote(it.Name), fmt.Sprintf("another name: line %d has it", line))
	}
	names[id] = e.line
	it.Pose = mount(at, to, uu)
	return it
}

// part decodes one JointParts, and adds it to those that may be parents.
func (d *decoder) part(e entry, v value, uu bool, parts map[string]bool) Part {
	p := Part{Line: e.line, DrawScale: [3]float64{1, 1, 1}}
	d.names(e.key, v, []slot{
		{"PartName", &p.Name, 0, 0}, {"PartClass", &p.Class, 0, 0}, {"DrawScale3D", &p.DrawScale, 0, 0},
		{"JointClass", &p.Joint, 0, 0}, {"bSteeringLocked", &p.SteeringLocked, 0, 0},
		{"bSuspensionLocked", &p.SuspensionLocked, 0, 0}, {"BrakeTorque", &p.BrakeTorque, 0, wide},
		{"Parent", &p.Parent, 0, 0},
		{"ParentPos", &p.ParentPosition, 0, 0}, {"ParentAxis", &p.ParentAxis, 0, 0},
		{"ParentAxis2", &p.ParentAxis2, 0, 0},
		{"SelfPos", &p.SelfPosition, 0, 0}, {"SelfAxis", &p.SelfAxis, 0, 0}, {"SelfAxis2", &p.SelfAxis2, 0, 0},
		{"PackageName", &p.Package, 0, 0}, {"PackageType", &p.PackageType, 0, 0},
	})
	d.word(e.key+".PartName", p.Name)
	d.word(e.key+".PartClass", p.Class)
	switch {
	case strings.EqualFold(p.Joint, Wheel):
		p.Joint = Wheel
	case strings.EqualFold(p.Joint, Hinge):
		p.Joint = Hinge
	default:
		d.fault(e.key+".JointClass", yaml.Quote(p.Joint), Wheel+" or "+Hinge)
	}
	d.parent(e.key+".Parent", &p.Parent, parts)
	if id := strings.ToLower(p.Name); parts[id] {
		d.fault(e.key+".PartName", yaml.Quote(p.Name), "a name that no part before it has")
	} else {
		parts[id] = true
	}
	if (p.Package == "") != (p.PackageType == "") {
		d.fault(e.key+".PackageName", yaml.Quote(p.Package), "both PackageName and PackageType, or neither")
	}
	for _, at := range []*[3]float64{&p.ParentPosition, &p.SelfPosition} {
		*at = place(*at, uu)
	}
	for _, axis := range []*[3]float64{&p.ParentAxis, &p.ParentAxis2, &p.SelfAxis, &p.SelfAxis2} {
		*axis = unit(turnAxes(*axis, uu))
	}
	return p
}

// parent checks that a part's parent precedes it, as the manual requires.
func (d *decoder) parent(path string, name *string, parts map[string]bool) {
	if !parts[strings.ToLower(*name)] {
		d.fault(path, yaml.Quote(*name), "a part of this robot that precedes it")
	}
	if strings.EqualFold(*name, "None") {
		*name = ""
	}
}

// word checks a name by section 7.2 of the manual: printable ASCII without blanks. Braces and commas would break the
// protocol, quotes and backslashes the robot file.
func (d *decoder) word(path, name string) {
	ok := name != "" && len(name) <= 64
	for _, c := range []byte(name) {
		ok = ok && c > ' ' && c <= '~' && !strings.ContainsRune("{},/\"\\", rune(c))
	}
	if !ok {
		d.fault(path, yaml.Quote(name), "one word of at most 64 letters")
	}
}
