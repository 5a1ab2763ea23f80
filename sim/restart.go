package sim

import (
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/collide"
	"github.com/halyard-robotics/halyard/sim/model"
)

// savedRun is the part of a snapshot for a whole robot.
type savedRun struct {
	sensed  []float64
	senses  []sense
	fault   error
	drawn   figures
	dropped int
}

// reset puts the robot into the state of seed. Each joint has a stream of its own, from the seed, the robot's name and
// the joint's, so that adding a robot or a joint changes no other. The scene has put the bodies into their built pose.
func (b *Body) reset(seed int64) {
	b.fault = nil
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
	b.restSenses()
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
		s.Q[s.Model().Joint(b.at.body+p.Child).Q] = p.Sign * at
	}
	if !b.model.Fixed {
		root := b.root
		at := b.pose.Times(b.parts[root].Pose)
		s.Place(b.at.body+root, collide.Pose(at), [3]float64{}, [3]float64{})
	}
	s.Moved()
}

func (b *Body) save() {
	if len(b.saved) != len(b.joints) {
		b.saved, b.savedSup = make([]snapshot, len(b.joints)), make([]actuator.Supply, len(b.supply))
		b.savedRun = savedRun{sensed: make([]float64, len(b.sensed)), senses: make([]sense, len(b.senses))}
	}
	for i := range b.joints {
		b.joints[i].save(&b.saved[i])
	}
	for i, s := range b.supply {
		b.savedSup[i] = *s
	}
	b.savedAt, b.savedRun.fault = b.at, b.fault
	b.savedRun.dropped = b.dropped
	b.savedRun.drawn = figures{b.model, b.next, b.drawn}
	copy(b.savedRun.sensed, b.sensed)
	copy(b.savedRun.senses, b.senses)
}

func (b *Body) restore(seed int64) {
	if len(b.saved) == 0 {
		b.reset(seed)
		return
	}
	for i := range b.joints {
		b.joints[i].restore(&b.saved[i])
	}
	for i, s := range b.supply {
		*s = b.savedSup[i]
	}
	b.fault = b.savedRun.fault
	copy(b.sensed, b.savedRun.sensed)
	copy(b.senses, b.savedRun.senses)
	b.dropped = b.savedRun.dropped
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
