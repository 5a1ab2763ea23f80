package dynamics

import (
	"cmp"
	"math"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
	"github.com/halyard-robotics/halyard/sim/collide"
)

// Constraints are rows of a Jacobian J in blocks that are solved together: an equality, dry friction, a stop, a
// contact. Each row has the target acceleration aref = -b v - k r, and the compliance R f (Todorov 2014; MuJoCo
// documentation, "Constraint model"):
//
//	J (a0 + H^-1 J' f) + R f = aref, within the bounds of f
//
// With H = L' D L the rows are stored as Y = J L^-1 D^-1/2. A row of Y has entries only for the ancestors of its two
// bodies. Only the diagonal blocks of A = J H^-1 J' = Y Y' are formed. The effect of the forces is accumulated in z =
// D^1/2 L a: a row's acceleration is y z, and a force f on it adds y f. So a sweep costs twice the entries of Y, and
// the cost of many separate bodies depends only on their contacts with neighbours.

// heldRows is the maximum number of rows of an equality, and maxRows that of any block.
const (
	heldRows = 6
	maxRows  = 6
)

// maxValues bounds the entries of Y; contacts for which there is no room are left out and counted.
const maxValues = 1 << 22

type blockKind uint8

const (
	equal   blockKind = iota // no bounds
	dry                      // -bound <= f <= bound
	stop                     // f >= 0
	contact                  // normal f >= 0, and the others within a cone or a box
)

// block is a set of rows that act between the same two links.
type block struct {
	kind    blockKind
	box     bool    // contact: the friction is bounded by forces, not by a cone
	bounce  bool    // contact: this is an impact with restitution
	follows bool    // in a leap: a sliding contact
	normal  float64 // the force with which the friction of this leap has slid
	rows    int32
	row     int32   // first
	a, b    int32   // the last degrees of freedom of the two links; -1: the world
	source  int32   // equality, degree of freedom, or contact
	push    float64 // contact: the multiplier of the cone in the last visit
	// contact of three or four rows: the inverse of the square of its friction, by rows, the upper half; or zeros
	stick [6]float64
	// where in index, side, values and squares: count degrees of freedom, rows values for each, rows x rows for the
	// block
	index, side, count, values, square int32
	// How many paths of as many trees it acts on, the lower tree first; 0: two branches of one tree. The first has so
	// many degrees of freedom.
	paths, first int32
	// Its degrees of freedom are start0 .. start0+count0-1 and then start1 .. start1+count1-1; count0 is 0 where that
	// is not so.
	start0, count0, start1, count1 int32
}

// row is one row of a block.
type row struct {
	// What a sweep reads comes first, next to each other.
	f       float64
	want    float64 // aref less given
	give    float64 // R
	bound   float64 // of dry friction; of a contact's friction: coefficient, length or force
	way     r3.Vec  // in world axes; a stop, dry friction and a mirror have x: 1 or -1 times the joint's own way
	angular bool    // way is that of a rotation
	v, r    float64 // velocity and violation; of dry friction, its slip
	given   float64 // the row's acceleration by followed joints
	keep    float64 // of a leap: the part of the force that does not answer accelerations
	last    float64 // the force before the leap
	origin  float64 // the force before the first leap
	soft    *Softness
}

type solver struct {
	rows    int
	h       float64
	blocks  []block
	row     []row
	index   []int32
	side    []uint8 // 1: moves the first link only, 2: the second only, 3: both alike
	values  []float64
	square  []float64 // of a block: Y Y' + R
	work    []float64
	thrusts [2][maxRows]force // the rows of a block as forces on its two links

	// The islands: blocks order[starts[i]:starts[i+1]] are number i.
	order, starts []int32
	joined, room  []int32 // a tree each: another of its island, and the sorting's

	// Leaps: the trees of the island at work, and the last island that each was met in; z without forces; the matrix
	// and the inverses of its pivots.
	coupled           bool // the island's matrix is joint
	joint             envelope
	leaps             int // systems at most that a solve of an island solves for its roles
	members, met      []int32
	turn              int32
	free, near, pivot []float64
	// of each block, the response of its forces to its accelerations; the effect of each of slides
	slope, columns []float64
	slides         []int32 // blocks that slide

	wears    []int32 // bodies with geoms
	contacts []collide.Contact
	first    int     // block of the first contact
	held     []int32 // a degree of freedom each: its first block of dry friction or a stop
	stiff    []int32 // a tree each: how many of these blocks it has
	spring   spring  // of the row weighed last
	cursor   int     // in the touches of the last step
	dropped  int
	sweeps   int
	// impact: a velocity jumps in this step. inside: this is a later stage of a step, without jumps; they wait for the
	// next step.
	impact, inside bool

	// The reason for which the last step stopped.
	reason string
	value  float64
}

