package sim

import (
	"errors"
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/model"
)

// Things of an arena that rescue robots search for: tags, victims, and false alarms.

// Found is a tag or victim in reach of a reader.
type Found struct {
	Tag         int        // an RFID tag's ID, or the victim's place in the arena's list
	Name, State string     // of a victim, as far as the reader is near enough to know: "None" else
	At          [3]float64 // m, in the sensor's axes
}

// The name that a reader reports for a victim that is too far away, and for a false alarm.
const (
	UnknownVictim = "None"
	FalseVictim   = "FalsePositive"

	firstTag = 1001 // of those that robots drop: the IDs below are the arena's (manual 9.1.1)
)

// tag is an RFID tag in the scene.
type tag struct {
	model.Tag
	gone bool // a single-shot tag that was read
}

// layTags puts the arena's own tags where they are at the start.
func (s *Scene) layTags() {
	s.tags = s.tags[:0]
	if s.ground != nil {
		for _, t := range s.ground.Arena.Tags {
			s.tags = append(s.tags, tag{Tag: t})
		}
	}
}

// Arena is the scene that the robots are in, with its starts, tags and victims. It is read-only.
func (s *Scene) Arena() (*model.Scene, error) {
	if s.ground == nil {
		return s.load(s.seed)
	}
	return s.ground, nil
}

// Listen calls f with each find of a sensor of kind rfid or victim, at each of its readings, in the goroutine of
// Advance. A sensor has one listener; a second is refused. nil removes it.
func (b *Body) Listen(i int, f func(Found)) error {
	reads := func(s *sensor) bool { return s.kind == "rfid" || s.kind == "victim" }
	if _, err := b.sensor("listen", i, reads, "got a sensor that reads no tags"); err != nil {
		return err
	}
	if f != nil && b.found[i] != nil {
		return refused("listen", b.name, errors.New("got a sensor in use by a client"))
	}
	b.found[i] = f
	return nil
}

// Release drops one of the robot's tags at the position of its releaser; it fails if no tag is left.
func (b *Body) Release() error {
	if b.dropped >= b.carried() {
		return refused("release", b.name, errors.New("got no tag left"))
	}
	b.dropped++
	at := b.Pose(b.root).Times(b.model.Rescue.ReleaserPose)
	// The time in seconds names the tag; of two in one second the later takes the next number.
	id := firstTag + int(b.scene.now.Seconds())
	for k := 0; k < len(b.scene.tags); k++ {
		if b.scene.tags[k].ID == id {
			id, k = id+1, -1
		}
	}
	b.scene.tags = append(b.scene.tags, tag{Tag: model.Tag{ID: id, At: at.Position}})
	return nil
}

// Remaining is how many tags the robot can still drop.
func (b *Body) Remaining() int { return b.carried() - b.dropped }

func (b *Body) carried() int {
	if b.model.Rescue == nil {
		return 0
	}
	return b.model.Rescue.Tags
}

// flipHeight is how far above its place a robot is put down on its wheels, m.
const flipHeight = 0.1

// Flip puts the robot back on its wheels where it lies, with the heading that it has, at rest.
func (b *Body) Flip() error {
	if len(b.parts) == 0 || b.model.Fixed {
		return refused("flip", b.name, errors.New("got a robot that does not lie anywhere"))
	}
	at := b.Pose(b.root).Times(b.parts[b.root].Pose.Inverse())
	ahead := at.Turn([3]float64{1, 0, 0})
	half := 0.5 * math.Atan2(ahead[1], ahead[0])
	at.Position[2] += flipHeight
	at.Rotation = [4]float64{math.Cos(half), 0, 0, math.Sin(half)}
	return b.scene.Place(b.name, at)
}

