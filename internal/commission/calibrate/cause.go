package calibrate

import (
	"cmp"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/sim/identify"
	"github.com/halyard-robotics/halyard/internal/sim/twin"
)

// A joint that differs is recorded for as long as halyard twin would move it, then judged, and again after a while.
const (
	judgeEvery  = 0.01 // s between two samples, at least
	judgeAgain  = 60.0 // s
	smoothRows  = 5    // on either side, of a joint's acceleration
	judgeMotion = 0.15 // rad that its goal must have moved: a joint at rest shows no cause
)

// window is what all joints of an agent did while one of them differed: rows of one value a joint.
type window struct {
	of     *causes
	began  float64 // s since the start
	n      int
	times  []float64
	values [recorded][]float64
	wanted bool // the last row has no goal yet
}

// What a row has, of each joint.
const (
	position = iota
	goal     // NaN without torque
	effort   // N·m
	volts
	recorded
)

// causes finds why joints of one agent differ from their twins. One window is filled in the cycle, which allocates
// nothing; another is judged in a goroutine of its own.
type causes struct {
	agent  *hal.Agent
	plan   *plan.AgentPlan
	fall   float64 // m/s²
	joints []*residual
	fill   *window
	free   chan *window
	goals  []hal.Goal
	seen   []float64
	next   float64 // s since the start, before which nothing is recorded
	real   bool    // in the room, where no time passes between goals and positions of one cycle
}

// newCauses prepares windows for the joints that have a shadow, for an agent of the plan a.
func newCauses(agent *hal.Agent, a *plan.AgentPlan, fall, period float64) *causes {
	c := &causes{agent: agent, plan: a, fall: fall, free: make(chan *window, 1),
		real: agent.BodyKind() == hal.Real}
	rows, width := int(testSeconds/math.Max(judgeEvery, period))+2, len(a.Layout.Actuators)
	windowed := func() *window {
		w := &window{of: c, times: make([]float64, rows)}
		for k := range w.values {
			w.values[k] = make([]float64, rows*width)
		}
		return w
	}
	c.fill = windowed()
	c.free <- windowed()
	return c
}

// row is the values of one kind in row i.
func (w *window) row(kind, i int) []float64 {
	width := len(w.of.plan.Layout.Actuators)
	return w.values[kind][i*width:][:width]
}

// cycle records after a joint's alarm. A window that is full goes to full, if the one before was judged.
func (c *causes) cycle(clock float64, full chan<- *window) {
	w, differs := c.fill, false
	if len(c.free) == 0 { // the one before is judged first
		w.n = 0
		return
	}
	for _, j := range c.joints {
		if j.differs.Load() == 0 { // an alarm may come and go: what shows only in some poses is judged all the same
			continue
		}
		differs = true
		if v := j.verdict.Load(); v == nil || v.Cause == "" {
			c.next = math.Min(c.next, clock)
		}
	}
	if !differs || clock < c.next {
		w.n = 0
		return
	}
	c.goals, c.seen = c.agent.Goals(c.goals), c.agent.Measured(c.seen)
	if w.n > 0 && w.wanted { // a goal of this cycle was sent after the row before was measured
		w.wanted = false
		if !c.goal(w, w.n-1) {
			w.n = 0
			return
		}
	}
	switch {
	case w.n == 0:
		w.began = clock
	case clock < w.began+w.times[w.n-1]+judgeEvery-1e-9:
		return
	}
	i := w.n
	w.times[i], w.n = clock-w.began, i+1
	for k := range c.plan.Layout.Actuators {
		a := &c.plan.Layout.Actuators[k]
		for kind, channel := range [...]int{position: a.Position, effort: a.Torque, volts: a.Voltage} {
			v := math.NaN()
			if kind != goal && channel != hal.None {
				v = c.seen[channel]
			}
			w.row(kind, i)[k] = v
		}
	}
	w.wanted = !c.real // in the room, the goal of this cycle was sent before the row was measured, at once
	if !c.goal(w, i) {
		w.n = 0
		return
	}
	if w.times[i] < testSeconds && w.n < len(w.times) {
		return
	}
	c.next = clock + judgeAgain
	c.fill = <-c.free
	c.fill.n = 0
	full <- w // which has room for all
}

// goal stores the goals at work in row i; false where one is of another kind than a position.
func (c *causes) goal(w *window, i int) bool {
	for k, g := range c.goals {
		if g.Mode != hal.PositionMode && g.Mode != hal.NoMode {
			return false
		}
		w.row(goal, i)[k] = g.Value
	}
	return true
}

// judge names the cause of each joint that has differed since the window began, and logs it.
func (c *causes) judge(w *window, log *slog.Logger, ended *atomic.Bool) {
	weigh := newGravity(c.plan, c.fall)
	q := make([]float64, len(c.plan.Layout.Actuators))
	for _, j := range c.joints {
		since := j.differs.Load()
		if since == 0 || math.Float64frombits(since) > w.began || ended.Load() {
			continue
		}
		v := twin.Verdict{Size: math.NaN(), Residual: math.NaN(), Explained: math.NaN()} // unknown until judged
		run, why := c.run(w, j.index, weigh, q)
		if v.Words = why; why == "" {
			v = twin.JudgeRunning(run, c.plan.Robot.Joints[j.index].Servo, twin.Noise{})
		}
		before := j.verdict.Load()
		if j.verdict.Store(&v); v.Cause == twin.None {
			j.differs.Store(0)
		}
		if before != nil && before.Words == v.Words {
			continue
		}
		log.Warn("why a joint differs from its twin", "joint", j.joint, "cause", string(v.Cause), "found", v.Words,
			"residual_rad", v.Residual, "explained", v.Explained, "or", string(v.Second))
	}
}

