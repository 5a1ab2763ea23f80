package calibrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
)

// stand is an open robot whose joints a session reads in every cycle. It starts with torque off.
type stand struct {
	sys    *halyard.System
	agent  *halyard.Agent
	period time.Duration
	joints []watched
	real   bool
	end    func() error // ends Run

	rig      *hal.Agent
	measured []float64
	status   []hal.Status
	tick     chan struct{}
	mu       sync.Mutex // guards the fields that observe writes
	clock    hal.Clock
	now      time.Duration // of the last cycle's end: by the clock, of a real robot, else of the worlds
	capture  *capture      // nil: none
}

// watched is one joint of a stand.
type watched struct {
	*Joint
	index     int                // of the actuator
	by        *calibration.Joint // the calibration used to read it
	ticks     float64            // of the servo, turns counted; NaN = not read yet
	low, high float64            // since the last forget
	lost      error              // why it is not read now
	hand      float64            // rad; where the hand of a simulated robot holds it, NaN = nowhere
	counted   bool               // its reference was taken here: both count the same turns
}

// sessionConfig returns the config with only this robot and without servers, with torque off until it is armed, and
// with the calibration file(j) for each joint; "" keeps its own. Its servos are those of body.
func (g *Guide) sessionConfig(file func(*Joint) string) (*configs.Config, error) {
	o := g.Options
	if o.Body == string(configs.Sim) { // it has no servos to calibrate
		o.Body = string(configs.Emulated)
	}
	c, a, err := g.load(o)
	if err != nil {
		return nil, err
	}
	if o.Body == "" { // what the config simulates for now is hardware all the same
		a.Body, a.Parts = configs.Sim, map[string]configs.BodyKind{}
		for i := range g.robot.Joints {
			a.Parts[g.robot.Joints[i].Name] = configs.Real
		}
	}
	g.announce(c, a)
	c.Servers, c.Classes, a.Shadow = nil, nil, false
	a.Guard.Armed, a.Guard.Arming, a.Guard.OnTimeout = false, "operator", "hold"
	a.Guard.Slew = math.Min(a.Guard.Slew, 0.25)
	for i := range g.robot.Joints {
		j := &g.robot.Joints[i]
		h := a.Hardware.Joints[j.Name]
		if old := j.old(""); old != nil { // an emulated servo keeps its mounting
			own := configs.GroundTruth{}
			if h.GroundTruth != nil {
				own = *h.GroundTruth
			}
			own.Zero = cmp.Or(own.Zero, &old.ZeroTicks)
			own.Direction = cmp.Or(own.Direction, &old.Direction)
			own.Gear = cmp.Or(own.Gear, &old.Gear)
			h.GroundTruth = &own
		}
		if f := file(j); f != "" {
			h.Calibration = f
		}
		a.Hardware.Joints[j.Name] = h
	}
	return c, nil
}

// body is which devices a session uses: real ones, but where --body says otherwise.
func (g *Guide) body() configs.BodyKind {
	if b := configs.BodyKind(g.Options.Body); b == configs.Sim || b == configs.Emulated {
		return configs.Emulated
	}
	return configs.Real
}

// announce tells once on which devices a session works.
func (g *Guide) announce(c *configs.Config, a *configs.Agent) {
	if g.announced {
		return
	}
	g.announced = true
	if g.body() == configs.Emulated {
		g.printf("EMULATED: %s, on devices in memory. Without --body it is the hardware.", a.Name)
		return
	}
	var ports []string
	for i := range g.robot.Joints {
		bus := a.Hardware.Joints[g.robot.Joints[i].Name].Bus
		if at := "bus " + bus + " at " + c.Buses[bus].Port; !slices.Contains(ports, at) {
			ports = append(ports, at)
		}
	}
	g.printf("REAL: %s, %s. --body emulated is a rehearsal.", a.Name, strings.Join(ports, ", "))
}

