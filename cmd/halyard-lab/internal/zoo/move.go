package zoo

import (
	"fmt"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim"
	"github.com/halyard-robotics/halyard/sim/model"
)

// What a joint of the zoo is asked to do.
const (
	period   = 10 * time.Millisecond
	rest     = 50   // cycles to settle at the start
	patience = 400  // at most, for a move
	angle    = 0.3  // rad
	slide    = 0.05 // m
	nearness = 0.02 // of the move is left at its end: rad
	legged   = 6    // joints, of a robot that may stand
	lift     = 20.0 // m above the floor, so that only the robot itself is in the way
)

// bench is one robot of the zoo by itself in a scene, high above the floor and held at its root.
type bench struct {
	scene *sim.Scene
	body  *sim.Body
	frame *hal.Frame
}

func newBench(m *model.Robot, height float64) (*bench, error) {
	b := &bench{scene: sim.NewScene(sim.SceneConfig{Seed: 1})}
	var err error
	if b.body, err = b.scene.Add("robot", m, hal.Pose{Position: [3]float64{2: height},
		Rotation: [4]float64{1, 0, 0, 0}}); err != nil {
		return nil, err
	}
	b.frame = hal.NewFrame(b.body.Layout())
	return b, b.body.Read(b.frame)
}

// cycles lets time pass until done, at most n cycles.
func (b *bench) cycles(n int, done func() bool) error {
	for range n {
		if err := b.body.Write(b.frame); err != nil {
			return err
		}
		if err := b.scene.Advance(period); err != nil {
			return err
		}
		b.frame.Time += period
		if err := b.body.Read(b.frame); err != nil {
			return err
		}
		if done() {
			return nil
		}
	}
	return nil
}

// hold gives every joint torque, and its present position as its goal.
func (b *bench) hold() {
	joints := b.body.Layout().Actuators
	for i := range joints {
		b.frame.Enable[i] = true
		b.frame.Inputs[joints[i].Goal[hal.PositionMode]] = b.frame.Measured[joints[i].Position]
	}
}

// move moves each joint by 0.3 rad or 0.05 m, or by 0.4 of its range where that is less, one after the other and back.
// It returns how many joints with torque came within 0.02 rad of the goal, or a tenth of a slide's move, and what the
// first other one did.
func (b *bench) move() (reached int, missed string, err error) {
	b.hold()
	if err := b.cycles(rest, func() bool { return false }); err != nil {
		return 0, "", err
	}
	joints := b.body.Layout().Actuators
	for i := range joints {
		a := &joints[i]
		start := b.frame.Inputs[a.Goal[hal.PositionMode]]
		goal, near := goalOf(a, start)
		left := math.Inf(1)
		b.frame.Inputs[a.Goal[hal.PositionMode]] = goal
		err := b.cycles(patience, func() bool {
			if left = b.frame.Measured[a.Position] - goal; a.Wraps {
				left = math.Remainder(left, 2*math.Pi)
			}
			return math.Abs(left) < near
		})
		if err != nil {
			return reached, "", fmt.Errorf("joint %q: %w", a.Name, err)
		}
		if math.Abs(left) < near {
			reached++
		} else if missed == "" {
			missed = fmt.Sprintf("%s: %+.3f of %+.3f is left", a.Name, -left, goal-start)
		}
		b.frame.Inputs[a.Goal[hal.PositionMode]] = start
		if err := b.cycles(patience, func() bool {
			return math.Abs(b.frame.Measured[a.Position]-start) < near
		}); err != nil {
			return reached, "", fmt.Errorf("joint %q: %w", a.Name, err)
		}
	}
	return reached, missed, nil
}

// goalOf is where a joint is to go from start, and how near is near enough.
func goalOf(a *hal.Actuator, start float64) (goal, near float64) {
	by, near := angle, nearness
	if a.Kind == hal.Slide {
		by, near = slide, slide/10
	}
	low, high := a.Limits.MinPosition, a.Limits.MaxPosition
	if !a.Wraps && by > 0.4*(high-low) {
		by = 0.4 * (high - low)
		near = math.Min(near, by/10)
	}
	if !a.Wraps && start+by > high {
		by = -by
	}
	return start + by, near
}

// stand lets a floating robot hold its start on the floor for 5 s. It stands if its root is tilted by
// less than 0.8 rad; the height that is left depends on how high above the floor the file begins.
func (b *bench) stand() (string, error) {
	b.hold()
	before := b.body.Pose(0)
	if err := b.cycles(int(5*time.Second/period), func() bool { return false }); err != nil {
		return "", err
	}
	after := b.body.Pose(0)
	turn := before.Inverse().Times(after).Rotation
	tilt := math.Acos(math.Max(-1, math.Min(1, 1-2*(turn[1]*turn[1]+turn[2]*turn[2]))))
	word := "yes"
	if tilt > 0.8 {
		word = "no"
	}
	return fmt.Sprintf("%s: its root from %.2f to %.2f m, tilted by %.2f rad", word, before.Position[2],
		after.Position[2], tilt), nil
}
