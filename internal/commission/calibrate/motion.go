package calibrate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sim/identify"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// How a session moves a joint. All of it passes the robot's guard.
const (
	sweepAngle = 90 * degree // from end to end
	goSpeed    = 0.5         // rad/s
	sweepSpeed = 0.15
	settleTime = 0.6 // s at each end
	endMargin  = 5 * degree
	bins       = 9
	passes     = 3    // at most, until the torque is known well
	leastPull  = 0.02 // N·m: minimum change of the gravity torque
	torqueSure = 0.05 // standard error of the torque constant, as a share, that counts as measured
)

// mover is a stand with torque on.
type mover struct {
	*stand
	goals     map[string]float64
	limits    map[string]float64 // N·m, of joints whose torque is bounded
	q         []float64          // rad, one an actuator
	torqueOff bool
	lost      int                        // cycles since the joint that moves was read
	slew      float64                    // of the guard, share of a joint's speed
	strike    func(*halyard.Agent) error // Guide.strike
}

// motion moves each joint slowly in both directions. Effort against the known gravity torque gives the torque constant;
// the error of the motion is shown for the previous file and for the new one.
func (g *Guide) motion(ctx context.Context) (err error) {
	list := g.missing(func(m *measured) bool { return !m.Moved })
	if len(list) == 0 {
		return nil
	}
	g.screen(6, "torque and check", list)
	text, err := g.choose(ctx, "Torque goes on, and each joint moves slowly after you agreed to it. y goes on, "+
		"Enter leaves this out", "y", "")
	if err != nil {
		return err
	}
	if text == "" {
		for _, j := range list {
			g.notes.of(j.Name).Moved = true
		}
		return g.keep()
	}
	m, err := g.armed(ctx)
	if hal.KindOf(err) == hal.Uncalibrated {
		g.printf("  left out: every joint of %s needs a calibration file first. %v", g.robot.Name, err)
		return nil
	} else if err != nil {
		return err
	}
	defer func() { g.stand = nil; err = errors.Join(err, m.end()) }()
	weigh := newGravity(g.robot.plan, g.robot.Config.World.Gravity)
	for _, j := range list {
		if err := g.moveJoint(ctx, m, weigh, j); err != nil {
			return err
		}
		g.notes.of(j.Name).Moved = true
		if err := g.keep(); err != nil {
			return err
		}
	}
	return g.beforeTorqueOff(ctx, m)
}

// choose prompts until the answer is one of words, of which "" is Enter.
func (g *Guide) choose(ctx context.Context, prompt string, words ...string) (string, error) {
	for {
		text, err := g.ask(ctx, "%s", prompt)
		if err != nil {
			return "", err
		}
		if slices.Contains(words, text) {
			return text, nil
		}
		want := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "" })
		if len(want) < len(words) {
			want = append(want, "Enter")
		}
		g.printf("got %q, want %s", text, strings.Join(want, " or "))
	}
}

// armed opens the robot with its new calibrations, and lets it hold where it is.
func (g *Guide) armed(ctx context.Context) (*mover, error) {
	c, err := g.sessionConfig(g.written)
	if err != nil {
		return nil, err
	}
	return g.arm(ctx, c, g.current)
}

// current is the calibration of j that its file holds, the nominal one if absent.
func (g *Guide) current(j *Joint) *calibration.Joint {
	if c, err := calibration.Load(g.path(j)); err == nil {
		return c
	}
	return j.nominal()
}

// arm opens c, with the calibrations of read, and makes the robot hold its position.
func (g *Guide) arm(ctx context.Context, c *configs.Config, read func(*Joint) *calibration.Joint) (*mover, error) {
	s, err := g.open(ctx, c, read)
	if err != nil {
		return nil, err
	}
	g.stand = s
	m := &mover{stand: s, goals: map[string]float64{}, limits: map[string]float64{}, slew: c.Agents[0].Guard.Slew,
		strike: g.strike}
	for range 10 { // readings become trusted
		err = errors.Join(err, s.step(ctx))
	}
	if err == nil {
		err = s.sys.Arm()
	}
	for _, name := range s.agent.Joints() {
		if at := s.agent.State(name).Position; !math.IsNaN(at) {
			m.goals[name] = at
		}
	}
	if err == nil {
		err = m.wait(ctx, settleTime)
	}
	if !s.real {
		err = errors.Join(err, s.letGo())
	}
	if err == nil {
		err = m.wait(ctx, settleTime)
	}
	if err != nil {
		return nil, errors.Join(err, s.end())
	}
	return m, nil
}

// release switches the torque off, or on again: then the joints hold their present positions.
func (m *mover) release(off bool) error {
	if m.torqueOff == off {
		return nil
	}
	if m.torqueOff = off; off {
		m.rig.Disarm()
		return nil
	}
	for name := range m.goals {
		if at := m.agent.State(name).Position; !math.IsNaN(at) {
			m.goals[name] = at
		}
	}
	return m.sys.Arm()
}

