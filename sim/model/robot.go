package model

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// Robot is a robot of this package. Nobody changes it after Parse.
type Robot struct {
	Name   string
	Title  string
	Supply Supply
	Joints []Joint // in motor order
}

// Supply is the power supply of all servos of the robot.
type Supply struct {
	Volts      float64 // V, without load
	Resistance float64 // Ω, of source, cables and connectors together
}

// Joint is one hinge with its servo.
type Joint struct {
	Name    string // "left_elbow"
	Path    string // "/Left/Elbow"
	Servo   *actuator.Spec
	Modes   [hal.NumModes]bool // what it offers, always a part of what its servo can
	Limits  [2]float64         // rad, soft limits
	Range   [2]float64         // rad, of the position channels
	Default float64            // rad
	Spread  float64            // rad: a reset takes an even random position this far about Default
	Noise   float64            // rad, standard deviation of the encoder's reading
	Load    actuator.Load
	Source  string // where the load's figures come from
	Wraps   bool   // it turns without end
}

// MaxTorque is the joint's stall torque at the servo's nominal voltage, N·m.
func (j *Joint) MaxTorque() float64 { return j.Servo.StallTorque }

// MaxVelocity is the joint's no-load speed at the servo's nominal voltage, rad/s.
func (j *Joint) MaxVelocity() float64 { return j.Servo.NoLoadSpeed }

// Joint returns the index of the joint called name, or hal.None.
func (r *Robot) Joint(name string) int {
	for i := range r.Joints {
		if r.Joints[i].Name == name {
			return i
		}
	}
	return hal.None
}

// Sub returns a robot of those joints of r that are named, in r's order: a part of a mixed body. Names that r does not
// have are one hal.Invalid error.
func (r *Robot) Sub(joints []string) (*Robot, error) {
	var faults faults
	chosen := make([]bool, len(r.Joints))
	for i, name := range joints {
		if at := r.Joint(name); at == hal.None {
			faults.add("joints[%d]: %q: robot %q has no such joint", i, name, r.Name)
		} else {
			chosen[at] = true
		}
	}
	part := &Robot{Name: r.Name, Title: r.Title, Supply: r.Supply}
	for i := range r.Joints {
		if chosen[i] {
			part.Joints = append(part.Joints, r.Joints[i])
		}
	}
	if err := faults.err("model: sub"); err != nil {
		return nil, err
	}
	return part, nil
}

// Info channels of each joint, in this order, and a little above what the servo can do.
const (
	maxVolts       = 30.0  // V
	maxTemperature = 120.0 // °C
	headroom       = 2.0   // over stall torque and no-load speed: a higher supply, a load that drives the servo
)

// Layout is what a body made of r offers: a joint's inputs are its position (or its other modes) and its torque limit,
// joint after joint; its output is the position; its infos are velocity, torque, voltage and temperature. Each call
// makes a new one.
func (r *Robot) Layout() *hal.Layout {
	l := &hal.Layout{}
	for i := range r.Joints {
		j := &r.Joints[i]
		a := hal.Actuator{
			Name: j.Name, Path: j.Path, Default: j.Default, Wraps: j.Wraps,
			Limits: hal.Limits{
				MinPosition: j.Limits[0], MaxPosition: j.Limits[1],
				MaxVelocity: j.MaxVelocity(), MaxTorque: j.MaxTorque(),
			},
		}
		for m := range a.Goal {
			a.Goal[m] = hal.None
			if j.Modes[m] {
				a.Goal[m] = len(l.Inputs)
				l.Inputs = append(l.Inputs, j.channel(hal.Mode(m).Quantity()))
			}
		}
		a.TorqueLimit = len(l.Inputs)
		l.Inputs = append(l.Inputs, j.channel(hal.TorqueLimit))
		l.Outputs = append(l.Outputs, j.channel(hal.Position))
		l.Actuators = append(l.Actuators, a)
	}
	for i := range r.Joints {
		j, a := &r.Joints[i], &l.Actuators[i]
		a.Position = i
		for _, info := range []struct {
			at *int
			q  hal.Quantity
		}{{&a.Velocity, hal.Velocity}, {&a.Torque, hal.Torque}, {&a.Voltage, hal.Voltage}, {&a.Temperature, hal.Temperature}} {
			*info.at = len(l.Outputs) + len(l.Infos)
			c := j.channel(info.q)
			c.Min, c.Max = c.Min*headroom, c.Max*headroom
			if info.q == hal.Voltage || info.q == hal.Temperature {
				c.Min, c.Max = c.Min/headroom, c.Max/headroom
			}
			l.Infos = append(l.Infos, c)
		}
	}
	return l
}

// channel is the joint's channel of quantity q, with the range of a command.
func (j *Joint) channel(q hal.Quantity) hal.Channel {
	c := hal.Channel{Name: j.Name + "/" + q.String(), Quantity: q}
	switch q {
	case hal.Position:
		c.Min, c.Max = j.Range[0], j.Range[1]
	case hal.Velocity:
		c.Min, c.Max = -j.MaxVelocity(), j.MaxVelocity()
	case hal.Torque:
		c.Min, c.Max = -j.MaxTorque(), j.MaxTorque()
	case hal.TorqueLimit:
		c.Max = j.MaxTorque()
	case hal.Duty:
		c.Min, c.Max = -1, 1
	case hal.Voltage:
		c.Max = maxVolts
	case hal.Temperature:
		c.Max = maxTemperature
	}
	return c
}

// radians of degrees; a range in a file stays symmetric to the bit.
func radians(degrees float64) float64 { return degrees * math.Pi / 180 }
