package model

import (
	"math"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/kinematics"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// Rescue holds the data of a robot for USARSim's controllers in addition to its layout. Names on the wire are the Paths
// of joints and sensors, without their slash.
type Rescue struct {
	Class        string  // "USARBot.P2AT"
	Interval     float64 // s, msgTimer
	Absolute     bool    // bAbsoluteCamera
	Torque       bool    // DRIVE's sides are torques: bSpeedControl is false
	Left, Right  []int   // joints that DRIVE {Left} {Right} turns
	Front, Rear  []int   // joints that steer an axle
	Steers       []Steer
	Steering     string     // "SkidSteered"
	Size         [3]float64 // m: length, width, height
	Headlight    bool
	Tags         int // number in its RFID releaser; 0 = no releaser
	ReleaserName string
	ReleaserPose hal.Pose // on the chassis
	Packages     []MissionPackage
}

// Steer is a wheel's joint and the joint that steers it.
type Steer struct{ Wheel, Joint int }

// MissionPackage is a row of joints from the chassis to a terminal.
type MissionPackage struct {
	Type, Name string
	Joints     []int
}

// Camera is a camera on a body.
type Camera struct {
	Name, Path     string
	Body           int
	Pose           hal.Pose // in the body's frame: it looks along its x
	Width, Height  int
	FOV            float64 // rad, across the width
	MinFOV, MaxFOV float64 // rad, how far it zooms
	Package        string  // the mission package that aims it; "" = none
}

// rescueFile is a Rescue as written.
type rescueFile struct {
	Class     string            `yaml:"class"`
	Interval  float64           `yaml:"interval_s" default:"0.2" min:"1e-3" max:"60"`
	Relative  bool              `yaml:"relative_camera"`
	Torque    bool              `yaml:"torque_drive"`
	Left      []string          `yaml:"left"`
	Right     []string          `yaml:"right"`
	Front     []string          `yaml:"front"`
	Rear      []string          `yaml:"rear"`
	Steers    map[string]string `yaml:"steers"` // a wheel and the joint that turns it
	Steering  string            `yaml:"steering"`
	Size      [3]float64        `yaml:"size_m" min:"-1e4" max:"1e4"`
	Headlight bool              `yaml:"headlight"`
	Releaser  *releaserFile     `yaml:"releaser"`
	Packages  []packageFile     `yaml:"packages"`
}

type releaserFile struct {
	Name string     `yaml:"name"`
	Tags int        `yaml:"tags" required:"true" min:"1" max:"1000000"` // one without tags would only fail
	At   [3]float64 `yaml:"at_m" min:"-1e4" max:"1e4"`
}

type packageFile struct {
	Type   string   `yaml:"type"`
	Name   string   `yaml:"name"`
	Joints []string `yaml:"joints"`
}

// cameraFile is a Camera as written.
type cameraFile struct {
	Name     string      `yaml:"name" required:"true" form:"lower"`
	Path     string      `yaml:"path"`
	Body     string      `yaml:"body"`
	At       [3]float64  `yaml:"at_m" min:"-1e4" max:"1e4"`
	Rotation [3]float64  `yaml:"rotation_deg" min:"-360" max:"360"`
	Pixels   [2]int      `yaml:"pixels" default:"[320, 240]" min:"1" max:"4096"`
	FOV      *float64    `yaml:"fov_deg" min:"1" max:"170"`
	Zoom     *[2]float64 `yaml:"zoom_deg" order:"<" min:"1" max:"170"`
	Package  string      `yaml:"package"`
}

// equip reads everything that refers to joints: devices, cameras and the data for USARSim. r has its joints.
func (f *file) equip(r *Robot, bodies map[string]int, faults *faults) {
	for i := range f.Sensors {
		if i < len(r.Sensors) {
			s := &r.Sensors[i]
			s.Device = f.Sensors[i].Device.device(yaml.Path("sensors").Index(i), s.Kind, r, faults)
		}
	}
	for i := range f.Cameras {
		r.Cameras = append(r.Cameras, f.Cameras[i].camera(yaml.Path("cameras").Index(i), bodies, faults))
	}
	f.couple(r, faults)
	if f.Rescue != nil {
		r.Rescue = f.Rescue.rescue("usarsim", r, faults)
	}
}

// couple finds the two passive joints of a differential.
func (f *file) couple(r *Robot, faults *faults) {
	if f.Differential == nil {
		return
	}
	for i, name := range f.Differential {
		for k := range r.Passive {
			if r.Passive[k].Name == name && r.Passive[k].Kind != Weld && r.Passive[k].Mimic == nil {
				r.Differential = append(r.Differential, k)
			}
		}
		if len(r.Differential) != i+1 {
			break
		}
	}
	if len(r.Differential) != 2 || r.Differential[0] == r.Differential[1] {
		faults.add("differential", "got %q, want two passive joints that turn", *f.Differential)
		r.Differential = nil
	}
}

func (f *cameraFile) camera(path yaml.Path, bodies map[string]int, faults *faults) Camera {
	c := Camera{Name: f.Name, Path: f.Path, Body: faults.index(path+".body", "body", f.Body, bodies),
		Package: f.Package,
		Pose:    hal.Pose{Position: f.At, Rotation: turn(f.Rotation)},
		Width:   f.Pixels[0], Height: f.Pixels[1], FOV: 0.7854, MinFOV: 0.3491, MaxFOV: 2.0944}
	if f.FOV != nil {
		c.FOV = radians(*f.FOV)
		c.MinFOV, c.MaxFOV = c.FOV, c.FOV
	}
	if f.Zoom != nil {
		if c.MinFOV, c.MaxFOV = radians(f.Zoom[0]), radians(f.Zoom[1]); !(c.MinFOV <= c.FOV && c.FOV <= c.MaxFOV) {
			faults.add(path+".zoom_deg", "got %v, want two angles of 1 to 170 around fov_deg", *f.Zoom)
		}
	}
	return c
}

func (f *rescueFile) rescue(path yaml.Path, r *Robot, faults *faults) *Rescue {
	list := func(key yaml.Path, names []string) (joints []int) {
		for i, name := range names {
			k := r.Joint(name)
			if k == hal.None {
				faults.add((path + "." + key).Index(i), "got %q, want the name of a joint", name)
				continue
			}
			joints = append(joints, k)
		}
		return joints
	}
	out := &Rescue{Class: f.Class, Interval: f.Interval, Absolute: !f.Relative, Torque: f.Torque,
		Headlight: f.Headlight, Steering: f.Steering, Left: list("left", f.Left), Right: list("right", f.Right),
		Front: list("front", f.Front), Rear: list("rear", f.Rear), Size: f.Size}
	faults.word(path+".class", f.Class)
	// In the joints' order, since a map has no order.
	for wheel := range r.Joints {
		if name, ok := f.Steers[r.Joints[wheel].Name]; ok {
			if k := list("steers", []string{name}); len(k) > 0 {
				out.Steers = append(out.Steers, Steer{wheel, k[0]})
			}
		}
	}
	if len(out.Steers) < len(f.Steers) {
		faults.add(path+".steers", "got %v, want wheels and joints by name", f.Steers)
	}
	if l := f.Releaser; l != nil {
		faults.word(path+".releaser.name", l.Name)
		out.Tags, out.ReleaserName = l.Tags, l.Name
		out.ReleaserPose = hal.Pose{Position: l.At, Rotation: [4]float64{1}}
	}
	for i, p := range f.Packages {
		at := yaml.Path("packages").Index(i)
		faults.word(path+"."+at+".type", p.Type)
		faults.word(path+"."+at+".name", p.Name)
		out.Packages = append(out.Packages, MissionPackage{p.Type, p.Name, list(at+".joints", p.Joints)})
	}
	if len(out.Left) > 0 && len(out.Right) > 0 {
		r.Drive = kinematics.Sides(out.Left, out.Right, r.Wheel(out.Left[0]), r.Span(out.Left[0], out.Right[0], 1))
	}
	return out
}

// proper reports whether a name is valid in USARSim's protocol: printable, one word, without characters of its grammar.
func proper(name string) bool {
	return name != "" && len(name) <= 64 && !strings.ContainsFunc(name, func(c rune) bool {
		return c <= ' ' || c > '~' || strings.ContainsRune("{},/", c)
	})
}

// Span is how far the joints of two wheels are apart along an axis of the robot, m.
func (r *Robot) Span(a, b, axis int) float64 {
	return math.Abs(r.Joints[a].Anchor[axis] - r.Joints[b].Anchor[axis])
}

// Where the robots and arenas of USARSim are among the built-in files, and how Load calls the robots.
const (
	rescueFolder = "usarsim"
	rescuePrefix = "usarsim-"
	arenaFolder  = "arenas"
)

// RescueNames lists the built-in robots of USARSim by their names for Load: "usarsim-p2at".
func RescueNames() []string {
	list := names(rescueFolder)
	for i := range list {
		list[i] = rescuePrefix + list[i]
	}
	return list
}

// ArenaNames lists the built-in scenes that are arenas of USARSim; LoadScene loads them.
func ArenaNames() []string { return names(arenaFolder) }

// addCameras appends the cameras to a layout, and sets the minimum of distances to 0.
func (r *Robot) addCameras(l *hal.Layout) {
	for i := range r.Cameras {
		c := &r.Cameras[i]
		l.Cameras = append(l.Cameras, hal.Camera{Name: c.Name, Width: c.Width, Height: c.Height, FieldOfView: c.FOV,
			Mount: c.Pose})
	}
	for i := range l.Sensors {
		if s := &l.Sensors[i]; s.Kind == "range" {
			for k := range s.Count {
				l.Outputs[s.First+k].Min = 0
			}
		}
	}
	if r.Rescue != nil {
		for i := range l.Actuators {
			if l.Actuators[i].Wraps {
				l.Actuators[i].Kind = hal.Wheel
			}
		}
	}
}
