package dashboard

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/kinematics"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/protocols/topics"
	"github.com/halyard-robotics/halyard/internal/record"
	"github.com/halyard-robotics/halyard/internal/serve/bridges"
)

const (
	// sampleInterval is how old a sample may be that another tab has caused.
	sampleInterval = 15 * time.Millisecond
	maxContacts    = 32 // of a rig that are shown
	poseValues     = 7  // position, then w x y z
)

// Source is one rig that is shown.
type Source struct {
	Rig     *hal.Rig
	System  *assembly.System // nil for a rig without a scene and lines
	Journal *Journal         // of the rig's log; nil = none
	Taps    *record.Taps     // on the rig's lines; nil = none
}

// shown is the sampled state of a rig. The cycle takes its lock to copy the poses when a sample has requested a copy.
type shown struct {
	Source
	session *hal.Session
	journal *Journal
	quiet   []hal.EventID // of every cycle
	tracer  tracer
	cycled  atomic.Int64 // Unix time of the last cycle, ns
	free    atomic.Int64 // of the last one without a latched stop

	mu       sync.Mutex
	due      bool
	poses    []hal.Pose
	contacts [maxContacts][3]float64
	touching int
	hand     push
}

// quietEvents occur in every cycle.
var quietEvents = []string{"/Control/NextStep", "/Control/StepCompleted", "/Control/TryCompleted"}

func newShown(s Source, j *Journal) *shown {
	r := &shown{Source: s, journal: j, tracer: tracer{ended: make(chan struct{}, 1)}}
	for _, name := range quietEvents {
		if id, ok := s.Rig.Events().Lookup(name); ok {
			r.quiet = append(r.quiet, id)
		}
	}
	r.session = s.Rig.NewSession("dashboard", r)
	return r
}

func (r *shown) Cycle(c *hal.Cycle) {
	now := time.Now()
	r.cycled.Store(now.UnixNano())
	if !r.Rig.Latched() {
		r.free.Store(now.UnixNano())
	}
	for _, e := range c.Events {
		if !slices.Contains(r.quiet, e) {
			r.journal.Add("event", r.Rig.Events().Name(e))
		}
	}
	if r.tracer.active.Load() {
		signal(r.tracer.ended)
	}
	if r.System == nil || !r.mu.TryLock() { // a sample is being taken: the next cycle has newer poses
		return
	}
	defer r.mu.Unlock()
	r.touch(now)
	if r.due {
		r.copy()
	}
}

// Deferrable implements hal.Deferrable: a sample calls the agents first, which runs deferred cycles. A trace needs each
// cycle in time.
func (r *shown) Deferrable() bool { return !r.tracer.active.Load() }

// copy copies the poses between cycles. Under the lock.
func (r *shown) copy() {
	r.due = false
	r.poses = r.System.Scene.Poses(r.poses)
	r.touching = r.System.Scene.Contacts(r.contacts[:])
}

// refresh copies the poses now: after a change of the scene, and while no cycle passes.
func (r *shown) refresh() {
	if r.System != nil {
		r.Rig.BetweenCycles(func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.copy()
		})
	}
}

// subject is the sampled state of an agent.
type subject struct {
	rig   int
	agent *hal.Agent
	robot *topics.Robot
	kinds []configs.BodyKind // one an actuator
	kind  string             // of the whole: sim, emulated, real or mixed
	first int                // its measured values; then the ages of devices, the states and the goals of actuators
	ghost int                // index of the first pose of its twin's links; hal.None without a twin
	aim   int                // index of the first pose of its links at the goals of its joints; hal.None without a tree
	// The physics does not move a robot whose joints are all real: its links follow from its measured joints. bodies
	// are those of the scene, one a link.
	bodies  []int
	place   hal.Pose
	state   *kinematics.State // nil if not needed
	real    bool
	shadows []int // measured minus the twin's position, one an actuator, or hal.None; nil without a twin

	measured []float64
	drawn    []float64 // measured, as it was known last
	status   []hal.Status
	goals    []hal.Goal
}

