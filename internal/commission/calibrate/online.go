package calibrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/sim/identify"
	"github.com/halyard-robotics/halyard/internal/yaml"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// Bounds of a motion that identifies a servo. It ends, with torque held, where one is passed.
const (
	hottest    = 65.0 // °C
	weakest    = 0.8  // share of the supply's voltage at the start
	excitation = 6.0  // s of each motion
	slewShare  = 0.9  // of the guard's slew limit, so that the guard does not change goals
)

// excitations are goals by time, s, within -1..1 of half the range, and whether the torque is on. The first is slow;
// each later one is more demanding.
var excitations = []struct {
	name string
	goal func(t float64) (float64, bool)
}{
	{"reversals", func(t float64) (float64, bool) { return math.Asin(math.Sin(1.2*t)) / (math.Pi / 2), true }},
	{"sines", func(t float64) (float64, bool) {
		return 0.65*math.Sin(1.5*t) + 0.35*math.Sin(6*t)*math.Sin(2.5*t), true
	}},
	{"chirp", func(t float64) (float64, bool) { return 0.8 * math.Sin(0.9*t*t), true }},
	{"steps", func(t float64) (float64, bool) {
		return [...]float64{-0.9, 0.9, 0.3, -0.5, 0.7, -0.9, 0, 0.9}[int(t)%8], true
	}},
	{"drop", func(t float64) (float64, bool) {
		u := math.Mod(t, 4)
		return 0.9 * math.Min(1, u), u < 1.8
	}},
}

// Identify moves one joint, records it, and fits the parameters of its servo to the recordings. It writes the servo
// file out, and the torque constant into the joint's calibration where that has a file. record is a folder for the
// recordings, "" for none.
func (g *Guide) Identify(ctx context.Context, out, record string) (s *identify.Servo, err error) {
	g.command = "identify"
	if err := g.prepare(); err != nil {
		return nil, err
	}
	if len(g.joints) != 1 {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "identify " + g.Config,
			Err: fmt.Errorf("got %d joints, want one joint", len(g.joints)), Try: "--joint " + g.joints[0].Name}
	}
	j := g.joints[0]
	spec, ok := actuator.Lookup(j.Model.Units().Name)
	switch {
	case !ok || spec.PositionGain == 0:
		return nil, &hal.Error{Kind: hal.Invalid, Op: "identify", Joint: j.Name,
			Err: fmt.Errorf("got a %s, want a servo whose position mode has P, I and D, as the simulator knows it",
				j.Model.Units().Name)}
	case g.old[j.Name].Gear != 1:
		return nil, &hal.Error{Kind: hal.Invalid, Op: "identify", Joint: j.Name,
			Err: fmt.Errorf("got a gear of %g, want none: the servo file is of the servo's own shaft",
				g.old[j.Name].Gear)}
	}
	runs, err := g.excite(ctx, j, spec)
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		if err := r.Plausible(); err != nil {
			return nil, err
		}
		if record == "" {
			continue
		}
		data, err := r.Encode()
		if err = cmp.Or(err, os.MkdirAll(record, 0o755),
			yaml.WriteFile(filepath.Join(record, r.Name+".json"), data)); err != nil {
			return nil, err
		}
	}
	g.printf("Fit to %d recordings; this takes a minute or two. Left out: the error on motions that a fit has not seen.", len(runs))
	if s, err = identify.Fit(runs, spec, func(step string) { g.printf("  %s", step) }); err != nil {
		return nil, err
	}
	s.Date = g.Now()
	if err := s.Save(out); err != nil {
		return nil, err
	}
	g.printf("%s: %s", out, s.Summary())
	for i := range runs {
		if r := runs[i]; r.Name == "steps-full" {
			if err := g.draw(j.Name+"-identified", plotRun(j.Name+": "+r.Name, r, &s.Spec, s.Bench)); err != nil {
				return nil, err
			}
		}
	}
	return s, g.keepTorque(j, s)
}

