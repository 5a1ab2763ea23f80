package topics

import (
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/kinematics"
)

// Robot is an agent and the data that is not in its layout. A nil or empty field has no topics.
type Robot struct {
	Rig   *hal.Rig
	Agent *hal.Agent
	Tree  kinematics.Tree // its links
	// SensorLinks and CameraLinks are the links that sensors and cameras of the layout are mounted on, by their index;
	// others are on the first.
	SensorLinks, CameraLinks map[int]int
	// Scanners are the fields of view of sensors of kind range with several rays, by their index, rad; others have π.
	Scanners map[int]float64
	Drive    *kinematics.Drive // nil: a twist does not move it
	Cameras  hal.CameraSource
	Welded   []Frame // on links
}

// Frame is a named place on a link, by its index.
type Frame struct {
	Link int
	Name string
	Pose hal.Pose
}

// validate returns an error if r does not fit the layout.
func (r *Robot) validate() error {
	if r.Rig == nil || r.Agent == nil {
		return fmt.Errorf("topics: robot: got no agent")
	}
	l := r.Agent.Layout()
	if err := r.Tree.Validate(len(l.Actuators)); err != nil {
		return fmt.Errorf("topics: %w", err)
	}
	for _, links := range []map[int]int{r.SensorLinks, r.CameraLinks} {
		for _, at := range links {
			if at < 0 || at >= len(r.Tree) {
				return fmt.Errorf("topics: mount: got link %d, want below %d", at, len(r.Tree))
			}
		}
	}
	if d := r.Drive; d != nil {
		if err := d.Validate(l); err != nil {
			return fmt.Errorf("topics: %w", err)
		}
	}
	return nil
}

// Kind is the contents of a topic.
type Kind uint8

// The kinds. The last two are of topics that clients publish.
const (
	Joints Kind = iota
	Transforms
	Odometry
	IMU
	Scan
	Range
	Battery
	Pressure
	Image
	Diagnostics
	Clock
	JointCommands
	Twist
)

// Topic is one of a robot's topics. At is the sensor or the camera that it is about, by its index in the layout.
type Topic struct {
	Name  string
	Kind  Kind
	At    int
	Frame string // that its values are in
}

// Command reports whether clients publish it.
func (t *Topic) Command() bool { return t.Kind >= JointCommands }

// Topics returns the robot's topics. It fails if the robot does not fit its layout.
func (r *Robot) Topics() ([]Topic, error) {
	if err := r.validate(); err != nil {
		return nil, err
	}
	l := r.Agent.Layout()
	all := []Topic{{Name: "/joint_states", Kind: Joints, Frame: Base}, {Name: "/tf", Kind: Transforms}}
	if _, ok := r.place(); ok {
		all = append(all, Topic{Name: "/odom", Kind: Odometry, Frame: Odom})
	}
	first := map[Kind]bool{}
	add := func(kind Kind, at int, single, prefix, name, suffix string) {
		t := Topic{Name: single, Kind: kind, At: at, Frame: name}
		if first[kind] || single == "" {
			t.Name = prefix + topicName(name) + suffix
		}
		first[kind] = true
		all = append(all, t)
	}
	for i := range l.Sensors {
		switch s := &l.Sensors[i]; {
		case s.Kind == "imu" || s.Kind == "inertial" && s.Count >= 3:
			add(IMU, i, "/imu/data", "/imu/", s.Name, "/data")
		case s.Kind == "range" && s.Count > 1:
			add(Scan, i, "/scan", "/scan/", s.Name, "")
		case s.Kind == "sonar" || s.Kind == "infrared" || s.Kind == "range":
			add(Range, i, "", "/range/", s.Name, "")
		case s.Kind == "voltage":
			add(Battery, i, "/battery_state", "/battery_state/", s.Name, "")
		case s.Kind == "pressure":
			add(Pressure, i, "", "/pressure/", s.Name, "")
		}
	}
	if r.Cameras != nil {
		for i := range l.Cameras {
			add(Image, i, "/camera/compressed", "/camera/", l.Cameras[i].Name, "/compressed")
		}
	}
	all = append(all, Topic{Name: "/diagnostics", Kind: Diagnostics}, Topic{Name: "/clock", Kind: Clock},
		Topic{Name: "/joint_commands", Kind: JointCommands})
	if r.Drive != nil {
		all = append(all, Topic{Name: "/cmd_vel", Kind: Twist})
	}
	return all, nil
}

// topicName is name with only the characters that ROS allows in names.
func topicName(name string) string {
	b := []byte(name)
	for i, c := range b {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			b[i] = '_'
		}
	}
	return string(b)
}

// place is the sensor that reports where the robot is.
func (r *Robot) place() (int, bool) {
	l := r.Agent.Layout()
	for _, k := range []struct {
		kind  string
		count int
	}{{"odometry", 3}, {"pose", 7}} {
		for i := range l.Sensors {
			if l.Sensors[i].Kind == k.kind && l.Sensors[i].Count >= k.count {
				return i, true
			}
		}
	}
	return hal.None, false
}

// FOV is the field of view of a scanner, rad.
func (r *Robot) FOV(sensor int) float64 {
	if fov, ok := r.Scanners[sensor]; ok {
		return fov
	}
	return math.Pi
}
