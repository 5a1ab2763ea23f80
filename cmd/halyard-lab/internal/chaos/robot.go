package chaos

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// What every schedule runs with: a slew that a servo can exceed, and a deadline that passes within it.
const (
	slew     = 0.3
	deadline = 300 * time.Millisecond
	// aloft is where a robot stands that could fall over, m: it falls freely during a schedule and touches nothing, so
	// that the forces at its joints are their motors' and their neighbours'.
	aloft = 1000
	// stop is how far beyond its soft limits a joint has a mechanical stop, rad, where its model has none: a hand would
	// turn it round, and an encoder of one turn does not see that. All of its way is less than a turn, for the same
	// reason.
	stop = 0.3
)

// Robot is a config of which schedules are run: embedded, of a file, or generated for one model of servo. It has some
// variants, of which a seed chooses one. Any number of goroutines may run schedules of it.
type Robot struct {
	Quick    bool // a violation is not reduced
	real     bool // its lines have the timing of real ones
	name     string
	variants []*plan.Plan
	shapes   []shape
}

// shape is what a schedule needs to know of a robot.
type shape struct {
	joints []joint // without their truth
	lines  []line
}

// joint is one joint that an emulated servo drives.
type joint struct {
	agent  int             // of the rig's
	index  int             // of the layout's actuators
	truth  *actuator.Servo // commands and motion of the motor
	servo  *emulator.Servo
	modes  []hal.Mode
	error  float64 // the guard's following error, rad
	policy string  // on_timeout
	line   int     // of shape.lines
	id     int
	tick   float64 // rad
}

// line is a bus with servos.
type line struct {
	name, kind string
	chained    bool // its other servos are reached through the first
	emu        *emulator.Bus
	ids        []int
}

// ErrNoServos is a config without a servo that is emulated on a line.
var ErrNoServos = errors.New("no emulated servo on a line")

