package autopilot

import (
	"cmp"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// Config is how a pilot flies a body. The zero Config flies Okon.
type Config struct {
	IMU, Pressure, Pose string        // names of sensors; "" = the first of that kind
	PascalPerMetre      float64       // of water; 0 = 9800, the original's
	Mixer               *Mixer        // nil = OkonMixer; one row a thruster of the layout
	Tuning              *Tuning       // nil = OkonTuning
	Period              time.Duration // of the law; 0 = 20 ms, and never shorter than a cycle
}

// Pilot is a hal.Autopilot with Okon's laws. It starts disarmed, in stable mode, to hold level at a depth of 1 m. Its
// methods may be called from any goroutine.
type Pilot struct {
	period    time.Duration
	thrusters []int // inputs of the duties

	mu      sync.Mutex
	senses  senses
	law     law
	mode    Mode
	armed   bool
	duties  []float64     // one a thruster, held between two steps
	since   time.Duration // the last step
	due     bool          // the first step after a rest is immediate
	time    time.Duration // of the estimate before
	rates   [3]float64    // then, about the world's axes
	angular [3]float64    // their change, rad/s²
	zero    reference

	cruising cruise // of Fly and Go; every other command ends it
}

// reference is the zero point set by Zero.
type reference struct{ heading, depth, pressure float64 }

// New returns a pilot for bodies of layout l: its thrusters are the actuators of kind hal.Thruster that take a duty, in
// the layout's order. It fails with hal.Invalid where they and the mixer do not fit or no sensor knows the attitude.
func New(l *hal.Layout, c Config) (*Pilot, error) {
	invalid := func(err error) (*Pilot, error) {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "autopilot", Err: err}
	}
	c.PascalPerMetre = cmp.Or(c.PascalPerMetre, 9800)
	if !(c.PascalPerMetre > 0) || math.IsInf(c.PascalPerMetre, 0) {
		return invalid(fmt.Errorf("pressure: got %g Pa/m, want above 0", c.PascalPerMetre))
	}
	p := &Pilot{period: c.Period, mode: Stable}
	if p.period <= 0 {
		p.period = 20 * time.Millisecond
	}
	if p.law.mixer = OkonMixer(); c.Mixer != nil {
		p.law.mixer = *c.Mixer
	}
	if p.law.tuning = OkonTuning(); c.Tuning != nil {
		p.law.tuning = *c.Tuning
	}
	if err := p.law.tuning.Check(); err != nil {
		return invalid(err)
	}
	for i := range l.Actuators {
		if a := &l.Actuators[i]; a.Kind == hal.Thruster && a.Goal[hal.DutyMode] != hal.None {
			p.thrusters = append(p.thrusters, a.Goal[hal.DutyMode])
		}
	}
	if got, want := len(p.thrusters), len(p.law.mixer.Rows); got != want || got == 0 {
		return invalid(fmt.Errorf("thrusters: got %d that take a duty, want %d as in the mixer", got, want))
	}
	if err := p.senses.bind(l, &c); err != nil {
		return invalid(err)
	}
	p.duties = make([]float64, len(p.thrusters))
	p.law.targets = Targets{Attitude: [4]float64{1}, Depth: 1}
	p.forget()
	return p, nil
}

// forget starts the laws again and lets every thruster rest. Under the lock.
func (p *Pilot) forget() {
	p.law.reset()
	clear(p.duties)
	p.due = true
}

// Update is the rig's call; see hal.Autopilot.
func (p *Pilot) Update(f *hal.Frame, inputs []float64, dt time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.estimate(f.Measured, f.Status, f.Time)
	p.differ(&e, f.Time)
	if !p.armed {
		return false
	}
	if p.since += dt; p.due {
		p.since = max(p.period, dt)
	}
	if p.mode != Manual && p.since >= p.period-dt/2 {
		if p.cruising.on {
			p.cruising.steer(&p.law.targets, &e, p.senses.posed(f.Measured, f.Status, f.Time), p.since.Seconds())
		}
		p.law.step(p.mode, &e, p.since.Seconds(), p.duties)
		p.since, p.due = 0, false
	}
	// repeated every cycle: the guard may have released it meanwhile
	for i, at := range p.thrusters {
		inputs[at] = p.duties[i]
	}
	return true
}

// differ takes the angular acceleration from how the rates have changed since the last cycle, as the original did; of a
// real gyro that is mostly noise.
func (p *Pilot) differ(e *Estimate, now time.Duration) {
	rates := hal.Pose{Rotation: e.Attitude}.Turn(e.Rates)
	dt := (now - p.time).Seconds()
	if !(dt > 0) {
		return
	}
	if !known(rates[:]) { // a lost reading: the change is from the last known one
		hal.FillNaN(p.angular[:])
		return
	}
	for i := range rates {
		p.angular[i] = (rates[i] - p.rates[i]) / dt
	}
	p.time, p.rates = now, rates
}

