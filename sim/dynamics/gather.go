package dynamics

import (
	"math"

	"github.com/halyard-robotics/halyard/internal/sim/exact"
	"github.com/halyard-robotics/halyard/internal/sim/r3"
	"github.com/halyard-robotics/halyard/sim/collide"
)

// last returns the last degree of freedom of the link that carries body b, or -1.
func (m *Model) last(b int) int32 {
	if b == World || m.on[b] == World {
		return -1
	}
	l := &m.links[m.on[b]]
	return l.v + int32(l.kind.dofs()) - 1
}

// spot is a point fixed to a body.
type spot struct {
	at, velocity, spin r3.Vec
	turn               r3.Quat // of the body's link frame
}

// spot returns where a point of body b's link frame is now; bodies that are welded to the world have one too.
func (s *System) spot(b int, local [3]float64) spot {
	m := s.m
	p := r3.Pack(local)
	if b == World {
		return spot{at: p, turn: r3.Quat{W: 1}}
	}
	l := m.on[b]
	if l == World {
		return spot{at: m.offsets[b].Add(m.turns[b].Of(p)), turn: m.turns[b].Quat()}
	}
	n := &s.links[l]
	at := n.p.Add(n.r.Of(m.offsets[b].Add(m.turns[b].Of(p))))
	r := n.r.Times(&m.turns[b])
	return spot{
		at:       s.reference[m.links[l].tree].Add(at),
		velocity: n.v.v.Add(n.v.w.Cross(at)), spin: n.v.w, turn: r.Quat(),
	}
}

var unitAxes = [3]r3.Vec{{X: 1}, {Y: 1}, {Z: 1}}

// softHeld is the default softness of equalities, softStop that of stops, and softContact that of contacts.
var (
	softHeld    = Softness{Time: 0.005, Ratio: 1, Impedance: 0.999}
	softStop    = Softness{Time: 0.002, Ratio: 1, Impedance: 0.999}
	softContact = Softness{Time: 0.005, Ratio: 1, Impedance: 0.98}
)

// equalities adds the rows of all loops and couplings; they are there in every step.
func (v *solver) equalities(s *System) {
	m := s.m
	for i := range m.spec.Equalities {
		e := &m.spec.Equalities[i]
		if e.Kind == Mirror {
			a, b := m.last(e.A), m.last(e.B)
			if s.stuck(a) && s.stuck(b) || !v.open(s, equal, a, b, int32(i), 1) {
				continue
			}
			v.row = append(v.row, row{
				f: s.held[i*heldRows], soft: &e.Soft,
				r: s.Q[m.dofs[a].q] - float64(e.Ratio*s.Q[m.dofs[b].q]) - e.Offset,
				v: s.V[a] - float64(e.Ratio*s.V[b]),
			})
			continue
		}
		rows := 3
		if e.Kind == Fixed {
			rows = 6
		}
		a, b := m.last(e.A), m.last(e.B)
		if s.stuck(a) && s.stuck(b) || !v.open(s, equal, a, b, int32(i), rows) {
			continue
		}
		p, q := s.spot(e.A, e.AnchorA), s.spot(e.B, e.AnchorB)
		gap, speed := p.at.Sub(q.at), p.velocity.Sub(q.velocity)
		v.triple(s, i*heldRows, gap, speed, false, &e.Soft)
		if e.Kind == Fixed {
			// the rotation, in world axes, from A's attitude to B's
			turn := p.turn.Times(r3.PackQuat(e.Rotation).Unit()).Times(q.turn.Inverse())
			v.triple(s, i*heldRows+3, turn.Log(), p.spin.Sub(q.spin), true, &e.Soft)
		}
	}
}

// triple adds the three rows that hold a point or a turn.
func (v *solver) triple(s *System, held int, gap, speed r3.Vec, angular bool, soft *Softness) {
	for k, w := range unitAxes {
		v.row = append(v.row, row{way: w, angular: angular, f: s.held[held+k], r: gap.Dot(w), v: speed.Dot(w),
			soft: soft})
	}
}

