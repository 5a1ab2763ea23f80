package gamebots

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

// link is a session's robot. The session's reader owns it; the rig's Cycle and the session's writer share what mu and
// the atomics guard.
type link struct {
	robot   *Robot
	agent   *hal.Agent
	lease   *hal.Lease
	layout  *hal.Layout
	life    int // Layout.Sensors of kind battery, or hal.None
	dialect *currentDialect
	groups  []group
	all     []item
	fov     []float64   // of each camera, as it was set
	joints  []float64   // the reader's buffer for measured values
	lit     atomic.Bool // the headlight
	drained atomic.Bool // the battery is empty

	mu         sync.Mutex
	fresh      sample
	taken      sample // the writer's; changes places with fresh
	primed     bool
	time       time.Duration // rig time of the last cycle
	born       time.Duration // rig time of the first cycle
	status     time.Duration // rig time at which STA and MIS are due
	asked      []bool        // of each group: SCAN
	hits       []Hit         // the cycle's room
	found      []Hits        // of each of the robot's readers: the hits to send
	hitsToSend []Hit         // the writer's room
	seen       []BodyPart    // scratch of parts
}

// group is the sensors of one message: all of a type that are sent together, or a single one.
type group struct {
	kind       string // of the layout
	members    []int  // of Robot.Sensors
	manual     bool
	every, due time.Duration
}

// sample is the measurements of a cycle in which a message was due.
type sample struct {
	time     time.Duration
	status   bool
	due      []bool // of each group
	measured []float64
}

// combined reports whether the sensors of a kind share one message.
func combined(kind string) bool {
	return kind == "sonar" || kind == "infrared" || kind == "encoder" || kind == "contact"
}

// newLink returns a link that is ready for cycles. It drops earlier hits of r's readers: they belong to the last
// client.
func newLink(r *Robot, a *hal.Agent, lease *hal.Lease, dialect *currentDialect) *link {
	k := &link{robot: r, agent: a, lease: lease, layout: a.Layout(), life: hal.None, dialect: dialect}
	for i := range k.layout.Sensors {
		if k.layout.Sensors[i].Kind == "battery" {
			k.life = i
		}
	}
	k.found, k.hits, k.hitsToSend = make([]Hits, len(r.Sensors)), make([]Hit, 0, maxHits), make([]Hit, 0, maxHits)
	for i := range r.Sensors {
		k.group(i)
		if r.Sensors[i].Hits != nil {
			k.hits = r.Sensors[i].Hits.drain(k.hits) // of the time before
		}
	}
	n := len(k.layout.Outputs) + len(k.layout.Infos)
	// sized once: the cycle allocates nothing
	for _, s := range []*sample{&k.fresh, &k.taken} {
		s.due, s.measured = make([]bool, len(k.groups)), make([]float64, n)
	}
	k.asked, k.all = make([]bool, len(k.groups)), k.items()
	for i := range r.Cameras {
		k.fov = append(k.fov, r.Cameras[i].Default)
	}
	if r.Light != nil {
		k.lit.Store(r.Light.Lit())
	}
	return k
}

// group puts sensor i of the robot into the message that it belongs to.
func (k *link) group(i int) {
	s := &k.robot.Sensors[i]
	kind := k.layout.Sensors[s.Index].Kind
	every := s.Interval
	protocols.Positive(&every, k.robot.Interval)
	manual := s.Manual && kind == "range"
	for g := range k.groups {
		have := &k.groups[g]
		first := &k.robot.Sensors[have.members[0]]
		if combined(kind) && have.kind == kind && first.Type == s.Type && first.TimeStamp == s.TimeStamp &&
			have.every == every {
			have.members = append(have.members, i)
			return
		}
	}
	k.groups = append(k.groups, group{kind: kind, members: []int{i}, manual: manual, every: every})
}

// cycle copies the measurements if a report is due, and reports whether one is due. It runs under the rig's lock and
// waits only for a writer that swaps two samples.
func (k *link) cycle(f *hal.Frame) (due bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := f.Time
	if !k.primed {
		k.primed, k.born, k.status = true, now, now
		for i := range k.groups {
			k.groups[i].due = now
		}
	}
	k.time = now
	if now >= k.status {
		due, k.fresh.status = true, true
		k.status = next(k.status, now, k.robot.Interval)
	}
	for i := range k.groups {
		g := &k.groups[i]
		if g.manual && !k.asked[i] || !g.manual && now < g.due {
			continue
		}
		due, k.fresh.due[i], k.asked[i] = true, true, false
		g.due = next(g.due, now, g.every)
		k.collect(g)
	}
	// one copy for all that is due: the messages of one instant belong together
	if due {
		k.fresh.time = now
		copy(k.fresh.measured, f.Measured)
	}
	if k.life != hal.None {
		k.drained.Store(f.Measured[k.layout.Sensors[k.life].First] <= 0)
	} else {
		k.drained.Store(now-k.born >= k.robot.BatteryLife)
	}
	return due
}

// collect stores the hits of a group's readers up to now; later hits belong to another message. Hits that the writer
// has not sent yet are kept, since a tag may answer only once.
func (k *link) collect(g *group) {
	for _, i := range g.members {
		if from := k.robot.Sensors[i].Hits; from != nil {
			k.hits = from.drain(k.hits)
			for _, h := range k.hits {
				k.found[i].Put(h)
			}
		}
	}
}

// next is the first time of the grid after now; a grid that was missed begins again.
func next(due, now, every time.Duration) time.Duration {
	if due += every; due <= now {
		due = now + every
	}
	return due
}

// swapSample changes the samples and returns the newest, which is the writer's until the next call.
func (k *link) swapSample() *sample {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fresh, k.taken = k.taken, k.fresh
	// the messages due in the taken sample are sent now; the other sample starts without any
	k.fresh.status = false
	clear(k.fresh.due)
	return &k.taken
}

// scan requests the message of sensor i, which is Manual.
func (k *link) scan(i int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for g := range k.groups {
		if k.groups[g].members[0] == i && k.groups[g].kind == "range" {
			k.asked[g] = true
			k.groups[g].due = 0 // of an automatic one: now
			return true
		}
	}
	return false
}

// now is the rig time of the last cycle.
func (k *link) now() time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.time
}

// battery appends the running time left at s, whole seconds; nothing where it is not known.
func (k *link) battery(t *text, s *sample) {
	left := (k.robot.BatteryLife - (s.time - k.born)).Seconds()
	if k.life != hal.None {
		left = s.measured[k.layout.Sensors[k.life].First]
	}
	if !math.IsNaN(left) {
		t.integerSegment("Battery", int(math.Max(0, left)))
	}
}

// refusal appends the state of a robot that no command moves; the original had none.
func (k *link) refusal(t *text) {
	if k.agent.Ready() != nil {
		t.segment("State", k.agent.State().String())
	}
}

// angle is the measured angle of joint i, NaN where it is not known.
func (k *link) angle(i int, measured []float64) float64 {
	return hal.At(measured, k.layout.Actuators[k.robot.Joints[i].Actuator].Position)
}

// measuredAngle is angle for a goal that is relative to it: an unknown one is an error.
func (k *link) measuredAngle(i int, measured []float64) (float64, error) {
	angle := k.angle(i, measured)
	if math.IsNaN(angle) {
		return angle, fmt.Errorf("joint %q: %w", k.robot.Joints[i].Name, errUnmeasured)
	}
	return angle, nil
}