// Open reads the config called name, the file, or the generated robot called TYPE/MODEL, see Generated. The zero stop
// policy is the config's own; its variants try the others. With ideal its lines measure at the end of a cycle, else at
// its beginning, as real lines do.
func Open(name string, ideal bool) (*Robot, error) {
	r := &Robot{name: name, real: !ideal}
	cat := builtin.Catalog()
	if kind, model, ok := strings.Cut(name, "/"); ok && cat.Buses.Of(kind).Lookup(model) != nil {
		return r, r.generate(cat, kind, model)
	}
	if plain, err := configs.Load(name, configs.Options{}); err != nil {
		return nil, err
	} else if !slices.ContainsFunc(plain.Agents,
		func(a configs.Agent) bool { return a.Hardware != nil && len(a.Hardware.Joints) > 0 }) {
		return nil, ErrNoServos
	}
	for _, set := range [][]string{{"on_timeout=hold"}, {"on_timeout=torque_off"}, {"armed=false", "arming=operator"},
		{"on_timeout=park"}} {
		if err := r.load(cat, name, set); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Configs are the embedded configs that have servos to be judged.
func Configs() (names []string, err error) {
	for _, name := range configs.Names() {
		switch _, e := Open(name, true); {
		case errors.Is(e, ErrNoServos):
		case e != nil:
			return nil, e
		default:
			names = append(names, name)
		}
	}
	return names, nil
}

func (r *Robot) timing() string {
	if r.real {
		return "real"
	}
	return "ideal"
}

// load adds a variant: the config, emulated, with settings of its first agent's guard.
func (r *Robot) load(cat *catalog.Catalog, name string, guard []string) error {
	o := configs.Options{Body: "emulated", Set: []string{"clock.mode=realtime", "clock.timing=" + r.timing()}}
	c, err := configs.Load(name, o)
	if err != nil {
		return err
	}
	for i := range c.Agents {
		for _, set := range append([]string{"command_timeout=" + deadline.String(), fmt.Sprintf("slew=%g", slew)},
			guard...) {
			o.Set = append(o.Set, fmt.Sprintf("agents[%d].guard.%s", i, set))
		}
	}
	if c, err = configs.Load(name, o); err != nil {
		return err
	}
	c.Servers = nil
	p, err := plan.Resolve(c, cat)
	if err != nil {
		return err
	}
	for i := range p.Agents {
		m := p.Agents[i].Robot
		if m == nil {
			continue
		}
		if !m.Fixed {
			c.Agents[i].Pose.Position[2] += aloft
		}
		for k := range m.Joints {
			j := &m.Joints[k]
			most := min(stop, math.Pi-(j.Limits[1]-j.Limits[0])/2-outside)
			switch low, high := j.Limits[0]-most, j.Limits[1]+most; {
			case j.Wraps || j.Stops[0] < j.Stops[1] || j.Load.Min < j.Load.Max:
			case j.Child == hal.None:
				j.Load.Min, j.Load.Max = low, high
			default:
				j.Stops = [2]float64{low, high}
			}
		}
	}
	s := shapeOf(p)
	if len(s.joints) == 0 {
		return ErrNoServos
	}
	r.variants, r.shapes = append(r.variants, p), append(r.shapes, s)
	return nil
}

// shapeOf lists the joints of p that emulated servos drive.
func shapeOf(p *plan.Plan) (s shape) {
	for i := range p.Agents {
		a := &p.Agents[i]
		for k := range a.Joints {
			j := &a.Joints[k]
			if j.Servo == nil || j.Body != configs.Emulated {
				continue
			}
			at := slices.IndexFunc(s.lines, func(l line) bool { return l.name == j.Hardware.Bus })
			if at < 0 {
				bus := p.Config.Buses[j.Hardware.Bus]
				at = len(s.lines)
				s.lines = append(s.lines, line{name: j.Hardware.Bus, kind: bus.Type,
					chained: p.Catalog.Buses.Of(bus.Type).Chained})
			}
			s.lines[at].ids = append(s.lines[at].ids, j.Hardware.ID)
			one := joint{agent: i, index: k, line: at, id: j.Hardware.ID,
				tick: 2 * math.Pi / j.Servo.Units().TicksPerTurn, error: p.Config.Agents[i].Guard.FollowingError,
				policy: p.Config.Agents[i].Guard.OnTimeout}
			if one.error == 0 {
				one.error = follows + slew*a.Layout.Actuators[k].Limits.MaxVelocity*followsTime.Seconds()
			}
			for m := range hal.NumModes {
				if a.Layout.Actuators[k].Goal[m] != hal.None {
					one.modes = append(one.modes, m)
				}
			}
			s.joints = append(s.joints, one)
		}
	}
	return s
}

// variant is the number of the variant that seed chooses. The last one parks.
func (r *Robot) variant(seed int64) int {
	others := uint64(len(r.variants) - 1)
	if uint64(seed)/others%11 == 5 {
		return int(others)
	}
	return int(uint64(seed) % others)
}

// stand is one robot that was built: its rig, its emulated lines and their physics, in virtual time.
type stand struct {
	shape
	real   bool // Robot.real
	sys    *assembly.System
	agents []*hal.Agent
	arming []bool // of each: only an operator arms it
	clock  *clock
	out    *output
	sink   hal.Sink
}

// build builds the variant of seed. plant, where it is not nil, may change its plan.
func (r *Robot) build(seed int64, plant func(*plan.Plan)) (*stand, error) {
	v := r.variant(seed)
	p, c := *r.variants[v], *r.variants[v].Config
	p.Config, c.World.Seed = &c, max(1, seed)
	s := &stand{real: r.real, clock: &clock{}, out: &output{}}
	p.Clock = s.clock
	if plant != nil {
		plant(&p)
	}
	var err error
	if s.sys, err = assembly.Build(&p, slog.New(s.sink.Handler(slog.NewTextHandler(s.out, nil)))); err != nil {
		return nil, err
	}
	s.agents = s.sys.Rig.Agents()
	for i := range p.Config.Agents {
		s.arming = append(s.arming, p.Config.Agents[i].Guard.Arming == "operator")
	}
	s.joints, s.lines = slices.Clone(r.shapes[v].joints), slices.Clone(r.shapes[v].lines)
	for i := range s.lines {
		for k := range s.sys.Lines {
			if s.sys.Lines[k].Name == s.lines[i].name {
				s.lines[i].emu = s.sys.Lines[k].Emu
			}
		}
	}
	for i := range s.joints {
		j := &s.joints[i]
		j.truth = s.sys.Scene.Body(s.agents[j.agent].Name()).Joint(j.index).Servo
		for _, servo := range s.lines[j.line].emu.Servos() {
			if servo.Actuator() == j.truth {
				j.servo = servo
			}
		}
	}
	return s, nil
}

func (s *stand) close() error {
	s.out.free() // a writer that is blocked ends
	err := s.sys.Close()
	s.sink.Flush(time.Second)
	return err
}

// actuator is what j's agent offers of it.
func (s *stand) actuator(j *joint) *hal.Actuator {
	return &s.agents[j.agent].Layout().Actuators[j.index]
}

// span is what a command of value -1..1 means in a mode, in SI.
func (s *stand) span(j *joint, m hal.Mode) float64 {
	a := s.actuator(j)
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

// clock is virtual: the rig's loop sleeps by letting tick run.
type clock struct {
	now   time.Duration
	late  time.Duration // of the next wake-up
	slept time.Duration // how long the machine was suspended
	tick  func()
}

func (c *clock) Now() time.Duration       { return c.now }
func (c *clock) Virtual()                 {}
func (c *clock) Suspended() time.Duration { return c.slept }

func (c *clock) SleepUntil(t time.Duration) {
	c.now = max(c.now, t) + c.late
	c.late = 0
	if c.tick != nil {
		c.tick()
	}
}
