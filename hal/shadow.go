package hal

import (
	"errors"
	"fmt"
	"math"
)

// Shadow runs twin, a simulated body of the same layout in a world of its own, with the same commands as body, and
// adds one info channel a joint: "left_elbow/shadow_error", measured minus simulated position. While a joint is not
// enabled its twin follows it, so that both start from one place.
func Shadow(body, twin Body) (Body, error) {
	l, t := body.Layout(), twin.Layout()
	if len(l.Inputs) != len(t.Inputs) || len(l.Actuators) != len(t.Actuators) {
		return nil, fmt.Errorf("shadow: twin has %d actuators and %d inputs, want %d and %d",
			len(t.Actuators), len(t.Inputs), len(l.Actuators), len(l.Inputs))
	}
	s := &shadowed{body: body, twin: twin, frame: NewFrame(t), own: len(l.Outputs) + len(l.Infos)}
	s.follower, _ = twin.(Follower)
	whole := *l
	whole.Infos = append([]Channel(nil), l.Infos...)
	for i := range l.Actuators {
		a := &l.Actuators[i]
		if a.Position == None || t.Actuators[i].Position == None {
			continue
		}
		span := l.Measured(a.Position).Max - l.Measured(a.Position).Min
		whole.Infos = append(whole.Infos, Channel{Name: a.Name + "/shadow_error", Quantity: Position,
			Min: -span, Max: span, Estimate: true})
		s.joints = append(s.joints, i)
	}
	s.layout = &whole
	return s, nil
}

type shadowed struct {
	layout   *Layout
	body     Body
	twin     Body
	follower Follower // nil where the twin cannot
	frame    *Frame   // the twin's
	view     Frame    // the outer frame as the body sees it: without the residuals
	own      int      // measured channels of the body
	joints   []int    // actuators with a residual, in its order
}

func (s *shadowed) Layout() *Layout { return s.layout }

// inner is f without the residuals, sharing its memory.
func (s *shadowed) inner(f *Frame) *Frame {
	s.view = *f
	s.view.Measured = f.Measured[:s.own]
	s.view.Infos = f.Infos[:s.own-len(f.Outputs)]
	return &s.view
}

func (s *shadowed) Write(f *Frame) error {
	s.frame.Time = f.Time
	copy(s.frame.Inputs, f.Inputs)
	copy(s.frame.Enable, f.Enable)
	if s.follower != nil {
		for i, enabled := range f.Enable {
			if enabled {
				s.follower.Follow(i, math.NaN(), math.NaN())
			} else {
				follow(s.follower, i, At(f.Measured, s.layout.Actuators[i].Position), 0)
			}
		}
	}
	return join2(s.body.Write(s.inner(f)), s.twin.Write(s.frame))
}

func (s *shadowed) Read(f *Frame) error {
	s.frame.Time = f.Time
	err := join2(s.body.Read(s.inner(f)), s.twin.Read(s.frame))
	for k, i := range s.joints {
		a := &s.layout.Actuators[i]
		twin := s.frame.Measured[s.twin.Layout().Actuators[i].Position]
		f.Measured[s.own+k] = difference(a, f.Measured[a.Position], twin)
	}
	return err
}

// join2 is errors.Join without an allocation if an error is nil.
func join2(a, b error) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return errors.Join(a, b)
}

func (s *shadowed) Halt() error { return join2(s.body.Halt(), s.twin.Halt()) }

// Holding implements TorqueReporter for the body.
func (s *shadowed) Holding(actuator int) bool {
	h, ok := s.body.(TorqueReporter)
	return ok && h.Holding(actuator)
}

// follow leaves a twin where it is while its real joint's position is unknown.
func follow(to Follower, actuator int, position, velocity float64) {
	if math.IsNaN(position) {
		return
	}
	if math.IsNaN(velocity) {
		velocity = 0
	}
	to.Follow(actuator, position, velocity)
}