// Disengage is the rig's call; see hal.Autopilot. The thrusters are disarmed.
func (p *Pilot) Disengage() {
	p.Disarm()
	p.mu.Lock()
	defer p.mu.Unlock()
	hal.FillNaN(p.angular[:]) // it is not watched any more
}

// Arm enables the thrusters, at zero duty; Disarm switches them off.
func (p *Pilot) Arm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.armed {
		p.armed = true
		p.forget()
	}
}

func (p *Pilot) Disarm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cruising.on = false
	if p.armed {
		p.armed = false
		p.forget()
	}
}

// Check returns an error, of kind Unsafe, if a sensor has a fault or no device by which the laws hold a's attitude or
// depth: without it the body must not be armed. A sensor that has not measured yet is none.
func (p *Pilot) Check(a *hal.Agent) error {
	measured, status := a.Measured(nil), a.Status(nil)
	e := p.Estimate(measured)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, need := range []struct {
		what    string
		known   bool
		sensors [2]int
	}{
		{"attitude", known(e.Attitude[:]) && known(e.Rates[:]), [2]int{p.senses.imu, p.senses.pose}},
		{"depth", known([]float64{e.Depth}), [2]int{p.senses.pressure, p.senses.pose}},
	} {
		for _, i := range need.sensors {
			if need.known || i == hal.None {
				continue
			}
			if err := status[len(p.senses.layout.Actuators)+i].Err; err != nil {
				return &hal.Error{Kind: hal.Unsafe, Op: "arm " + a.Name(), Try: "halyard doctor",
					Err: fmt.Errorf("the autopilot needs a sensor of %s: %w", need.what, err)}
			}
		}
	}
	return nil
}

// Armed reports whether the thrusters may turn; Mode is the mode.
func (p *Pilot) Armed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.armed
}

func (p *Pilot) Mode() Mode {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mode
}

// SetMode changes the mode. A new mode starts from resting thrusters; in the original they kept the duties of the
// previous mode.
func (p *Pilot) SetMode(m Mode) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cruising.on = false
	if m != p.mode {
		p.mode = m
		p.forget()
	}
}

// SetTargets sets the targets from now on, for modes with a target. Values that are not finite become 0.
func (p *Pilot) SetTargets(t Targets) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cruising.on = false
	p.law.targets = t.bounded()
}

// Targets are those that were set.
func (p *Pilot) Targets() Targets {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.law.targets
}

// SetDuties sets the duties of the thrusters, -1..1 in the mixer's order, until manual mode ends. In other modes, and
// while disarmed, it does nothing.
func (p *Pilot) SetDuties(duties []float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mode != Manual || !p.armed {
		return
	}
	for i := range min(len(duties), len(p.duties)) {
		if p.duties[i] = clamp(duties[i], 1); math.IsNaN(duties[i]) {
			p.duties[i] = 0
		}
	}
}

// Duties appends the duties that the thrusters turn with to dst[:0], in the mixer's order.
func (p *Pilot) Duties(dst []float64) []float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append(dst[:0], p.duties...)
}

// Tuning returns the tuning of the PIDs. SetTuning sets it from the next step on, or returns an error for an invalid
// value.
func (p *Pilot) Tuning() Tuning {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.law.tuning
}

func (p *Pilot) SetTuning(t Tuning) error {
	if err := t.Check(); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.law.tuning = t
	return nil
}

// Zero sets the present heading and depth to 0, for a vehicle in water that cannot be moved back: estimates count
// from here on. measured is the agent's.
func (p *Pilot) Zero(measured []float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.zero = reference{}
	e := p.estimate(measured, nil, 0)
	if known(e.Attitude[:]) {
		p.zero.heading = heading(e.Attitude)
	}
	if known([]float64{e.Depth}) {
		p.zero.depth, p.zero.pressure = e.Depth, e.Pressure
	}
}

// Estimate is the body's state by measured, the agent's.
func (p *Pilot) Estimate(measured []float64) Estimate {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.estimate(measured, nil, 0)
	if e.AngularAcceleration = p.angular; !known(e.Rates[:]) {
		hal.FillNaN(e.AngularAcceleration[:])
	}
	return e
}

// estimate reads the sensors relative to the zero point. Horizontal positions are not rotated with the heading: a
// vehicle that needs Zero does not measure them. Under the lock.
func (p *Pilot) estimate(measured []float64, status []hal.Status, now time.Duration) Estimate {
	e := p.senses.read(measured, status, now)
	if p.zero == (reference{}) {
		return e
	}
	back := hal.Pose{Rotation: [4]float64{math.Cos(p.zero.heading / 2), 0, 0, -math.Sin(p.zero.heading / 2)}}
	e.Attitude = back.Times(hal.Pose{Rotation: e.Attitude}).Rotation
	e.Acceleration = back.Turn(e.Acceleration)
	e.Depth -= p.zero.depth
	e.Pressure -= p.zero.pressure
	e.Position[2] += p.zero.depth
	return e
}
