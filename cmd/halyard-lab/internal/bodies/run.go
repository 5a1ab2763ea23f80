package bodies

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// Options of a run.
type Options struct {
	Emulator Emulator
	Bodies   []string      // by name; none: all
	Motion   time.Duration // of the reference controller
	Resets   int           // in real time
	// LockstepResets are those in lock-step.
	LockstepResets int
}

// Run is what the client of a door has seen of a body.
type Run struct {
	Door   string
	Body   string
	Motion Track
	Told   []string      // after the operator has disarmed the robot
	Step   time.Duration // of a cycle of the rig, as the wall clock has it; 0 in lock-step
	Missed float64       // share of the cycles that this computer began too late
	Resets Resets
	Ends   string // the joints after the client has left
}

// Track is a motion, a sample a row.
type Track struct {
	Time                   []float64 // s
	Goal, Position, Torque [][]float64
}

// Resets are those of a run.
type Resets struct {
	Done    int
	Out     int     // joints that were not armed afterwards
	Differs float64 // rad: the greatest difference of a position from the one after the first reset
}

// rest is how long the robot holds before its motion.
const rest = time.Second

// Play runs the reference controller through a door on a body. In real time it tries again where this computer was too
// late for the cycle, and returns the best run.
func Play(ctx context.Context, d *Door, b Body, l Line, o Options) (best *Run, err error) {
	const trials, tolerable = 5, 0.02
	for range trials {
		var run *Run
		run, err = play(ctx, d, b, l, o)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil && (best == nil || run.Missed < best.Missed) {
			best = run
		}
		if b.mode == "lockstep" || best != nil && best.Missed < tolerable {
			break
		}
	}
	if best != nil {
		return best, nil
	}
	return nil, err
}

func play(ctx context.Context, d *Door, b Body, l Line, o Options) (run *Run, err error) {
	dir, err := os.MkdirTemp("", "bodies")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	server := ""
	if d.server != "" {
		server = `{` + d.server + `, listen: "127.0.0.1:0"}`
	}
	r, err := NewRobot(dir, l, server)
	if err != nil {
		return nil, err
	}
	port := ""
	if b.kind == "real" {
		var end func() error
		if port, end, err = o.Emulator(ctx, r.Path); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, end()) }()
	}
	s, end, err := r.stage(ctx, b, port, d)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.Name, err)
	}
	defer func() { err = errors.Join(err, end()) }()
	run = &Run{Door: d.Name, Body: b.Name}
	return run, s.play(d, run, o)
}

// stage opens the robot and runs it.
func (r *Robot) stage(ctx context.Context, b Body, port string, d *Door) (s *stage, end func() error, err error) {
	sys, err := r.open(b, port)
	if err != nil {
		return nil, nil, err
	}
	a := sys.Agents()[0]
	s = &stage{sys: sys, agent: a, layout: a.Layout(), ctx: ctx, ticks: make(chan struct{}, 1),
		live: d.server != "" || b.mode == "realtime", real: b.kind == "real"}
	if d.server != "" {
		list, err := sys.Listen()
		if err != nil {
			return nil, nil, errors.Join(err, sys.Close())
		}
		s.address = list[0].Address
	}
	sys.OnCycle(func(*hal.Cycle) {
		select {
		case s.ticks <- struct{}{}:
		default:
		}
	})
	running, cancel := context.WithCancel(ctx)
	var wait sync.WaitGroup
	var ran error
	if s.live {
		wait.Go(func() { ran = sys.Run(running) })
	}
	end = func() error {
		cancel()
		wait.Wait()
		return errors.Join(ran, sys.Close())
	}
	if b.kind == "real" {
		if err := sys.Arm(); err != nil {
			return nil, nil, errors.Join(err, end())
		}
	}
	return s, end, nil
}

// goal is that of joint i at t, s after the motion's beginning.
func (s *stage) goal(i int, t float64) float64 {
	const frequency, amplitude = 0.4, 0.3
	t = max(t, 0)
	swell := min(t, 1)
	swell *= swell * (3 - 2*swell)
	a := &s.layout.Actuators[i]
	return a.Default + amplitude*swell*math.Sin(2*math.Pi*frequency*t+float64(i))
}

func newSeen() *Seen {
	s := &Seen{Position: make([]float64, len(joints)), Torque: make([]float64, len(joints))}
	for i := range joints {
		s.Position[i], s.Torque[i] = math.NaN(), math.NaN()
	}
	return s
}

