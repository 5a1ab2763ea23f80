package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/commission"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/servo"
)

// BusCheck is the examination of one line. Its embedded examination collects the findings of all.
type BusCheck struct {
	*Examination
	Name   string
	Kind   configs.BodyKind
	Config configs.Bus
	servos []*ServoCheck // in the order of the config's robots

	row     catalog.BusType // of its type
	line    servo.Line
	latency time.Duration // what an answer may be held back on its way: adapter, USB, a program behind a pty
	checks  []check       // made on this bus, in order; those without a finding are passed
	load    load          // of a cycle of the real driver
}

func newBusExam(d *Examination, name string, kind configs.BodyKind, on []plan.JointRef) *BusCheck {
	b := &BusCheck{Examination: d, Name: name, Kind: kind, Config: d.plan.Config.Buses[name]}
	b.row = d.plan.Catalog.Buses.Of(b.Config.Type)
	for _, h := range on {
		j := d.plan.Joint(h)
		robot := d.plan.Agents[h.Agent].Robot
		supplied, own := robot.Supply.Volts, robot.Joints[h.Joint].Supply
		if own > 0 {
			supplied = robot.Supplies[own-1].Volts
		}
		b.servos = append(b.servos, &ServoCheck{ownSupply: own > 0,
			BusCheck: b, agent: h.Agent, joint: robot.Joints[h.Joint].Name, plan: j,
			id: byte(j.Hardware.ID), model: j.Servo, supplied: supplied, limits: robot.Joints[h.Joint].Limits,
			wheel: robot.Joints[h.Joint].Wraps || !robot.Joints[h.Joint].Modes[hal.PositionMode],
		})
	}
	return b
}

// port is what the bus is called in commands to type. An emulated one has a port only under halyard emulate.
func (b *BusCheck) port() string {
	if b.Kind == configs.Emulated {
		return "PORT"
	}
	return b.Config.Port
}

// check is one kind of check and how often it was made.
type check struct {
	name string
	n    int
}

// Check notes that a check is made.
func (b *BusCheck) Check(name string) {
	for i := range b.checks {
		if b.checks[i].name == name {
			b.checks[i].n++
			return
		}
	}
	b.checks = append(b.checks, check{name, 1})
}

func (b *BusCheck) fail(check string, kind hal.Kind, found, fix string) {
	b.Found = append(b.Found, Finding{Check: check, State: StateFail, Bus: b.Name, Found: found, Fix: fix, Kind: kind})
}

func (b *BusCheck) warn(check, found, fix string) {
	b.Found = append(b.Found, Finding{Check: check, State: StateWarn, Bus: b.Name, Found: found, Fix: fix})
}

// Run makes every check of the bus. A line that cannot be opened, or that vanishes, is a finding, not an error.
func (b *BusCheck) Run(ctx context.Context) error {
	before := len(b.Found)
	if b.connect() {
		err := b.examine(ctx)
		if err == nil {
			err = b.dump(ctx)
		}
		b.line.Close()
		switch {
		case errors.Is(err, servo.ErrDisconnected):
			b.fail("port", hal.Absent, "the adapter vanished while it was examined",
				"check its cable and plug (dmesg | tail)")
		case err != nil:
			return err
		}
	}
	for _, s := range b.servos {
		s.calibrated()
	}
	b.budget()
	b.pass(before)
	return nil
}

// pass adds a row for each check without a finding since the one at index before.
func (b *BusCheck) pass(before int) {
	for _, c := range b.checks {
		if !slices.ContainsFunc(b.Found[before:], func(f Finding) bool { return f.Check == c.name }) {
			b.Found = append(b.Found, Finding{Check: c.name, State: StateOK, Bus: b.Name, Found: b.passed(c)})
		}
	}
}

// passed adds the finding of a check that found no fault.
func (b *BusCheck) passed(c check) string {
	switch c.name {
	case "load":
		return b.load.String()
	case "port", "access", "holder", "conflict", "latency", "echo":
		if b.Kind == configs.Emulated {
			return "in memory"
		}
		return b.Config.Port
	}
	return fmt.Sprintf("%d servos", c.n)
}

// examine checks the devices of the open line.
func (b *BusCheck) examine(ctx context.Context) error {
	if b.row.Duplex {
		return b.examineMotors()
	}
	b.Check("echo")
	echo, err := catalog.Echoes(b.line)
	if err != nil {
		return err
	}
	if echo {
		b.warn("echo", "the adapter echoes transmitted bytes; the driver discards the echo, which costs bus time",
			commission.EchoFix)
		b.line = &servo.EchoFilter{Line: b.line}
	}
	for _, s := range b.servos {
		if s.tool, err = commission.NewTool(b.line, b.row,
			servo.ToolConfig{Bus: b.Name, Latency: b.latency, Model: s.model}); err != nil {
			return err
		}
	}
	// First a glance at each servo's own clock: one that restarts from now on gives itself away.
	for _, s := range b.servos {
		s.glance()
	}
	var missing []*ServoCheck
	for _, s := range b.servos {
		if err := ctx.Err(); err != nil {
			return err
		}
		there, err := s.Identify()
		if err != nil {
			return err
		}
		if !there {
			missing = append(missing, s)
		}
	}
	if err := b.seek(ctx, missing); err != nil {
		return err
	}
	for _, s := range b.servos {
		if !s.readable {
			continue
		}
		if err := s.registers(); err != nil {
			return err
		}
		s.steady()
		b.met = append(b.met, s)
	}
	return ctx.Err()
}

