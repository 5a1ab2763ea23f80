package drivers

import (
	"errors"
	"fmt"
	"slices"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/hal"
)

// Build is NewBody for joints that may lack a calibration: emulated ones then run on the nominal values of their
// servo or output, real ones are refused.
func Build(layout *hal.Layout, joints []Joint, emulated bool) (*Body, error) {
	joints = slices.Clone(joints)
	for i := range joints {
		if j := &joints[i]; emulated && j.Calibration == nil && j.Chain != nil && i < len(layout.Actuators) {
			j.Calibration = nominal(layout.Actuators[i].Name, j)
		} else if emulated && j.Pulse == nil && j.Writer != nil && i < len(layout.Actuators) {
			j.Pulse = nominalPulse(&layout.Actuators[i], j)
		}
	}
	return NewBody(layout, joints)
}

// nominal is the calibration by the data sheet of j's servo, for the joint called name.
func nominal(name string, j *Joint) *calibration.Joint {
	u := j.Chain.Units(j.Index)
	return calibration.Nominal(name, calibration.Servo{Model: u.Name, ID: j.ID}, calibration.Model{
		TicksPerTurn: u.TicksPerTurn, CentreTicks: u.CentreTicks, MinTicks: u.MinTicks, MaxTicks: u.MaxTicks,
		TorqueConstant: u.TorqueConstant,
	})
}

// check reports all that is wrong with joints as the actuators of layout.
func check(layout *hal.Layout, joints []Joint) error {
	if len(joints) != len(layout.Actuators) {
		return &hal.Error{Kind: hal.Invalid, Op: "body",
			Err: fmt.Errorf("joints: got %d, want %d, one an actuator", len(joints), len(layout.Actuators))}
	}
	var faults []error
	for i := range joints {
		j, a := &joints[i], &layout.Actuators[i]
		fault := func(kind hal.Kind, try, format string, args ...any) {
			faults = append(faults, &hal.Error{Kind: kind, Bus: j.Bus, ID: j.ID, Joint: a.Name, Op: "body",
				Err: fmt.Errorf(format, args...), Try: try})
		}
		if j.Writer != nil {
			j.checkPulse(a, layout, joints[:i], fault)
			continue
		}
		if j.Chain == nil {
			fault(hal.Invalid, "", "servo: missing")
			continue
		}
		// Two joints on one servo would fight over its goal, the later one silently winning.
		for k := range i {
			if joints[k].Chain == j.Chain && joints[k].Index == j.Index {
				fault(hal.Invalid, "", "servo: got the one of joint %q, want its own", layout.Actuators[k].Name)
			}
		}
		u := j.Chain.Units(j.Index)
		for m, in := range a.Goal {
			if in != hal.None && !u.Modes[m] {
				fault(hal.Invalid, "", "mode %v: servo %s has none", hal.Mode(m), u.Name)
			}
		}
		c := j.Calibration
		if c == nil {
			fault(hal.Uncalibrated, "halyard doctor", "a real joint needs a calibration, got none")
			continue
		}
		if err := c.Validate(); err != nil {
			fault(hal.Invalid, "", "calibration: %w", err)
			continue
		}
		// The identity that the file was made for; a swapped servo has another zero.
		if c.Servo.Model != u.Name || c.Servo.ID != j.ID {
			fault(hal.Uncalibrated, "halyard doctor", "calibration: got one of %s id %d, want of %s id %d",
				c.Servo.Model, c.Servo.ID, u.Name, j.ID)
		}
		// Commands are clamped to both; where they do not meet the joint would drive to an end and stay.
		if low, high := c.Range(); !a.Wraps && (low >= a.Limits.MaxPosition || high <= a.Limits.MinPosition) {
			fault(hal.Invalid, "", "calibration: got a range of %.3g..%.3g rad, want some of the soft limits %.3g..%.3g",
				low, high, a.Limits.MinPosition, a.Limits.MaxPosition)
		}
	}
	return errors.Join(faults...)
}
