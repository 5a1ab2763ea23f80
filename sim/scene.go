package sim

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/model"
)

// DefaultSubstep is the step of the physics where the config names none.
const DefaultSubstep = time.Millisecond

// SceneConfig is what a Scene begins with.
type SceneConfig struct {
	Seed    int64         // of everything random; 0 = 1
	Substep time.Duration // the step of the physics, 10 µs to 2 ms; 0 = DefaultSubstep
}

// Scene is a world of simulated robots. One goroutine at a time uses it and its bodies.
type Scene struct {
	seed    int64
	substep time.Duration
	now     time.Duration // what has been advanced
	rest    time.Duration // advanced but not yet stepped: less than a sub-step
	gravity float64
	bodies  []*Body
	saved   saved
}

// saved is a Scene's snapshot beside those of its bodies.
type saved struct {
	is        bool
	now, rest time.Duration
	seed      int64
}

// NewScene returns an empty scene.
func NewScene(cfg SceneConfig) *Scene {
	s := &Scene{seed: cfg.Seed, substep: cfg.Substep, gravity: actuator.StandardGravity}
	if s.seed == 0 {
		s.seed = 1
	}
	if s.substep == 0 {
		s.substep = DefaultSubstep
	}
	s.substep = max(10*time.Microsecond, min(2*time.Millisecond, s.substep))
	return s
}

// Add puts a robot into the scene under name, at pose, in its reset state. The error is hal.Invalid: the name is taken.
// The pose is kept for the engine of whole bodies; a joint does not feel it yet.
func (s *Scene) Add(name string, m *model.Robot, pose hal.Pose) (*Body, error) {
	if s.Body(name) != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "scene", Err: fmt.Errorf("robot %q: got the name twice", name)}
	}
	b := newBody(name, m, pose)
	s.bodies = append(s.bodies, b)
	b.setGravity(s.gravity)
	b.reset(s.seed)
	return b, nil
}

// Remove takes the robot called name out of the scene.
func (s *Scene) Remove(name string) error {
	for i, b := range s.bodies {
		if b.name == name {
			s.bodies = append(s.bodies[:i:i], s.bodies[i+1:]...)
			return nil
		}
	}
	return absent(name)
}

// Body returns the robot called name, or nil.
func (s *Scene) Body(name string) *Body {
	for _, b := range s.bodies {
		if b.name == name {
			return b
		}
	}
	return nil
}

// Driven marks a joint as driven from outside: its body's Write and Halt no longer command it, whoever has its Servo
// does. It stays in the scene's step.
func (s *Scene) Driven(name string, joint int) error {
	b := s.Body(name)
	if b == nil {
		return absent(name)
	}
	if joint < 0 || joint >= len(b.joints) {
		return &hal.Error{
			Kind: hal.Invalid, Op: "scene",
			Err: fmt.Errorf("robot %q: got joint %d, want below %d", name, joint, len(b.joints)),
		}
	}
	b.joints[joint].driven = true
	return nil
}

// Advance steps all joints by as many sub-steps as have become due; what is less than one is kept for the next call.
func (s *Scene) Advance(dt time.Duration) error {
	if dt < 0 {
		return &hal.Error{Op: "scene: advance", Err: fmt.Errorf("got %v, want no less than 0", dt)}
	}
	s.now += dt
	s.rest += dt
	n := int(s.rest / s.substep)
	s.rest -= time.Duration(n) * s.substep
	h := s.substep.Seconds()
	for _, b := range s.bodies {
		b.begin()
	}
	for i := range n {
		done := float64(i+1) / float64(n)
		for _, b := range s.bodies {
			b.step(h, done)
		}
	}
	return nil
}

// Now is the scene's clock: all that was advanced since it was made, or zeroed.
func (s *Scene) Now() time.Duration { return s.now }

// Reset puts every robot into the state of seed, exactly; 0 takes the seed of the time before. The clock goes on.
func (s *Scene) Reset(seed int64) error {
	if seed != 0 {
		s.seed = seed
	}
	s.rest = 0
	for _, b := range s.bodies {
		b.reset(s.seed)
	}
	return nil
}

// Save keeps a snapshot of the whole scene, in place of the one before.
func (s *Scene) Save() error {
	s.saved = saved{is: true, now: s.now, rest: s.rest, seed: s.seed}
	for _, b := range s.bodies {
		b.save()
	}
	return nil
}

// Restore returns to the snapshot, bit for bit; without one to the state of the last reset. A robot that was added
// after the snapshot returns to its reset state. The clock goes on.
func (s *Scene) Restore() error {
	if !s.saved.is {
		return s.Reset(0)
	}
	s.rest, s.seed = s.saved.rest, s.saved.seed
	for _, b := range s.bodies {
		b.restore(s.seed)
	}
	return nil
}

// ZeroClock sets the scene's clock to zero.
func (s *Scene) ZeroClock() error {
	s.now = 0
	return nil
}

// SetGravity sets gravity, m/s². Only its part along -z counts while joints are pendulums.
func (s *Scene) SetGravity(g [3]float64) error {
	if math.IsNaN(g[2]) || math.IsInf(g[2], 0) {
		return &hal.Error{Kind: hal.Invalid, Op: "scene: gravity", Err: errors.New("got no finite number")}
	}
	s.gravity = -g[2]
	for _, b := range s.bodies {
		b.setGravity(s.gravity)
	}
	return nil
}

func absent(name string) error {
	return &hal.Error{Kind: hal.Invalid, Op: "scene", Err: fmt.Errorf("robot %q: got no such robot", name)}
}