// cycle commands all goals and lets one cycle pass.
func (m *mover) cycle(ctx context.Context) error {
	for name, goal := range m.goals {
		if m.torqueOff {
			break
		}
		command := halyard.Position(goal)
		if limit, ok := m.limits[name]; ok {
			command = command.WithTorqueLimit(limit)
		}
		if err := m.agent.Command(name, command); err != nil {
			return err
		}
	}
	if err := m.step(ctx); err != nil {
		return err
	}
	m.q = m.q[:0]
	for _, name := range m.agent.Joints() {
		m.q = append(m.q, m.agent.State(name).Position)
	}
	return nil
}

func (m *mover) wait(ctx context.Context, seconds float64) error {
	for range int(math.Ceil(seconds / m.period.Seconds())) {
		if err := m.cycle(ctx); err != nil {
			return err
		}
	}
	return nil
}

// commands reports whether a joint in state s accepts commands. A joint that has waited for a person's answer has
// expired, and the next command ends that state.
func commands(s hal.GuardState) bool { return s == hal.Armed || s == hal.Expired }

// lostCycles is how long a joint may go unread, in cycles, before a motion ends: an answer now and then is lost on any
// line.
const lostCycles = 5

// fault returns the reason why a joint does not accept commands, nil if it does.
func (m *mover) fault(s halyard.JointState, torque bool) error {
	switch {
	case torque && !commands(s.Guard):
		return errors.Join(fmt.Errorf("got guard %v, want armed", s.Guard), s.Err)
	case s.Err == nil && !math.IsNaN(s.Position):
		m.lost = 0
		return nil
	}
	if m.lost++; m.lost <= lostCycles {
		return nil
	}
	return errors.Join(fmt.Errorf("got no position for %d cycles", m.lost), s.Err)
}

// to moves a joint to an angle, rad, at speed, rad/s, and calls seen after each cycle. A fault of the joint ends it.
func (m *mover) to(ctx context.Context, joint string, rad, speed float64, seen func(halyard.JointState)) error {
	for m.goals[joint] != rad {
		way := math.Min(math.Abs(rad-m.goals[joint]), speed*m.period.Seconds())
		m.goals[joint] += math.Copysign(way, rad-m.goals[joint])
		if math.Abs(rad-m.goals[joint]) < 1e-9 {
			m.goals[joint] = rad
		}
		if err := m.cycle(ctx); err != nil {
			return err
		}
		s := m.agent.State(joint)
		if err := m.fault(s, true); err != nil {
			return &hal.Error{Kind: hal.Unsafe, Op: "move " + joint, Joint: joint, Err: err, Try: "halyard doctor"}
		}
		if seen != nil {
			seen(s)
		}
	}
	return nil
}

// agree asks for permission to move j between two angles, rad, which the person may change. more handles other answers.
func (g *Guide) agree(ctx context.Context, j *Joint, low, high float64, how string,
	more func(words []string, low, high *float64) bool) (from, to float64, yes bool, err error) {
	for {
		text, err := g.ask(ctx, "%s moves %.0f..%.0f degrees, %s. Enter moves it, LOW HIGH changes the range, n "+
			"leaves it out", j.Name, low/degree, high/degree, how)
		words := strings.Fields(text)
		switch {
		case err != nil || text == "n":
			return low, high, false, err
		case text == "":
			return low, high, true, nil
		case more != nil && more(words, &low, &high):
			continue
		}
		if a, b, ok := twoNumbers(words); ok && b-a >= 10 && a*degree >= j.Limits.MinPosition &&
			b*degree <= j.Limits.MaxPosition {
			low, high = a*degree, b*degree
			continue
		}
		g.printf("got %q, want a pose of this list, with angles 10 degrees apart within %.0f..%.0f", text,
			j.Limits.MinPosition/degree, j.Limits.MaxPosition/degree)
	}
}

// twoNumbers are words that are two numbers; ok is false of others.
func twoNumbers(words []string) (a, b float64, ok bool) {
	if len(words) != 2 {
		return 0, 0, false
	}
	a, err1 := strconv.ParseFloat(words[0], 64)
	b, err2 := strconv.ParseFloat(words[1], 64)
	return a, b, err1 == nil && err2 == nil
}

