package sim

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/dynamics"
	"github.com/halyard-robotics/halyard/sim/hydro"
	"github.com/halyard-robotics/halyard/sim/model"
)

// DefaultSubstep is the default step of the physics.
const DefaultSubstep = time.Millisecond

// SceneConfig holds the settings of a new Scene.
type SceneConfig struct {
	Seed    int64         // of everything random; 0 = 1
	Substep time.Duration // the step of the physics, 10 µs to 10 ms; 0 = DefaultSubstep
	// Scene makes the ground and its things; a reset with another seed calls it again. nil = model.LoadScene("flat").
	Scene func(seed int64) (*model.Scene, error)
}

// Scene is a world of simulated robots. One goroutine at a time uses it and its bodies.
type Scene struct {
	seed    int64
	substep time.Duration
	now     time.Duration // sum of all Advances
	rest    time.Duration // advanced but not yet stepped: less than a sub-step
	gravity [3]float64
	bodies  []*Body
	saved   saved
	shared  lockers // held while time passes

	// Vehicles in the water of ground, and their cameras.
	vehicles []*Vehicle
	sea      hydro.Sea
	gallery  gallery

	// The world of whole bodies.
	load     func(seed int64) (*model.Scene, error)
	ground   *model.Scene
	loaded   int64            // the seed of ground
	system   *dynamics.System // nil while neither robot nor vehicle has a body in it
	thing    int              // the first loose thing of ground among the system's bodies
	due      bool             // values have changed in a reset: the system and its ground are made again
	own      own              // values of the ground and of loose things that were set
	bare     bool             // no robot of ours but Simloid's own: contacts and stops give way as theirs did
	pushed   []int32          // bodies with a force for the next Advance
	fault    error            // why no step is taken any more
	touching []touching       // one a body of the system, in the last step
	sight    sight
	tags     []tag // of the arena, and those that robots dropped
	touches  touches
	twins    bool // one robot at least follows real motion, in this Advance
}

// saved is a Scene's snapshot in addition to those of its bodies.
type saved struct {
	is     bool
	rest   time.Duration
	seed   int64
	ground *model.Scene
	loaded int64
	thing  int
	system *dynamics.System
	state  *dynamics.State
	tags   []tag
	pushed []int32
}

// NewScene returns a scene without robots.
func NewScene(cfg SceneConfig) *Scene {
	s := &Scene{seed: cmp.Or(cfg.Seed, 1), load: cfg.Scene, gravity: [3]float64{0, 0, -standardGravity}}
	s.substep = max(10*time.Microsecond, min(10*time.Millisecond, cmp.Or(cfg.Substep, DefaultSubstep)))
	if s.load == nil {
		s.load = func(seed int64) (*model.Scene, error) { return model.LoadScene("flat", seed) }
	}
	return s
}

// standardGravity is the fall of a new Scene, m/s²: that of the original Simloid and of most data sheets.
const standardGravity = 9.81

// Add adds a robot to the scene under name, at pose, in its reset state; the rest of the world keeps its state. The
// error is hal.Invalid: the name is in use, or the robot's bodies do not make a valid system.
func (s *Scene) Add(name string, m *model.Robot, pose hal.Pose) (*Body, error) {
	if err := s.unused(name); err != nil {
		return nil, err
	}
	b := newBody(s, name, m, pose)
	s.bodies = append(s.bodies, b)
	if len(m.Bodies) > 0 {
		if err := s.rebuild(); err != nil {
			s.bodies = s.bodies[:len(s.bodies)-1]
			return nil, errors.Join(err, s.rebuild())
		}
	}
	b.setGravity(s.gravity)
	b.reset(s.seed)
	return b, nil
}

// unused refuses the name of a robot or vehicle of the scene.
func (s *Scene) unused(name string) error {
	if s.Body(name) != nil || s.Vehicle(name) != nil {
		return &hal.Error{Kind: hal.Invalid, Op: "scene", Err: fmt.Errorf("robot %q: got the name twice", name)}
	}
	return nil
}

