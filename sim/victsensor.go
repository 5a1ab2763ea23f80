package sim

import (
	"errors"
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/ray"
)

// The victim sensor of USARSim from 2007 on: like a camera with a classifier it reports the visible parts of bodies. Its
// reach and its two fields of view are the original's defaults.
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

// Look lets f have the parts of victims that a sensor of kind victim sees, each time that it reads, in the goroutine of
// Advance; the slice is f's until it returns. nil ends it.
func (b *Body) Look(sensor int, f func([]SeenPart)) error {
	if sensor < 0 || sensor >= len(b.senses) || b.senses[sensor].kind != "victim" {
		return refused("look", b.name, errors.New("got a sensor that looks for no victims"))
	}
	if b.looks == nil {
		b.looks = make([]func([]SeenPart), len(b.senses))
	}
	b.looks[sensor] = f
	return nil
}

// lookForParts reports the visible parts to the listener of s.
func (b *Body) lookForParts(s *sense, at, back *hal.Pose) {
	if b.looks == nil || b.looks[s.number] == nil {
		return
	}
	b.seen = b.seen[:0]
	victims := b.scene.ground.Arena.Victims
	for i := range victims {
		for k := range victims[i].Parts {
			p := &victims[i].Parts[k]
			if seen := back.Of(p.At); b.inSight(at, seen) {
				b.seen = append(b.seen, SeenPart{p.Name, seen})
			}
		}
	}
	b.looks[s.number](b.seen)
}

// inSight reports whether a position in the axes of a sensor at a pose is within its view and not occluded.
func (b *Body) inSight(at *hal.Pose, place [3]float64) bool {
	away := length(place)
	if away > VictimReach || place[0] <= 0 || math.Abs(math.Atan2(place[1], place[0])) > VictimView/2 || math.Abs(math.Atan2(place[2], place[0])) > VictimView/2 {
		return false
	}
	if b.scene.sight.tree == nil || away <= bodyHalfWide {
		return true
	}
	for k := range place {
		place[k] /= away
	}
	_, hidden := b.scene.rayTree().Cast(&ray.Ray{Origin: at.Position, Direction: at.Turn(place), Max: away - bodyHalfWide, Mask: ^b.group &^ glassGroup})
	return !hidden
}
