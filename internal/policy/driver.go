package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/policyconf"
)

// Driver computes the goals of a robot by a policy. One goroutine uses it at a time.
type Driver struct {
	Name   string
	Config policyconf.Policy // with what the file's metadata has
	Notes  []string          // what the file says of itself, and what was taken from it
	Net    *Network

	step   *Step
	layout *hal.Layout
	period time.Duration // of a step
	every  int           // cycles a step
	joints []int         // actuators
	home   []float64
	mode   hal.Mode
	terms  []term
	noisy  bool
	random *rand.Rand

	scale, offset []float64 // of the action
	outputs       [][]float64
	targets       []float64
	goals         []float64 // after low-pass, speed and ramp
	command       []float64
	steps         int // since the reset
	trial         *Trial
}

// term is one term of the observation.
type term struct {
	policyconf.PolicyTerm
	size          int
	scale, offset []float64
	fill          func(dst, measured []float64)
	devices       []int     // whose faults silence the policy: of hal.Frame.Status
	ring          []float64 // History rows, the oldest first
}

// conventions are other names of terms, as learning environments have them.
var conventions = map[string]string{
	"joint_pos_rel": "joint_pos", "joint_vel_rel": "joint_vel", "last_action": "actions",
	"velocity_commands":  "command",
	"generated_commands": "command", "base_lin_vel": "base_lin_vel", "imu_ang_vel": "base_ang_vel",
	"gyro":          "base_ang_vel",
	"accelerometer": "base_lin_acc", "gravity": "projected_gravity",
}

// NewDriver prepares the policy of an ONNX file for a robot: what c leaves out is taken from the file's metadata. The
// error is hal.Invalid and lists all that does not fit, in the words of the file.
func NewDriver(name string, net *Network, c policyconf.Policy, l *hal.Layout, cycle time.Duration, seed int64,
	simulated bool) (*Driver, error) {
	d := &Driver{Name: name, Config: c, Net: net, layout: l, every: 1, period: cycle, noisy: simulated,
		random: rand.New(rand.NewPCG(uint64(seed), 0x36))}
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	var err error
	if d.step, err = NewStep(net); err != nil {
		fault("%v", err)
	}
	d.rate(fault)
	d.fromFile(fault)
	d.resolveJoints(fault)
	if len(faults) == 0 {
		d.resolveAction(fault)
		d.resolveTerms(fault)
	}
	if len(faults) > 0 {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "policy " + name, Err: fmt.Errorf("%s: %s", c.File,
			strings.Join(faults, "; "))}
	}
	d.Reset()
	return d, nil
}

// rate is the number of cycles a step.
func (d *Driver) rate(fault func(string, ...any)) {
	if r := d.Config.Rate; r > 0 {
		n := 1 / (r * d.period.Seconds())
		d.every = int(math.Round(n))
		if d.every < 1 || math.Abs(n-float64(d.every)) > 0.01*n {
			fault("rate: got %g Hz, want the cycle's %g Hz or a whole part of it (try: --set clock.period=%v)", r,
				1/d.period.Seconds(), time.Duration(math.Round(1e6/r))*time.Microsecond)
			d.every = 1
		}
	}
	d.period *= time.Duration(d.every)
}