// length is how many values an agent with this layout has.
func length(l *hal.Layout) int {
	return len(l.Outputs) + len(l.Infos) + l.Devices() + 3*len(l.Actuators)
}

func newSubject(r *shown, rig int, a *hal.Agent, parts []hal.Part) *subject {
	s := &subject{rig: rig, agent: a, kind: a.BodyKind().String(), ghost: hal.None,
		aim: hal.None}
	s.kinds = slices.Repeat([]configs.BodyKind{configs.BodyKind(s.kind)}, len(a.Layout().Actuators))
	if r.System == nil {
		s.robot = &topics.Robot{Rig: r.Rig, Agent: a}
		return s
	}
	s.robot = bridges.RobotOf(r.System, a.Name())
	if p := r.System.Plan.Agent(a.Name()); p != nil {
		for k := range min(len(p.Joints), len(s.kinds)) {
			s.kinds[k] = p.Joints[k].Body
		}
		s.place = plan.PoseOf(p.Config.Pose)
	}
	if len(s.robot.Tree) == 0 { // it was spawned
		r.Rig.BetweenCycles(func() {
			if b := r.System.Scene.Body(a.Name()); b != nil {
				bridges.Describe(s.robot, b.Model())
			}
		})
	}
	if len(slices.Compact(slices.Clone(s.kinds))) > 1 {
		s.kind = "mixed"
	}
	s.findTwin()
	s.real = s.kind == string(configs.Real)
	if len(s.robot.Tree) > 0 {
		s.state = s.robot.Tree.NewState()
		for i := range s.robot.Tree {
			s.bodies = append(s.bodies, slices.Index(parts, hal.Part{Agent: a.Name(), Body: s.robot.Tree[i].Name}))
		}
	}
	return s
}

// findTwin finds the channels of a twin.
func (s *subject) findTwin() {
	l := s.agent.Layout()
	for i := range l.Actuators {
		at := hal.None
		for k := range len(l.Outputs) + len(l.Infos) {
			if l.Measured(k).Name == l.Actuators[i].Name+"/shadow_error" {
				at = k
				s.shadows = slices.Grow(s.shadows, len(l.Actuators))
			}
		}
		if s.shadows != nil {
			s.shadows = append(s.shadows, at)
		}
	}
}

// read copies an agent's newest values. The ages are those at rig time now.
func (s *subject) read(to []float32, now time.Duration) {
	s.measured, s.status, s.goals = s.agent.Measured(s.measured), s.agent.Status(s.status), s.agent.Goals(s.goals)
	l := s.agent.Layout()
	now = max(now, newest(s.status)) // a cycle has ended since
	for i := range s.measured {
		to[i] = float32(s.measured[i])
	}
	to = to[len(s.measured):]
	for i := range s.status {
		to[i] = float32(math.NaN())
		if s.status[i].Time >= 0 {
			to[i] = float32((now - s.status[i].Time).Seconds())
		}
	}
	to = to[len(s.status):]
	for i := range l.Actuators {
		to[3*i] = float32(s.agent.JointState(i))
		to[3*i+1], to[3*i+2] = float32(s.goals[i].Mode), float32(s.goals[i].Value)
	}
}