// joints adds dry friction and the stops that a joint is at, or would pass in this step.
func (v *solver) joints(s *System) {
	m := s.m
	drowsy := len(m.drowsy) > 0
	for i := range m.dofs {
		v.held[i] = int32(len(v.blocks))
		if s.State.follow[i].active || drowsy && s.sleeping[m.tree(int32(i))] {
			continue
		}
		d := &s.Drive[i]
		bound := d.Dry
		if d.Static > d.Dry {
			bound = d.friction(s.V[i])
		}
		if bound > 0 && v.open(s, dry, int32(i), -1, int32(i), 1) {
			v.row = append(v.row, row{way: r3.Vec{X: 1}, f: s.State.dry[i], v: s.V[i] - d.Target, r: d.Slip,
				bound: bound})
		}
		j := &m.spec.Bodies[m.links[m.dofs[i].link].body].Joint
		if !j.Limited {
			continue
		}
		q, qd := s.Q[m.dofs[i].q], s.V[i]
		// The nearer stop counts: a joint cannot be at both.
		way, room := 1.0, q-j.Limits[0]
		if up := j.Limits[1] - q; up < room {
			way, room = -1, up
		}
		speed := float64(way * qd)
		if room < 0 || room+float64(v.h*speed) < 0 && !v.inside {
			if v.open(s, stop, int32(i), -1, int32(i), 1) {
				v.impact = v.impact || room > 0
				v.row = append(v.row, row{way: r3.Vec{X: way}, f: s.stops[i], v: speed, r: room, soft: &j.Stop})
			}
		}
	}
}

// friction is the greatest dry friction at velocity v where Static is more than Dry: Stribeck's curve, Dry + (Static -
// Dry) exp(-(v/Stribeck)²).
func (d *Drive) friction(v float64) float64 {
	x := v / d.Stribeck
	if x != x { // 0/0
		x = 0
	}
	return d.Dry + float64((d.Static-d.Dry)*exact.Exp(-float64(x*x)))
}

// touches finds the contacts and adds their rows.
func (v *solver) touches(s *System) {
	for _, b := range v.wears {
		if l := s.m.on[b]; l == World || !s.parked[s.m.links[l].tree] {
			at, turn := s.frame(int(b))
			s.space.Move(int(b), at, &turn)
		}
	}
	s.space.Find()
	for _, t := range s.m.drowsy {
		if s.sleeping[t] && !s.parked[t] { // from here on it is placed
			s.park(t, true)
		}
	}
	v.contacts = s.space.Contacts()
	v.cursor, v.dropped = 0, s.space.Overflow()
	gravity := r3.Pack(s.Gravity)
	slow := float64(10*gravity.Norm()) + 1e-9 // m/s²; slower motion than a step can resolve does not bounce
	for i := range v.contacts {
		v.touch(s, i, gravity, slow)
	}
}

// touch adds the rows of contact i: normal, two tangents, the turn about the normal, and about the tangents, as far as
// their bounds are above 0.
func (v *solver) touch(s *System, i int, gravity r3.Vec, slow float64) {
	c := &v.contacts[i]
	geomA, geomB := s.space.Geom(c.A), s.space.Geom(c.B)
	dofA, dofB := s.dormant(geomA.Body), s.dormant(geomB.Body)
	if s.stuck(dofA) && s.stuck(dofB) {
		return
	}
	mix := blend(&geomA.Material, &geomB.Material)
	normal, at := r3.Pack(c.Normal), r3.Pack(c.Position)
	speed, spin := s.pointVelocity(geomA.Body, at)
	speedB, spinB := s.pointVelocity(geomB.Body, at)
	speed, spin = speed.Sub(speedB), spin.Sub(spinB)
	approach := speed.Dot(normal)
	bounces := mix.Restitution > 0 && approach < -float64(slow*v.h)
	// A later stage of RK4 must not jump; the next step handles the bounce.
	if bounces && v.inside {
		return
	}
	rows := mix.rows()
	if !v.open(s, contact, dofA, dofB, int32(i), rows) {
		v.dropped++
		return
	}
	block := &v.blocks[len(v.blocks)-1]
	block.box = mix.ForceLimit
	along := normal.Across()
	along = along.Mul(1 / along.Norm())
	if mix.Factor > 0 {
		owner, into := geomA, normal
		if geomA.Material.Factor == 0 {
			owner, into = geomB, normal.Mul(-1)
		}
		along = s.grain(owner, into, along)
	}
	across := normal.Cross(along)
	// The tangents depend only on the normal, so the forces of the last step are valid in this one.
	old := v.remembered(s, c)
	soft := &s.options.Contact
	push := row{way: normal, f: old[0], v: approach, r: -c.Depth, soft: soft}
	if bounces {
		block.bounce, v.impact = true, true
		fall := 0.0 // how gravity drives the two together: not, where both fall
		if dofA < 0 {
			fall = gravity.Dot(normal)
		} else if dofB < 0 {
			fall = -gravity.Dot(normal)
		}
		push.want = (rebound(mix.Restitution, approach, c.Depth, fall) - approach) / v.h
	}
	v.row = append(v.row, push)
	if rows >= 3 {
		v.row = append(v.row,
			row{way: along, f: old[1], v: speed.Dot(along), soft: soft, bound: mix.along()},
			row{way: across, f: old[2], v: speed.Dot(across), soft: soft, bound: mix.Friction})
	}
	if rows >= 4 {
		v.row = append(v.row, row{way: normal, angular: true, f: old[3], v: spin.Dot(normal), soft: soft,
			bound: mix.Torsion})
	}
	if rows >= 6 {
		v.row = append(v.row,
			row{way: along, angular: true, f: old[4], v: spin.Dot(along), soft: soft, bound: mix.Rolling},
			row{way: across, angular: true, f: old[5], v: spin.Dot(across), soft: soft, bound: mix.Rolling})
	}
}

