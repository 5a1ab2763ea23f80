package hal

import (
	"math"
	"time"
)

// Status is the time at which a device's values were measured, in rig time, and the error since then (nil: none).
// A device that has never replied has Time < 0.
type Status struct {
	Time  time.Duration
	Delay time.Duration // by which Time is before the cycle that received it: its line is slower than the cycle
	Err   error
	Drive Drive // of an actuator
	Warns bool  // Err is a warning: the device keeps its torque and follows its goals
}

// Drive is whether an actuator follows its goals.
type Drive uint8

// The states of a drive.
const (
	Follows   Drive = iota
	Switching       // not yet: its torque or its mode is being switched
	Waiting         // not now: it was lost, and is sent no goals until its state is known
)

// Frame is the data of one cycle of one body. NewFrame sizes it once; it never grows.
// The rig owns it: a body reads Inputs and Enable in Write, fills the rest in Read, and keeps no reference to it.
type Frame struct {
	Time time.Duration // rig time of the cycle
	// one a Layout.Inputs; NaN = no command: a torque limit stays, a joint stays where it is or was commanded to be
	Inputs   []float64
	Enable   []bool     // one an actuator: false = no torque at all
	Measured []float64  // outputs, then infos; NaN = not known
	Outputs  []float64  // the first part of Measured
	Infos    []float64  // the second part of Measured
	Status   []Status   // one a device: actuators, then sensors
	Pictures []*Picture // one a camera, nil = none yet
}

// NewFrame returns a frame for l: no commands, no torque, no measurements.
func NewFrame(l *Layout) *Frame {
	f := &Frame{
		Inputs:   make([]float64, len(l.Inputs)),
		Enable:   make([]bool, len(l.Actuators)),
		Measured: make([]float64, len(l.Outputs)+len(l.Infos)),
		Status:   make([]Status, l.Devices()),
		Pictures: make([]*Picture, len(l.Cameras)),
	}
	f.split(l)
	FillNaN(f.Inputs)
	FillNaN(f.Measured)
	for i := range f.Status {
		f.Status[i].Time = -1
	}
	return f
}

// split makes Outputs and Infos the parts of Measured.
func (f *Frame) split(l *Layout) {
	f.Outputs, f.Infos = f.Measured[:len(l.Outputs):len(l.Outputs)], f.Measured[len(l.Outputs):]
}

// FillNaN sets all of v to NaN: no command, or not known.
func FillNaN(v []float64) {
	for i := range v {
		v[i] = math.NaN()
	}
}

// At is element i of v, the channels of a frame; NaN if i is None.
func At(v []float64, i int) float64 {
	if i == None {
		return math.NaN()
	}
	return v[i]
}