// size makes room for everything a model can need, or for as much as maxValues allows.
func (v *solver) size(m *Model, contacts int) {
	nv, ne := len(m.dofs), len(m.spec.Equalities)
	depth := 0
	for i := range m.trees {
		depth = max(depth, int(m.trees[i].depth))
	}
	if m.path == nil {
		return
	}
	rows := contacts*maxRows + 2*nv + heldRows*ne
	v.blocks = make([]block, 0, contacts+2*nv+ne)
	v.row = make([]row, 0, rows)
	// Each contact has its two paths; each joint has its own path twice, for its stop and its friction.
	index := min((contacts+ne)*2*depth+2*len(m.path), maxValues)
	// Its beginning is that of the paths, for the blocks that act on one of them.
	v.index, v.side = append(make([]int32, 0, len(m.path)+index), m.path...), make([]uint8, 0, index)
	v.values = make([]float64, 0, min((contacts+ne)*2*depth*maxRows+2*len(m.path), maxValues))
	v.square = make([]float64, 0, (contacts+ne)*maxRows*maxRows+2*nv)
	v.work = make([]float64, nv*maxRows)
	v.order, v.starts = make([]int32, 0, cap(v.blocks)), make([]int32, 0, len(m.trees)+1)
	v.held, v.stiff = make([]int32, nv), make([]int32, len(m.trees))
	v.joined, v.room = make([]int32, len(m.trees)), make([]int32, len(m.trees))
	v.leaps = mostLeaps
	v.joint.size(nv, len(m.trees))
	v.members, v.met = make([]int32, 0, len(m.trees)), make([]int32, len(m.trees))
	v.free, v.near, v.pivot = make([]float64, nv), make([]float64, len(m.path)), make([]float64, nv)
	v.slope, v.slides = make([]float64, cap(v.square)), make([]int32, 0, mostSlides)
	v.columns = make([]float64, mostSlides*nv)
	v.wears = m.wears()
}

// gather lists the constraints of the present state.
func (v *solver) gather(s *System, h float64) {
	// Slices are emptied and filled again; they keep their capacity.
	v.rows, v.h, v.impact = 0, h, false
	v.blocks, v.row = v.blocks[:0], v.row[:0]
	v.index, v.side, v.values, v.square = v.index[:len(s.m.path)], v.side[:0], v.values[:0], v.square[:0]
	clear(s.busy)
	clear(v.stiff)
	v.contacts = v.contacts[:0]
	if s.m.path == nil {
		return
	}
	v.equalities(s)
	v.joints(s)
	v.first = len(v.blocks)
	if s.space != nil {
		v.touches(s)
	}
	v.rows = len(v.row)
}

// open begins a block between the links whose last degrees of freedom are a and b. It is false if there is no room.
func (v *solver) open(s *System, kind blockKind, a, b, source int32, rows int) bool {
	m := s.m
	// The sum of both full paths is enough room for any number of shared degrees of freedom.
	n := 0
	if a >= 0 {
		n = int(m.dofs[a].depth) + 1
	}
	if b >= 0 {
		n += int(m.dofs[b].depth) + 1
	}
	if len(v.index)+n > cap(v.index) || len(v.values)+n*rows > cap(v.values) || len(v.row)+rows > cap(v.row) ||
		len(v.square)+rows*rows > cap(v.square) || len(v.blocks) == cap(v.blocks) {
		return false
	}
	v.blocks = v.blocks[:len(v.blocks)+1]
	k := &v.blocks[len(v.blocks)-1] // filled in place: a literal of its size would be made elsewhere and copied
	*k = block{}
	k.kind, k.rows, k.row, k.a, k.b, k.source = kind, int32(rows), int32(len(v.row)), a, b, source
	k.index, k.side, k.values, k.square = int32(len(v.index)), int32(len(v.side)), int32(len(v.values)),
		int32(len(v.square))
	v.support(m, k)
	v.values = v.values[:len(v.values)+int(k.count)*rows]
	v.square = v.square[:len(v.square)+rows*rows]
	if a >= 0 {
		t := m.tree(a)
		s.busy[t] = true
		if kind == dry || kind == stop {
			v.stiff[t]++
		}
	}
	if b >= 0 {
		s.busy[m.tree(b)] = true
	}
	return true
}

