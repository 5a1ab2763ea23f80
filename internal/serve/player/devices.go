package player

import (
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/autopilot"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/protocols/player"
	"github.com/halyard-robotics/halyard/sim"
	"github.com/halyard-robotics/halyard/sim/model"
)

// deviceOf is a sensor of agent i as its model has it, or nil.
func deviceOf(sys *assembly.System, i int, name string) *model.Device {
	m := sys.Plan.Agents[i].Robot
	if m == nil {
		return nil
	}
	for k := range m.Sensors {
		if m.Sensors[k].Name == name {
			return m.Sensors[k].Device
		}
	}
	return nil
}

// addDevices adds what agent i has beyond its model: lights, readers of tags and victims and, under water, a pilot.
func addDevices(sys *assembly.System, i int, r *player.Robot) (err error) {
	var body *sim.Body
	if r.Agent.BodyKind() != hal.Real {
		body = sys.Scene.Body(r.Agent.Name())
	}
	addLights(sys, i, body, r)
	sys.Rig.BetweenCycles(func() { addReaders(sys, i, body, r) })
	if plan.Afloat(r.Agent.Layout()) {
		var pilot *autopilot.Pilot
		if pilot, err = sys.Pilot(r.Agent); err == nil {
			r.Agent.SetAutopilot(pilot)
			r.Flyer = flyer{pilot, r.Agent}
		}
	}
	return err
}

// flyer flies an agent once the sensors that its pilot needs are there.
type flyer struct {
	*autopilot.Pilot
	agent *hal.Agent
}

func (f flyer) Fly(linear, angular [3]float64) error {
	if err := f.check(); err != nil {
		return err
	}
	return f.Pilot.Fly(linear, angular)
}

func (f flyer) Go(to hal.Pose) error {
	if err := f.check(); err != nil {
		return err
	}
	return f.Pilot.Go(to)
}

func (f flyer) check() error {
	if f.Armed() { // it goes on: its laws let the thrusters rest without an attitude
		return nil
	}
	return f.Check(f.agent)
}

// addLights makes switches of the lights of the config, by name; else of the simulated robot's headlight.
func addLights(sys *assembly.System, i int, body *sim.Body, r *player.Robot) {
	var names []string
	for _, p := range sys.Plan.Lights {
		if p.Agent == i {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if light := sys.Light(r.Agent.Name(), name); light != nil {
			r.Switches = append(r.Switches, light)
		}
	}
	if m := sys.Plan.Agents[i].Robot; len(r.Switches) == 0 && body != nil && m != nil && m.Rescue != nil &&
		m.Rescue.Headlight {
		r.Switches = []player.Switch{body}
	}
}

// addReaders listens to the agent's readers, devices and simulated ones, at a cycle's edge.
func addReaders(sys *assembly.System, i int, body *sim.Body, r *player.Robot) {
	l := r.Agent.Layout()
	for k := range l.Sensors {
		s := &l.Sensors[k]
		if s.Kind != "rfid" && s.Kind != "victim" {
			continue
		}
		seen := &sightings{}
		found := false
		if source, ok := sys.Sources[plan.JointRef{Agent: i, Joint: k}].(catalog.Tagged); ok {
			// a device reports only a tag's number
			found = source.Listen(func(tag int) {
				seen.put(tag, &player.Tag{Number: tag, Text: strconv.Itoa(tag), Place: s.Mount})
			})
		} else if body != nil {
			found = body.Listen(k, func(f sim.Found) { seen.put(f.Tag, tagOf(s, f)) }) == nil
		}
		switch {
		case !found:
		case s.Kind == "rfid":
			r.Tags = joined(r.Tags, seen.list)
		default:
			r.Victims = joined(r.Victims, seen.list)
			if d := deviceOf(sys, i, s.Name); d != nil {
				r.VictimRange, r.VictimAngle = d.Range, d.FOV
			}
		}
	}
}

// unidentified is the number of a victim that the reader is not near enough to know.
const unidentified = -1

// tagOf is what the scene's reader s found, in the robot's axes; nil for a false alarm that it has recognised.
func tagOf(s *hal.Sensor, f sim.Found) *player.Tag {
	t := &player.Tag{Number: f.Tag, Text: strconv.Itoa(f.Tag),
		Place: s.Mount.Times(hal.Pose{Position: f.At, Rotation: [4]float64{1}})}
	switch {
	case s.Kind != "victim":
	case f.Name == sim.FalseVictim:
		return nil
	case f.Name == sim.UnknownVictim:
		t.Number = unidentified
	}
	return t
}

// joined is what two readers have in reach.
func joined(a, b func(time.Duration) []player.Tag) func(time.Duration) []player.Tag {
	if a == nil {
		return b
	}
	return func(now time.Duration) []player.Tag { return append(a(now), b(now)...) }
}

// sightings are the tags that a reader has in reach: a tag stays for keep after it was last read, since some readers
// report it once. The reader puts, sessions list.
type sightings struct {
	mu  sync.Mutex
	all []sighting
}

type sighting struct {
	key   int // which one, also before the reader can identify it
	tag   player.Tag
	fresh bool          // read since list was called
	at    time.Duration // when list found it fresh
}

const (
	keep         = time.Second
	maxSightings = 64
)

// put notes that key is in reach as t; nil is not to be listed.
func (q *sightings) put(key int, t *player.Tag) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.all = slices.DeleteFunc(q.all, func(s sighting) bool { return s.key == key })
	if t == nil {
		return
	}
	if len(q.all) == maxSightings {
		q.all = slices.Delete(q.all, 0, 1)
	}
	q.all = append(q.all, sighting{key: key, tag: *t, fresh: true})
}

// list are the tags in reach at now, the rig's time.
func (q *sightings) list(now time.Duration) (tags []player.Tag) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.all = slices.DeleteFunc(q.all, func(s sighting) bool { return !s.fresh && (now-s.at > keep || now < s.at) })
	for i := range q.all {
		if s := &q.all[i]; s.fresh {
			s.fresh, s.at = false, now
		}
		tags = append(tags, q.all[i].tag)
	}
	return tags
}
