package sim

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/collide"
	"github.com/halyard-robotics/halyard/sim/dynamics"
	"github.com/halyard-robotics/halyard/sim/model"
)

// Changes of a scene from outside: placing, pushing, fixing, reshaping.

// maxReach bounds values from outside, m, m/s and N.
const maxReach = 1e6

// Place puts a robot's root at a pose in the world, at rest, with its joints as they are; see hal.Placer. The other
// joints keep their speeds. A robot with a fixed base is mounted there.
func (s *Scene) Place(agent string, p hal.Pose) error {
	if v := s.Vehicle(agent); v != nil {
		return v.place(p)
	}
	b := s.Body(agent)
	if b == nil {
		return absent(agent)
	}
	if !finite(p.Position[:]...) || !finite(p.Rotation[:]...) {
		return refused("place", agent, errors.New("got a pose that is not finite"))
	}
	if len(b.parts) == 0 {
		b.pose = p
		return nil
	}
	if b.model.Fixed {
		was := b.pose
		b.pose = p
		err := s.rebuild()
		if err != nil {
			b.pose = was // else every later change of the scene would be refused too
		}
		return err
	}
	return s.placeFree(agent, b.at.body+b.root, p, p.Times(b.parts[b.root].Pose))
}

// placeFree puts a free body, which belongs to name, at a pose in the world, at rest. The error is about the pose that
// the client gave.
func (s *Scene) placeFree(name string, body int, given, at hal.Pose) error {
	if !s.system.Place(body, collide.Pose(at), [3]float64{}, [3]float64{}) {
		return refused("place", name, fmt.Errorf("got %v, want a place within %g m and a unit quaternion", given,
			maxReach))
	}
	return nil
}

// PlacePart moves a whole robot so that one of its bodies is at a pose; it is at rest then.
func (b *Body) PlacePart(body int, p hal.Pose) error {
	root := b.root
	away := b.Pose(body).Inverse().Times(b.Pose(root)) // the root as that body sees it
	return b.scene.Place(b.name, p.Times(away).Times(b.parts[root].Pose.Inverse()))
}

// Push applies a force, N in world axes, at a body's centre of mass during the next Advance; see hal.Pusher.
func (s *Scene) Push(agent, part string, force [3]float64) error {
	if v := s.Vehicle(agent); v != nil {
		return v.push(part, force)
	}
	b, i, err := s.part("push", agent, part)
	if err != nil {
		return err
	}
	if !finite(force[:]...) {
		return refused("push", agent+"/"+part, fmt.Errorf("got %g N, want at most %g", force, maxReach))
	}
	to := &s.system.Force[b.at.body+i]
	for k, f := range force {
		to.Force[k] += f
	}
	s.pushed = append(s.pushed, int32(b.at.body+i))
	return nil
}

// clearForces ends the forces of Push.
func (s *Scene) clearForces() {
	for _, i := range s.pushed {
		s.system.Force[i] = dynamics.Wrench{}
	}
	s.pushed = s.pushed[:0]
	for _, v := range s.vehicles {
		v.craft.External = dynamics.Wrench{}
	}
}

// ToggleFixed fixes a body of a robot where it is in the world, or frees it again.
func (s *Scene) ToggleFixed(agent, part string) error {
	b, i, err := s.part("fix", agent, part)
	if err != nil {
		return err
	}
	was := b.pins[i]
	b.pins[i] = pin{on: !was.on, pose: b.Pose(i)}
	if err = s.rebuild(); err != nil {
		b.pins[i] = was // as in Place
	}
	return err
}

// SetMotor gives all of a robot's motors another law, by the original Simloid's ten parameters: volts, torque constant,
// back-EMF, resistance, Coulomb, sticking and fluid friction, stiction speed, greatest deflection and stiffness of the
// bristles.
func (s *Scene) SetMotor(agent string, p []float64) error {
	b := s.Body(agent)
	if b == nil {
		return absent(agent)
	}
	if len(p) != 10 || !finite(p...) {
		return refused("motor", agent, fmt.Errorf("got %v, want ten finite numbers", p))
	}
	for i, x := range p {
		if x < 0 || x == 0 && (i < 4 || i == 7) {
			return refused("motor", agent, fmt.Errorf("parameter %d: got %g, want more than 0", i+1, x))
		}
	}
	for i := range b.joints {
		if m := b.joints[i].Model; m.Motor == nil {
			return refused("motor", agent, fmt.Errorf("joint %q: got a servo, want one of Simloid's motors", m.Name))
		}
	}
	law := func(r *model.Robot) *model.Robot {
		r = r.Clone()
		for i := range r.Joints {
			k := *r.Joints[i].Motor
			k.Volts, k.TorqueConstant, k.BackEMF, k.Conductance = p[0], p[1], p[2], 1/p[3]
			k.Coulomb, k.Sticking, k.Fluid, k.StictionSpeed, k.BristleMax, k.BristleStiffness = p[4], p[5], p[6], p[7],
				p[8], p[9]
			r.Joints[i].Motor = &k
		}
		return r
	}
	b.next = law(b.next)
	b.use(law(b.model))
	if k := &b.saved.drawn; k.model != nil { // a snapshot holds states, not motor parameters
		k.model, k.next = law(k.model), law(k.next)
	}
	return nil
}

// part finds a body of a robot by name.
func (s *Scene) part(op, agent, part string) (*Body, int, error) {
	b := s.Body(agent)
	if b == nil {
		return nil, 0, absent(agent)
	}
	for i := range b.parts {
		if b.parts[i].Name == part {
			return b, i, nil
		}
	}
	return nil, 0, refused(op, agent, fmt.Errorf("got body %q, which it does not have", part))
}

// diverged switches torque off, until the next reset, for the robot whose joint diverged. If it diverges again, or the
// body belongs to no robot, the scene's time stops.
func (s *Scene) diverged(err error) error {
	var d *dynamics.Diverged
	if !errors.As(err, &d) {
		s.fault = err
		return err
	}
	fault := func(effect string) error {
		return &hal.Error{Kind: hal.Unsafe, Op: "physics of " + d.Name, Try: "halyard reset",
			Err: fmt.Errorf("%s would be %.3g; %s", d.What, d.Value, effect)}
	}
	for _, b := range s.bodies {
		if n := d.Body - b.at.body; len(b.parts) == 0 || n < 0 || n >= len(b.parts) {
			continue
		}
		e := fault("its torque is off until the reset")
		if b.fault != nil {
			s.fault = e
			return e
		}
		b.fault = e
		clear(s.system.V[b.at.v : b.at.v+b.at.dofs])
		s.system.Moved()
		return e
	}
	for _, v := range s.vehicles {
		if d.Body == v.at.body && v.now.fault == nil {
			v.now.fault = fault("its thrusters are off until the reset")
			v.throttle()
			clear(s.system.V[v.at.v:][:v.at.dofs])
			s.system.Moved()
			return v.now.fault
		}
	}
	s.fault = fault("time stops until the reset")
	return s.fault
}

func refused(op, what string, err error) error {
	return &hal.Error{Kind: hal.Invalid, Op: "scene: " + op + " " + what, Err: err}
}

func finite(v ...float64) bool {
	return !slices.ContainsFunc(v, func(x float64) bool { return !(math.Abs(x) <= maxReach) })
}