// keepTorque writes the torque constant that follows from s into the calibration of j, where it has a file.
func (g *Guide) keepTorque(j *Joint, s *identify.Servo) error {
	c, err := calibration.Load(g.path(j))
	if hal.KindOf(err) == hal.Uncalibrated {
		g.printf("%s has no calibration file: no torque constant was written", j.Name)
		return nil
	} else if err != nil {
		return err
	}
	constant := s.Spec.Kt // N·m/A
	if !s.Spec.CurrentControl {
		// of the full drive
		constant *= g.robot.plan.Robot.SupplyOf(g.robot.plan.Layout.Actuator(j.Name)).Volts / s.Spec.R
	}
	g.printf("%s: torque constant %.3f N m a unit of effort, was %.3f", j.Name, constant, c.Torque.Constant)
	c.Torque, c.Date = calibration.Torque{Constant: constant, Offset: c.Torque.Offset,
		Delay: math.Max(0, s.Bench.TorqueDelay)}, g.Now()
	_, err = calibration.Save(g.path(j), c)
	return err
}

// lively opens the robot with its calibrations and its own speeds, and lets it hold where it is.
func (g *Guide) lively(ctx context.Context) (*mover, error) {
	c, err := g.sessionConfig(func(j *Joint) string {
		if _, err := os.Stat(g.path(j)); err == nil {
			return absolute(g.path(j))
		}
		return ""
	})
	if err != nil {
		return nil, err
	}
	_, own, err := g.load(g.Options)
	if err != nil {
		return nil, err
	}
	step := time.Millisecond // of an emulated servo's firmware: a coarser one would be fitted as something of the motor
	c.World.GivenSubstep, c.World.Substep = &step, step
	c.Agents[0].Guard.Slew = own.Guard.Slew // a saturated drive needs speed
	if g.alter != nil {
		g.alter(c)
	}
	loose, stand := baseMoves(g.robot.plan), ""
	if loose {
		stand = " Its base is not fixed: put it on a stand, so that nothing but its own links moves, or is touched."
	}
	if loose && !c.Agents[0].Has(configs.Real) {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "move a joint of " + g.robot.Name,
			Err: errors.New("got a robot whose base moves, which turns its joints too; want base: fixed in its " +
				"model, or the real robot on a stand")}
	}
	if c.Agents[0].Has(configs.Real) {
		if _, err := g.choose(ctx, "REAL ROBOT "+g.robot.Name+": its torque goes on, and it holds where it is."+stand+
			" Enter", ""); err != nil {
			return nil, err
		}
	}
	return g.arm(ctx, c, g.current)
}

// beforeTorqueOff warns the operator of a real robot before its torque goes off.
func (g *Guide) beforeTorqueOff(ctx context.Context, m *mover) error {
	if !m.real {
		return nil
	}
	_, err := g.choose(ctx, "Hold the robot: its torque goes off. Enter", "")
	return err
}

