package assembly

import (
	"maps"
	"slices"

	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/hal"
)

// cut is the part of a layout with only those actuators and sensors, under the same names. joints drive the
// actuators: an output's only known value is its position.
func cut(l *hal.Layout, actuators []int, joints []drivers.Joint, sensors map[string]bool) *hal.Layout {
	part := &hal.Layout{}
	inputs, measured := map[int]bool{}, map[int]bool{}
	chosen := make([]hal.Actuator, 0, len(actuators))
	for k, i := range actuators {
		a := l.Actuators[i]
		if joints[k].Writer != nil {
			a.Velocity, a.Torque, a.Voltage, a.Temperature = hal.None, hal.None, hal.None, hal.None
		}
		chosen = append(chosen, a)
		for _, at := range a.Inputs(nil) {
			inputs[at] = true
		}
		for _, at := range []int{a.Position, a.Velocity, a.Torque, a.Voltage, a.Temperature} {
			measured[at] = true
		}
	}
	for i := range l.Sensors {
		if s := &l.Sensors[i]; sensors[s.Name] {
			for k := range s.Count {
				measured[s.First+k] = true
			}
		}
	}
	// The channels keep their order; to reports where each went.
	to := func(of map[int]bool, take func(i int)) map[int]int {
		places := map[int]int{hal.None: hal.None}
		for _, i := range slices.Sorted(maps.Keys(of)) {
			if i != hal.None {
				places[i] = len(places) - 1
				take(i)
			}
		}
		return places
	}
	in := to(inputs, func(i int) { part.Inputs = append(part.Inputs, l.Inputs[i]) })
	out := to(measured, func(i int) {
		if i < len(l.Outputs) {
			part.Outputs = append(part.Outputs, l.Outputs[i])
		} else {
			part.Infos = append(part.Infos, *l.Measured(i))
		}
	})
	for _, a := range chosen {
		for m := range a.Goal {
			a.Goal[m] = in[a.Goal[m]]
		}
		a.TorqueLimit = in[a.TorqueLimit]
		a.Gains = slices.Clone(a.Gains)
		for k := range a.Gains {
			a.Gains[k].Input = in[a.Gains[k].Input]
		}
		for _, at := range []*int{&a.Position, &a.Velocity, &a.Torque, &a.Voltage, &a.Temperature} {
			*at = out[*at]
		}
		part.Actuators = append(part.Actuators, a)
	}
	for _, s := range l.Sensors {
		if sensors[s.Name] {
			s.First = out[s.First]
			part.Sensors = append(part.Sensors, s)
		}
	}
	return part
}
