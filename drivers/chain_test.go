package drivers

import (
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// chain is a scripted servo.Chain: at Receive every servo with torque stands where its goal is, without delay.
type chain struct {
	units   servo.Units
	goals   []servo.Goal
	staged  []servo.Goal
	states  []servo.State
	silent  map[int]error // servos that do not answer
	haltErr map[int]error
	halts   int
	halting chan struct{} // Halt waits for it where not nil
	clock   time.Duration
}

// ax and xm are units as a Dynamixel chain has them.
var (
	ax = servo.Units{Name: "ax-12a", TicksPerTurn: 1227.6, CentreTicks: 512, MinTicks: 0, MaxTicks: 1023,
		MaxVelocity: 6.2, TorqueConstant: 1.5, MaxEffort: 1, NominalVolts: 12,
		Modes: [hal.NumModes]bool{true, true, false, true}}
	xm = servo.Units{Name: "xm430-w350", TicksPerTurn: 4096, CentreTicks: 2048, MinTicks: 0, MaxTicks: 4095,
		MaxVelocity: 4.8, TorqueConstant: 4.1 / 2.3, MaxEffort: 2.3, Current: true, NominalVolts: 12,
		Modes: [hal.NumModes]bool{true, true, true, true}}
)

func newChain(u servo.Units, n int) *chain {
	c := &chain{units: u, goals: make([]servo.Goal, n), staged: make([]servo.Goal, n), states: make([]servo.State, n),
		silent: map[int]error{}, haltErr: map[int]error{}}
	nan := math.NaN()
	for i := range c.states {
		c.states[i] = servo.State{Position: nan, Velocity: nan, Effort: nan, Voltage: nan, Temperature: nan, Time: -1}
	}
	return c
}

// stands puts a servo at ticks, as if it had said so.
func (c *chain) stands(i int, ticks float64) { c.states[i].Position = ticks }

func (c *chain) Open() error                 { return nil }
func (c *chain) Units(int) servo.Units       { return c.units }
func (c *chain) SetGoal(i int, g servo.Goal) { c.staged[i] = g }
func (c *chain) State(i int) *servo.State    { return &c.states[i] }
func (c *chain) Send() error                 { copy(c.goals, c.staged); return nil }

func (c *chain) Receive() error {
	c.clock += time.Millisecond
	for i := range c.states {
		s, g := &c.states[i], c.goals[i]
		if s.Err = c.silent[i]; s.Err != nil {
			continue
		}
		if math.IsNaN(s.Position) {
			s.Position = c.units.CentreTicks
		}
		if g.Enable && g.Limit > 0 && g.Mode == hal.PositionMode {
			s.Position = math.Round(g.Position)
		}
		s.Velocity, s.Effort, s.Voltage, s.Temperature = g.Velocity, g.Effort, 11.8, 41
		s.Torque, s.Time = g.Enable, c.clock
	}
	return nil
}

func (c *chain) Halt() []error {
	if c.halting != nil {
		<-c.halting
	}
	c.halts++
	errs := make([]error, len(c.goals))
	for i := range errs {
		c.goals[i].Enable = false
		errs[i] = c.haltErr[i]
	}
	return errs
}
