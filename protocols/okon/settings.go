package okon

import (
	"encoding/json"
	"fmt"
	"math"
	"sync"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/autopilot"
)

// settings are the clients' settings in the protocol's units. The pilot has them in hal's.
type settings struct {
	mu     sync.Mutex
	pilot  *autopilot.Pilot
	mode   string
	stable Stable
	acro   Acro
}

// begin sets the original's initial settings: stable, level, at a depth of 1 m.
func (s *settings) begin(p *autopilot.Pilot) {
	s.pilot, s.mode, s.stable.Depth = p, autopilot.Stable.String(), 1
	s.steer()
}

// steer passes the targets of the present mode to the autopilot. Under the lock. An unknown mode holds nothing, as in
// the original; its name is stored because clients compare the mode they set with the mode they read.
func (s *settings) steer() {
	t := autopilot.Targets{Attitude: attitude(s.stable.Rot), Rates: turnFromUnity(s.acro.RotSpeed),
		Velocity: fromUnity(s.stable.Vel), Depth: float64(s.stable.Depth)}
	mode := autopilot.Manual
	switch s.mode {
	case autopilot.Stable.String():
		mode = autopilot.Stable
	case autopilot.Acro.String():
		mode, t.Velocity = autopilot.Acro, fromUnity(s.acro.Vel)
	}
	s.pilot.SetTargets(t)
	s.pilot.SetMode(mode)
}

// set lets change change the settings, which then count.
func (s *settings) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	s.steer()
}

// replySettings answers a SET_* without data with the present settings. Any client may ask, not only the commander.
func (c *session) replySettings(p *Packet) error {
	s := &c.server.setting
	s.mu.Lock()
	defer s.mu.Unlock()
	switch p.Type {
	case SetMotors:
		c.json(p, motorsOf(s.pilot.Duties(nil)))
	case SetControlMode:
		c.out.putBytes(p.Type, p.Flag, []byte(s.mode))
	case SetAcro:
		c.json(p, s.acro)
	case SetStable:
		c.json(p, s.stable)
	case SetPID:
		c.json(p, pidsOf(s.pilot.Tuning()))
	case SetOrientation:
		c.measured = c.server.robot.Agent.Measured(c.measured)
		e := s.pilot.Estimate(c.measured)
		c.json(p, Orientation{Rot: euler(e.Attitude), Pos: toUnity(e.Position)})
	case SetSim:
		if c.server.robot.Pictures == nil {
			return errAbsent
		}
		c.json(p, Simulation{Quality: c.server.robot.Pictures.Quality()})
	}
	return nil
}

// set executes a SET_* with data. A packet with any fault has no effect.
func (c *session) set(p *Packet) error {
	switch p.Type {
	case SetOrientation:
		return c.place(p.Data)
	case SetSim:
		return c.simulation(p.Data)
	}
	apply, err := c.parse(p)
	if err != nil {
		return fmt.Errorf("%v: %w", p.Type, err)
	}
	// after parse: an invalid packet does not make its client the commander
	if err := c.server.command.acquire(c); err != nil {
		return err
	}
	switch p.Type {
	case SetMotors, SetAcro, SetStable: // the packets that move it; targets may be set before the motors are armed
		if err := c.server.command.resume(p.Type == SetMotors); err != nil {
			return err
		}
	}
	return apply()
}

// parse reads a commanding packet and returns the function that applies it.
func (c *session) parse(p *Packet) (apply func() error, err error) {
	s := &c.server.setting
	switch p.Type {
	case SetMotors:
		var m Motors
		err = json.Unmarshal(p.Data, &m)
		return func() error { s.pilot.SetDuties(m.duties()); return nil }, err
	case SetControlMode:
		const maxText = 64
		mode := word(p.Data, "mode")
		if len(mode) > maxText {
			err = fmt.Errorf("mode: got %d characters, want at most %d", len(mode), maxText)
		}
		return func() error { s.set(func() { s.mode = mode }); return nil }, err
	case SetAcro:
		var a Acro
		if err = json.Unmarshal(p.Data, &a); err == nil {
			err = within(a.RotSpeed, a.Vel, Vector{})
		}
		return func() error { s.set(func() { s.acro = a }); return nil }, err
	case SetStable:
		var t Stable
		if err = json.Unmarshal(p.Data, &t); err == nil {
			err = within(t.Rot, t.Vel, Vector{Y: t.Depth})
		}
		return func() error { s.set(func() { s.stable = t }); return nil }, err
	default: // SetPID: omitted gains are unchanged
		now := pidsOf(s.pilot.Tuning())
		pids := now
		if err = json.Unmarshal(p.Data, &pids); err != nil {
			return nil, err
		}
		// the original's clients send back the zeros that they were answered
		for _, k := range [][2]*PID{{&pids.RollSpeed, &now.RollSpeed}, {&pids.PitchSpeed, &now.PitchSpeed},
			{&pids.YawSpeed, &now.YawSpeed}} {
			if *k[0] == (PID{}) {
				*k[0] = *k[1]
			}
		}
		t := pids.tuning()
		return func() error { return s.pilot.SetTuning(t) }, t.Check()
	}
}