// forward computes the link poses of a real robot from its joints, in poses. It fills in ghost for a twin, and aim for
// goals.
func (s *subject) forward(poses []hal.Pose, ghost, aim []float32) {
	l := s.agent.Layout()
	if s.real {
		frame := s.place
		switch p, _, _, ok := s.robot.Sample().Pose(); {
		case ok && p.Position[2] == 0: // odometry, which begins where the robot was put
			frame = frame.Times(p)
		case ok: // the root's place in the world
			frame = p.Times(s.robot.Tree[0].Home.Inverse())
		}
		s.chain(frame, func(i int) float64 { return s.value(l.Actuators[i].Position) })
		for i, b := range s.bodies {
			if b >= 0 && b < len(poses) {
				poses[b] = s.state.Poses[i]
			}
		}
	}
	for i := range aim {
		aim[i] = float32(math.NaN())
	}
	root := s.bodies[0]
	if root < 0 || root >= len(poses) {
		return
	}
	frame := poses[root].Times(s.robot.Tree[0].Home.Inverse()) // both ghosts have the robot's root pose
	if s.shadows != nil {
		s.chain(frame, func(i int) float64 { return s.value(l.Actuators[i].Position) - s.value(s.shadows[i]) })
		s.putPoses(ghost)
	}
	if s.underWay() {
		s.chain(frame, func(i int) float64 {
			if g := s.goals[i]; g.Mode == hal.PositionMode && !math.IsNaN(g.Value) {
				return g.Value
			}
			return s.value(l.Actuators[i].Position)
		})
		s.putPoses(aim)
	}
}

// awayFromGoal is how far a joint is from its goal, rad or m, for the goal to be drawn.
const awayFromGoal = 0.03

// underWay reports whether a joint is not at its position goal.
func (s *subject) underWay() bool {
	for i := range s.goals {
		k := s.agent.Layout().Actuators[i].Position
		if s.goals[i].Mode == hal.PositionMode && k != hal.None &&
			math.Abs(s.goals[i].Value-s.value(k)) > awayFromGoal {
			return true
		}
	}
	return false
}

// value is measured channel k as it was known last; 0 for hal.None.
func (s *subject) value(k int) float64 {
	for len(s.drawn) < len(s.measured) {
		s.drawn = append(s.drawn, 0)
	}
	if k == hal.None {
		return 0
	}
	if !math.IsNaN(s.measured[k]) {
		s.drawn[k] = s.measured[k]
	}
	return s.drawn[k]
}

// chain places the links by the place of the robot's frame and the positions of the joints.
func (s *subject) chain(frame hal.Pose, position func(joint int) float64) {
	n := len(s.agent.Layout().Actuators)
	at := make([]float64, 2*n)
	for i := range n {
		at[i] = position(i)
	}
	if frame.Rotation == [4]float64{} {
		frame.Rotation[0] = 1
	}
	s.robot.Tree.Forward(s.state, at[:n], at[n:], frame, [3]float64{}, [3]float64{})
}

func (s *subject) putPoses(to []float32) {
	for i := range s.bodies {
		putPose(to[poseValues*i:], &s.state.Poses[i])
	}
}

func putPose(to []float32, p *hal.Pose) {
	for axis := range 3 {
		to[axis] = float32(p.Position[axis])
	}
	for axis := range 4 {
		to[3+axis] = float32(p.Rotation[axis])
	}
}

func newest(list []hal.Status) (t time.Duration) {
	for i := range list {
		t = max(t, list[i].Time)
	}
	return t
}

// sample is the state of all rigs at one time. It is immutable.
type sample struct {
	taken      time.Time
	generation uint32
	times      []time.Duration // one a rig
	values     []float32
	flags      byte
}

// now is the rig's time, and in real time what has passed since the cycle that is missing: a rig whose cycle or whose
// devices are all silent has no new readings.
func (r *shown) now(at time.Time) time.Duration {
	var stats hal.Stats
	r.Rig.Stats(&stats)
	if last := r.cycled.Load(); last != 0 && r.Rig.Mode() == hal.Realtime {
		stats.Time += max(0, at.Sub(time.Unix(0, last))-r.Rig.Period())
	}
	return stats.Time
}

// sampler takes samples. Concurrent requests get the same sample.
type sampler struct {
	mu       sync.Mutex
	rigs     []*shown
	agents   []*subject
	scenes   []int // where the contacts and poses of a rig begin
	changes  []int // of its scene
	bodies   [][]hal.Part
	length   int
	newest   *sample
	made     uint32
	layout   []byte // the text
	describe func() []byte
}