// follow lets the client follow the goals from begin on, for so long.
func (s *stage) follow(c client, begin time.Duration, length time.Duration, see func(t float64, goals []float64,
	seen *Seen) error) error {
	period := s.sys.Rig().Period().Seconds()
	goals, seen := make([]float64, len(joints)), newSeen()
	for {
		t := (s.now() - begin).Seconds()
		if t >= length.Seconds() {
			return nil
		}
		for i := range goals {
			goals[i] = s.goal(i, t+period)
		}
		seen.Told = seen.Told[:0]
		if err := c.step(goals, seen); err != nil {
			return err
		}
		if err := see((s.now() - begin).Seconds(), goals, seen); err != nil {
			return err
		}
	}
}

// now is the time of the robot: periods that a late computer has missed pass for a real one alone.
func (s *stage) now() time.Duration {
	s.sys.Rig().Stats(&s.stats) // waits for the end of the cycle whose answer the client has
	t := s.stats.Time
	if s.real {
		t += s.stats.Behind
	}
	return t
}

func (s *stage) play(d *Door, run *Run, o Options) error {
	c, err := d.connect(s, s.address)
	if err != nil {
		return err
	}
	rig := s.sys.Rig()
	ignore := func(float64, []float64, *Seen) error { return nil }
	// It holds where it is until the torque is on, then moves.
	begin := s.now() + rest
	if err := s.follow(c, begin, 0, ignore); err != nil {
		return errors.Join(err, c.close())
	}
	from, since := rig.LastCycle(), time.Now()
	rig.Stats(&s.stats)
	missed := s.stats.Missed
	m := &run.Motion
	err = s.follow(c, begin, o.Motion, func(t float64, goals []float64, seen *Seen) error {
		if len(seen.Told) > 0 {
			return fmt.Errorf("at %.2f s: %s", t, seen.Told[0])
		}
		m.Time = append(m.Time, t)
		m.Goal = append(m.Goal, slices.Clone(goals))
		m.Position = append(m.Position, slices.Clone(seen.Position))
		m.Torque = append(m.Torque, slices.Clone(seen.Torque))
		return nil
	})
	if n := rig.LastCycle() - from; rig.Mode() == hal.Realtime && n > 0 {
		run.Step = time.Since(since) / time.Duration(n)
		rig.Stats(&s.stats)
		run.Missed = float64(s.stats.Missed-missed) / float64(n)
	}
	n := o.Resets
	if rig.Mode() == hal.Lockstep {
		n = o.LockstepResets
	}
	if err == nil && d.resets {
		run.Resets, err = s.resets(c, n)
	}
	if err == nil {
		run.Told, err = s.disarm(c)
	}
	err = errors.Join(err, c.close())
	if err == nil {
		run.Ends, err = s.left()
	}
	return err
}

// resets resets the robot out of small motions, and compares what the client sees afterwards.
func (s *stage) resets(c client, n int) (r Resets, err error) {
	first, seen := newSeen(), newSeen()
	for k := range n {
		goals := make([]float64, len(joints))
		for i := range goals {
			goals[i] = s.layout.Actuators[i].Default + 0.05
		}
		for range 3 + k%5 {
			if err := c.step(goals, seen); err != nil {
				return r, fmt.Errorf("after %d resets: %w", k, err)
			}
		}
		seen = newSeen()
		if err := c.reset(seen); err != nil {
			return r, fmt.Errorf("reset %d: %w", k, err)
		}
		r.Done++
		a := s.sys.Rig().Agent("arm")
		for i := range joints {
			if st := a.JointState(i); st != hal.Armed && st != hal.Expired {
				r.Out++
			}
			if k == 0 {
				first.Position[i] = seen.Position[i]
			}
			if d := math.Abs(seen.Position[i] - first.Position[i]); !(d <= r.Differs) {
				r.Differs = d
			}
		}
	}
	return r, nil
}

// disarm is an operator's; it returns what the door tells the client of it.
func (s *stage) disarm(c client) (told []string, err error) {
	a := s.sys.Rig().Agent("arm")
	a.Disarm()
	goals, seen := make([]float64, len(joints)), newSeen()
	for i := range goals {
		goals[i] = s.layout.Actuators[i].Default
	}
	for range 5 {
		seen.Told = nil
		if err := c.step(goals, seen); err != nil {
			told = append(told, err.Error())
			break
		}
		for _, t := range seen.Told {
			if !slices.Contains(told, t) {
				told = append(told, t)
			}
		}
	}
	return told, a.Arm()
}

// left is what the joints do half a second after the client has left.
func (s *stage) left() (string, error) {
	if !s.live {
		return "", nil
	}
	for range 50 {
		if err := s.tick(); err != nil {
			return "", err
		}
	}
	a := s.sys.Rig().Agent("arm")
	var states []string
	for i := range joints {
		st := a.JointState(i).String()
		if a.HasTorque(i) {
			st += " with torque"
		}
		if !slices.Contains(states, st) {
			states = append(states, st)
		}
	}
	return strings.Join(states, ", "), nil
}
