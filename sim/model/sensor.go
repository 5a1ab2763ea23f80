package model

import (
	"cmp"
	"maps"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// Sensor is a sensor on a body other than an accelerometer. hal.Sensor lists the kinds and their values.
type Sensor struct {
	Name, Path string
	Kind       string   // one of sensorKinds
	Body       int      // of Robot.Bodies; of a current none
	Pose       hal.Pose // in the body's frame; body counts from the centre of mass and in world axes
	Message    string   // of a pose: its type in USARSim's messages; "" = that of the robot's state
	Device     *Device  // nil for kinds without settings
}

// axes name the three of a vector.
var axes = []string{"x", "y", "z"}

// sensorKind holds the channels of a kind of sensor. True values, which no real robot measures, are infos.
type sensorKind struct {
	name     string
	truth    bool
	channels []sensorChannels
}

// sensorChannels are channels of one quantity. Most is the end of their range on both sides.
type sensorChannels struct {
	what     string
	quantity hal.Quantity
	maxValue float64
	names    []string
}

// A robot stays within 100 m and 100 m/s, as in the original Simloid; normalising protocols clip values outside.
const (
	maxPlace       = 100.0 // m
	maxSpeed       = 100.0 // m/s
	maxSpin        = 100.0 // rad/s
	maxSensedForce = 1e4   // N
	maxPush        = 8 * standardGravity
)

func sensorKinds() []sensorKind {
	turn := []string{"w", "x", "y", "z"}
	place := sensorChannels{"position", hal.Distance, maxPlace, axes}
	speed := sensorChannels{"velocity", hal.Speed, maxSpeed, axes}
	attitude := sensorChannels{"attitude", hal.Ratio, 1, turn}
	spin := sensorChannels{"angular_velocity", hal.AngularVelocity, maxSpin, axes}
	return []sensorKind{
		{"gyro", false, []sensorChannels{spin}},
		{"imu", false, []sensorChannels{attitude, spin, {"acceleration", hal.Acceleration, maxPush, axes}}},
		{"contact", false, []sensorChannels{{"contact", hal.Ratio, 1, []string{""}}}},
		{"force", false, []sensorChannels{{"force", hal.Force, maxSensedForce, axes}}},
		{"body", true, []sensorChannels{place, speed}},
		{"pose", true, []sensorChannels{place, attitude, speed, spin}},
	}
}

func (f *file) sensors(r *Robot, names map[string]int, faults *faults) {
	var known []string
	for _, k := range sensorKinds() {
		known = append(known, k.name)
	}
	known = append(known, slices.Sorted(maps.Keys(deviceKinds()))...)
	// both kinds share the channels' names
	seen := places(f.Accelerometers, func(a *accelFile) string { return a.Name })
	for i := range f.Sensors {
		path, s := yaml.Path("sensors").Index(i), &f.Sensors[i]
		if k, twice := seen[s.Name]; twice {
			faults.Taken(path+".name", s.Name, yaml.Path("accelerometers").Index(k))
		}
		if !slices.Contains(known, s.Kind) {
			faults.add(path+".kind", "got %q, want %s", s.Kind, yaml.Words(known))
		}
		if s.Message != "" && s.Kind != "pose" {
			faults.add(path+".message", "got %q of a sensor of kind %s, want it of kind pose", s.Message, s.Kind)
		}
		r.Sensors = append(r.Sensors, Sensor{
			Name: s.Name, Path: s.Path, Kind: s.Kind, Message: s.Message,
			Body: faults.index(path+".body", "body", s.Body, names),
			Pose: hal.Pose{Position: s.At, Rotation: turn(s.Rotation)},
		})
	}
	// Simloid's clients are informed where every body is.
	if r.Simloid == hal.None || len(f.Sensors) > 0 {
		return
	}
	for i := range r.Bodies {
		r.Sensors = append(r.Sensors, Sensor{Name: r.Bodies[i].Name, Kind: "body", Body: i})
	}
}

// measure appends the sensors to a layout: outputs first where truth is false, infos where it is true.
func (r *Robot) measure(l *hal.Layout, truth bool) {
	to, first := &l.Outputs, 0
	if truth {
		to, first = &l.Infos, len(l.Outputs)
	}
	add := func(s hal.Sensor, groups []sensorChannels) {
		s.First = first + len(*to)
		for _, g := range groups {
			for _, axis := range g.names {
				c := hal.Channel{Name: s.Name + "/" + g.what, Quantity: g.quantity, Min: -g.maxValue, Max: g.maxValue}
				if axis != "" {
					c.Name += "_" + axis
				} else {
					c.Min = 0
				}
				*to = append(*to, c)
				s.Count++
			}
		}
		l.Sensors = append(l.Sensors, s)
	}
	for i := range r.Accelerometers {
		if a := &r.Accelerometers[i]; !truth {
			add(hal.Sensor{Name: a.Name, Path: a.Path, Kind: "accelerometer", Mount: hal.Pose{Position: a.Position}},
				[]sensorChannels{{"acceleration", hal.Acceleration, cmp.Or(a.Range, maxPush), a.letters()}})
		}
	}
	for _, k := range sensorKinds() {
		if k.truth != truth {
			continue
		}
		for i := range r.Sensors {
			if s := &r.Sensors[i]; s.Kind == k.name && s.Device == nil {
				add(hal.Sensor{Name: s.Name, Path: s.Path, Kind: s.Kind, Mount: s.Pose}, k.channels)
			}
		}
	}
	for i := range r.Sensors {
		if s := &r.Sensors[i]; s.Device != nil && !truth {
			add(hal.Sensor{Name: s.Name, Path: s.Path, Kind: s.Kind, Mount: s.Pose}, s.Device.channels(s.Kind))
		}
	}
	if most := r.MaxCurrent(); truth && most > 0 {
		names := make([]string, len(r.Joints))
		for i := range r.Joints {
			names[i] = r.Joints[i].Name
		}
		add(hal.Sensor{Name: "motors", Kind: "current"}, []sensorChannels{{"current", hal.Current, most, names}})
	}
}

// letters name the axes of a board after those of its body.
func (a *Accelerometer) letters() []string {
	names := make([]string, len(a.Axes))
	for i, axis := range a.Axes {
		for k := range axis {
			if axis[k]*axis[k] > 0.5 {
				names[i] = axes[k]
			}
		}
	}
	return names
}

// MaxCurrent is the greatest current of Simloid's motors, A; 0 if the robot has none of them: then its layout has no
// currents.
func (r *Robot) MaxCurrent() float64 {
	most := 0.0
	for i := range r.Joints {
		if m := r.Joints[i].Motor; m != nil && m.Kind == Bristle {
			most = max(most, m.Volts*m.Conductance)
		}
	}
	return most
}
