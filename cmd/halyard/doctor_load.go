package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// The bus budget is not a formula: the real driver runs some cycles on emulated servos of the same make, in virtual
// time, as the bus is and as it could be.

// load is what a cycle of one bus takes of the rig's period.
type load struct{ cycle, period time.Duration }

func (l load) share() float64 { return float64(l.cycle) / float64(l.period) }

func (l load) String() string {
	return fmt.Sprintf("a cycle takes %v of %v, %.0f %%: the wire allows %.0f Hz", l.cycle.Round(10*time.Microsecond), l.period, 100*l.share(),
		float64(time.Second)/float64(max(l.cycle, 1)))
}

// Shares of the period. Retries and the long reads of health registers need some room.
const (
	busy = 0.8
	full = 1.0
)

// trialLine is a bus to be tried. What it leaves out is the host's own time, which serve counts as missed periods.
type trialLine struct {
	kind   busType
	baud   int
	timing emulator.Timing
	delay  time.Duration // return delay of every servo
	servos []servoModel
}

const (
	warmUp = 20 // cycles until torque is on everywhere
	trials = 20 // cycles measured
)

// cycle is the mean time of the driver's cycle on t, or why the driver cannot run on it.
func (t *trialLine) cycle() (time.Duration, error) {
	var servos []*emulator.Servo
	cfg := chainConfig{name: "trial", latency: t.timing.Latency + 2*t.timing.Frame}
	for i, m := range t.servos {
		spec, ok := actuator.Lookup(m.Units().Name)
		if !ok {
			spec, _ = actuator.Lookup("xm430-w350") // only the wire matters here
		}
		s := t.kind.emulate(m, i, actuator.NewServo(spec), emulator.GroundTruth{})
		s.Preset("return_delay", int64(t.delay/(2*time.Microsecond)))
		servos = append(servos, s)
		cfg.servos = append(cfg.servos, chainServo{id: byte(i), model: m})
	}
	bus := emulator.NewBus(emulator.BusConfig{Name: "trial", Baud: t.baud, Timing: t.timing}, servos...)
	cfg.line = bus.Line()
	chain := t.kind.chain(cfg)
	defer chain.Close()
	if err := chain.Open(); err != nil {
		return 0, err
	}
	for i, m := range t.servos {
		chain.SetGoal(i, servo.Goal{Enable: true, Mode: hal.PositionMode, Position: m.Units().CentreTicks, Limit: 1})
	}
	var sum time.Duration
	for i := range warmUp + trials {
		if err := errors.Join(chain.Send(), chain.Receive()); err != nil {
			return 0, err
		}
		if i >= warmUp {
			sum += chain.Stats().Spent
		}
	}
	return sum / trials, nil
}

// budget compares a cycle of the bus with the period, and says what would help. The slowest return delay that was read
// counts for all; a bus that could not be opened is judged by the config alone.
func (b *busCheck) budget() {
	b.check("load")
	now := trialLine{kind: busTypes[b.config.Type], baud: b.config.Baud, timing: b.timing(), delay: b.config.ReturnDelay}
	for _, s := range b.servos {
		now.servos = append(now.servos, s.plan.servo)
		now.delay = max(now.delay, s.delay)
	}
	now.timing.Echo = false // that is a finding of its own
	cycle, err := now.cycle()
	b.load = load{cycle, b.examination.plan.config.Clock.Period}
	switch {
	case err != nil:
		b.fail("load", hal.Invalid, "the driver does not run on such a bus: "+err.Error(), "hang fewer servos on it")
	case b.load.share() > full:
		b.fail("load", hal.BusFault, b.load.String(), now.relief(b.load.period))
	case b.load.share() > busy:
		b.warn("load", b.load.String(), now.relief(b.load.period))
	}
}

// timing is how the bus's line behaves: as configured where it is emulated, else as the adapter's kind does.
func (b *busCheck) timing() emulator.Timing {
	switch {
	case b.kind == configs.Emulated:
		return timingOf(b.config)
	case isTerminal(b.config.Port):
		return emulator.Timing{Reply: emulator.DefaultReply}
	case b.latency > 0:
		return emulator.FTDI(b.latency)
	}
	// Not an FTDI, or not known: a full-speed USB frame.
	return emulator.Timing{Reply: emulator.DefaultReply, Frame: time.Millisecond}
}

// relief tries what shortens the cycle and tells what each gives, the cheapest change first: settings, then rates,
// then hardware, then a slower robot.
func (t *trialLine) relief(period time.Duration) string {
	var options []string
	try := func(what string, change func(*trialLine)) {
		other := *t
		change(&other)
		if c, err := other.cycle(); err == nil {
			options = append(options, fmt.Sprintf("%s: %.0f %%", what, 100*load{c, period}.share()))
		}
	}
	if t.timing.Latency > time.Millisecond {
		try("latency timer 1ms", func(o *trialLine) { o.timing.Latency = time.Millisecond })
	}
	if t.delay > 0 {
		try("return delay 0", func(o *trialLine) { o.delay = 0 })
	}
	for _, rate := range []int{1000000, 2000000, 4000000} {
		if rate > t.baud && t.runsAt(rate) {
			try(fmt.Sprintf("%d Bd", rate), func(o *trialLine) { o.baud = rate })
		}
	}
	if n := len(t.servos); n > 1 {
		try("two buses", func(o *trialLine) { o.servos = o.servos[:(n+1)/2] })
	}
	if !t.fast() {
		options = append(options, "servos that know fast sync read")
	}
	options = append(options, "a longer clock.period")
	return strings.Join(options, "; ")
}

// runsAt tells whether every servo knows a rate.
func (t *trialLine) runsAt(baud int) bool {
	for _, m := range t.servos {
		if _, ok := m.BaudCode(baud); !ok {
			return false
		}
	}
	return true
}

// fast tells whether every servo knows fast sync read; other brands than Dynamixel have nothing like it to be advised.
func (t *trialLine) fast() bool {
	for _, m := range t.servos {
		if d := dynamixelOf(m); d != nil && !d.FastRead {
			return false
		}
	}
	return true
}