// excite prompts for the range, moves the joint, and records it.
func (g *Guide) excite(ctx context.Context, j *Joint, spec *actuator.Spec) (runs []*identify.Run, err error) {
	m, err := g.lively(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { g.stand = nil; err = errors.Join(err, m.end()) }()
	index := m.watched(j.Name).index
	weigh := newGravity(g.robot.plan, g.robot.Config.World.Gravity)
	low, high := weigh.bestSweep(m.q, index, j.Limits)
	drops := false
	low, high, yes, err := g.agree(ctx, j, low, high,
		"for a minute, slowly first, then fast; drop lets it fall at the end",
		func(words []string, _, _ *float64) bool {
			if len(words) != 1 || words[0] != "drop" {
				return false
			}
			drops = true
			g.printf("  at the end the torque of the whole robot goes off twice for two seconds: it falls")
			return true
		})
	if err != nil {
		return nil, err
	}
	if !yes {
		return nil, &hal.Error{Kind: hal.Unexpected, Op: "identify", Joint: j.Name,
			Err: errors.New("nothing was moved, as you asked")}
	}
	return g.record(ctx, m, weigh, j, spec, low, high, drops)
}

// record plays the excitations, first each at a quarter of its size, and returns the recordings.
func (g *Guide) record(ctx context.Context, m *mover, weigh *gravity, j *Joint, spec *actuator.Spec, low, high float64,
	drops bool) (runs []*identify.Run, err error) {
	a := &m.agent.Layout().Actuators[m.watched(j.Name).index]
	slew := slewShare * a.Limits.MaxVelocity * m.slew
	middle, half := (low+high)/2, (high-low)/2
	base := g.bench(m, weigh, j, spec)
	for size, name := range []string{"small", "full"} {
		share := [2]float64{0.25, 1}[size]
		for _, e := range excitations {
			if e.name == "drop" && (!drops || size == 0) {
				continue
			}
			r := base
			r.Name, r.Trajectory = e.name+"-"+name, e.name
			g.printf("  %s", r.Name)
			if err := m.excite(ctx, &r, j.Name, excitation, middle, half*share, slew, e.goal); err != nil {
				return nil, err
			}
			for i := range r.Samples {
				r.Samples[i].Load = math.NaN() // a torque, not the register
			}
			if size == 1 || e.name == "reversals" {
				runs = append(runs, &r)
			}
		}
	}
	if err := m.to(ctx, j.Name, middle, math.Min(goSpeed, slew), nil); err != nil {
		return nil, err
	}
	return runs, g.beforeTorqueOff(ctx, m)
}

// bench is the load and the gains of j as a recording names them.
func (g *Guide) bench(m *mover, weigh *gravity, j *Joint, spec *actuator.Spec) identify.Run {
	i := m.watched(j.Name).index
	pull, down, inertia := weigh.pendulum(m.q, i)
	base := gainsOf(g.robot.plan, i, spec)
	base.Down, base.Volts = down, m.agent.State(j.Name).Voltage
	// of a pendulum that swings alike
	base.Length = math.Max(0.01, math.Min(1, math.Sqrt(inertia*weigh.fall/math.Max(pull, 1e-6))))
	base.Mass = math.Max(pull/weigh.fall/base.Length, 1e-4)
	base.Inertia = inertia - base.Mass*base.Length*base.Length
	base.Volts = cmp.Or(nanZero(base.Volts), g.robot.plan.Robot.SupplyOf(i).Volts)
	return base
}

// gainsOf is a recording of joint i without its load: the servo's gains, the model's or those that the config writes
// into it.
func gainsOf(a *plan.AgentPlan, i int, spec *actuator.Spec) identify.Run {
	r := identify.Run{Motor: spec.Name, P: spec.Gains.P, I: spec.Gains.I, D: spec.Gains.D}
	if h := a.Joints[i].Hardware; h != nil {
		for name, to := range map[string]*float64{"position_p_gain": &r.P, "position_i_gain": &r.I,
			"position_d_gain": &r.D} {
			if v, ok := h.Registers[name]; ok {
				*to = float64(v)
			}
		}
	}
	return r
}

func nanZero(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

// excite lets one motion pass and stores it in r.
func (m *mover) excite(ctx context.Context, r *identify.Run, joint string, seconds, middle, half, slew float64,
	goal func(float64) (float64, bool)) error {
	if err := m.to(ctx, joint, middle, math.Min(goSpeed, slew), nil); err != nil {
		return err
	}
	if err := m.wait(ctx, settleTime); err != nil {
		return err
	}
	if m.strike != nil {
		if err := m.strike(m.agent); err != nil {
			return err
		}
	}
	began := m.agent.State(joint)
	seen, end := m.record(m.watched(joint).index)
	defer func() { r.Samples = end() }()
	dt := m.period.Seconds()
	for {
		at := m.since(seen).Seconds()
		if at >= seconds {
			return m.release(false)
		}
		want, torque := goal(at)
		if err := m.release(!torque); err != nil {
			return err
		}
		way := middle + half*want - m.goals[joint]
		m.goals[joint] += math.Copysign(math.Min(math.Abs(way), slew*dt), way)
		if err := m.cycle(ctx); err != nil {
			return err
		}
		s := m.agent.State(joint)
		fault := m.fault(s, torque)
		switch {
		case fault != nil:
		case s.Temperature > hottest:
			fault = fmt.Errorf("got %.0f degrees Celsius, want at most %.0f: let it cool", s.Temperature, hottest)
		case s.Voltage < weakest*began.Voltage:
			fault = fmt.Errorf("got %.1f V, want at least %.1f: the supply is weak", s.Voltage, weakest*began.Voltage)
		case math.Abs(s.Position-middle) > half+20*degree && torque:
			fault = fmt.Errorf("got %.0f degrees, want within the range that was agreed", s.Position/degree)
		}
		if fault != nil {
			return &hal.Error{Kind: hal.Unsafe, Op: "identify", Joint: joint, Err: fault, Try: "halyard doctor"}
		}
	}
}