// fromFile fills in what the config leaves out: the keys of mjlab's exporter.
func (d *Driver) fromFile(fault func(string, ...any)) {
	c, meta := &d.Config, d.Net.Meta
	numbers := func(key string) (list []float64) {
		for _, w := range words(meta[key]) {
			x, err := strconv.ParseFloat(w, 64)
			if err != nil {
				fault("its %s: got %.40q, want a number", key, w)
			}
			list = append(list, x)
		}
		return list
	}
	take := func(key string, missing bool) bool {
		if _, have := meta[key]; !have || !missing {
			return false
		}
		d.Notes = append(d.Notes, fmt.Sprintf("%s: from the file", key))
		return true
	}
	if take("joint_names", c.Joints == nil) {
		c.Joints = words(meta["joint_names"])
	}
	if take("default_joint_pos", c.Default == nil) {
		c.Default = numbers("default_joint_pos")
	}
	if take("action_scale", c.Action.Scale == nil) {
		c.Action.Scale = numbers("action_scale")
	}
	if take("observation_names", c.Observations == nil) {
		for _, w := range words(meta["observation_names"]) {
			if other, is := conventions[w]; is {
				w = other
			}
			c.Observations = append(c.Observations, policyconf.PolicyTerm{Term: w, History: 1, Period: time.Second})
		}
	}
	if c.Observations == nil {
		fault("observations: got none in the config and no observation_names in the file (try: observations: "+
			"[{term: base_ang_vel}, ...] in %s)", d.Name)
	}
	if len(c.Commands) == 0 {
		for _, name := range []string{"x", "y", "yaw"} {
			c.Commands = append(c.Commands, policyconf.Command{Name: name, Min: -1, Max: 1})
		}
	}
	d.command = make([]float64, len(c.Commands))
	for i, v := range c.Commands {
		d.command[i] = v.Value
	}
}

// words are the items of a list in metadata: separated by commas, with or without brackets.
func words(text string) (list []string) {
	for w := range strings.SplitSeq(strings.Trim(strings.TrimSpace(text), "[]"), ",") {
		if w = strings.Trim(strings.TrimSpace(w), `'"`); w != "" {
			list = append(list, w)
		}
	}
	return list
}

func (d *Driver) resolveJoints(fault func(string, ...any)) {
	l, c := d.layout, &d.Config
	all := make([]string, len(l.Actuators))
	for i := range l.Actuators {
		all[i] = l.Actuators[i].Name
	}
	if c.Joints == nil {
		c.Joints = all
	}
	for _, name := range c.Joints {
		i := l.Actuator(name)
		if i == hal.None { // MJCF and USD call a joint by more words than one
			i = slices.IndexFunc(all, func(a string) bool {
				return a+"_joint" == name || a == name+"_joint" || strings.HasSuffix(name, "/"+a)
			})
		}
		if i < 0 {
			fault("joint %.60q: got none of that name, want one of %s", name, strings.Join(all, ", "))
			continue
		}
		if slices.Contains(d.joints, i) {
			fault("joint %.60q: got its name twice", name)
		}
		d.joints = append(d.joints, i)
	}
	d.home = spreadOver(c.Default, len(d.joints), math.NaN())
	if d.home == nil {
		fault("default: got %d positions, want %d", len(c.Default), len(d.joints))
		return
	}
	for k, i := range d.joints {
		a := &l.Actuators[i]
		if d.home[k] != d.home[k] {
			d.home[k] = a.Default
		}
		if lim := a.Limits; !a.Wraps && (d.home[k] < lim.MinPosition-1e-6 || d.home[k] > lim.MaxPosition+1e-6) {
			fault("default of %s: got %.3f, want %.3f to %.3f, its limits", a.Name, d.home[k], lim.MinPosition,
				lim.MaxPosition)
		}
	}
}

// spreadOver is list, or its one value n times; none: otherwise. nil: it has another size.
func spreadOver(list []float64, n int, otherwise float64) []float64 {
	switch len(list) {
	case 0:
		return slices.Repeat([]float64{otherwise}, n)
	case 1:
		return slices.Repeat(list, n)
	case n:
		return slices.Clone(list)
	}
	return nil
}

func (d *Driver) resolveAction(fault func(string, ...any)) {
	n, c := len(d.joints), &d.Config.Action
	if len(d.step.Action) != n {
		fault("action: got %d outputs of the network, want %d: %s", len(d.step.Action), n,
			strings.Join(d.Config.Joints, ", "))
	}
	for m := range hal.NumModes {
		if m.String() == c.Mode {
			d.mode = m
		}
	}
	d.scale, d.offset = spreadOver(c.Scale, n, 1), spreadOver(c.Offset, n, 0)
	if d.scale == nil || d.offset == nil {
		fault("action: got %d scales and %d offsets, want one or %d", len(c.Scale), len(c.Offset), n)
		return
	}
	if c.Offset == nil && d.mode == hal.PositionMode {
		copy(d.offset, d.home)
	}
	for _, i := range d.joints {
		if a := &d.layout.Actuators[i]; a.Goal[d.mode] == hal.None {
			fault("action: joint %s: got mode %s, want a mode of the joint", a.Name, c.Mode)
		}
	}
	deepest := 0
	for _, t := range d.Config.Observations {
		deepest = max(deepest, t.Delay)
	}
	for range deepest + 1 {
		d.outputs = append(d.outputs, make([]float64, n))
	}
	d.targets, d.goals = make([]float64, n), make([]float64, n)
}

