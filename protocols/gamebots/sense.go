package gamebots

import (
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
)

// sen is the message of one group, on UDK one a sensor; a message of which no value is known is left out.
func (k *link) sen(t *text, s *sample, g *group) {
	if k.dialect.get() == udk {
		for i := range g.members {
			k.message(t, s, g, g.members[i:i+1])
		}
		return
	}
	k.message(t, s, g, g.members)
}

// message is that of some members of a group.
func (k *link) message(t *text, s *sample, g *group, members []int) {
	start := len(t.b)
	first := &k.robot.Sensors[members[0]]
	t.begin("SEN")
	if k.timed(first, g.kind) {
		decimals := coarse
		if k.dialect.get() == udk {
			decimals = fine
		}
		t.numberSegment("Time", s.time.Seconds(), decimals)
	}
	t.segment("Type", first.Type)
	sent := false
	for _, i := range members {
		sensor := &k.robot.Sensors[i]
		c := &k.layout.Sensors[sensor.Index]
		v := s.measured[c.First : c.First+c.Count]
		if g.kind == "range" || g.kind == "sonar" || g.kind == "infrared" {
			k.reach(v, c.First)
		}
		if k.sense(t, i, g.kind, v) {
			sent = true
		}
	}
	if !sent {
		t.b = t.b[:start]
		return
	}
	t.end()
}

// reach sets rays without an echo to the sensor's maximum range, as in the protocol. Rays that a scan has lost stay
// unknown: a client would drive into the space that they did not see.
func (k *link) reach(v []float64, channel int) {
	for i := range v {
		v[i] = math.Min(v[i], k.layout.Measured(channel+i).Max) // NaN stays
	}
}

// sense appends the part of one of the robot's sensors, {Name n} first, and reports whether there is a value to send. v
// has at least the channels of the kind (Robot.complete).
func (k *link) sense(t *text, of int, kind string, v []float64) bool {
	sensor := &k.robot.Sensors[of]
	if !slices.ContainsFunc(v, func(x float64) bool { return !math.IsNaN(x) }) {
		return false
	}
	if sensor.Parts != nil {
		return k.parts(t, sensor)
	}
	switch kind {
	case "rfid", "victim":
		return k.tags(t, of, kind == "victim")
	case "sonar", "infrared", "encoder", "contact":
		t.open()
		t.word("Name", sensor.Name)
		k.part(t)
		switch kind {
		case "encoder":
			t.integer("Tick", int(math.Max(-greatest, math.Min(greatest, v[0]))))
		case "contact":
			t.truth("Touch", v[0] != 0)
		default:
			t.number("Range", v[0], fine)
		}
		t.close()
		return true
	}
	t.segment("Name", sensor.Name)
	switch kind {
	case "range":
		t.numberSegment("Resolution", sensor.Resolution, fine)
		t.numberSegment("FOV", sensor.FOV, fine)
		t.open()
		t.name("Range")
		t.numbers(v, fine)
		t.close()
	case "odometry":
		t.vectorSegment("Pose", flip([3]float64(v)), fine)
	case "inertial":
		t.vectorSegment("Orientation", flip([3]float64(v)), fine) // roll, pitch, yaw turn as x, y, z do
	case "sound":
		t.numberSegment("Loudness", v[0], coarse)
		t.numberSegment("Duration", v[1], coarse)
	case "motion":
		t.numberSegment("Prob", v[0], coarse)
	case "pose", "body": // the later dialects' GroundTruth, INS and GPS
		if sensor.Type == "GPS" {
			gps(t, flip([3]float64(v)))
			break
		}
		var at, q = [3]float64(v), [4]float64{}
		if hal.FillNaN(q[:]); kind == "pose" {
			q = [4]float64(v[3:])
		}
		t.vectorSegment("Location", flip(at), fine)
		t.vectorSegment("Orientation", angles(q), fine)
	default:
		t.numberSegment("Value", v[0], fine)
	}
	return true
}

// part ends the segment of a name where a dialect has one a value.
func (k *link) part(t *text) {
	if k.dialect.get() == udk {
		t.close()
		t.open()
	}
}

// parts appends the body parts that a victim sensor sees now; without any the message has no name, as in the original.
func (k *link) parts(t *text, sensor *Sensor) bool {
	k.seen = sensor.Parts.append(k.seen)
	for i := range k.seen {
		if i == 0 {
			t.segment("Name", sensor.Name)
		}
		t.segment("PartName", k.seen[i].Name)
		t.vectorSegment("Location", flip(k.seen[i].At), coarse)
	}
	if len(k.seen) == 0 {
		t.segment("Status", "NoVictims")
	}
	return true
}

// tags appends the tags that a reader has found up to now.
func (k *link) tags(t *text, of int, victims bool) bool {
	if k.hitsToSend = k.found[of].drain(k.hitsToSend); len(k.hitsToSend) == 0 {
		return false
	}
	t.segment("Name", k.robot.Sensors[of].Name)
	for i := range k.hitsToSend {
		h := &k.hitsToSend[i]
		t.segment("ID", h.ID)
		if victims {
			t.segment("State", h.State)
		}
		t.vectorSegment("Location", flip(h.At), coarse)
	}
	return true
}