// moveJoint measures one joint's torque and shows its error of motion.
func (g *Guide) moveJoint(ctx context.Context, m *mover, weigh *gravity, j *Joint) error {
	c, err := calibration.Load(g.path(j))
	if err != nil {
		return err
	}
	weigh.weight = weight{}
	home := append([]float64(nil), m.q...)
	index, joints := m.watched(j.Name).index, m.agent.Layout().Actuators
	low, high := weigh.bestSweep(m.q, index, j.Limits)
	how := "slowly; weight KG METRES sets the load"
	var pose []float64
	if now := weigh.spread(m.q, index, j.Limits); now < wellPull {
		var words string
		if words, pose = weigh.remedy(m.q, index, wellPull, joints); pose != nil {
			how += "; pose moves the other joints first"
		}
		g.printf("  %s: gravity changes by %.3f N m over this motion; %s", j.Name, now, words)
	}
	var moving error
	low, high, yes, err := g.agree(ctx, j, low, high, how, func(words []string, low, high *float64) bool {
		switch {
		case len(words) == 1 && words[0] == "pose" && pose != nil:
			if moving = m.toPose(ctx, pose); moving != nil {
				return true
			}
			pose = nil
		case len(words) > 0 && words[0] == "weight":
			kg, metres, ok := twoNumbers(words[1:])
			if !ok || !(kg > 0 && kg <= 50 && metres > 0 && metres <= 5) {
				return false
			}
			weigh.put(index, kg, metres)
		default:
			return false
		}
		*low, *high = weigh.bestSweep(m.q, index, j.Limits)
		return true
	})
	if err = errors.Join(moving, err); err != nil {
		return err
	}
	if !yes {
		return m.toPose(ctx, home)
	}
	r := sweepResult{low: low, high: high}
	fitted := false
	for pass := 0; pass < passes && (pass < 2 || r.spread > 0 && !(fitted && r.sure < torqueSure/2)); pass++ {
		// two speeds, so that the friction at rest is known
		if err := r.run(ctx, m, weigh, j, c, g.old[j.Name], sweepSpeed*float64(1+pass%2)); err != nil {
			return err
		}
		fitted = r.fit(c)
	}
	g.printf("  %s: mean error of the motion %.2f degrees by the file before, %.2f now", j.Name, r.before/degree,
		r.after/degree)
	if err := g.tellTorque(weigh, m.q, j, c, &r, fitted, index, joints); err != nil {
		return err
	}
	return m.toPose(ctx, home)
}

// tellTorque reports the result of j and writes what was measured into its file; of what was not, it says what would
// help.
func (g *Guide) tellTorque(weigh *gravity, q []float64, j *Joint, c *calibration.Joint, r *sweepResult, fitted bool,
	index int, joints []hal.Actuator) error {
	if !fitted {
		need := wellPull
		if now := weigh.spread(q, index, j.Limits); r.sure > torqueSure {
			need = math.Max(need, 1.2*now*math.Min(6, r.sure/torqueSure))
		}
		words, _ := weigh.remedy(q, index, need, joints)
		g.printf("  %s: torque not measured, it stays %.3f N m a unit: %s; %s", j.Name, c.Torque.Constant, r.why, words)
		return nil
	}
	g.printf("  %s: torque constant %.3f N m a unit of effort (+-%.1f %%), residual %.3f N m, friction at rest %.3f "+
		"N m "+
		"(+-%.3f)", j.Name, r.constant, 100*r.sure, r.residual, r.friction, r.frictionSure)
	g.printf("  %s: by gravity its zero is %+.1f degrees off (+-%.1f)", j.Name, r.lean/degree,
		normal95*r.leanSure/degree)
	if err := g.draw(j.Name+"-torque", r.plot(j.Name)); err != nil {
		return err
	}
	c.Torque = calibration.Torque{Constant: r.constant, Offset: r.offset, Delay: c.Torque.Delay}
	c.Intervals = map[string][2]float64{
		"torque_constant":     {r.constant * (1 - normal95*r.sure), r.constant * (1 + normal95*r.sure)},
		"friction_n_m":        {math.Max(0, r.friction-normal95*r.frictionSure), r.friction + normal95*r.frictionSure},
		"zero_by_gravity_rad": {r.lean - normal95*r.leanSure, r.lean + normal95*r.leanSure},
	}
	c.Date = g.Now()
	_, err := calibration.Save(g.path(j), c)
	return err
}

// normal95 is the half width of an interval of 95 %, in standard deviations.
const normal95 = 1.96

// toPose moves the joints to pose, rad, one after the other.
func (m *mover) toPose(ctx context.Context, pose []float64) error {
	for k, name := range m.agent.Joints() {
		goal, ok := m.goals[name]
		if !ok || math.IsNaN(pose[k]) || math.Abs(pose[k]-goal) < 1e-6 {
			continue
		}
		if err := m.to(ctx, name, pose[k], goSpeed, nil); err != nil {
			return err
		}
	}
	return nil
}

// ConvertServo writes the servo file from as a parameter file of BAM, or such a file as a servo file. name is the
// servo's name if BAM's file lacks it. lost describes the data that the written file cannot hold.
func ConvertServo(from, name, to string, now time.Time) (lost []string, err error) {
	data, err := yaml.ReadFile(from)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "convert " + from, Err: err}
	}
	if !identify.IsFile(from) {
		s, err := identify.ParseBAM(data, from, name)
		if err != nil {
			return nil, err
		}
		s.Date = now
		return nil, s.Save(to)
	}
	s, err := identify.ParseServo(data, from)
	if err != nil {
		return nil, err
	}
	out, without, err := s.EncodeBAM()
	if err != nil {
		return nil, err
	}
	for _, l := range without {
		lost = append(lost, l+": BAM's models do not have it")
	}
	return lost, yaml.WriteFile(to, out)
}
