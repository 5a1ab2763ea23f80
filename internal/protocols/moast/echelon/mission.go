package echelon

import (
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/internal/protocols/moast"
	"github.com/halyard-robotics/halyard/protocols"
)

// servoMis is ServoMisJA: it moves the links of one mission package.
type servoMis struct {
	plain
	vehicle Vehicle
	pack    int // from 0
	links   []moast.LinkSet
	status  *moast.ServoMisStat
	seen    *Observation
	moving  []moast.LinkCmd
}

// closeLink is the tolerance of a link command that has none, rad or m.
const closeLink = 0.02

func (c *servoMis) Update(*Module, float64) {
	if c.pack < len(c.seen.Links) {
		c.status.Links = c.seen.Links[c.pack]
	}
}

// Task moves the links of MOVE, one value each in their order. It is done when all positions are within their
// tolerances; speeds and torques last until the next command.
func (c *servoMis) Task(m *Module, command moast.Command, changed bool) {
	move, ok := command.(*moast.ServoMisCmdMove)
	if !ok {
		m.Fail("not supported")
		return
	}
	if begin := m.Head.State == moast.NewCommand; begin || changed {
		if why := c.check(move.Links); why != "" {
			m.Fail(why)
			return
		}
		m.Head.State = moast.S1
		if begin {
			return
		}
	}
	if err := c.vehicle.Move(c.pack, move.Links); err != nil {
		m.Fail(err.Error())
		return
	}
	c.moving = move.Links
	for i, l := range move.Links {
		tolerance := l.Tolerance
		protocols.Positive(&tolerance, closeLink)
		if l.Kind != moast.LinkPosition {
			continue
		}
		if i >= len(c.status.Links) || !(math.Abs(c.status.Links[i].Value-l.Value) <= tolerance) {
			return
		}
	}
	m.Finish()
}

// check reports what is wrong with link commands.
func (c *servoMis) check(links []moast.LinkCmd) string {
	if len(links) == 0 || len(links) > len(c.links) {
		return fmt.Sprintf("links: got %d, want 1..%d", len(links), len(c.links))
	}
	for i, l := range links {
		s := &c.links[i]
		switch {
		case bad(l.Value) || bad(l.Tolerance) || l.Kind < moast.LinkPosition || l.Kind > moast.LinkTorque:
			return fmt.Sprintf("link %d: a value is not a number, or of no kind", i+1)
		case l.Kind == moast.LinkPosition && (l.Value < s.MinRange || l.Value > s.MaxRange):
			return fmt.Sprintf("link %d: got %g, want %g..%g", i+1, l.Value, s.MinRange, s.MaxRange)
		}
	}
	return ""
}

// Stop ends speeds and torques; positions are held.
func (c *servoMis) Stop(m *Module) {
	for i := range c.moving {
		if l := &c.moving[i]; l.Kind != moast.LinkPosition {
			l.Value = 0
		}
	}
	if len(c.moving) > 0 {
		c.vehicle.Move(c.pack, c.moving)
	}
	c.moving = nil
	c.vehicle.Release(1 + c.pack)
}

// servoEff is ServoEffJA: it operates effectors, from 1. The opcodes are ours.
type servoEff struct {
	plain
	vehicle Vehicle
}

func (c *servoEff) Task(m *Module, command moast.Command, _ bool) {
	op, ok := command.(*moast.ServoEffCmdOpcode)
	switch {
	case !ok || bad(op.Param):
		m.Fail("not supported")
	case m.Head.State == moast.NewCommand:
		m.Head.State = moast.S1
	default:
		if err := c.vehicle.Operate(op.Effector, op.Opcode, op.Param); err != nil {
			m.Fail(err.Error())
			return
		}
		m.Finish()
	}
}
