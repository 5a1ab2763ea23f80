package osp

import (
	"cmp"
	"math"

	"github.com/halyard-robotics/halyard/hal"
)

// terminal is a channel of an agent as the protocol shows it: an InterfaceValue with the original's name and ranges.
type terminal struct {
	name    string
	channel *hal.Channel
	low     float64 // normalised minimum: -1, or 0 where the channel is never negative; the maximum is 1
	unit    float64 // of the original in SI: it measures angles in degrees
}

// terminals are all channels of an agent, in the order of its layout.
type terminals struct{ inputs, outputs, infos []terminal }

// Names of the channels of an actuator behind its path. Those of a position servo are the original's.
const (
	desiredTorque = "/DesiredTorque" // the torque limit, as in the original
	jointAngle    = "/JointAngle"
	jointVelocity = "/JointVelocity"
	jointTorque   = "/JointTorque"
	voltage       = "/Voltage"
	temperature   = "/Temperature"
)

// desired are the names of goals, by their modes.
var desired = [hal.NumModes]string{hal.PositionMode: "/DesiredAngle", hal.VelocityMode: "/DesiredVelocity",
	hal.TorqueMode: "/DesiredJointTorque" /* DesiredTorque is another */, hal.DutyMode: "/DesiredDuty"}

// desiredGain are the names of gains; the original had none.
var desiredGain = [3]string{"/DesiredStiffness", "/DesiredIntegralGain", "/DesiredDamping"}

// newTerminals names the channels of l. A channel of no actuator keeps its own name below "/".
func newTerminals(l *hal.Layout) *terminals {
	t := &terminals{list(l.Inputs), list(l.Outputs), list(l.Infos)}
	measured := func(i int) *terminal {
		if i < len(t.outputs) {
			return &t.outputs[i]
		}
		return &t.infos[i-len(t.outputs)]
	}
	for i := range l.Actuators {
		a := &l.Actuators[i]
		path := cmp.Or(a.Path, "/"+a.Name)
		// only rotations are in degrees; a slide is in metres
		turns := a.Kind != hal.Slide
		for m, at := range a.Goal {
			if at != hal.None {
				t.inputs[at].become(path+desired[m], turns)
			}
		}
		if a.TorqueLimit != hal.None {
			t.inputs[a.TorqueLimit].become(path+desiredTorque, turns)
		}
		for k, g := range a.Gains {
			if g.Input != hal.None {
				t.inputs[g.Input].become(path+desiredGain[k], turns)
			}
		}
		for _, m := range []struct {
			at   int
			name string
		}{{a.Position, jointAngle}, {a.Velocity, jointVelocity}, {a.Torque, jointTorque}, {a.Voltage, voltage},
			{a.Temperature, temperature}} {
			if m.at != hal.None {
				measured(m.at).become(path+m.name, turns)
			}
		}
	}
	return t
}

func list(channels []hal.Channel) []terminal {
	ts := make([]terminal, len(channels))
	for i := range ts {
		c := &channels[i]
		ts[i] = terminal{name: "/" + c.Name, channel: c, low: -1, unit: 1}
		if c.Min >= 0 {
			ts[i].low = 0
		}
		if c.Quantity == hal.AngularVelocity {
			ts[i].unit = math.Pi / 180
		}
	}
	return ts
}

// become sets the name of an actuator's terminal; angles of a rotating joint are in degrees.
func (t *terminal) become(name string, turns bool) {
	t.name = name
	if q := t.channel.Quantity; turns && (q == hal.Position || q == hal.Velocity) {
		t.unit = math.Pi / 180
	}
}

// normalised is v, in SI, on the scale low..1, clipped; NaN stays NaN.
func (t *terminal) normalised(v float64) float32 {
	return float32(t.low + t.channel.Fraction(v)*(1-t.low))
}

// physical is v, in SI, in the unit of the original.
func (t *terminal) physical(v float64) float64 { return v / t.unit }

// fromNormalised is the inverse of normalised, not clipped: the guard clips and counts. NaN and infinities pass.
func (t *terminal) fromNormalised(v float32) float64 {
	return t.channel.FromFraction((float64(v) - t.low) / (1 - t.low))
}