// load reads the config and leaves no agent in it but the robot.
func (g *Guide) load(o configs.Options) (*configs.Config, *configs.Agent, error) {
	c, err := configs.Load(g.Config, o)
	if err != nil {
		return nil, nil, err
	}
	for i := range c.Agents {
		if c.Agents[i].Name == g.robot.Name {
			c.Agents = c.Agents[i : i+1]
			return c, &c.Agents[0], nil
		}
	}
	return nil, nil, &hal.Error{Kind: hal.Invalid, Op: "calibrate " + g.Config,
		Err: fmt.Errorf("got class %q, want an agent: write a config with an agent of that hardware", g.robot.Name)}
}

// rawConfig is sessionConfig with nominal calibrations, written into dir, which show a servo's own ticks.
func (g *Guide) rawConfig(dir string) (*configs.Config, error) {
	var faults []error
	c, err := g.sessionConfig(func(j *Joint) string {
		path := filepath.Join(dir, j.Name+".yaml")
		n := j.nominal()
		n.Date = g.Now()
		_, err := calibration.Save(path, n)
		faults = append(faults, err)
		return path
	})
	return c, errors.Join(append(faults, err)...)
}

// openRaw opens the robot with nominal calibrations, after check, where it is not nil, has accepted its config.
func (g *Guide) openRaw(ctx context.Context, check func(context.Context, *configs.Config) error) (*stand, error) {
	dir, remove, err := scratch()
	if err != nil {
		return nil, err
	}
	defer remove()
	raw, err := g.rawConfig(dir)
	if err == nil && check != nil {
		err = check(ctx, raw)
	}
	if err != nil {
		return nil, err
	}
	return g.open(ctx, raw, (*Joint).nominal)
}

// open opens the robot of c. read is the calibration by which a joint's angle is turned back into ticks.
func (g *Guide) open(ctx context.Context, c *configs.Config, read func(*Joint) *calibration.Joint) (*stand, error) {
	s, err := g.newStand(c)
	if err != nil {
		return nil, err
	}
	s.real = s.rig.BodyKind() == hal.Real
	for _, j := range g.joints {
		at := s.agent.Layout().Actuator(j.Name)
		w := watched{Joint: j, index: at, by: read(j), ticks: math.NaN(), hand: math.NaN()}
		w.low, w.high = math.Inf(1), math.Inf(-1)
		s.joints = append(s.joints, w)
	}
	if !s.real { // the hand holds a robot whose torque is off
		for i := range s.joints {
			if err := s.place(&s.joints[i], s.joints[i].Rest, 0); err != nil {
				return nil, errors.Join(err, s.sys.Close())
			}
		}
	}
	s.run(ctx)
	for range 3 {
		if err := s.step(ctx); err != nil {
			return nil, errors.Join(err, s.end())
		}
	}
	return s, nil
}

// newStand opens the first robot of c; run begins its time.
func (g *Guide) newStand(c *configs.Config) (*stand, error) {
	sys, err := halyard.Open(c, g.Open...)
	if err != nil {
		return nil, err
	}
	return &stand{sys: sys, agent: sys.Agents()[0], period: c.Clock.Period, tick: make(chan struct{}, 1),
		clock: hal.WallClock(), rig: sys.Rig().Agents()[0]}, nil
}

// openStand is newStand whose time runs.
func (g *Guide) openStand(ctx context.Context, c *configs.Config) (*stand, error) {
	s, err := g.newStand(c)
	if err == nil {
		s.run(ctx)
	}
	return s, err
}

// run lets time pass where the session does not, and sets end.
func (s *stand) run(ctx context.Context) {
	sys := s.sys
	cancel := sys.OnCycle(func(*hal.Cycle) { s.observe() })
	s.end = func() error { cancel(); return sys.Close() }
	if sys.Rig().Mode() == hal.Realtime {
		run, stop := context.WithCancel(ctx)
		ran := make(chan error, 1)
		go func() { ran <- sys.Run(run) }()
		s.end = func() error {
			off := sys.Stop("the calibration ends")
			stop()
			err := <-ran
			cancel()
			return errors.Join(off, err, sys.Close())
		}
	}
}

