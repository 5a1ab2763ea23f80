package sim

import (
	"slices"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sim/exact"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/model"
)

// A vehicle is in a zone where its origin is, at the end of an Advance: at 50 Hz and 1 m/s it is seen within 2 cm.

// progress is how far a vehicle has come on its scene's course.
type progress struct {
	inside, entered []bool // one a zone; entered: during the last Advance
	reached         []bool
	random          uint64 // of the starts
	events          []hal.EventID
	raise           *hal.Events // where entries of zones are events; nil = nowhere
}

// begin forgets all that was reached; where the vehicle is counts again.
func (p *progress) begin(zones int, random uint64) {
	for _, list := range []*[]bool{&p.inside, &p.entered, &p.reached} {
		*list = slices.Grow((*list)[:0], zones)[:zones]
		clear(*list)
	}
	p.random = random
}

func (p *progress) copyFrom(q *progress) {
	p.inside, p.entered = append(p.inside[:0], q.inside...), append(p.entered[:0], q.entered...)
	p.reached, p.random = append(p.reached[:0], q.reached...), q.random
}

// start draws where a vehicle begins: in one of a scene's start zones, at the origin if there are none.
func start(starts []model.Start, random *uint64) hal.Pose {
	if len(starts) == 0 {
		return hal.Pose{Rotation: [4]float64{1}}
	}
	k := &starts[min(int(actuator.Uniform(random)*float64(len(starts))), len(starts)-1)]
	half := float64(k.Spread * (float64(actuator.Uniform(random)) - 0.5))
	turn := hal.Pose{Position: k.Pose.Position, Rotation: [4]float64{exact.Cos(half), 0, 0, exact.Sin(half)}}
	return turn.Times(hal.Pose{Rotation: k.Pose.Rotation})
}

// Zone is the state of a vehicle in relation to one zone of its course.
type Zone struct {
	*model.Zone
	Inside  bool // it is in it
	Entered bool // it has come into it during the last Advance
	Reached bool // it has been in it since the last reset, Restart or Clear
}

// Zones calls f for every zone of the scene's course, in the file's order, kind by kind.
func (v *Vehicle) Zones(f func(Zone)) {
	p := &v.now.course
	for i := range v.scene.ground.Course.Zones {
		f(Zone{&v.scene.ground.Course.Zones[i], p.inside[i], p.entered[i], p.reached[i]})
	}
}

// Clear makes all checkpoints ones that have not been reached.
func (v *Vehicle) Clear() { clear(v.now.course.reached) }

// Restart puts the vehicle into a start zone, at rest, and clears the checkpoints. The zone depends on the seed and the
// number of restarts. Its thrusters keep their duties.
func (v *Vehicle) Restart() error {
	p := &v.now.course
	p.begin(len(p.inside), p.random)
	return v.place(start(v.scene.ground.Course.Starts, &p.random).Times(v.pose))
}

// RaiseZoneEvents raises an event in e when the vehicle enters a zone: "/okon/Checkpoint/chk1", from its name and the
// kind and the id of the zone. New zones of a later scene raise no events.
func (v *Vehicle) RaiseZoneEvents(e *hal.Events) {
	p := &v.now.course
	p.raise, p.events = e, p.events[:0]
	v.Zones(func(z Zone) { p.events = append(p.events, e.Declare("/"+v.name+"/"+z.Kind.String()+"/"+z.ID)) })
}

// visit finds the zones that the vehicle is in, at the end of an Advance.
func (v *Vehicle) visit() {
	p, at := &v.now.course, v.Pose().Position
	zones := v.scene.ground.Course.Zones
	for i := range zones {
		in := zones[i].Contains(at)
		p.entered[i] = in && !p.inside[i]
		p.inside[i] = in
		p.reached[i] = p.reached[i] || in
		if p.entered[i] && p.raise != nil && i < len(p.events) {
			p.raise.Raise(p.events[i])
		}
	}
}