// Remove takes the robot called name out of the scene.
func (s *Scene) Remove(name string) error {
	switch b, v := s.Body(name), s.Vehicle(name); {
	case b != nil:
		s.bodies = slices.DeleteFunc(slices.Clone(s.bodies), func(other *Body) bool { return other == b })
	case v != nil:
		s.vehicles = slices.DeleteFunc(slices.Clone(s.vehicles), func(other *Vehicle) bool { return other == v })
	default:
		return absent(name)
	}
	return s.rebuild()
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

// Driven marks a joint as driven from outside: its body's Write and Halt no longer command it. The owner of its Servo
// does, or, for a joint with an ideal motor, the caller of Spin. It stays in the scene's step.
func (s *Scene) Driven(name string, joint int) error {
	b := s.Body(name)
	if b == nil {
		return absent(name)
	}
	if joint < 0 || joint >= len(b.joints) || !b.joints[joint].drivable() {
		return &hal.Error{
			Kind: hal.Invalid, Op: "scene",
			Err: fmt.Errorf("robot %q: got joint %d, want a joint with a servo or an ideal motor, below %d", name,
				joint, len(b.joints)),
		}
	}
	b.joints[joint].driven = true
	return nil
}

// Share makes the scene hold l in Advance, in Reset and while a body is read. Another holder of l may command joints
// from its own goroutine, as a stop does.
func (s *Scene) Share(l sync.Locker) { s.shared = append(s.shared, l) }

// lockers are locked and unlocked together.
type lockers []sync.Locker

func (list lockers) Lock() {
	for _, l := range list {
		l.Lock()
	}
}

func (list lockers) Unlock() {
	for _, l := range list {
		l.Unlock()
	}
}

// Advance runs all due sub-steps; a remainder of less than one is kept for the next call. If the physics would diverge
// the step is not taken, and the error names the robot and the joint: torque of that robot is off until the next Reset.
// If it still diverges, time stops for the whole scene.
func (s *Scene) Advance(dt time.Duration) error {
	if dt < 0 {
		return &hal.Error{Op: "scene: advance", Err: fmt.Errorf("got %v, want no less than 0", dt)}
	}
	s.shared.Lock()
	defer s.shared.Unlock()
	s.now += dt
	s.rest += dt
	n := int(s.rest / s.substep)
	s.rest -= time.Duration(n) * s.substep
	s.touches.clear()
	for _, b := range s.bodies {
		b.begin(dt)
	}
	var fault error
	s.twins = s.beginVirtual()
	for i := range n {
		if err := s.step(s.substep.Seconds(), i+1, n); err != nil {
			fault = err
		}
	}
	s.clearForces()
	if s.twins {
		s.endVirtual()
	}
	s.sense(dt)
	for _, v := range s.vehicles {
		v.sense(dt.Seconds())
		v.visit()
	}
	return fault
}

// step takes sub-step i of n.
func (s *Scene) step(h float64, i, n int) error {
	for _, b := range s.bodies {
		b.drive(h, i, n)
	}
	if s.fault == nil {
		for _, v := range s.vehicles {
			v.craft.Act(s.system, &s.sea, h)
		}
	}
	var fault error
	if s.system != nil && s.fault == nil {
		s.wave(s.now.Seconds()-s.rest.Seconds()-float64(float64(n-i)*h), false)
		if err := s.system.Step(h); err != nil {
			fault = s.diverged(err)
		} else {
			s.touches.note(s.system)
			if s.twins {
				s.noteVirtual()
			}
		}
	}
	for _, b := range s.bodies {
		b.finishSubstep(h)
	}
	return fault
}

// Now is the scene's clock: all that was advanced since it was made, or zeroed.
func (s *Scene) Now() time.Duration { return s.now }

// Reset puts every robot exactly into the state of seed; 0 = the previous seed. Changed values of models take effect.
// The clock continues.
func (s *Scene) Reset(seed int64) error {
	s.shared.Lock()
	defer s.shared.Unlock()
	if seed != 0 {
		s.seed = seed
	}
	s.rest, s.fault = 0, nil
	s.layTags()
	if s.redraw() {
		if err := s.rebuild(); err != nil {
			return err
		}
	}
	if s.system != nil {
		s.system.Reset()
		s.system.Gravity = s.gravity
		s.putLimbs()
	}
	for _, b := range s.bodies {
		b.reset(s.seed)
	}
	for _, v := range s.vehicles {
		v.reset(s.seed)
	}
	clear(s.touching)
	s.touches.clear()
	return nil
}

// ZeroClock sets the scene's clock to zero.
func (s *Scene) ZeroClock() error {
	s.now = 0
	s.putLimbs()
	return nil
}

// SetGravity sets gravity, m/s². For a robot without bodies only its part along -z has an effect.
func (s *Scene) SetGravity(g [3]float64) error {
	if slices.ContainsFunc(g[:], func(x float64) bool { return !(math.Abs(x) <= 1e4) }) {
		return &hal.Error{Kind: hal.Invalid, Op: "scene: gravity", Err: fmt.Errorf("got %g m/s², want at most 1e4", g)}
	}
	s.gravity = g
	if s.system != nil {
		s.system.Gravity = g
	}
	for _, b := range s.bodies {
		b.setGravity(g)
	}
	return nil
}

func absent(name string) error {
	return &hal.Error{Kind: hal.Invalid, Op: "scene", Err: fmt.Errorf("robot %q: got no such robot", name)}
}
