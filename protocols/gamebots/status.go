package gamebots

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
)

// append appends every message that s is for.
func (k *link) append(t *text, s *sample) {
	if s.status {
		k.sta(t, s)
		k.mis(t, s)
	}
	for i := range k.groups {
		if s.due[i] && k.has(&k.robot.Sensors[k.groups[i].members[0]]) {
			k.sen(t, s, &k.groups[i])
		}
	}
}

// sta is the robot's state: the truth of a simulated one.
func (k *link) sta(t *text, s *sample) {
	switch k.dialect.get() {
	case Later:
		k.laterSTA(t, s)
		return
	case udk:
		k.udkSTA(t, s)
		return
	}
	if k.robot.State == hal.None {
		return
	}
	at, q, v, ok := k.state(k.robot.State, s)
	if !ok {
		return
	}
	t.begin("STA")
	t.numberSegment("Time", s.time.Seconds(), coarse)
	t.vectorSegment("Location", flip(at), fine)
	t.vectorSegment("Orientation", angles(q), fine)
	t.vectorSegment("Velocity", flip(v), fine)
	k.light(t)
	k.battery(t, s)
	k.refusal(t)
	t.end()
}

// state is the state that a sensor of kind pose or body measures; false if its place is not known.
func (k *link) state(sensor int, s *sample) (at [3]float64, q [4]float64, v [3]float64, ok bool) {
	c := &k.layout.Sensors[sensor]
	m := s.measured[c.First : c.First+c.Count]
	copy(at[:], m)
	if c.Kind == "pose" {
		copy(q[:], m[3:])
		copy(v[:], m[7:])
	} else {
		copy(v[:], m[3:])
		hal.FillNaN(q[:])
	}
	for _, x := range at {
		ok = ok || !math.IsNaN(x)
	}
	return at, q, v, ok
}

// intensity is that of a headlight that is on, by the manual.
const intensity = 100

// light is the headlight as it was switched last.
func (k *link) light(t *text) {
	on, n := k.lit.Load(), 0
	if on {
		n = intensity
	}
	t.truthSegment("LightToggle", on)
	t.integerSegment("LightIntensity", n)
}

// laterSTA has the steering and no place: later robots have a sensor of type GroundTruth for that.
func (k *link) laterSTA(t *text, s *sample) {
	t.begin("STA")
	t.segment("Type", "GroundVehicle")
	t.numberSegment("Time", s.time.Seconds(), fine)
	k.steering(t, s)
	k.light(t)
	k.battery(t, s)
	t.integerSegment("View", -1) // no Unreal client looks through it
	k.refusal(t)
	t.end()
}

// signed is v, with the other sign where reversed. 0 keeps its own.
func signed(v float64, reversed bool) float64 {
	if reversed {
		return 0 - v
	}
	return v
}

// mis is the state of all mission packages, in the manual's form one message.
func (k *link) mis(t *text, s *sample) {
	if len(k.robot.Packages) == 0 {
		return
	}
	if k.dialect.since(Later) {
		for i := range k.robot.Packages {
			k.missta(t, s, &k.robot.Packages[i])
		}
		return
	}
	t.begin("MIS")
	for i := range k.robot.Packages {
		p := &k.robot.Packages[i]
		t.segment("Type", p.Type)
		t.segment("Name", p.Name)
		for j := range p.Parts {
			part := &p.Parts[j]
			at := part.Pose
			if part.Joint != hal.None {
				at = turned(at, part.Axis, k.angle(part.Joint, s.measured))
			}
			t.part(part.Name, at)
			t.close()
		}
	}
	t.end()
}

// part begins a segment that reports where a part is; the caller closes it.
func (t *text) part(name string, at hal.Pose) {
	t.open()
	t.word("Part", name)
	t.place(at)
}

// place is a location and an orientation.
func (t *text) place(at hal.Pose) {
	t.vector("Location", flip(at.Position), fine)
	t.vector("Orientation", angles(at.Rotation), fine)
}

// missta is one package in the later form, ASTA on UDK: its links are the parts that move, from 1.
func (k *link) missta(t *text, s *sample, p *Package) {
	udk := k.dialect.get() == udk
	if udk {
		t.begin("ASTA")
	} else {
		t.begin("MISSTA")
	}
	t.numberSegment("Time", s.time.Seconds(), fine)
	t.segment("Name", p.Name)
	n := 0
	for i := range p.Parts {
		j := p.Parts[i].Joint
		if j == hal.None {
			continue
		}
		n++
		reversed := k.robot.Joints[j].Reversed
		t.integerSegment("Link", n)
		t.numberSegment("Value", signed(k.angle(j, s.measured), reversed), fine)
		if udk {
			continue
		}
		torque := hal.At(s.measured, k.layout.Actuators[k.robot.Joints[j].Actuator].Torque)
		t.numberSegment("Torque", signed(torque, reversed), coarse)
	}
	t.end()
}
