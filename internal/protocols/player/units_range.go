package player

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/halyard-robotics/halyard/hal"
)

// addRanges adds sonar, laser, ranger and bumper.
func addRanges(r *Robot, l *hal.Layout, add func(Interface, unit)) {
	var sonars, contacts []*hal.Sensor
	var lengths []float64
	for i := range l.Sensors {
		switch s := &l.Sensors[i]; s.Kind {
		case "sonar":
			sonars = append(sonars, s)
		case "contact":
			contacts, lengths = append(contacts, s), append(lengths, r.Buttons[i])
		case "range":
			fov, ok := r.Scanners[i]
			if !ok {
				fov = math.Pi
			}
			scan := scanner{layout: l, sensor: s, fov: fov, period: max(interval.Seconds(), r.Periods[i])}
			add(Laser, &laser{scanner: scan})
			add(Ranger, &ranger{source: &scan})
		}
	}
	if len(sonars) > 0 {
		array := cones{layout: l, sensors: sonars}
		add(Sonar, &sonar{cones: array})
		add(Ranger, &ranger{source: &array})
	}
	if len(contacts) > 0 {
		add(Bumper, &bumper{sensors: contacts, lengths: lengths})
	}
}

// scanner is one sensor with many rays, from right to left, as Player has them.
type scanner struct {
	layout *hal.Layout
	sensor *hal.Sensor
	fov    float64 // rad
	period float64 // s, between two readings
}

func (u *scanner) step() float64    { return u.fov / math.Max(1, float64(u.sensor.Count-1)) }
func (u *scanner) longest() float64 { return u.layout.Measured(u.sensor.First).Max }

func (u *scanner) ranges(s *sample) []float64 {
	return bounded(slices.Clone(s.of(u.sensor)), func(int) float64 { return u.longest() })
}

func (u *scanner) places() *rangerGeometry {
	pose := poseOf(u.sensor.Mount)
	return &rangerGeometry{geometry: geometry{Pose: pose}, Poses: []pose3{pose}, Sizes: []vector{{}}}
}

func (u *scanner) config() *rangerConfig {
	return &rangerConfig{MinAngle: -u.fov / 2, MaxAngle: u.fov / 2, Resolution: u.step(), MaxRange: u.longest(),
		Frequency: 1 / u.period}
}

// bounded sets ranges without an echo to the longest of their sensors. One that is not known stays NaN: nothing is
// known of the space that it did not see. nil where none is known.
func bounded(ranges []float64, longest func(i int) float64) []float64 {
	known := false
	for i := range ranges {
		known = known || !math.IsNaN(ranges[i])
		ranges[i] = math.Min(ranges[i], longest(i)) // NaN stays
	}
	if !known {
		return nil
	}
	return ranges
}

type laser struct {
	noCommands
	scanner
	scans atomic.Uint32
}

func (u *laser) publish(s *sample, out func(uint8, payload)) {
	ranges := u.ranges(s)
	if ranges == nil {
		return
	}
	out(1, &laserData{MinAngle: -u.fov / 2, MaxAngle: u.fov / 2, Resolution: u.step(), MaxRange: u.longest(),
		Ranges: ranges, ID: u.scans.Add(1)})
}

func (u *laser) request(_ *control, subtype uint8, in []byte) (payload, error) {
	config := &laserConfig{MinAngle: -u.fov / 2, MaxAngle: u.fov / 2, Resolution: u.step(), MaxRange: u.longest(),
		Frequency: 1 / u.period}
	switch subtype {
	case 1:
		return &geometry{Pose: poseOf(u.sensor.Mount)}, nil
	case 2: // answered with what the scanner does
		return config, decodePayload(in, &laserConfig{})
	case 3:
		return config, nil
	case 4:
		return nil, decodePayload(in, &number{})
	case 5:
		return &number{}, nil
	}
	return nil, errUnknown
}

// ranger is a scanner, or cones.
type ranger struct {
	noCommands
	source interface {
		// ranges are the measured ones, NaN where one is not known; nil where none is.
		ranges(s *sample) []float64
		places() *rangerGeometry
		config() *rangerConfig
	}
}

func (u *ranger) publish(s *sample, out func(uint8, payload)) {
	if ranges := u.source.ranges(s); ranges != nil {
		out(1, (*doubles)(&ranges))
	}
}

func (u *ranger) request(_ *control, subtype uint8, in []byte) (payload, error) {
	switch subtype {
	case 1:
		return u.source.places(), nil
	case 2, 3:
		return nil, decodePayload(in, &number{})
	case 4: // answered with what the sensor does
		return u.source.config(), decodePayload(in, &rangerConfig{})
	case 5:
		return u.source.config(), nil
	}
	return nil, errUnknown
}

// cones are sensors with one range each.
type cones struct {
	layout  *hal.Layout
	sensors []*hal.Sensor
}

func (u *cones) ranges(s *sample) []float64 {
	var out []float64
	for _, sensor := range u.sensors {
		out = append(out, s.measured[sensor.First])
	}
	return bounded(out, u.longest)
}

func (u *cones) longest(i int) float64 { return u.layout.Measured(u.sensors[i].First).Max }

func (u *cones) places() *rangerGeometry {
	return &rangerGeometry{Poses: u.poses(), Sizes: make([]vector, len(u.sensors))}
}

func (u *cones) config() *rangerConfig {
	return &rangerConfig{MaxRange: u.longest(0), Frequency: 1 / interval.Seconds()}
}

func (u *cones) poses() (out []pose3) {
	for _, s := range u.sensors {
		out = append(out, poseOf(s.Mount))
	}
	return out
}

type sonar struct {
	noCommands
	cones
}

func (u *sonar) publish(s *sample, out func(uint8, payload)) {
	if ranges := u.ranges(s); ranges != nil {
		out(1, (*floats)(&ranges))
	}
}

func (u *sonar) request(_ *control, subtype uint8, in []byte) (payload, error) {
	switch subtype {
	case 1:
		return &sonarGeometry{u.poses()}, nil
	case 2:
		return nil, decodePayload(in, &number{})
	}
	return nil, errUnknown
}

type bumper struct {
	noCommands
	sensors []*hal.Sensor
	lengths []float64 // m; 0 = not known
}

func (u *bumper) publish(s *sample, out func(uint8, payload)) {
	var p octets
	for _, sensor := range u.sensors {
		const unknown = 255 // clients take all but 0 as pressed
		pressed := byte(unknown)
		switch v := s.measured[sensor.First]; {
		case v > 0.5:
			pressed = 1
		case v <= 0.5:
			pressed = 0
		}
		p = append(p, pressed)
	}
	out(1, &p)
}

func (u *bumper) request(_ *control, subtype uint8, _ []byte) (payload, error) {
	if subtype != 1 {
		return nil, errUnknown
	}
	p := &bumperGeometry{}
	for i, s := range u.sensors {
		p.Bumpers = append(p.Bumpers, bumperPlace{Pose: poseOf(s.Mount), Length: u.lengths[i]})
	}
	return p, nil
}
