package model

import (
	"cmp"
	"fmt"
	"math"
	"reflect"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/kinematics"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// Device holds the settings of a sensor of a rescue robot in addition to its pose. The kind decides which fields apply;
// the defaults are those of USARSim's own USARBot.ini (manual, section 8).
type Device struct {
	Interval   float64      // s between two readings; 0 = with every cycle
	TimeStamp  bool         // bWithTimeStamp: messages have a time stamp
	Manual     bool         // a scanner that is informed when it is asked
	Range      float64      // m, of rays, tags and motion
	Noise      float64      // relative amplitude: data + data * (-Noise..Noise)
	Curve      [][2]float64 // maps measured to reported values, piecewise linear; empty = unchanged; 0 outside
	Beam       float64      // rad, the whole angle of a sonar's cone
	FOV        float64      // rad, of scanners and of readers that look ahead
	Resolution float64      // rad, from ray to ray of a scanner; of one tick of an encoder or of odometry's encoders
	Upright    bool         // the scanner's plane is x-z, not x-y
	Clear      bool         // its rays pass through glass
	Diameter   float64      // m, of a touch sensor's button; 0 = contact of the body that carries it
	Joint      int          // of an encoder; hal.None = no joint
	Left       int          // of odometry: its wheels' joints, unless it has a Drive
	Right      int
	Drive      *kinematics.Drive
	Radius     float64 // m, of the wheels as odometry believes
	Separation float64 // m, between them, likewise
	Near       float64 // m, at which a victim is known by name
	Nearest    float64 // m, at which its state is known
	Life       float64 // s, of a full battery
	Paced      bool    // the file gives Interval
}

// deviceFile is a Device as written.
type deviceFile struct {
	Interval   *float64     `yaml:"interval_s" min:"0" max:"3600"`
	TimeStamp  *bool        `yaml:"time_stamp"`
	Manual     bool         `yaml:"manual"`
	Range      *float64     `yaml:"range_m" min:"1e-3" max:"1e4"`
	Noise      *float64     `yaml:"noise" min:"0" max:"1"`
	Curve      [][2]float64 `yaml:"curve" min:"-1e4" max:"1e4"`
	Beam       *float64     `yaml:"beam_deg" min:"0" max:"170"`
	FOV        *float64     `yaml:"fov_deg" min:"0" max:"360"`
	Resolution *float64     `yaml:"resolution_deg" min:"1e-3" max:"360"`
	Plane      string       `yaml:"plane" enum:"xy|xz"`
	Infrared   bool         `yaml:"infrared"`
	Diameter   *float64     `yaml:"diameter_m" min:"1e-3" max:"1"`
	Joint      string       `yaml:"joint"`
	Left       string       `yaml:"left"`
	Right      string       `yaml:"right"`
	Radius     *float64     `yaml:"radius_m" min:"1e-3" max:"10"`
	Separation *float64     `yaml:"separation_m" min:"1e-3" max:"100"`
	Near       *float64     `yaml:"near_m" min:"0" max:"1e4"`
	Nearest    *float64     `yaml:"nearest_m" min:"0" max:"1e4"`
	Life       *float64     `yaml:"life_s" min:"1" max:"1e7"`
}

// deviceKinds are the kinds of sensor with a Device, each with the values of its section in USARBot.ini.
func deviceKinds() map[string]Device {
	return map[string]Device{
		"sonar":    {TimeStamp: true, Range: 5, Beam: 0.3491, Noise: 0.05},
		"infrared": {TimeStamp: true, Range: 5, Noise: 0.05, Clear: true},
		"range":    {Range: 1000, Interval: 0.5, Resolution: 800 * math.Pi / 32768, FOV: math.Pi},
		"odometry": {Interval: 0.2, Resolution: 0.01},
		"inertial": {Noise: 0.05},
		"encoder":  {Resolution: 0.01745, Noise: 0.005},
		"rfid":     {Range: 0.28},
		"victim":   {Range: 1.33, Near: 0.5, Nearest: 0.25, FOV: 0.52},
		"sound":    {Noise: 0.05},
		"motion":   {Range: 1000, FOV: math.Pi / 3, Noise: 0.1},
		"battery":  {Life: 3600},
	}
}

// most rays of one scanner, as many as a message of the protocol can hold.
const maxRays = 4096

// device reads the settings of the sensor of kind at path; nil for kinds without settings. r has its joints.
func (f *deviceFile) device(path yaml.Path, kind string, r *Robot, faults *faults) *Device {
	d, ok := deviceKinds()[kind]
	d.Joint, d.Left, d.Right = hal.None, hal.None, hal.None
	if touch := kind == "contact" && f.Diameter != nil; !ok && !touch {
		if !reflect.ValueOf(*f).IsZero() {
			faults.add(path, "got device values for a sensor of kind %s, want none", kind)
		}
		return nil
	}
	// The file has degrees, the device radians.
	const degree = math.Pi / 180
	for _, n := range [...]struct {
		to, from *float64
		scale    float64
	}{
		{&d.Interval, f.Interval, 1}, {&d.Range, f.Range, 1}, {&d.Noise, f.Noise, 1}, {&d.Beam, f.Beam, degree},
		{&d.FOV, f.FOV, degree},
		{&d.Resolution, f.Resolution, degree}, {&d.Diameter, f.Diameter, 1}, {&d.Radius, f.Radius, 1},
		{&d.Separation, f.Separation, 1},
		{&d.Near, f.Near, 1}, {&d.Nearest, f.Nearest, 1}, {&d.Life, f.Life, 1},
	} {
		if n.from != nil {
			*n.to = *n.from * n.scale
		}
	}
	d.Paced = f.Interval != nil
	if f.TimeStamp != nil {
		d.TimeStamp = *f.TimeStamp
	}
	// Infrared always passes glass; for a scanner this is a setting.
	d.Manual, d.Clear = f.Manual, d.Clear || f.Infrared
	d.Upright = f.Plane == "xz"
	for i, p := range f.Curve {
		if i > 0 && !(p[0] > f.Curve[i-1][0]) {
			faults.add((path + ".curve").Index(i), "got %v, want a pair whose first number is above the last", p)
		}
	}
	d.Curve = f.Curve
	if kind == "range" && !(d.FOV/d.Resolution < maxRays) {
		faults.add(path, "got %g rays, want at most %d: a wider resolution_deg", d.FOV/d.Resolution, maxRays)
	}
	f.joints(path, kind, &d, r, faults)
	return &d
}

// joints finds the joints that the device measures. Odometry without named wheels uses the left-most and the
// right-most, with their true sizes unless the file gives others.
func (f *deviceFile) joints(path yaml.Path, kind string, d *Device, r *Robot, faults *faults) {
	find := func(key, name string) int {
		i := r.Joint(name)
		if i == hal.None {
			faults.add(path.Key(key), "got %q, want the name of a joint", name)
		}
		return i
	}
	switch kind {
	case "encoder":
		d.Joint = find("joint", f.Joint)
		return
	case "odometry":
	default:
		return
	}
	// By place and not by name: the manual's sensor looks for the outermost wheels itself.
	for i := range r.Joints {
		j := &r.Joints[i]
		if !j.Wraps || j.Child == hal.None {
			continue
		}
		if d.Left == hal.None || j.Anchor[1] > r.Joints[d.Left].Anchor[1] {
			d.Left = i
		}
		if d.Right == hal.None || j.Anchor[1] < r.Joints[d.Right].Anchor[1] {
			d.Right = i
		}
	}
	if f.Left != "" {
		d.Left = find("left", f.Left)
	}
	if f.Right != "" {
		d.Right = find("right", f.Right)
	}
	if d.Left == hal.None || d.Right == hal.None || d.Left == d.Right {
		faults.add(path, "got no two wheels, want left and right: joints that wrap")
		return
	}
	if d.Radius == 0 {
		d.Radius = r.Wheel(d.Left)
	}
	d.Separation = cmp.Or(d.Separation, r.Joints[d.Left].Anchor[1]-r.Joints[d.Right].Anchor[1])
	if !(d.Radius > 0) || !(d.Separation > 0) {
		faults.add(path, "got wheels of %g m, %g m apart, want radius_m and separation_m above 0", d.Radius,
			d.Separation)
	}
}

// Rays is how many rays a scanner has: the first at the right end of its field of view.
func (d *Device) Rays() int { return int(d.FOV/d.Resolution+1e-9) + 1 }

// Upper limits of channels without a natural one.
const (
	maxTicks = 1e9
	maxTags  = 64
	maxWay   = 1e4 // m
	maxNoise = 1e6 // of loudness
)

// channels are those of a device of a kind.
func (d *Device) channels(kind string) []sensorChannels {
	one := []string{""}
	switch kind {
	case "sonar", "infrared":
		return []sensorChannels{{"range", hal.Distance, d.Range, one}}
	case "range":
		names := make([]string, d.Rays())
		for i := range names {
			names[i] = fmt.Sprint(i)
		}
		return []sensorChannels{{"range", hal.Distance, d.Range, names}}
	case "odometry":
		return []sensorChannels{{"place", hal.Distance, maxWay, axes[:2]},
			{"heading", hal.Position, 1e6, []string{"z"}}}
	case "inertial":
		return []sensorChannels{{"attitude", hal.Position, 2 * math.Pi, []string{"roll", "pitch", "yaw"}}}
	case "encoder":
		return []sensorChannels{{"ticks", hal.Ratio, maxTicks, []string{"count"}}}
	case "rfid", "victim":
		return []sensorChannels{{"tags", hal.Ratio, maxTags, one}}
	case "sound":
		return []sensorChannels{{"sound", hal.Ratio, maxNoise, []string{"loudness", "duration"}}}
	case "motion":
		return []sensorChannels{{"human", hal.Ratio, 1, one}}
	case "battery":
		return []sensorChannels{{"left", hal.Ratio, d.Life, one}}
	}
	return []sensorChannels{{"contact", hal.Ratio, 1, one}}
}