func (d *Driver) resolveTerms(fault func(string, ...any)) {
	total := 0
	var sizes []string
	for _, c := range d.Config.Observations {
		t := term{PolicyTerm: c}
		if err := d.source(&t); err != nil {
			fault("observation %s: %v", c.Term, err)
			continue
		}
		t.scale, t.offset = spreadOver(c.Scale, t.size, 1), spreadOver(c.Offset, t.size, 0)
		if t.scale == nil || t.offset == nil {
			fault("observation %s: got %d scales and %d offsets, want one or %d", c.Term, len(c.Scale), len(c.Offset),
				t.size)
		}
		t.ring = make([]float64, t.size*max(1, c.History))
		d.terms = append(d.terms, t)
		total += len(t.ring)
		sizes = append(sizes, fmt.Sprintf("%s %d", c.Term, len(t.ring)))
	}
	if total != len(d.step.Observation) && total > 0 {
		fault("observations: got %d values (%s), want the network's %d", total, strings.Join(sizes, ", "),
			len(d.step.Observation))
	}
}

// source finds what a term is read from.
func (d *Driver) source(t *term) error {
	l, n := d.layout, len(d.joints)
	channel := func(of func(*hal.Actuator) int, less []float64) error {
		at := make([]int, n)
		for k, i := range d.joints {
			if at[k] = of(&l.Actuators[i]); at[k] == hal.None {
				return fmt.Errorf("joint %s: got no such measurement", l.Actuators[i].Name)
			}
			t.devices = append(t.devices, i)
		}
		t.size = n
		t.fill = func(dst, m []float64) {
			for k, i := range at {
				dst[k] = m[i] - less[k]
			}
		}
		return nil
	}
	switch t.Term {
	case "joint_pos":
		return channel(func(a *hal.Actuator) int { return a.Position }, d.home)
	case "joint_vel":
		return channel(func(a *hal.Actuator) int { return a.Velocity }, make([]float64, n))
	case "actions":
		t.size, t.fill = n, func(dst, _ []float64) { copy(dst, d.outputs[t.Delay]) }
	case "targets":
		t.size, t.fill = n, func(dst, _ []float64) { copy(dst, d.targets) }
	case "command":
		t.size, t.fill = len(d.command), func(dst, _ []float64) { copy(dst, d.command) }
	case "phase", "phase_cos":
		t.size = 2
		period, cosFirst := t.Period, t.Term == "phase_cos"
		t.fill = func(dst, _ []float64) {
			dst[0], dst[1] = math.Sincos(2 * math.Pi * float64(d.steps) * d.period.Seconds() / period.Seconds())
			if cosFirst {
				dst[0], dst[1] = dst[1], dst[0]
			}
		}
	case "constant":
		t.size, t.fill = max(1, len(t.Offset)), func(dst, _ []float64) { clear(dst) }
	default:
		return d.sensed(t)
	}
	return nil
}

// Reset begins an episode: no memory, no history, the ramp from its start.
func (d *Driver) Reset() {
	d.step.Reset()
	d.steps = 0
	for _, o := range d.outputs {
		clear(o)
	}
	copy(d.targets, d.offset)
	if d.trial != nil {
		d.trial.reset()
	}
}

// Every is the number of cycles of a step.
func (d *Driver) Every() int { return d.every }

// Command sets value i of the command, within its range.
func (d *Driver) Command(i int, v float64) {
	c := &d.Config.Commands[i]
	d.command[i] = min(max(v, c.Min), c.Max)
}