// support finds the degrees of freedom that a block acts on: the ancestors of a and b, in order.
func (v *solver) support(m *Model, k *block) {
	a, b := k.a, k.b
	if a < 0 || b < 0 {
		d := &m.dofs[max(a, b)]
		k.index, k.count = d.row, d.depth+1
		k.paths, k.first = 1, k.count
		k.start0, k.count0, k.start1, k.count1 = d.start0, d.count0, d.start1, d.count1
		return
	}
	p, q := &m.dofs[min(a, b)], &m.dofs[max(a, b)]
	if m.tree(a) != m.tree(b) {
		v.index = append(v.index, m.path[p.row:][:p.depth+1]...)
		v.index = append(v.index, m.path[q.row:][:q.depth+1]...)
		k.paths, k.first, k.count = 2, p.depth+1, p.depth+q.depth+2
		if p.count0 == p.depth+1 && q.count0 == q.depth+1 {
			k.start0, k.count0, k.start1, k.count1 = p.start0, p.count0, q.start0, q.count0
		}
		return
	}
	v.branches(m.path[m.dofs[a].row:][:m.dofs[a].depth+1], m.path[m.dofs[b].row:][:m.dofs[b].depth+1])
	k.count = int32(len(v.index)) - k.index
}

// branches lists the degrees of freedom of two paths of one tree, and which of the two each moves.
func (v *solver) branches(p, q []int32) {
	for len(p) > 0 || len(q) > 0 {
		switch {
		case len(q) == 0 || len(p) > 0 && p[0] < q[0]:
			v.index, v.side, p = append(v.index, p[0]), append(v.side, 1), p[1:]
		case len(p) == 0 || q[0] < p[0]:
			v.index, v.side, q = append(v.index, q[0]), append(v.side, 2), q[1:]
		default:
			v.index, v.side, p, q = append(v.index, p[0]), append(v.side, 3), p[1:], q[1:]
		}
	}
}

// keep remembers the forces, from which the next solve starts.
func (v *solver) keep(s *System) {
	for i := range v.blocks {
		k := &v.blocks[i]
		rows := v.row[k.row : k.row+k.rows]
		switch k.kind {
		case equal:
			for c := range rows {
				s.held[int(k.source)*heldRows+c] = rows[c].f
			}
		case dry:
			s.State.dry[k.source] = rows[0].f
		case stop:
			s.stops[k.source] = rows[0].f
		}
	}
	n := 0
	for i := v.first; i < len(v.blocks); i++ {
		k := &v.blocks[i]
		c := &v.contacts[k.source]
		t := &s.touch[n]
		*t = touch{a: c.A, b: c.B, feature: c.Feature}
		for j, r := range v.row[k.row : k.row+k.rows] {
			t.f[j] = r.f
		}
		n++
	}
	s.State.touches = n
}

// forget drops the remembered forces, after a step that was reverted.
func (v *solver) forget(s *System) {
	clear(s.stops)
	clear(s.State.dry)
	clear(s.held)
	s.State.touches = 0
}

// spring is what the rows with the same softness have in common in a step.
type spring struct {
	soft, standard *Softness
	h              float64
	b, k           float64 // the speed's and the violation's divisor
	most, share    float64 // the greatest acceleration against a violation; R as a share of A
}

// set makes p the spring of a softness in a step of h; standard is its kind's.
func (p *spring) set(soft, standard *Softness, h float64) {
	*p = spring{soft: soft, standard: standard, h: h}
	if soft.CFM > 0 {
		p.k, p.most, p.share = soft.ERP/float64(h*h), math.Inf(1), soft.CFM/h
		// Haste bounds the speed of correction. Otherwise two links that penetrate each other within one step would
		// separate with the energy of a compressed spring although no work was done, and load other constraints.
		if soft.Haste > 0 {
			p.most = soft.Haste / h
		}
		return
	}
	time, ratio := max(cmp.Or(soft.Time, standard.Time), 2*h), cmp.Or(soft.Ratio, standard.Ratio)
	d := max(1e-4, min(0.9999, cmp.Or(soft.Impedance, standard.Impedance)))
	tr := float64(time * ratio)
	p.b, p.k = 2/float64(d*time), float64(d*float64(tr*tr))
	// A large violation is corrected at a bounded speed, without a jump.
	p.most, p.share = pull*p.b, (1-d)/d
}

// reference returns aref and R of a row with the effective inverse mass a.
func (p *spring) reference(velocity, violation, a float64) (want, give float64) {
	if p.soft.CFM > 0 {
		return -velocity/p.h - max(-p.most, min(p.most, float64(p.k*violation))), p.share
	}
	return -float64(p.b*velocity) - max(-p.most, min(p.most, violation/p.k)), float64(p.share * a)
}

// pull is the speed, m/s or rad/s, at which a constraint that is far off is brought back.
const pull = 1.0