// notice updates a sensor's readings of the arena's tags and victims.
func (s *sensor) notice(to []float64) {
	if s.robot.scene.ground == nil {
		return
	}
	victims := s.robot.scene.ground.Arena.Victims
	at := s.pose()
	back := at.Inverse()
	switch s.kind {
	case "rfid":
		to[0] = s.readTags(&back)
	case "victim":
		to[0] = 0
		for i := range victims {
			to[0] += s.readVictim(i, &victims[i], back.Of(victims[i].At))
		}
		s.lookForParts(&at, &back)
	case "sound":
		to[0], to[1] = s.loudestVoice(victims, at.Position)
	case "motion":
		to[0] = s.motion(victims, &back)
	}
}

// readTags reads all tags within range, and returns how many.
func (s *sensor) readTags(back *hal.Pose) (n float64) {
	for i := range s.robot.scene.tags {
		t := &s.robot.scene.tags[i]
		at := back.Of(t.At)
		if t.gone || length(at) > s.device.spec.Range {
			continue
		}
		n++
		t.gone = t.Single
		s.notify(Found{Tag: t.ID, At: at})
	}
	return n
}

// readVictim is 1 if the reader points at the victim from within its range. Nearer it reports the name, and nearer
// still the state (manual, 7.3 and 8.9).
func (s *sensor) readVictim(i int, v *model.Victim, at [3]float64) float64 {
	d := s.device.spec
	away := length(at)
	if away > d.Range || !ahead(at, away, d.FOV) {
		return 0
	}
	f := Found{Tag: i, Name: UnknownVictim, State: UnknownVictim, At: at}
	switch {
	case away > d.Near:
	case v.False:
		f.Name = FalseVictim
	default:
		if f.Name = v.Name; away <= d.Nearest && v.State != "" {
			f.State = v.State
		}
	}
	s.notify(f)
	return 1
}

// notify calls the listener, if there is one.
func (s *sensor) notify(f Found) {
	if listener := s.robot.found[s.number]; listener != nil {
		listener(f)
	}
}

// ahead reports whether a place lies within a field of view about the x axis.
func ahead(at [3]float64, away, fov float64) bool {
	return fov >= 2*math.Pi || at[0] >= away*math.Cos(fov/2)
}

// loudestVoice is the loudest voice here and how long it lasts: loudness falls with the square of the distance.
func (s *sensor) loudestVoice(victims []model.Victim, ear [3]float64) (loud, lasts float64) {
	now := s.robot.scene.now.Seconds()
	for i := range victims {
		v := &victims[i]
		if !(v.Loudness > 0) || math.Mod(now, v.Call+v.Pause) >= v.Call {
			continue
		}
		away := length([3]float64{v.At[0] - ear[0], v.At[1] - ear[1], v.At[2] - ear[2]})
		const nearest = 0.1 // m: an ear has a size
		if l := v.Loudness / math.Pow(math.Max(away, nearest), 2); l > loud {
			loud, lasts = l, v.Call
		}
	}
	if loud > 0 {
		loud = s.device.measured(loud)
	}
	return loud, lasts
}

// The motion for which the human-motion sensor reports certainty: a hand near it that moves at least this far and fast.
const (
	surelyFar  = 0.2 // m
	surelyFast = 0.5 // m/s
	halfAway   = 4.0 // m, where the probability has fallen to a half
)

// motion is the probability that the nearest moving thing in view is human: from its distance, and the speed and the
// amplitude of its motion (manual 8.11.1, which names these and leaves the formula open).
func (s *sensor) motion(victims []model.Victim, back *hal.Pose) float64 {
	d := s.device.spec
	nearest, p := math.Inf(1), 0.0
	for i := range victims {
		v := &victims[i]
		at := back.Of(v.At)
		away := length(at)
		if !(v.Amplitude > 0) || away > d.Range || away >= nearest || !ahead(at, away, d.FOV) {
			continue
		}
		nearest = away
		speed := 2 * math.Pi * v.Amplitude / v.Period
		p = math.Min(1, v.Amplitude/surelyFar) * math.Min(1, speed/surelyFast) / (1 + math.Pow(away/halfAway, 2))
	}
	if p > 0 {
		p = math.Max(0, math.Min(1, s.device.measured(p)))
	}
	return p
}

func length(v [3]float64) float64 {
	return math.Sqrt(dot(v, v))
}
