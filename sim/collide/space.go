package collide

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
)

// Space holds geoms and finds their contacts. One goroutine at a time may use it.
type Space struct {
	geoms    []Geom
	locals   []frame     // of each geom in its body
	bodies   []placement // by index
	skip     []uint64    // pairs of bodies that never touch, sorted
	placed   []solid
	lo, hi   []r3.Vec
	present  []bool
	sweep    sweep
	pairs    []uint64 // geom A in the high half, B in the low
	work     work
	contacts []Contact

	holds int // how many bodies are held

	overflow, lost int
}

// New makes a space of geoms, which it copies. Pairs of bodies in skip never touch, such as a link and its parent; -1
// is the world. limit bounds the contacts of one step; 0 means 8 for each geom and 64 more. The error names all faults
// of all geoms. The geoms of the world stay where they are.
func New(geoms []Geom, skip [][2]int, limit int) (*Space, error) {
	var faults []error
	for i := range geoms {
		if err := geoms[i].Check(); err != nil {
			faults = append(faults, fmt.Errorf("geoms[%d]: %w", i, err))
		}
	}
	if len(geoms) > math.MaxInt32 {
		faults = append(faults, fmt.Errorf("geoms: got %d, want at most %d", len(geoms), math.MaxInt32))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	n := len(geoms)
	if limit <= 0 {
		limit = 8*n + 64
	}
	s := &Space{
		geoms:    slices.Clone(geoms),
		locals:   make([]frame, n),
		placed:   make([]solid, n),
		lo:       make([]r3.Vec, n),
		hi:       make([]r3.Vec, n),
		present:  make([]bool, n),
		contacts: make([]Contact, 0, limit),
		// Every pair where there are few geoms; a bound on neighbours where there are many.
		pairs: make([]uint64, 0, min(n*(n-1)/2, 32*n+1024)),
	}
	for _, p := range skip {
		s.skip = append(s.skip, bodyPair(p[0], p[1]))
	}
	slices.Sort(s.skip)
	bodies := 0
	for i := range s.geoms {
		g := &s.geoms[i]
		g.Group = cmp.Or(g.Group, 1)
		g.Mask = cmp.Or(g.Mask, math.MaxUint32)
		bodies = max(bodies, g.Body+1)
		s.locals[i] = g.local()
		if g.Body < 0 {
			s.place(i, nil)
		}
	}
	s.bodies = make([]placement, bodies)
	s.sweep.init(s)
	return s, nil
}

// Geom returns geom i, its Group and Mask filled in. The pointer stays valid; Material may be changed between steps.
func (s *Space) Geom(i int32) *Geom { return &s.geoms[i] }

// Len returns the number of geoms.
func (s *Space) Len() int { return len(s.geoms) }

// Update finds all contacts for the pose of each body, by index. A geom whose pose is missing, not finite or without
// rotation has no contacts and is counted as lost. It does not allocate.
func (s *Space) Update(poses []Pose) {
	for b := range s.bodies {
		f, ok := frame{}, b < len(poses)
		if ok {
			f.at = r3.Pack(poses[b].Position)
			ok = turn(r3.PackQuat(poses[b].Rotation), &f.axis)
		}
		s.set(b, &f, ok)
	}
	s.Find()
}

// Move places a body for the next Find: its origin, and where its axes point. A body that was never placed has no
// contacts.
func (s *Space) Move(body int, at r3.Vec, axes *r3.Mat) {
	if body < len(s.bodies) {
		s.set(body, &frame{at, [3]r3.Vec{axes.X, axes.Y, axes.Z}}, true)
	}
}

func (s *Space) set(body int, f *frame, ok bool) {
	b := &s.bodies[body]
	if b.held {
		return
	}
	b.frame = *f
	b.present = ok && f.at.Finite() && f.axis[0].Finite() && f.axis[1].Finite() && f.axis[2].Finite()
}

// Find finds all contacts of the bodies where they are. A geom whose body has no finite pose has no contacts and is
// counted as lost. It does not allocate.
func (s *Space) Find() {
	s.contacts, s.pairs = s.contacts[:0], s.pairs[:0]
	s.overflow, s.lost = 0, 0
	for _, i := range s.sweep.placed {
		b := &s.bodies[s.geoms[i].Body]
		if b.held {
			continue
		}
		if s.present[i] = b.present; b.present {
			s.place(int(i), &b.frame)
		}
		if !s.present[i] {
			s.lost++
		}
	}
	s.sweep.find(s)
	// The sweep finds pairs in the order of x; contacts come in the order of geoms.
	slices.Sort(s.pairs)
	for _, p := range s.pairs {
		s.touch(int32(p>>32), int32(uint32(p)))
	}
}

// Hold keeps a body at its pose of the last Find, until it is released: its new pose is ignored, and it collides only
// with bodies that are not held.
func (s *Space) Hold(body int, on bool) {
	if body < 0 || body >= len(s.bodies) || s.bodies[body].held == on {
		return
	}
	s.bodies[body].held = on
	if on {
		s.holds++
	} else {
		s.holds--
	}
}

// rests reports whether a body does not move.
func (s *Space) rests(body int) bool { return body < 0 || s.bodies[body].held }

// Contacts returns the contacts of the last Find, in order. The slice is the space's own and lasts until the next one.
func (s *Space) Contacts() []Contact { return s.contacts }

// Overflow returns how many pairs and contacts the last Find left out for want of room: see New.
func (s *Space) Overflow() int { return s.overflow }

// Lost returns how many geoms the last Find left out because their body has no finite pose, and how many contacts
// because their numbers overflowed.
func (s *Space) Lost() int { return s.lost }

// fieldDepth is the depth below its lowest height in which a field still pushes up, m: more than a falling body moves
// in a step.
const fieldDepth = 10

func (s *Space) place(i int, body *frame) {
	if s.present[i] = s.geoms[i].place(&s.placed[i], &s.locals[i], body); !s.present[i] {
		return
	}
	if s.geoms[i].Kind != Plane {
		s.lo[i], s.hi[i] = s.placed[i].bounds(fieldDepth)
		s.present[i] = s.lo[i].Finite() && s.hi[i].Finite()
	}
}

// pair notes that the boxes of a and b overlap, unless the two are kept apart.
func (s *Space) pair(a, b int32) {
	g, h := &s.geoms[a], &s.geoms[b]
	if g.Body == h.Body || g.Clan != 0 && g.Clan == h.Clan || g.Group&h.Mask == 0 || h.Group&g.Mask == 0 ||
		g.Kind >= Plane && h.Kind >= Plane {
		return
	}
	if s.holds > 0 && s.rests(g.Body) && s.rests(h.Body) {
		return
	}
	if len(s.skip) > 0 {
		if _, apart := slices.BinarySearch(s.skip, bodyPair(g.Body, h.Body)); apart {
			return
		}
	}
	if len(s.pairs) == cap(s.pairs) {
		s.overflow++
		return
	}
	if a > b {
		a, b = b, a
	}
	s.pairs = append(s.pairs, uint64(a)<<32|uint64(b))
}

func bodyPair(a, b int) uint64 {
	if a > b {
		a, b = b, a
	}
	return uint64(uint32(a+1))<<32 | uint64(uint32(b+1))
}