// within returns an error for an implausible number. JSON has no NaN, and numbers beyond 32 bits are not decoded.
func within(list ...Vector) error {
	for _, v := range list {
		for _, x := range []float32{v.X, v.Y, v.Z} {
			if math.Abs(float64(x)) > autopilot.MaxParameter {
				return fmt.Errorf("got %g, want at most %g", x, autopilot.MaxParameter)
			}
		}
	}
	return nil
}

// place moves a simulated robot, between cycles. Omitted values are 0, as in the original.
func (c *session) place(data []byte) error {
	s := c.server
	var o Orientation
	if err := json.Unmarshal(data, &o); err != nil {
		return fmt.Errorf("%v: %w", SetOrientation, err)
	}
	if err := within(o.Rot, o.Pos); err != nil {
		return fmt.Errorf("%v: %w", SetOrientation, err)
	}
	switch {
	case s.robot.real():
		return errReal
	case s.robot.Placer == nil:
		return errAbsent
	}
	if err := s.command.foreign(); err != nil {
		return err
	}
	var err error
	s.rig.BetweenCycles(func() {
		err = s.robot.Placer.Place(s.robot.Agent.Name(),
			hal.Pose{Position: fromUnity(o.Pos), Rotation: attitude(o.Rot)})
	})
	return err
}

// simulation sets how good pictures are, for every client.
func (c *session) simulation(data []byte) error {
	pictures := c.server.robot.Pictures
	if pictures == nil {
		return errAbsent
	}
	sim := Simulation{Quality: pictures.Quality()}
	if err := json.Unmarshal(data, &sim); err != nil {
		return fmt.Errorf("%v: %w", SetSim, err)
	}
	if sim.Quality < 0 || sim.Quality > 100 {
		return fmt.Errorf("%v: quality: got %d, want 0..100", SetSim, sim.Quality)
	}
	pictures.SetQuality(sim.Quality)
	return nil
}

// sensorsOf returns the answer to GET_SENS. As in the original, rates and accelerations are about and along the world's
// axes, and the acceleration is the derivative of the velocity, without gravity.
func sensorsOf(e *autopilot.Estimate) Sensors {
	world := hal.Pose{Rotation: e.Attitude}.Turn(e.Rates)
	return Sensors{Rot: euler(e.Attitude), RotSpeed: turnToUnity(world), Accel: toUnity(e.Acceleration),
		RotAccel: turnToUnity(e.AngularAcceleration), Baro: Baro{float32(e.Pressure) + 0}}
}

func pidsOf(t autopilot.Tuning) PIDs {
	of := func(g autopilot.Gains) PID {
		return PID{float32(g.P), float32(g.I), float32(g.D), float32(g.WindupCap), float32(g.Gain), float32(g.Limit)}
	}
	return PIDs{of(t.Roll), of(t.Pitch), of(t.Yaw), of(t.Depth), of(t.RollSpeed), of(t.PitchSpeed), of(t.YawSpeed)}
}

func (p *PIDs) tuning() autopilot.Tuning {
	of := func(g PID) autopilot.Gains {
		return autopilot.Gains{P: float64(g.P), I: float64(g.I), D: float64(g.D), WindupCap: float64(g.WindupCap),
			Gain: float64(g.Gain), Limit: float64(g.Limit)}
	}
	return autopilot.Tuning{Roll: of(p.Roll), Pitch: of(p.Pitch), Yaw: of(p.Yaw), Depth: of(p.Depth),
		RollSpeed: of(p.RollSpeed), PitchSpeed: of(p.PitchSpeed), YawSpeed: of(p.YawSpeed)}
}