// Act computes the goals of one step from what was measured, and fills in inputs: NaN where it has none. The error
// names what was unknown or not finite: then there is no goal at all, and the guard's deadline runs. It allocates
// nothing unless there is an error.
func (d *Driver) Act(measured []float64, status []hal.Status, inputs []float64) error {
	hal.FillNaN(inputs)
	if d.trial != nil {
		measured = d.trial.sense(d, measured)
	}
	if err := d.observe(measured, status); err != nil {
		return err
	}
	d.step.Run()
	for _, v := range d.step.Action {
		if v != v || math.IsInf(float64(v), 0) {
			d.Reset() // its memory is spoilt too
			return &hal.Error{Kind: hal.Unexpected, Op: "policy " + d.Name, Err: fmt.Errorf("got an output of %v", v)}
		}
	}
	oldest := d.outputs[len(d.outputs)-1]
	copy(d.outputs[1:], d.outputs)
	d.outputs[0] = oldest
	for k, v := range d.step.Action {
		x := float64(v)
		if c := d.Config.Action.Clip; c > 0 {
			x = min(max(x, -c), c)
		}
		oldest[k] = x
		d.targets[k] = d.offset[k] + d.scale[k]*x
	}
	d.goal(measured)
	for k, i := range d.joints {
		inputs[d.layout.Actuators[i].Goal[d.mode]] = d.goals[k]
	}
	if d.trial != nil {
		d.trial.act(d, inputs)
	}
	d.steps++
	return nil
}

// goal shapes the goals: low-pass, speed, ramp.
func (d *Driver) goal(measured []float64) {
	c, dt := &d.Config.Action, d.period.Seconds()
	ramp := 1.0
	if r := d.Config.Ramp; r > 0 && d.mode == hal.PositionMode {
		ramp = min(1, float64(d.steps+1)*float64(d.period)/float64(r))
	}
	for k, i := range d.joints {
		at := d.layout.Actuators[i].Position
		if d.steps == 0 {
			d.goals[k] = d.targets[k]
			if d.mode == hal.PositionMode && at != hal.None {
				d.goals[k] = measured[at]
			}
		}
		x := d.targets[k]
		if c.LowPass > 0 {
			x = d.goals[k] + (x-d.goals[k])*(1-math.Exp(-2*math.Pi*c.LowPass*dt))
		}
		x = d.goals[k] + (x-d.goals[k])*ramp
		if c.Speed > 0 {
			x = min(max(x, d.goals[k]-c.Speed*dt), d.goals[k]+c.Speed*dt)
		}
		d.goals[k] = x
	}
}

// observe fills in the observation.
func (d *Driver) observe(measured []float64, status []hal.Status) error {
	at := 0
	for i := range d.terms {
		t := &d.terms[i]
		for _, k := range t.devices {
			if s := &status[k]; s.Err != nil && !s.Warns {
				return &hal.Error{Kind: hal.BusFault, Op: "policy " + d.Name + ": " + t.Term, Err: s.Err}
			}
		}
		fresh := t.ring[len(t.ring)-t.size:]
		if d.steps > 0 {
			copy(t.ring, t.ring[t.size:])
		}
		t.fill(fresh, measured)
		for k, x := range fresh {
			x += t.offset[k]
			if t.Noise > 0 && d.noisy {
				x += t.Noise * (2*d.random.Float64() - 1)
			}
			if t.Clip > 0 {
				x = min(max(x, -t.Clip), t.Clip)
			}
			if fresh[k] = x * t.scale[k]; x != x {
				return &hal.Error{Kind: hal.BusFault, Op: "policy " + d.Name,
					Err: fmt.Errorf("observation %s: value %d is unknown", t.Term, k)}
			}
		}
		for h := 0; d.steps == 0 && h < len(t.ring)-t.size; h += t.size {
			copy(t.ring[h:], fresh)
		}
		for _, x := range t.ring {
			d.step.Observation[at] = float32(x)
			at++
		}
	}
	return nil
}
