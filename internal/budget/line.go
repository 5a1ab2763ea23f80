package budget

import (
	"errors"
	"fmt"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// Line is a line to measure: what is on it, and how it is read.
type Line struct {
	Type        catalog.BusType
	Baud        int // bit/s
	Timing      emulator.Timing
	ReturnDelay time.Duration // of each servo
	Chain       servo.ChainConfig
	Motors      []*actuator.Spec // of Chain.Servos, in their order
}

// Running is an open chain on an emulated line of its own.
type Running struct {
	Chain servo.LineChain
	Bus   *emulator.Bus
	Line  servo.Line // what the chain has
	goals []float64  // ticks, the centres
	n     int        // cycles
}

// Open makes the servos and opens the chain. wrap, which may be nil, puts something between both.
func (l *Line) Open(wrap func(servo.Line) servo.Line) (*Running, error) {
	r := &Running{}
	var servos []*emulator.Servo
	for i, s := range l.Chain.Servos {
		centre := s.Model.Units().CentreTicks
		e := l.Type.Emulate(s.Model, int(s.ID), actuator.NewServo(l.Motors[i]),
			emulator.GroundTruth{ZeroTicks: centre, Direction: 1, Gear: 1})
		e.Preset("return_delay", int64(l.ReturnDelay/(2*time.Microsecond)))
		servos, r.goals = append(servos, e), append(r.goals, centre)
	}
	r.Bus = emulator.NewBus(emulator.BusConfig{Name: l.Chain.Name, Baud: l.Baud, Timing: l.Timing}, servos...)
	cfg := l.Chain
	cfg.Latency = l.Timing.Latency + 2*l.Timing.Frame
	var err error
	if r.Line, _, err = l.Type.Connect(r.Bus.Open); err != nil {
		return nil, err
	}
	if wrap != nil {
		r.Line = wrap(r.Line)
	}
	cfg.Line = r.Line
	r.Chain = l.Type.Driver.Chain(cfg)
	r.Chain.Inline()
	if err := r.Chain.Open(); err != nil {
		return nil, errors.Join(err, r.Chain.Close())
	}
	return r, nil
}

// Exchange is one cycle of the chain, with goals that change each time, as a moving robot's do.
func (r *Running) Exchange() error {
	for i, centre := range r.goals {
		r.Chain.SetGoal(i, servo.Goal{Enable: true, Mode: hal.PositionMode, Limit: 1,
			Position: centre + float64(r.n%2)})
	}
	r.n++
	return errors.Join(r.Chain.Send(), r.Chain.Receive())
}

// cycles to measure: some turns of the servos' health.
const cycles = 400

// timing is what the cycles of a line take.
type timing struct {
	mean, most, wire time.Duration
	every            time.Duration // between two exchanges that begin with a period, on the average
	bytes            uint64        // of a cycle on the average
}

// measure runs the line until torque is on everywhere, and then the cycles, each in a period of its own.
func (l *Line) measure() (t timing, err error) {
	r, err := l.Open(nil)
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, r.Chain.Close()) }()
	var spent, wire time.Duration
	var lost uint64
	for k := -4*len(r.goals) - 60; k < cycles; k++ {
		if err := r.Exchange(); err != nil {
			return t, err
		}
		s := r.Chain.Stats()
		if k < 0 {
			lost = s.Timeouts
		} else {
			spent, wire, t.bytes = spent+s.Spent, wire+s.Wire, t.bytes+s.Sent+s.Received
			t.most = max(t.most, s.Spent)
			if p := l.Chain.Period; p > 0 {
				t.every += max(1, (s.Spent+p-1)/p) * p / cycles
			}
		}
		if err := r.Bus.Advance(max(l.Chain.Period-s.Spent, 0)); err != nil {
			return t, err
		}
	}
	if lost = r.Chain.Stats().Timeouts - lost; lost > 0 {
		return t, fmt.Errorf("plan bus %q: got %d timeouts in %d cycles, want 0", l.Chain.Name, lost, cycles)
	}
	t.mean, t.wire, t.bytes = spent/cycles, wire/cycles, t.bytes/cycles
	return t, nil
}
