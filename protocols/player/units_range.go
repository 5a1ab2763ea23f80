package player

import (
	"math"
	"sync/atomic"

	"github.com/halyard-robotics/halyard/hal"
)

// addRanges adds sonar, laser, ranger and bumper.
func addRanges(r *Robot, l *hal.Layout, add func(Interface, unit)) {
	var sonars, contacts []*hal.Sensor
	for i := range l.Sensors {
		switch s := &l.Sensors[i]; s.Kind {
		case "sonar":
			sonars = append(sonars, s)
		case "contact":
			contacts = append(contacts, s)
		case "range":
			fov, ok := r.Scanners[i]
			if !ok {
				fov = math.Pi
			}
			scan := scanner{layout: l, sensor: s, fov: fov}
			add(Laser, &laser{scanner: scan})
			add(Ranger, &ranger{scanner: scan})
		}
	}
	if len(sonars) > 0 {
		array := cones{layout: l, sensors: sonars}
		add(Sonar, &sonar{cones: array})
		add(Ranger, &sonarRanger{cones: array})
	}
	if len(contacts) > 0 {
		add(Bumper, &bumper{sensors: contacts})
	}
}

// scanner is one sensor with many rays, from right to left, as Player has them.
type scanner struct {
	layout *hal.Layout
	sensor *hal.Sensor
	fov    float64 // rad
}

func (u *scanner) step() float64    { return u.fov / math.Max(1, float64(u.sensor.Count-1)) }
func (u *scanner) longest() float64 { return u.layout.Measured(u.sensor.First).Max }

// ranges are the measured ones; nil where the sensor is at fault. A ray that is not known is the longest.
func (u *scanner) ranges(s *sample) []float64 {
	out := append([]float64(nil), s.of(u.sensor)...)
	lost := 0
	for i := range out {
		if math.IsNaN(out[i]) {
			out[i] = u.longest()
			lost++
		}
	}
	if lost == len(out) {
		return nil
	}
	return out
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
	out(1, &laserData{MinAngle: -u.fov / 2, MaxAngle: u.fov / 2, Resolution: u.step(), MaxRange: u.longest(), Ranges: ranges, ID: u.scans.Add(1)})
}

func (u *laser) request(_ *control, subtype uint8, in []byte) (payload, error) {
	config := &laserConfig{MinAngle: -u.fov / 2, MaxAngle: u.fov / 2, Resolution: u.step(), MaxRange: u.longest(),
		RangeResolution: 0.001, Frequency: 1 / interval.Seconds()}
	switch subtype {
	case 1:
		return &geometry{Pose: poseOf(u.sensor.Mount)}, nil
	case 2: // answered with what the scanner does
		if err := decodePayload(in, &laserConfig{}); err != nil {
			return nil, err
		}
		return config, nil
	case 3:
		return config, nil
	case 4:
		return nil, decodePayload(in, &number{})
	case 5:
		return &number{}, nil
	}
	return nil, errUnknown
}

type ranger struct {
	noCommands
	scanner
}

func (u *ranger) publish(s *sample, out func(uint8, payload)) {
	if ranges := u.ranges(s); ranges != nil {
		out(1, &rangerData{ranges})
	}
}

func (u *ranger) request(_ *control, subtype uint8, in []byte) (payload, error) {
	switch subtype {
	case 1:
		pose := poseOf(u.sensor.Mount)
		return &rangerGeometry{geometry: geometry{Pose: pose}, Poses: []pose3{pose}, Sizes: []vector{{}}}, nil
	case 2, 3:
		return nil, decodePayload(in, &number{})
	case 4, 5:
		if subtype == 4 {
			if err := decodePayload(in, &rangerConfig{}); err != nil {
				return nil, err
			}
		}
		return &rangerConfig{MinAngle: -u.fov / 2, MaxAngle: u.fov / 2, Resolution: u.step(), MaxRange: u.longest(),
			RangeResolution: 0.001, Frequency: 1 / interval.Seconds()}, nil
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
	lost := 0
	for _, sensor := range u.sensors {
		v := s.measured[sensor.First]
		if math.IsNaN(v) {
			v = u.layout.Measured(sensor.First).Max
			lost++
		}
		out = append(out, v)
	}
	if lost == len(out) {
		return nil
	}
	return out
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
		out(1, &sonarData{ranges})
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

type sonarRanger struct {
	noCommands
	cones
}

func (u *sonarRanger) publish(s *sample, out func(uint8, payload)) {
	if ranges := u.ranges(s); ranges != nil {
		out(1, &rangerData{ranges})
	}
}

func (u *sonarRanger) request(_ *control, subtype uint8, in []byte) (payload, error) {
	switch subtype {
	case 1:
		return &rangerGeometry{Poses: u.poses(), Sizes: make([]vector, len(u.sensors))}, nil
	case 2, 3:
		return nil, decodePayload(in, &number{})
	case 4, 5:
		if subtype == 4 {
			if err := decodePayload(in, &rangerConfig{}); err != nil {
				return nil, err
			}
		}
		return &rangerConfig{MaxRange: u.layout.Measured(u.sensors[0].First).Max, Frequency: 1 / interval.Seconds()}, nil
	}
	return nil, errUnknown
}

type bumper struct {
	noCommands
	sensors []*hal.Sensor
}

func (u *bumper) publish(s *sample, out func(uint8, payload)) {
	p := &bumperData{}
	for _, sensor := range u.sensors {
		var pressed byte
		if s.measured[sensor.First] > 0.5 {
			pressed = 1
		}
		p.Bumpers = append(p.Bumpers, pressed)
	}
	out(1, p)
}

func (u *bumper) request(_ *control, subtype uint8, _ []byte) (payload, error) {
	if subtype != 1 {
		return nil, errUnknown
	}
	p := &bumperGeometry{}
	for _, s := range u.sensors {
		p.Bumpers = append(p.Bumpers, bumperPlace{Pose: poseOf(s.Mount)})
	}
	return p, nil
}