// take returns a sample that is at most sampleInterval old.
func (s *sampler) take() (*sample, []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.newest != nil && now.Sub(s.newest.taken) < sampleInterval {
		return s.newest, s.layout
	}
	s.arrange()
	out := &sample{taken: now, generation: s.made, times: make([]time.Duration, len(s.rigs)),
		values: make([]float32, s.length)}
	ages := make([]time.Duration, len(s.rigs))
	for i, r := range s.rigs {
		ages[i] = r.now(now)
		if r.Rig.Latched() {
			out.flags = frameStopped
		}
	}
	for _, a := range s.agents {
		a.read(out.values[a.first:], ages[a.rig])
		out.times[a.rig] = max(out.times[a.rig], newest(a.status))
	}
	for i, r := range s.rigs {
		s.place(i, r, out.values)
	}
	s.newest = out
	return out, s.layout
}

// place fills in the contacts and poses of rig i.
func (s *sampler) place(i int, r *shown, values []float32) {
	to := values[s.scenes[i]:]
	r.mu.Lock()
	defer r.mu.Unlock()
	r.due = true // for the next sample
	for k := range maxContacts {
		for axis := range 3 {
			to[3*k+axis] = float32(math.NaN())
			if k < r.touching {
				to[3*k+axis] = float32(r.contacts[k][axis])
			}
		}
	}
	for _, a := range s.agents {
		if a.rig == i && a.state != nil {
			var ghost []float32
			if a.ghost != hal.None {
				ghost = values[a.ghost:]
			}
			a.forward(r.poses, ghost, values[a.aim:a.aim+poseValues*len(a.bodies)])
		}
	}
	to = to[3*maxContacts:]
	for k := range min(len(s.bodies[i]), len(r.poses)) {
		putPose(to[poseValues*k:], &r.poses[k])
	}
}

// arrange computes the layout of the values after agents were added or removed, or scenes have changed.
func (s *sampler) arrange() {
	same := s.layout != nil
	var agents []*hal.Agent
	var rigs []int // of the agents
	for i, r := range s.rigs {
		for _, a := range r.Rig.Agents() {
			agents, rigs = append(agents, a), append(rigs, i)
		}
		same = same && (r.System == nil || r.System.Scene.Changes() == s.changes[i])
	}
	if same && slices.EqualFunc(agents, s.agents, func(a *hal.Agent, b *subject) bool { return a == b.agent }) {
		return
	}
	s.agents, s.length = nil, 0
	for i, r := range s.rigs {
		if r.System != nil {
			s.changes[i] = r.System.Scene.Changes()
			r.Rig.BetweenCycles(func() { s.bodies[i] = r.System.Scene.Parts() })
		}
	}
	for i, a := range agents {
		sub := newSubject(s.rigs[rigs[i]], rigs[i], a, s.bodies[rigs[i]])
		sub.first = s.length
		s.length += length(a.Layout())
		if sub.shadows != nil && sub.state != nil {
			sub.ghost = s.length
			s.length += poseValues * len(sub.bodies)
		}
		if sub.state != nil {
			sub.aim = s.length
			s.length += poseValues * len(sub.bodies)
		}
		s.agents = append(s.agents, sub)
	}
	for i, r := range s.rigs {
		s.scenes[i] = s.length
		s.length += 3*maxContacts + poseValues*len(s.bodies[i])
		r.refresh()
	}
	s.made++
	s.layout = s.describe()
}

// list are the agents as they are now.
func (s *sampler) list() []*subject {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.arrange()
	return s.agents
}

// find returns an agent of a rig, or nil.
func (s *sampler) find(rig int, agent string) *subject {
	for _, a := range s.list() {
		if a.rig == rig && a.agent.Name() == agent {
			return a
		}
	}
	return nil
}