// step lets one cycle pass.
func (s *stand) step(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.sys.Rig().Mode() == hal.Lockstep {
		return s.sys.Step()
	}
	select {
	case <-s.tick:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// observe is called after each cycle.
func (s *stand) observe() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.measured, s.status = s.rig.Measured(s.measured), s.rig.Status(s.status)
	if s.now += s.period; s.real {
		s.now = s.clock.Now()
	}
	if s.capture != nil {
		s.capture.sees(s)
	}
	for i := range s.joints {
		w := &s.joints[i]
		v := s.measured[s.rig.Layout().Actuators[w.index].Position]
		switch w.lost = s.status[w.index].Err; {
		case math.IsNaN(v):
			continue
		case math.IsNaN(w.ticks):
			w.ticks = w.by.Ticks(v)
		default:
			w.ticks += math.Remainder(w.by.Ticks(v)-w.ticks, w.by.TicksPerTurn)
		}
		w.low, w.high = math.Min(w.low, w.ticks), math.Max(w.high, w.ticks)
	}
	select {
	case s.tick <- struct{}{}:
	default:
	}
}

// forget lets the ranges begin again.
func (s *stand) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.joints {
		s.joints[i].low, s.joints[i].high = math.Inf(1), math.Inf(-1)
	}
}

// near moves ticks of w, near which its reference is, by whole turns: a servo that was opened again counts its turns
// from anywhere.
func (w *watched) near(reference, ticks float64) float64 {
	turn, u := w.by.TicksPerTurn, w.Model.Units()
	if w.counted || u.MaxTicks-u.MinTicks < 0.95*turn { // it tells an angle once only
		return ticks
	}
	return ticks + turn*math.Round((reference-ticks)/turn)
}

// count notes that the references of list are of this count.
func (s *stand) count(list []*Joint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.joints {
		s.joints[i].counted = s.joints[i].counted || slices.Contains(list, s.joints[i].Joint)
	}
}

// seen returns the present state of the joints.
func (s *stand) seen() []watched {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]watched(nil), s.joints...)
}

// watched returns the joint called name, nil if unknown.
func (s *stand) watched(name string) *watched {
	for i := range s.joints {
		if s.joints[i].Name == name {
			return &s.joints[i]
		}
	}
	return nil
}

// handSpeed is the speed of the hand of a simulated robot, rad/s.
const handSpeed = 1.5

// place sets the position of the hand of a simulated robot.
func (s *stand) place(w *watched, rad, speed float64) error {
	w.hand = rad
	return s.agent.Hand(w.Name, rad, speed)
}

// move moves the hand of a simulated robot to rad, or to the joint's stop.
func (s *stand) move(ctx context.Context, name string, rad float64) error {
	w := s.watched(name)
	if w == nil {
		return &hal.Error{Kind: hal.Invalid, Op: "hand", Joint: name,
			Err: fmt.Errorf("got joint %q, want one of this session", name)}
	}
	if math.IsNaN(w.hand) {
		return &hal.Error{Kind: hal.Invalid, Op: "hand", Joint: name,
			Err: errors.New("got a hand that holds nothing, want a simulated robot whose torque is off")}
	}
	if w.Limits.MaxPosition > w.Limits.MinPosition {
		rad = math.Min(math.Max(rad, w.Limits.MinPosition), w.Limits.MaxPosition)
	}
	for w.hand != rad {
		way := math.Min(math.Abs(rad-w.hand), handSpeed*s.period.Seconds())
		next := w.hand + math.Copysign(way, rad-w.hand)
		if err := s.place(w, next, (next-w.hand)/s.period.Seconds()); err != nil {
			return err
		}
		if err := s.step(ctx); err != nil {
			return err
		}
	}
	if err := s.place(w, rad, 0); err != nil {
		return err
	}
	for range 2 {
		if err := s.step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// letGo releases the hand from every joint.
func (s *stand) letGo() error {
	for i := range s.joints {
		if err := s.place(&s.joints[i], math.NaN(), 0); err != nil {
			return err
		}
	}
	return nil
}

// scratch creates a folder for the files of one session, and returns a function that removes it.
func scratch() (dir string, remove func(), err error) {
	dir, err = os.MkdirTemp("", "halyard-calibrate")
	return dir, func() { os.RemoveAll(dir) }, err
}

// absolute is path as any folder's configs can name it.
func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}