// seek looks for servos that did not answer at the bus's rate, and reports where each is, or that it is missing. A
// whole bus of silence has one cause and is one finding.
func (b *BusCheck) seek(ctx context.Context, missing []*ServoCheck) error {
	for range b.servos {
		b.Check("servo")
		b.Check("baud")
	}
	found := map[int][]*ServoCheck{} // by the rate at which they are
	for _, rate := range catalog.UsualBauds() {
		if rate == b.Config.Baud || len(missing) == 0 ||
			!commission.Possible(b.plan.Catalog.Buses, b.Config.Type, rate) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := b.line.SetBaud(rate); hal.KindOf(err) == hal.Invalid {
			continue // not a rate of this adapter
		} else if err != nil {
			return err
		}
		var still []*ServoCheck
		for _, s := range missing {
			switch _, err := s.tool.Identify(int(s.id)); {
			case hal.KindOf(err) == hal.Absent:
				return err
			case hal.KindOf(err) == hal.Timeout && err != nil:
				still = append(still, s)
			default:
				found[rate] = append(found[rate], s)
			}
		}
		missing = still
	}
	if err := b.line.SetBaud(b.Config.Baud); err != nil {
		return err
	}
	for _, rate := range slices.Sorted(maps.Keys(found)) {
		if n := len(found[rate]); n > 1 && n == len(b.servos) { // they have their factory settings
			b.fail("baud", hal.BusFault, fmt.Sprintf("all %d servos answer at %d Bd, want %d", n, rate, b.Config.Baud),
				fmt.Sprintf("set buses.%s.baud to %d, or, for each: halyard setup %s --id N --protocol %s --baud %d "+
					"--new-baud %d",
					b.Name, rate, b.port(), b.Config.Type, rate, b.Config.Baud))
			break
		}
		for _, s := range found[rate] {
			s.fail("baud", hal.BusFault, fmt.Sprintf("answers at %d Bd, want %d", rate, b.Config.Baud),
				fmt.Sprintf("halyard setup %s --id %d --protocol %s --baud %d --new-baud %d", b.port(), s.id,
					b.Config.Type, rate, b.Config.Baud))
		}
	}
	if len(missing) == len(b.servos) {
		if reported, err := b.lone(ctx); err != nil || reported {
			return err
		}
		if err := b.line.SetBaud(b.Config.Baud); err != nil {
			return err
		}
	}
	if n := len(b.servos); len(missing) == n && n > 1 {
		b.fail("power", hal.BusFault, fmt.Sprintf("none of the %d servos answers, at this or any usual rate", n),
			"switch on their supply and check the data line; then: halyard scan "+b.port())
		return nil
	}
	if len(missing) == 0 {
		return nil
	}
	f := commission.Finder{Line: b.line, Port: b.port(), Latency: b.latency,
		Buses: b.plan.Catalog.Buses}
	known, err := b.strangers(ctx, &f)
	if err != nil {
		return err
	}
	for _, s := range missing {
		found, fix := "no answer", s.cableFix(missing)+"; or it has another id: halyard scan "+b.port()
		if len(known) > 0 { // its id was never set, or all of them are numbered otherwise
			found = "no answer, but " + strings.Join(known, ", ") + ", which no joint has"
			fix = fmt.Sprintf("see which joint it is (halyard registers read %s --id N present_position, while you "+
				"turn it), then: halyard setup %s --id N --new-id %d",
				b.port(), b.port(), s.id)
		}
		s.fail("servo", hal.Absent, found, fix)
	}
	return nil
}

// cableFix names the cable to check: the one from the previous servo, which replies. The chain's order is taken to be
// the config's.
func (s *ServoCheck) cableFix(missing []*ServoCheck) string {
	before := -1
	for _, other := range s.servos {
		if other == s {
			break
		}
		if before = int(other.id); slices.Contains(missing, other) {
			before = -1
		}
	}
	if before < 0 {
		return fmt.Sprintf("check the power and the cables of id %d", s.id)
	}
	return fmt.Sprintf("check the cable between id %d and id %d", before, s.id)
}

// String counts the answers by what was wrong with them.
func (h *answerCount) String() string {
	parts := []string{fmt.Sprintf("%d of %d answers are sound", h.clean, h.asked)}
	for _, p := range []struct {
		n    int
		what string
	}{{h.silent, "missing"}, {h.tardy, "late"}, {h.garbled, "with a bad checksum"}, {h.cut, "cut short"},
		{h.crossed, "crossed"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	return strings.Join(parts, ", ")
}
