package assembly

import (
	"io"
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/autopilot"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/sim/hydro"
)

// sharedPilot is the autopilot of an agent, which the servers that steer it share.
type sharedPilot struct{ *autopilot.Pilot }

// Close does nothing: a pilot ends with its rig.
func (sharedPilot) Close() error { return nil }

// Pilot is the autopilot of an agent under water: one for all its servers. A server makes it the agent's.
func (s *System) Pilot(agent *hal.Agent) (*autopilot.Pilot, error) {
	p, err := s.Share("pilot/"+agent.Name(), func() (io.Closer, error) {
		p, err := autopilot.New(agent.Layout(), pilotConfig(s, agent))
		return sharedPilot{p}, err
	})
	if err != nil {
		return nil, err
	}
	return p.(sharedPilot).Pilot, nil
}

// MixerOf returns the mixer of a vehicle from the positions and axes of its thrusters, in the order of its layout: each
// rotation and each translation uses every thruster that contributes, with its sign, and lift is shared by pairs, as in
// Okon's mixer.
func MixerOf(v *hydro.Vehicle, l *hal.Layout) autopilot.Mixer {
	sign := func(x float64) float64 {
		if math.Abs(x) < 0.01 {
			return 0
		}
		return math.Copysign(1, x)
	}
	lift := func(x float64) float64 {
		if math.Abs(x) < 0.01 {
			return 0
		}
		return 0.5 / x
	}
	okons := autopilot.OkonMixer()
	m := autopilot.Mixer{Curve: okons.Curve}
	for i := range l.Actuators {
		t := &v.Thrusters[v.Thruster(l.Actuators[i].Name)]
		var r [3]float64
		for k := range r {
			r[k] = t.At[k] - v.COM[k]
		}
		d := t.Direction
		row := autopilot.Row{Lift: [3]float64{lift(d[0]), lift(d[1]), lift(d[2])}}
		if math.Abs(d[2]) > 0.5 {
			row.Roll, row.Pitch, row.Up = sign(r[1]*d[2]), sign(-r[0]*d[2]), sign(d[2])
		} else {
			row.Yaw, row.Forward, row.Left = sign(r[0]*d[1]-r[1]*d[0]), sign(d[0]), sign(d[1])
		}
		m.Rows = append(m.Rows, row)
	}
	// Okon's curve is that of a T200 in kgf, taken as newtons: its shape serves every such thruster, scaled to its full
	// reverse thrust.
	m.Curve.Full = -v.Curve.Force(v.Curve.Pulse(-1))
	scale := m.Curve.Full / okons.Curve.Full
	for k := range 3 {
		m.Curve.Reverse[k] *= scale
		m.Curve.Forward[k] *= scale
	}
	return m
}

// strongTuning is for a vehicle of Okon's size with eight times its thrust and propellers with a delay of 80 ms: with
// Okon's own gains it oscillates. The bandwidth is 3 to 5 rad/s for attitudes, 10 to 15 for rates, 1.5 for depth. The
// integrals compensate a righting arm of a centimetre and a weight of one or two newtons in water.
func strongTuning() autopilot.Tuning {
	of := func(p, i, d, limit float64) autopilot.Gains {
		return autopilot.Gains{P: p, I: i, D: d, WindupCap: 10, Gain: 1, Limit: limit}
	}
	return autopilot.Tuning{
		Roll: of(0.012, 0.006, 0.003, 0.3), Pitch: of(0.02, 0.012, 0.0055, 0.3), Yaw: of(0.008, 0.002, 0.0045, 0.3),
		Depth:     autopilot.Gains{P: 2, I: 0.3, D: 1, WindupCap: 0.25, Gain: 1, Limit: 0.5},
		RollSpeed: of(0.2, 0.6, 0.014, 0.5), PitchSpeed: of(0.3, 0.9, 0.02, 0.5), YawSpeed: of(0.25, 0.2, 0.02, 0.5),
	}
}

// pilotConfig is how the laws fly an agent: Okon's as they are, another vehicle by its own thrusters.
func pilotConfig(sys *System, agent *hal.Agent) autopilot.Config {
	c := autopilot.Config{PascalPerMetre: plan.PascalPerMetre}
	if w := sys.Scene.Water(); w != nil && agent.BodyKind() != hal.Real {
		g := sys.Scene.Gravity()
		if p := w.Density * math.Sqrt(g[0]*g[0]+g[1]*g[1]+g[2]*g[2]); p > 0 {
			c.PascalPerMetre = p
		}
	}
	p := sys.Plan.Agent(agent.Name())
	if p == nil {
		return c
	}
	if agent.BodyKind() == hal.Real {
		c.PascalPerMetre = p.PascalPerMetre()
	}
	if p.Vehicle != nil && p.Vehicle.Name != "okon" {
		m, t := MixerOf(p.Vehicle, p.Layout), strongTuning()
		c.Mixer, c.Tuning = &m, &t
	}
	return c
}
