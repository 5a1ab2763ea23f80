package sim

import (
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/collide"
	"github.com/halyard-robotics/halyard/sim/model"
)

// snapshot is a robot's state in addition to that of the scene's system.
type snapshot struct {
	is      bool
	at      span
	joints  []savedJoint
	supply  []actuator.Supply
	sensed  []float64
	sensors []sensor
	fault   error
	drawn   drawn
	dropped int
}

// reset puts the robot into the state of seed. Each joint has a stream of its own, from the seed, the robot's name and
// the joint's, so that adding a robot or a joint changes no other. The scene has put the bodies into their built pose.
func (b *Body) reset(seed int64) {
	b.fault, b.led = nil, false
	b.supply[0].Volts = b.model.Supply.Volts
	for _, s := range b.supply {
		s.Reset()
	}
	for i := range b.joints {
		b.joints[i].reset(stream(seed, b.name, b.joints[i].Model.Name))
	}
	if len(b.parts) > 0 {
		b.pose0()
	}
	b.resetSensors()
}

// pose0 puts the robot's bodies where its joints are, at rest.
func (b *Body) pose0() {
	s := b.scene.system
	clear(s.V[b.at.v : b.at.v+b.at.dofs])
	for i := range b.joints {
		if j := &b.joints[i]; j.dof >= 0 {
			s.Q[j.coord] = j.Model.Sign * j.position()
			s.Release(j.dof)
		}
	}
	for i := range b.model.Passive {
		p := &b.model.Passive[i]
		if p.Kind == model.Weld {
			continue
		}
		at := 0.0
		if p.Mimic != nil {
			at = float64(p.Mimic.Times*b.joints[p.Mimic.Joint].position()) + p.Mimic.Plus
		}
		q := s.Q[s.Model().Joint(b.at.body+p.Child).Q:]
		if q[0] = p.Sign * at; p.Kind == model.Ball {
			q[0], q[1], q[2], q[3] = 1, 0, 0, 0
		}
	}
	if !b.model.Fixed {
		root := b.root
		s.ReleaseBody(b.at.body + root)
		at := b.pose.Times(b.parts[root].Pose)
		s.Place(b.at.body+root, collide.Pose(at), [3]float64{}, [3]float64{})
	}
	s.Moved()
}

func (b *Body) save() {
	to := &b.saved
	to.joints, to.supply = to.joints[:0], to.supply[:0]
	for i := range b.joints {
		to.joints = append(to.joints, b.joints[i].save())
	}
	for _, s := range b.supply {
		to.supply = append(to.supply, *s)
	}
	to.sensed, to.sensors = append(to.sensed[:0], b.sensed...), append(to.sensors[:0], b.sensors...)
	to.is, to.at, to.fault, to.dropped = true, b.at, b.fault, b.dropped
	to.drawn = drawn{b.model, b.next, b.drawn}
}

func (b *Body) restore(seed int64) {
	from := &b.saved
	if !from.is {
		b.reset(seed)
		return
	}
	for i := range b.joints {
		b.joints[i].restore(&from.joints[i])
	}
	for i, s := range b.supply {
		*s = from.supply[i]
	}
	copy(b.sensed, from.sensed)
	copy(b.sensors, from.sensors)
	b.fault, b.dropped = from.fault, from.dropped
}

func (b *Body) setGravity(g [3]float64) {
	for i := range b.joints {
		if s := b.joints[i].Servo; s != nil {
			s.Gravity = -g[2]
		}
	}
}

// stream is the beginning of the random stream of one joint (FNV-1a over seed and names, splitmix64 follows).
func stream(seed int64, names ...string) uint64 {
	const prime = 1099511628211
	h := uint64(14695981039346656037)
	for i := range 8 {
		h = (h ^ uint64(seed)>>(8*i)&0xff) * prime
	}
	for _, name := range names {
		for i := range len(name) {
			h = (h ^ uint64(name[i])) * prime
		}
		h = (h ^ 0xff) * prime
	}
	return h
}