// rebound is the speed with which a contact parts after an impact: that which takes a body as high as if it had bounced
// at the surface, not at the depth where the step found it. g is the acceleration with which gravity drives it in.
func rebound(restitution, approach, depth, g float64) float64 {
	e := float64(restitution * restitution)
	lost := float64(float64(2*max(g, 0)*depth) * (1 - e))
	return math.Sqrt(float64(e*float64(approach*approach)) + lost)
}

// pointVelocity returns the velocity of the point of body b that is at a place in the world now, and the body's spin.
func (s *System) pointVelocity(b int, at r3.Vec) (velocity, spin r3.Vec) {
	if b == World || s.m.on[b] == World {
		return
	}
	l := s.m.on[b]
	n := &s.links[l]
	return n.v.v.Add(n.v.w.Cross(at.Sub(s.reference[s.m.links[l].tree]))), n.v.w
}

// remembered returns the contact's forces of the last solve. Contacts are in the same order in every step, so the
// search continues where the last one ended.
func (v *solver) remembered(s *System, c *collide.Contact) *[6]float64 {
	for range s.State.touches {
		if v.cursor >= s.State.touches {
			v.cursor = 0
		}
		t := &s.touch[v.cursor]
		v.cursor++
		if t.a == c.A && t.b == c.B && t.feature == c.Feature {
			return &t.f
		}
	}
	return &noForces
}

var noForces [6]float64

// grain returns the direction on the surface in which the geom's friction is different; t if it has none. The normal n
// points into the geom.
func (s *System) grain(g *collide.Geom, n, t r3.Vec) r3.Vec {
	d := r3.Pack(g.Material.Direction)
	if q := r3.PackQuat(g.Local.Rotation); q != (r3.Quat{}) {
		r := q.Unit().Mat()
		d = r.Of(d)
	}
	if g.Body != World {
		_, r := s.frame(g.Body)
		d = r.Of(d)
	}
	d = d.Along(-d.Dot(n), n)
	l := d.Norm()
	if !(l > 1e-9) {
		return t
	}
	d = d.Mul(1 / l)
	if angle := g.Material.Turn; angle != 0 {
		d = d.Mul(exact.Cos(angle)).Along(exact.Sin(angle), n.Cross(d))
	}
	return d
}

// blend combines two surfaces: the geometric mean of the friction coefficients, and the greater of all other values. A
// force limit has priority over a coefficient.
func blend(a, b *collide.Material) mixture {
	m := mixture{collide.Material{
		Torsion: max(a.Torsion, b.Torsion), Rolling: max(a.Rolling, b.Rolling),
		Restitution: max(a.Restitution, b.Restitution), ForceLimit: a.ForceLimit || b.ForceLimit,
		Factor: max(a.Factor, b.Factor),
	}}
	switch {
	case a.ForceLimit == b.ForceLimit:
		m.Friction = math.Sqrt(float64(a.Friction * b.Friction))
	case a.ForceLimit:
		m.Friction = a.Friction
	default:
		m.Friction = b.Friction
	}
	return m
}
