package hydro

import (
	"math"

	"github.com/halyard-robotics/halyard/internal/sim/exact"
	"github.com/halyard-robotics/halyard/internal/sim/r3"
	"github.com/halyard-robotics/halyard/sim/dynamics"
)

// Sea is the water that a craft is in. It may be changed between steps.
type Sea struct {
	Surface float64    // m, its z; level
	Density float64    // kg/m³
	Current [3]float64 // m/s, the same everywhere
}

// Craft is a Vehicle in motion. One goroutine at a time uses it.
type Craft struct {
	Input    []float64       // -1..1 one a thruster; NaN = 0; kept until it is changed
	Volts    float64         // the supply
	External dynamics.Wrench // additional wrench on the vehicle, through its COM, in world axes; kept between steps

	vehicle  *Vehicle
	body     int
	elements []r3.Vec // middles of the volume's elements
	half     r3.Vec   // half the size of each
	reach    float64  // m, how far the hull is from its centre at most

	root   []float64 // signed root of each thruster's thrust: the quantity with the lag
	thrust []float64 // N, on the vehicle, of the last step
	share  float64   // of the volume, in the last step; NaN before the first

	// Of the last step's length and supply, so that no function is computed twice.
	step, gain, volts, scale float64
}

// New makes a craft at rest of body b of a system, which was made by v.Body.
func New(v *Vehicle, b int) *Craft {
	n := len(v.Thrusters)
	c := &Craft{
		Input: make([]float64, n), Volts: v.Supply.Volts,
		vehicle: v, body: b, root: make([]float64, n), thrust: make([]float64, n), share: math.NaN(),
	}
	h := &v.Hull
	// A hull with a ramp is one element at the centre; the ramp replaces its height.
	if h.Ramp > 0 {
		c.elements = []r3.Vec{r3.Pack(h.Centre)}
		return c
	}
	// The middles of even cells, the same share of the volume in each.
	cell := func(axis, i int) float64 {
		return h.Centre[axis] + float64(h.Box[axis]*(float64(2*i+1)/float64(2*h.Cells[axis])-0.5))
	}
	for i := range h.Cells[0] {
		for j := range h.Cells[1] {
			for k := range h.Cells[2] {
				c.elements = append(c.elements, r3.XYZ(cell(0, i), cell(1, j), cell(2, k)))
			}
		}
	}
	c.half = r3.XYZ(h.Box[0]/float64(2*h.Cells[0]), h.Box[1]/float64(2*h.Cells[1]), h.Box[2]/float64(2*h.Cells[2]))
	c.reach = r3.Pack(h.Box).Norm() / 2
	return c
}

// moving is where the body is and how it moves.
type moving struct {
	turn             r3.Mat
	origin, com      r3.Vec
	velocity, spin   r3.Vec // of the origin; world axes
	force, torque    r3.Vec // sums so far; about the COM
	surface, density float64
}

// at is a point of the vehicle in the world.
func (m *moving) at(p r3.Vec) r3.Vec { return m.origin.Add(m.turn.Of(p)) }

// push adds a force that acts at a place of the world.
func (m *moving) push(f, at r3.Vec) {
	m.force = m.force.Add(f)
	m.torque = m.torque.Add(at.Sub(m.com).Cross(f))
}

