// Package haltest holds test helpers for hal and the packages above it: a scripted body without physics, and the
// conformance suite for bodies.
package haltest

import (
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// Body is a scripted robot: enabled joints move towards their goals at a bounded speed, without mass or error.
// It is its own world and can be reset. Its fields may be set between cycles.
type Body struct {
	Position []float64 // rad, one a joint
	Speed    float64   // rad/s towards a goal
	HaltErr  error     // result of Halt
	ReadErr  error
	Silent   map[int]error // joints that do not answer, and why
	Writes   int           // how often it was written
	Halts    int
	Enabled  []bool
	Last     []float64 // the inputs of the last Write
	Seed     int64     // of the last reset

	layout *hal.Layout
	start  []float64
	goal   []float64
	limit  []float64
}

// Layout makes the layout of a plain robot: of each joint a position and a torque limit as inputs, interleaved, its
// position as output and its velocity as info. Soft limits are ±2 rad, the range of the channel ±π, speed 6 rad/s.
func Layout(joints ...string) *hal.Layout {
	l := &hal.Layout{}
	for i, name := range joints {
		l.Inputs = append(l.Inputs,
			hal.Channel{Name: name + "/position", Quantity: hal.Position, Min: -math.Pi, Max: math.Pi},
			hal.Channel{Name: name + "/torque_limit", Quantity: hal.TorqueLimit, Min: 0, Max: 1.5})
		l.Outputs = append(l.Outputs, hal.Channel{Name: name + "/position", Quantity: hal.Position, Min: -math.Pi,
			Max: math.Pi})
		l.Infos = append(l.Infos, hal.Channel{Name: name + "/velocity", Quantity: hal.Velocity, Min: -6, Max: 6})
		l.Actuators = append(l.Actuators, hal.Actuator{
			Name: name, Goal: [hal.NumModes]int{2 * i, hal.None, hal.None, hal.None}, TorqueLimit: 2*i + 1,
			Position: i, Velocity: len(joints) + i, Torque: hal.None, Voltage: hal.None, Temperature: hal.None,
			Limits: hal.Limits{MinPosition: -2, MaxPosition: 2, MaxVelocity: 6, MaxTorque: 1.5},
		})
	}
	return l
}

// NewBody returns a scripted body with the joints of Layout, all at 0.
func NewBody(joints ...string) *Body { return NewBodyOf(Layout(joints...)) }

// NewBodyOf returns a scripted body for any layout whose actuators have position goals.
func NewBodyOf(l *hal.Layout) *Body {
	n := len(l.Actuators)
	b := &Body{layout: l, Speed: 6, Position: make([]float64, n), start: make([]float64, n), goal: make([]float64, n),
		limit: make([]float64, n), Enabled: make([]bool, n), Last: make([]float64, len(l.Inputs)),
		Silent: map[int]error{}}
	for i := range b.limit {
		b.limit[i] = l.Actuators[i].Limits.MaxTorque
	}
	return b
}

// Layout is the body's layout.
func (b *Body) Layout() *hal.Layout { return b.layout }

// Write takes goals.
func (b *Body) Write(f *hal.Frame) error {
	b.Writes++
	copy(b.Last, f.Inputs)
	for i := range b.layout.Actuators {
		a := &b.layout.Actuators[i]
		if f.Enable[i] && !b.Enabled[i] {
			b.goal[i] = b.Position[i]
		}
		b.Enabled[i] = f.Enable[i]
		if v := hal.At(f.Inputs, a.Goal[hal.PositionMode]); !math.IsNaN(v) {
			b.goal[i] = v
		}
		if v := hal.At(f.Inputs, a.TorqueLimit); !math.IsNaN(v) {
			b.limit[i] = v
		}
	}
	return nil
}

// Advance moves every enabled joint towards its goal.
func (b *Body) Advance(dt time.Duration) error {
	for i := range b.Position {
		if b.Enabled[i] && b.limit[i] > 0 {
			step := b.Speed * dt.Seconds()
			b.Position[i] += math.Max(-step, math.Min(step, b.goal[i]-b.Position[i]))
		}
	}
	return nil
}

// Read returns every joint's position.
func (b *Body) Read(f *hal.Frame) error {
	for i := range b.layout.Actuators {
		a := &b.layout.Actuators[i]
		if err := b.Silent[i]; err != nil {
			f.Status[i].Err = err
			continue
		}
		if a.Position != hal.None {
			f.Measured[a.Position] = b.Position[i]
		}
		if a.Velocity != hal.None {
			f.Measured[a.Velocity] = 0
		}
		f.Status[i] = hal.Status{Time: f.Time}
	}
	return b.ReadErr
}

// Halt switches torque off.
func (b *Body) Halt() error {
	b.Halts++
	clear(b.Enabled)
	return b.HaltErr
}

// Reset returns every joint to 0, offset by a millionth of a radian times the seed so that seeds can be distinguished.
func (b *Body) Reset(seed int64) error {
	if seed != 0 {
		b.Seed = seed
	}
	clear(b.Enabled)
	for i := range b.Position {
		b.Position[i] = b.start[i] + float64(b.Seed)*1e-6
	}
	return nil
}

// Worlds is one world made of several, in which time passes one after the other.
type Worlds []hal.World

// Advance lets dt pass in each, up to the first that fails.
func (w Worlds) Advance(dt time.Duration) error {
	for _, x := range w {
		if err := x.Advance(dt); err != nil {
			return err
		}
	}
	return nil
}
