package bench

import "github.com/halyard-robotics/halyard/hal"

// StubBody reaches its goals at once: a body without a cost.
type StubBody struct {
	layout   *hal.Layout
	position []float64
}

// NewStubBody returns a body of layout l.
func NewStubBody(l *hal.Layout) *StubBody { return &StubBody{l, make([]float64, len(l.Actuators))} }

func (b *StubBody) Layout() *hal.Layout { return b.layout }

func (b *StubBody) Halt() error { return nil }

func (b *StubBody) Write(f *hal.Frame) error {
	for i := range b.position {
		if v := f.Inputs[b.layout.Actuators[i].Goal[hal.PositionMode]]; v == v { // no NaN
			b.position[i] = v
		}
	}
	return nil
}

func (b *StubBody) Read(f *hal.Frame) error {
	clear(f.Measured)
	for i, v := range b.position {
		f.Measured[b.layout.Actuators[i].Position] = v
		f.Status[i] = hal.Status{Time: f.Time}
	}
	return nil
}
