package model

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
)

// Maximum values of the info channels of each joint, slightly above the servo's limits.
const (
	maxVolts       = 30.0  // V
	maxTemperature = 120.0 // °C
	headroom       = 2.0   // over stall torque and no-load speed: a higher supply, a load that drives the servo
)

// Layout describes the channels of a body made of r. A joint's inputs are its position (or its other modes) and its
// torque limit, joint after joint; its output is the position; its infos are velocity, torque, voltage and temperature.
// Sensors follow: measurable values as outputs, true poses of bodies as infos. Each call makes a new one.
func (r *Robot) Layout() *hal.Layout {
	l := &hal.Layout{}
	for i := range r.Joints {
		j := &r.Joints[i]
		a := hal.Actuator{
			Name: j.Name, Path: j.Path, Default: j.Default, Wraps: j.Wraps,
			Kind: hal.Hinge,
			Limits: hal.Limits{
				MinPosition: j.Limits[0], MaxPosition: j.Limits[1],
				MaxVelocity: j.MaxVelocity(), MaxTorque: j.MaxTorque(),
			},
		}
		if j.Kind == Slide {
			a.Kind = hal.Slide
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
		if r.Gains {
			l.Actuators[i].Gains = r.Joints[i].addGains(l)
		}
	}
	r.measure(l, false)
	for i := range r.Joints {
		j, a := &r.Joints[i], &l.Actuators[i]
		a.Position = i
		for _, info := range []struct {
			at *int
			q  hal.Quantity
		}{{&a.Velocity, hal.Velocity}, {&a.Torque, hal.Torque}, {&a.Voltage, hal.Voltage},
			{&a.Temperature, hal.Temperature}} {
			*info.at = len(l.Outputs) + len(l.Infos)
			c := j.channel(info.q)
			if info.q == hal.Velocity || info.q == hal.Torque {
				c.Min, c.Max = c.Min*headroom, c.Max*headroom
			}
			l.Infos = append(l.Infos, c)
		}
	}
	r.measure(l, true)
	r.addCameras(l)
	return l
}

// addGains adds the joint's gains to the inputs of l; nil where its position control takes none.
func (j *Joint) addGains(l *hal.Layout) (gains []hal.GainInput) {
	if !j.Modes[hal.PositionMode] {
		return nil
	}
	var most, start [3]float64
	switch {
	case j.Servo != nil:
		units, top := j.Servo.GainUnits()
		for k, v := range [3]float64{j.Servo.Gains.P, j.Servo.Gains.I, j.Servo.Gains.D} {
			most[k], start[k] = units[k]*top, units[k]*v
		}
	case j.Motor.Kind == Ideal:
		// All the torque at a hundredth of a radian, or at a tenth of a radian a second.
		most = [3]float64{max(100*j.Motor.MaxTorque, 2*j.Motor.Kp), 0, max(10*j.Motor.MaxTorque, 2*j.Motor.Kd)}
		if start = [3]float64{j.Motor.Kp, 0, j.Motor.Kd}; !j.Motor.Soft(hal.PositionMode) {
			start = [3]float64{math.NaN(), math.NaN(), math.NaN()}
		}
	}
	if most[0] == 0 {
		return nil
	}
	for k := range most {
		gains = append(gains, hal.GainInput{Input: hal.None, PowerUp: start[k]})
		if most[k] > 0 {
			gains[k].Input = len(l.Inputs)
			c := j.channel(hal.Gain(k).Quantity())
			c.Max = most[k]
			l.Inputs = append(l.Inputs, c)
		}
	}
	return gains
}

// channel is the joint's channel of quantity q, with the range of a command.
func (j *Joint) channel(q hal.Quantity) hal.Channel {
	c := hal.Channel{Name: j.Name + "/" + q.String(), Quantity: q, Slide: j.Kind == Slide}
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