// run returns the recording of joint i in w, or nil and the reason.
func (c *causes) run(w *window, i int, weigh *gravity, q []float64) (r *identify.Run, why string) {
	spec := c.plan.Robot.Joints[i].Servo
	if spec == nil || spec.PositionGain == 0 {
		return nil, "the simulator has no model of its servo's position mode"
	}
	run := gainsOf(c.plan, i, spec)
	run.Name = c.plan.Layout.Actuators[i].Name
	// as it should be
	run.Volts = cmp.Or(c.plan.Robot.SupplyOf(i).Volts, nanZero(w.row(volts, 0)[i]), spec.NominalVolts)
	low, high := math.Inf(1), math.Inf(-1)
	speeds, accelerations := make([]float64, len(q)), make([]float64, len(q))
	for n := range w.n {
		s := identify.Sample{Time: w.times[n], Goal: w.row(goal, n)[i], Position: w.row(position, n)[i],
			Load: w.row(effort, n)[i], Volts: w.row(volts, n)[i]}
		copy(q, w.row(position, n))
		if math.IsNaN(s.Position) {
			return nil, "it was not read all the time"
		}
		for k := range q {
			if math.IsNaN(q[k]) {
				q[k] = 0
			}
		}
		if s.Torque = !math.IsNaN(s.Goal); s.Torque {
			low, high = math.Min(low, s.Goal), math.Max(high, s.Goal)
		} else {
			s.Goal = s.Position
		}
		pull, down, inertia := weigh.pendulum(q, i)
		w.motion(n, speeds, accelerations)
		run.Samples, run.Loads = append(run.Samples, s),
			append(run.Loads, identify.Moved{Pull: pull, Down: down, Inertia: inertia,
				Push: weigh.push(q, speeds, accelerations, i)})
	}
	if !(high-low >= judgeMotion) {
		return nil, fmt.Sprintf("its goal moved by less than %.0f degrees in %d s: more shows why", judgeMotion/degree,
			testSeconds)
	}
	p := &c.plan.Joints[i]
	cal := p.Calibration
	switch {
	case cal == nil && p.Servo == nil:
		return nil, "it has no servo"
	case cal == nil:
		cal = (&Joint{Name: run.Name, Model: p.Servo}).nominal()
	}
	efforts(&run, cal, spec)
	return &run, ""
}

// motion is how fast joints move in row n, rad/s and rad/s², by a parabola through the rows about it; 0 at the ends.
func (w *window) motion(n int, v, a []float64) {
	clear(v)
	clear(a)
	if n < smoothRows || n+smoothRows >= w.n {
		return
	}
	var t2, t4 float64
	mid := w.times[n]
	for k := n - smoothRows; k <= n+smoothRows; k++ {
		t := w.times[k] - mid
		t2, t4 = t2+t*t, t4+t*t*t*t
	}
	rows := float64(2*smoothRows + 1)
	for k := n - smoothRows; k <= n+smoothRows; k++ {
		t := w.times[k] - mid
		for j, q := range w.row(position, k) {
			if math.IsNaN(q) {
				continue
			}
			v[j] += t * q / t2
			a[j] += 2 * (t*t - t2/rows) * q / (t4 - t2*t2/rows)
		}
	}
}

// baseMoves reports that the robot of a walks, drives or swims: the motion of its base turns its joints too, which no
// recording of a joint shows.
func baseMoves(a *plan.AgentPlan) bool { return len(a.Robot.Bodies) > 0 && !a.Robot.Fixed }

// watchCauses makes the causes of every agent whose joints have a shadow, and starts to judge.
func (w *Residuals) watchCauses(r *hal.Rig, c *configs.Config, cat *halyard.Catalog) {
	p, err := plan.Resolve(c, cat)
	if err != nil { // the rig is open all the same: residuals are seen without their causes
		w.log.Warn("no causes of differences from the twin", "fault", err)
		return
	}
	for i := range p.Agents {
		a := &p.Agents[i]
		agent := r.Agent(a.Config.Name)
		if !a.Config.Shadow || agent == nil || a.Robot == nil {
			continue
		}
		if baseMoves(a) {
			for k := range w.joints {
				w.joints[k].loose = w.joints[k].loose || w.joints[k].agent == agent
			}
			continue
		}
		found := newCauses(agent, a, c.World.Gravity, w.period)
		for k := range w.joints {
			if w.joints[k].agent == agent {
				found.joints = append(found.joints, &w.joints[k])
			}
		}
		if len(found.joints) > 0 {
			w.causes = append(w.causes, found)
		}
	}
	w.full = make(chan *window, 2*len(w.causes))
	w.judging.Go(func() {
		for full := range w.full {
			full.of.judge(full, w.log, &w.ended)
			full.of.free <- full
		}
	})
}

// judges is the goroutine that judges, and how it ends.
type judges struct {
	causes  []*causes
	full    chan *window
	judging sync.WaitGroup
	ended   atomic.Bool
}

// close ends the judging after the joint at work. It is called when no cycle records any more.
func (j *judges) close() {
	if j.full == nil {
		return
	}
	j.ended.Store(true)
	close(j.full)
	j.judging.Wait()
}
