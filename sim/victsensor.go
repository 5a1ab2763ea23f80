package sim

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sim/ray"
)

// The victim sensor of USARSim from 2007 on: like a camera with a classifier it reports the visible parts of bodies.
// Its reach and its two fields of view are the original's defaults.
const (
	VictimReach  = 4.0                // m
	VictimView   = 40 * math.Pi / 180 // rad, both ways
	bodyHalfWide = 0.35               // m: a ray to the middle of a part ends at the body before it
)

// SeenPart is a part of a victim that is in sight.
type SeenPart struct {
	Name string     // Head, Chest, Pelvis, Leg, Foot
	At   [3]float64 // m, in the sensor's axes
}

// Look calls f with the parts of victims that a sensor of kind victim sees, at each of its readings, in the goroutine
// of Advance; the slice is valid until f returns. nil removes it.
func (b *Body) Look(i int, f func([]SeenPart)) error {
	_, err := b.sensor("look", i, func(s *sensor) bool { return s.kind == "victim" },
		"got a sensor that looks for no victims")
	if err == nil {
		b.looks[i] = f
	}
	return err
}

// lookForParts reports the visible parts to the listener of s.
func (s *sensor) lookForParts(at, back *hal.Pose) {
	b := s.robot
	listener := b.looks[s.number]
	if listener == nil {
		return
	}
	b.seen = b.seen[:0]
	victims := b.scene.ground.Arena.Victims
	for i := range victims {
		for k := range victims[i].Parts {
			p := &victims[i].Parts[k]
			if seen := back.Of(p.At); s.inSight(at, seen) {
				b.seen = append(b.seen, SeenPart{p.Name, seen})
			}
		}
	}
	listener(b.seen)
}

// inSight reports whether a position in the axes of a sensor at a pose is within its view and not occluded.
func (s *sensor) inSight(at *hal.Pose, place [3]float64) bool {
	away := length(place)
	if away > VictimReach || place[0] <= 0 || math.Abs(math.Atan2(place[1], place[0])) > VictimView/2 ||
		math.Abs(math.Atan2(place[2], place[0])) > VictimView/2 {
		return false
	}
	if s.robot.scene.sight.tree == nil || away <= bodyHalfWide {
		return true
	}
	for k := range place {
		place[k] /= away
	}
	_, hidden := s.robot.scene.sight.now().Cast(&ray.Ray{Origin: at.Position, Direction: at.Turn(place),
		Max: away - bodyHalfWide, Mask: ^s.robot.group &^ (glassGroup | ghostGroup)})
	return !hidden
}