// Act sets the effect of the water and the thrusters on the vehicle in the next h seconds: its body's Force and Water
// in the system, which belong to the craft. It is called before every sub-step.
func (c *Craft) Act(s *dynamics.System, sea *Sea, h float64) {
	v := c.vehicle
	// The joint is free, so its coordinates are the pose and its velocities those of the origin: no need to place
	// links.
	j := s.Model().Joint(c.body)
	q, qd := s.Q[j.Q:j.Q+7], s.V[j.V:j.V+6]
	m := moving{
		turn: r3.Quat{W: q[3], X: q[4], Y: q[5], Z: q[6]}.Mat(), origin: r3.XYZ(q[0], q[1], q[2]),
		velocity: r3.XYZ(qd[0], qd[1], qd[2]), spin: r3.XYZ(qd[3], qd[4], qd[5]), surface: sea.Surface,
		density: sea.Density,
	}
	m.com = m.at(r3.Pack(v.COM))
	share := c.float(&m, r3.Pack(s.Gravity))
	w := &s.Water[c.body]
	w.Current = sea.Current
	// The original simulator, whose hull has a ramp, has only in and out.
	w.Share = share
	if v.Hull.Ramp > 0 && share > 0 {
		w.Share = 1
	}
	c.brake(&m, w)
	c.enter(&m, w, h)
	c.drive(&m, h)
	// The engine takes the force through the centre of mass, so all moments were gathered about it.
	to := &s.Force[c.body]
	to.Force = m.force.Add(r3.Pack(c.External.Force)).Array()
	to.Torque = m.torque.Add(r3.Pack(c.External.Torque)).Array()
}

// float adds the buoyancy, and returns the share of the volume under water.
func (c *Craft) float(m *moving, gravity r3.Vec) float64 {
	hull := &c.vehicle.Hull
	lift := gravity.Mul(-float64(m.density * hull.Volume)) // of all of it
	centre := m.at(r3.Pack(hull.Centre))
	depth := m.surface - centre.Z
	// Most of the time a hull is whole in or out, whichever way it lies, and its elements need not be asked.
	if depth <= -c.reach {
		return 0
	}
	if depth >= c.reach+hull.Ramp {
		m.push(lift, centre)
		return 1
	}
	// An element submerges over its height along its most upright axis. So a column of elements submerges evenly, and
	// neighbours compensate the height along the other axes.
	up := r3.XYZ(m.turn.X.Z, m.turn.Y.Z, m.turn.Z.Z)
	tall := max(float64(c.half.X*math.Abs(up.X)), float64(c.half.Y*math.Abs(up.Y)), float64(c.half.Z*math.Abs(up.Z)))
	low := m.surface - m.origin.Z + tall
	high := 2*tall + hull.Ramp
	var sum float64
	var moment r3.Vec
	for _, e := range c.elements {
		if under := low - up.Dot(e); under > 0 {
			part := min(1, under/high)
			sum += part
			moment = moment.Along(part, e)
		}
	}
	if sum == 0 {
		return 0
	}
	// One force at the mean of the elements, weighted by their shares: the centre of buoyancy of the submerged part.
	share := sum / float64(len(c.elements))
	m.push(lift.Mul(share), m.at(moment.Div(sum)))
	return share
}

// brake sets the drag, N·s/m, that there is at this speed.
func (c *Craft) brake(m *moving, w *dynamics.Water) {
	d := &c.vehicle.Drag
	arm := m.turn.Of(r3.Pack(d.At))
	through := m.velocity.Add(m.spin.Cross(arm)).Sub(r3.Pack(w.Current))
	v, s := m.turn.Back(through), m.turn.Back(m.spin)
	// The engine multiplies by the velocity implicitly; the coefficient uses the present speed.
	w.Centre = d.At
	speeds := [6]float64{v.X, v.Y, v.Z, s.X, s.Y, s.Z}
	lengths := [2]float64{v.Norm(), s.Norm()}
	for i, x := range speeds {
		if d.Greater {
			w.Drag[i] = max(d.Linear[i], float64(d.Quadratic[i]*lengths[i/3]))
		} else {
			w.Drag[i] = d.Linear[i] + float64(d.Quadratic[i]*math.Abs(x))
		}
		w.Drag[i] = float64(w.Drag[i] * w.Share)
	}
}

