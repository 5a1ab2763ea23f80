package budget

import (
	"errors"
	"fmt"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/internal/supervise"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// silence is how far apart the cycles of a line may be: without faults of its devices, and with them.
type silence struct{ sound, worst time.Duration }

// Hang is the silence of the cycles of p's real lines that counts as a hang of the process: a period, the longest cycle
// of the slowest line with its retries, and what a busy machine adds. It is measured as Of does. Where only faults of
// devices make a cycle so long that torque would not be off before the deadline that a guard promises, the deadline
// counts: such a cycle is then taken for a hang. The error, of kind hal.Invalid, gives the reason where a cycle without
// faults does. Do not use p afterwards.
func Hang(p *plan.Plan) (timeout time.Duration, err error) {
	if p, err = p.Stationed(); err != nil {
		return 0, err
	}
	all, slowest := hangOf(p, silence{}), ""
	for _, name := range report.SortedKeys(p.Config.Buses) {
		on := p.On(name, configs.Real)
		if len(on) == 0 {
			continue
		}
		l, err := lineOf(p, name, on, Options{})
		if err != nil {
			return 0, err
		}
		worst, err := l.worst(p.Config.Buses[name].Latency)
		if err != nil {
			return 0, err
		}
		s := hangOf(p, worst)
		if s.sound > all.sound || slowest == "" {
			slowest = name
		}
		all = silence{max(all.sound, s.sound), max(all.worst, s.worst)}
	}
	return all.within(p.Config), refuse(p.Config, slowest, all.sound)
}

// within is the silence that counts as a hang under the deadlines of c.
func (s silence) within(c *configs.Config) time.Duration {
	deadline, _ := deadlineOf(c)
	return max(s.sound, min(s.worst, deadline-supervise.Reserve-time.Millisecond))
}

// schedule is what a busy machine may add to a cycle.
const schedule = 50 * time.Millisecond

// hangOf is how far apart the cycles may be where the longest ones take longest.
func hangOf(p *plan.Plan, longest silence) silence {
	apart := func(d time.Duration) time.Duration {
		return max(supervise.MinTimeout, p.Config.Clock.Period+d+schedule)
	}
	return silence{apart(longest.sound), apart(longest.worst)}
}

// Refused is the error of Hang for the buses of c as Of has them, as if all were real where nothing is yet: warning.
func Refused(c *configs.Config, list []Bus) (err error, warning bool) {
	var timeout time.Duration
	slowest := ""
	for _, b := range list {
		if b.silence.sound > timeout {
			timeout, slowest = b.silence.sound, b.Bus
		}
	}
	if slowest == "" { // no servos
		return nil, false
	}
	return refuse(c, slowest, timeout), !isReal(c)
}

func isReal(c *configs.Config) (real bool) {
	for i := range c.Agents {
		real = real || c.Agents[i].Has(configs.Real)
	}
	for _, class := range c.Classes {
		real = real || class.Has(configs.Real)
	}
	return real
}

// deadlineOf is the shortest deadline before which torque must be off, and whose it is.
func deadlineOf(c *configs.Config) (deadline time.Duration, of string) {
	deadline, of = supervise.MaxTimeout+supervise.Reserve+1, "the limit of the supervising process"
	planned := !isReal(c) // as if all were
	atReal := func(who, key string, real bool, g *configs.Guard) {
		t := g.CommandTimeout
		if planned && t == 0 {
			t = 500 * time.Millisecond // as it will be
		}
		if real && t > 0 && t < deadline {
			deadline, of = t, key+".guard.command_timeout of "+who
		}
	}
	for i := range c.Agents {
		atReal(c.Agents[i].Name, fmt.Sprintf("agents[%d]", i), planned || c.Agents[i].Has(configs.Real),
			&c.Agents[i].Guard)
	}
	for _, name := range report.SortedKeys(c.Classes) {
		class := c.Classes[name]
		atReal(name, "classes."+name, class.Has(configs.Real), &class.Guard)
	}
	return deadline, of
}

// refuse returns an error where torque is not off within a guard's deadline after the last cycle of a process that
// hangs.
func refuse(c *configs.Config, bus string, timeout time.Duration) error {
	deadline, of := deadlineOf(c)
	off := timeout + supervise.Reserve
	if off < deadline {
		return nil
	}
	try := "halyard plan " + c.Source + " --set clock.period=20ms"
	if bus != "" && c.Buses[bus].Latency > time.Millisecond {
		try = "halyard plan " + c.Source + " --set buses." + bus + ".latency=1ms"
	}
	return &hal.Error{Kind: hal.Invalid, Bus: bus, Op: "supervise", Try: try,
		Err: fmt.Errorf("got torque off %v after the last cycle of a process that hangs, "+
			"want less than %v, %s: its cycles may be %v apart", off.Round(time.Millisecond), deadline, of,
			timeout.Round(time.Millisecond))}
}

// rehearsal is how many cycles each act of worst lasts.
const rehearsal = 60

// worst are the longest cycles of the line behind an adapter that holds replies back for latency: sound at the start
// and at torque-on; then with all servos silent, with one, with damaged replies, and each time when they are back.
func (l *Line) worst(latency time.Duration) (longest silence, err error) {
	most := &longest.sound
	line := *l
	line.Timing.Latency = max(line.Timing.Latency, latency)
	if line.Type.Emulate == nil { // of a program's own catalog: two requests a servo, and a lost one
		n := time.Duration(2*len(line.Chain.Servos) + 2)
		d := n * (servo.WireTime(64, 10, line.Baud) + servo.Slack + line.Timing.Latency)
		return silence{d, d}, nil
	}
	r, err := line.Open(nil)
	if err != nil {
		return longest, err
	}
	defer func() { err = errors.Join(err, r.Chain.Close()) }()
	act := func(cycles int) error {
		for range cycles {
			before := r.Chain.Stats().Cycles
			r.Exchange() // its faults are those that are rehearsed
			s := r.Chain.Stats()
			if s.Cycles > before {
				*most = max(*most, s.Spent)
			}
			if err := r.Bus.Advance(max(line.Chain.Period-s.Spent, 0)); err != nil {
				return err
			}
		}
		return nil
	}
	whole := 4*len(r.goals) + rehearsal
	if err := act(whole); err != nil {
		return longest, err
	}
	longest.worst = longest.sound
	most = &longest.worst
	for _, f := range []wire.Fault{{Kind: wire.PowerLoss, Target: wire.All},
		{Kind: wire.PowerLoss, Target: int(line.Chain.Servos[0].ID)}, {Kind: wire.CRC, Target: wire.All},
		{Kind: wire.CRC, Target: wire.All, P: 0.5}} {
		if err := errors.Join(r.Bus.Fault(f), act(rehearsal)); err != nil {
			return longest, err
		}
		for i := range r.goals {
			r.Bus.Heal(f.Kind, i)
		}
		r.Bus.Heal(f.Kind, wire.All)
		if err := act(whole); err != nil {
			return longest, err
		}
	}
	return longest, nil
}
