package player

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

var (
	errUnknown = errors.New("unknown message of the interface")
	errAbsent  = errors.New("the robot does not have that")
	errValue   = errors.New("value out of range")
)

// sample is the measurements at a time. The values of a faulty sensor are NaN.
type sample struct {
	time     time.Duration
	measured []float64
}

// value is a measured channel, NaN if absent.
func (s *sample) value(at int) float64 {
	if at == hal.None {
		return math.NaN()
	}
	return s.measured[at]
}

// of are the channels of a sensor.
func (s *sample) of(sensor *hal.Sensor) []float64 {
	return s.measured[sensor.First : sensor.First+sensor.Count]
}

// truth returns the pose and the rates of a pose sensor; ok is false if they are unknown.
func (s *sample) truth(sensor *hal.Sensor) (p hal.Pose, linear, angular [3]float64, ok bool) {
	v := s.of(sensor)
	copy(p.Position[:], v)
	copy(p.Rotation[:], v[3:])
	const rates = 13
	if len(v) >= rates {
		copy(linear[:], v[7:])
		copy(angular[:], v[10:])
	}
	return p, linear, angular, !math.IsNaN(v[0])
}

// control is the staged effects of a command or a request: they are applied if it succeeds, otherwise none of them.
type control struct {
	session *session
	layout  *hal.Layout
	inputs  []float64 // NaN = no command
	staged  bool
	goal    *position2Goal // position2d drives there; nil = nowhere
	goalSet bool
}

// stage puts a goal of one mode into the inputs, and clears the actuator's goals of other modes.
func (k *control) stage(actuator int, mode hal.Mode, value float64) error {
	a := &k.layout.Actuators[actuator]
	if a.Goal[mode] == hal.None {
		return fmt.Errorf("%s by %v: %w", a.Name, mode, errAbsent)
	}
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return fmt.Errorf("%s: got %g: %w", a.Name, value, errValue)
	}
	for _, at := range a.Goal {
		if at != hal.None {
			k.inputs[at] = math.NaN()
		}
	}
	k.inputs[a.Goal[mode]] = value
	k.staged = true
	return nil
}

// stageAll stages a goal of one mode for each of the first actuators.
func (k *control) stageAll(actuators []int, mode hal.Mode, goals []float64) error {
	for n, v := range goals {
		if err := k.stage(actuators[n], mode, v); err != nil {
			return err
		}
	}
	return nil
}

// edge calls f between two cycles.
func (k *control) edge(f func() error) (err error) {
	k.session.server.rig.BetweenCycles(func() { err = f() })
	return err
}

// sample returns the session's last sample.
func (k *control) sample() *sample { return k.session.now() }

// power switches the torque by the payload of a request.
func (k *control) power(in []byte) error {
	p, err := decode[number](in)
	if err != nil {
		return err
	}
	return k.motors(p.Value != 0)
}

// motors switches the torque: off disarms, on arms where clients do; see hal.Agent.RequestArm.
func (k *control) motors(on bool) error {
	a := k.session.server.robot.Agent
	if err := k.session.hold(); err != nil {
		return err
	}
	if !on {
		a.RequestDisarm(k.session.rig.Name())
		return nil
	}
	return a.RequestArm(k.session.rig.Name())
}

func reversed(v float64, reverse bool) float64 {
	if reverse {
		return 0 - v // not -v: clients print -0
	}
	return v
}