// enter subtracts from the vehicle's momentum the share of the added water mass on entering the water.
func (c *Craft) enter(m *moving, w *dynamics.Water, h float64) {
	more := w.Share - c.share
	c.share = w.Share
	if !(more > 0) { // on leaving, the water keeps its momentum
		return
	}
	v, s := m.turn.Back(m.velocity.Sub(r3.Pack(w.Current))), m.turn.Back(m.spin)
	speeds := [6]float64{v.X, v.Y, v.Z, s.X, s.Y, s.Z}
	// Momentum p = A v, of which the share more is handed over in this step.
	var p [6]float64
	for i := range p {
		for j, x := range speeds {
			p[i] += float64(c.vehicle.Added[i][j] * x)
		}
		p[i] = -float64(p[i] * (more / h))
	}
	m.push(m.turn.Of(r3.XYZ(p[0], p[1], p[2])), m.origin)
	m.torque = m.torque.Add(m.turn.Of(r3.XYZ(p[3], p[4], p[5])))
}

// drive lets the thrusters follow their inputs for h seconds and adds their thrust.
func (c *Craft) drive(m *moving, h float64) {
	v := c.vehicle
	// An exact step of the first-order lag, for any step size.
	if h != c.step {
		c.step, c.gain = h, 1
		if v.Lag > 0 {
			c.gain = 1 - exact.Exp(-h/v.Lag)
		}
	}
	if c.Volts != c.volts || c.scale == 0 {
		c.volts, c.scale = c.Volts, v.Supply.scale(c.Volts)
	}
	for i := range v.Thrusters {
		t := &v.Thrusters[i]
		force := float64(c.scale * v.Curve.Force(v.Curve.Pulse(c.Input[i])))
		if v.Lag > 0 {
			// Thrust goes with n|n| of the propeller's speed n, and it is n that lags.
			goal := math.Copysign(math.Sqrt(math.Abs(force)), force)
			c.root[i] += float64(c.gain * (goal - c.root[i]))
			force = float64(c.root[i] * math.Abs(c.root[i]))
		}
		at := m.at(r3.Pack(t.At))
		c.thrust[i] = float64(force * v.wetted(m.surface-at.Z))
		if c.thrust[i] != 0 {
			m.push(m.turn.Of(r3.Pack(t.Direction)).Mul(c.thrust[i]), at)
		}
	}
}

// wetted is the submerged share of a propeller whose middle is at a depth.
func (v *Vehicle) wetted(depth float64) float64 {
	if v.Propeller == 0 {
		if depth > 0 {
			return 1
		}
		return 0
	}
	return max(0, min(1, 0.5+depth/v.Propeller))
}

// Thrust is the thrust of thruster i in the last step, N along its direction.
func (c *Craft) Thrust(i int) float64 { return c.thrust[i] }

// Immersed is the share of the volume that was under water in the last step, 0..1; of a hull with a ramp, whether it
// was.
func (c *Craft) Immersed() float64 {
	if c.share != c.share {
		return 0
	}
	return c.share
}

// State is the state of a craft in addition to the system's: equal states give equal steps.
type State struct {
	input, root, thrust []float64
	volts, share        float64
	external            dynamics.Wrench
}

// NewState returns a state of the right size to Save into.
func (c *Craft) NewState() *State {
	n := len(c.Input)
	return &State{input: make([]float64, n), root: make([]float64, n), thrust: make([]float64, n)}
}

// Save copies the state into dst, which NewState made. It does not allocate.
func (c *Craft) Save(dst *State) {
	copy(dst.input, c.Input)
	copy(dst.root, c.root)
	copy(dst.thrust, c.thrust)
	dst.volts, dst.share, dst.external = c.Volts, c.share, c.External
}

// Restore goes back to a saved state.
func (c *Craft) Restore(src *State) {
	copy(c.Input, src.input)
	copy(c.root, src.root)
	copy(c.thrust, src.thrust)
	c.Volts, c.share, c.External = src.volts, src.share, src.external
}

// Reset makes the craft as New does.
func (c *Craft) Reset() {
	clear(c.Input)
	clear(c.root)
	clear(c.thrust)
	c.Volts, c.share, c.External = c.vehicle.Supply.Volts, math.NaN(), dynamics.Wrench{}
}
