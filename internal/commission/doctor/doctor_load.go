package doctor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/catalog"
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
	return fmt.Sprintf("a cycle takes %v of %v, %.0f %%: the wire allows %.0f Hz", l.cycle.Round(10*time.Microsecond),
		l.period, 100*l.share(),
		float64(time.Second)/float64(max(l.cycle, 1)))
}

// Shares of the period. Retries and the long reads of health registers need some room.
const (
	busy = 0.8
	full = 1.0
)

// TrialLine is a bus to be tried. What it leaves out is the host's own time, which serve counts as missed periods.
type TrialLine struct {
	Kind   catalog.BusType
	Baud   int
	Timing emulator.Timing
	Delay  time.Duration // return delay of every servo
	Servos []servo.Model
}

const (
	warmUp = 20 // cycles until torque is on everywhere
	trials = 20 // cycles measured
)

// Cycle is the mean time of the driver's cycle on t, or why the driver cannot run on it.
func (t *TrialLine) Cycle() (time.Duration, error) {
	var servos []*emulator.Servo
	cfg := servo.ChainConfig{Name: "trial", Latency: t.Timing.Latency + 2*t.Timing.Frame}
	for i, m := range t.Servos {
		spec, ok := actuator.Lookup(m.Units().Name)
		if !ok {
			spec, _ = actuator.Lookup(actuator.Names()[0]) // only the wire matters here
		}
		s := t.Kind.Emulate(m, i, actuator.NewServo(spec), emulator.GroundTruth{})
		s.Preset("return_delay", int64(t.Delay/(2*time.Microsecond)))
		servos = append(servos, s)
		cfg.Servos = append(cfg.Servos, servo.ServoConfig{ID: byte(i), Model: m})
	}
	bus := emulator.NewBus(emulator.BusConfig{Name: "trial", Baud: t.Baud, Timing: t.Timing}, servos...)
	cfg.Line = bus.Line()
	chain := t.Kind.Driver.Chain(cfg)
	defer chain.Close()
	if err := chain.Open(); err != nil {
		return 0, err
	}
	for i, m := range t.Servos {
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

// budget compares a cycle of the bus with the period, and describes what would help. The slowest return delay that was
// read counts for all; a bus that could not be opened is judged only by the config.
func (b *BusCheck) budget() {
	b.Check("load")
	now := TrialLine{Kind: b.plan.Catalog.Buses.Of(b.Config.Type), Baud: b.Config.Baud, Timing: b.timing(),
		Delay: b.Config.ReturnDelay}
	for _, s := range b.servos {
		now.Servos = append(now.Servos, s.plan.Servo)
		now.Delay = max(now.Delay, s.delay)
	}
	now.Timing.Echo = false // that is a finding of its own
	cycle, err := now.Cycle()
	b.load = load{cycle, b.Examination.plan.Config.Clock.Period}
	switch {
	case err != nil:
		b.fail("load", hal.Invalid, "the driver does not run on such a bus: "+err.Error(), "hang fewer servos on it")
	case b.load.share() > full:
		b.fail("load", hal.BusFault, b.load.String(), now.Relief(b.load.period))
	case b.load.share() > busy:
		b.warn("load", b.load.String(), now.Relief(b.load.period))
	}
}

// timing is how the bus's line behaves: as configured where it is emulated, else as the adapter's kind does.
func (b *BusCheck) timing() emulator.Timing {
	switch {
	case b.Kind == configs.Emulated:
		return assembly.TimingOf(b.Config)
	case b.Recorded != nil && b.Recorded.Buses[Bodied(b.Name, b.Kind)].Terminal,
		b.Recorded == nil && catalog.IsTerminal(b.Config.Port):
		return emulator.Timing{Reply: emulator.DefaultReply}
	case b.latency > 0:
		return emulator.FTDI(b.latency)
	}
	// Not an FTDI, or not known: a full-speed USB frame.
	return emulator.Timing{Reply: emulator.DefaultReply, Frame: time.Millisecond}
}

// Relief tries what shortens the cycle and lists the gain of each, the cheapest change first: settings, then rates,
// then hardware, then a slower robot.
func (t *TrialLine) Relief(period time.Duration) string {
	var options []string
	try := func(what string, change func(*TrialLine)) {
		other := *t
		change(&other)
		if c, err := other.Cycle(); err == nil {
			options = append(options, fmt.Sprintf("%s: %.0f %%", what, 100*load{c, period}.share()))
		}
	}
	if t.Timing.Latency > time.Millisecond {
		try("latency timer 1ms", func(o *TrialLine) { o.Timing.Latency = time.Millisecond })
	}
	if t.Delay > 0 {
		try("return delay 0", func(o *TrialLine) { o.Delay = 0 })
	}
	for _, rate := range []int{1000000, 2000000, 4000000} {
		if rate > t.Baud && t.runsAt(rate) {
			try(fmt.Sprintf("%d Bd", rate), func(o *TrialLine) { o.Baud = rate })
		}
	}
	if n := len(t.Servos); n > 1 {
		try("two buses", func(o *TrialLine) { o.Servos = o.Servos[:(n+1)/2] })
	}
	if !t.fast() {
		options = append(options, "servos that know fast sync read")
	}
	options = append(options, "a longer clock.period")
	return strings.Join(options, "; ")
}

// runsAt reports whether every servo knows a rate.
func (t *TrialLine) runsAt(baud int) bool {
	return !slices.ContainsFunc(t.Servos, func(m servo.Model) bool { _, ok := m.BaudCode(baud); return !ok })
}

// fast reports whether every servo takes part in fast reads, where the protocol has them.
func (t *TrialLine) fast() bool {
	is := t.Kind.ReadsFast
	return is == nil || !slices.ContainsFunc(t.Servos, func(m servo.Model) bool { return !is(m) })
}
