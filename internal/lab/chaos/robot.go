package chaos

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// What every schedule runs with: a slew that a servo can exceed, and a deadline that passes within it.
const (
	slew     = 0.3
	deadline = 300 * time.Millisecond
)

// robot is the first agent of a config, emulated, in virtual time.
type robot struct {
	sys    *assembly.System
	agent  *hal.Agent
	joints []joint
	lines  []lineOf
	clock  *clock
}

// joint is one joint that an emulated servo drives.
type joint struct {
	index int             // of the layout's actuators
	truth *actuator.Servo // what the motor is told and does
	modes []hal.Mode
	line  int // of robot.lines; -1 = no servo line
	id    int
}

type lineOf struct {
	name string
	emu  *emulator.Bus
	ids  []int
}

// clock is virtual: the rig's loop sleeps by letting tick run.
type clock struct {
	now  time.Duration
	late time.Duration // of the next wake-up
	tick func()
}

func (c *clock) Now() time.Duration { return c.now }

func (c *clock) SleepUntil(t time.Duration) {
	c.now = max(c.now, t) + c.late
	c.late = 0
	if c.tick != nil {
		c.tick()
	}
}

// ErrNoServos is a config without a servo that is emulated on a line.
var ErrNoServos = errors.New("no emulated servo on a line")

// open builds the config called name, or the file.
func open(name string, seed int64) (*robot, error) {
	o := configs.Options{Body: "emulated", Set: []string{"clock.mode=realtime", fmt.Sprintf("world.seed=%d", max(1, seed)),
		"agents[0].guard.command_timeout=" + deadline.String(), fmt.Sprintf("agents[0].guard.slew=%g", slew)}}
	if plain, err := configs.Load(name, configs.Options{}); err != nil {
		return nil, err
	} else if len(plain.Agents) == 0 || plain.Agents[0].Hardware == nil || len(plain.Agents[0].Hardware.Joints) == 0 {
		return nil, ErrNoServos
	}
	c, err := configs.Load(name, o)
	if err != nil {
		return nil, err
	}
	c.Servers = nil
	p, err := plan.Resolve(c, builtin.Catalog())
	if err != nil {
		return nil, err
	}
	r := &robot{clock: &clock{}}
	p.Clock = r.clock
	if r.sys, err = assembly.Build(p, slog.New(slog.NewTextHandler(io.Discard, nil))); err != nil {
		return nil, err
	}
	r.agent = r.sys.Rig.Agents()[0]
	body := r.sys.Scene.Body(r.agent.Name())
	for i := range r.sys.Lines {
		l := &r.sys.Lines[i]
		if l.Emu == nil {
			continue
		}
		line := lineOf{name: l.Name, emu: l.Emu}
		for k := range p.Agents[0].Joints {
			if h := p.Agents[0].Config.Hardware.Joints[r.agent.Layout().Actuators[k].Name]; h.Bus == l.Name {
				line.ids = append(line.ids, h.ID)
			}
		}
		if len(line.ids) > 0 {
			r.lines = append(r.lines, line)
		}
	}
	l := r.agent.Layout()
	for i := range l.Actuators {
		h := p.Agents[0].Config.Hardware.Joints[l.Actuators[i].Name]
		for k := range r.lines {
			if body == nil || h.Bus != r.lines[k].name || h.Bus == "" {
				continue
			}
			j := joint{index: i, truth: body.Joint(i).Servo, line: k, id: h.ID}
			for m := range hal.NumModes {
				if l.Actuators[i].Goal[m] != hal.None {
					j.modes = append(j.modes, m)
				}
			}
			r.joints = append(r.joints, j)
		}
	}
	if len(r.joints) == 0 {
		return nil, errors.Join(ErrNoServos, r.sys.Close())
	}
	return r, nil
}

// span is what a command of value -1..1 means in a mode, in SI.
func (r *robot) span(j *joint, m hal.Mode) float64 {
	a := &r.agent.Layout().Actuators[j.index]
	switch m {
	case hal.PositionMode:
		if a.Wraps {
			return math.Pi
		}
		return math.Max(math.Abs(a.Limits.MinPosition), math.Abs(a.Limits.MaxPosition)) * 1.2
	case hal.VelocityMode:
		return a.Limits.MaxVelocity
	case hal.TorqueMode:
		return a.Limits.MaxTorque
	}
	return 1
}

// modeOf is the mode called name.
func modeOf(name string) hal.Mode {
	for m := range hal.NumModes {
		if strings.EqualFold(m.String(), name) {
			return m
		}
	}
	return hal.NoMode
}
