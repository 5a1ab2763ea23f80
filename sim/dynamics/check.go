package dynamics

import (
	"fmt"
	"math"
	"strings"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
)

// Maximum sizes and values of a model: far beyond any robot, so that products of values stay finite.
const (
	maxBodies     = 100_000
	maxGeoms      = 100_000
	maxEqualities = 10_000
	maxFaults     = 100

	maxLength  = 1e6  // m
	maxMass    = 1e9  // kg
	maxInertia = 1e12 // kg·m²
	maxForce   = 1e9  // N, N·m, and factors of a velocity or an angle to these
)

// Fault is one thing that is wrong with a Spec.
type Fault struct {
	Path string // "bodies[3].joint.axis"
	Text string // got and want
}

// Faults are all that is wrong with a Spec, at most 100 of them, as one error of one line each.
type Faults []Fault

func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i := range f {
		lines[i] = "dynamics: " + f[i].Path + ": " + f[i].Text
	}
	return strings.Join(lines, "\n")
}

func (f *Faults) add(path, format string, args ...any) {
	switch {
	case len(*f) < maxFaults:
		*f = append(*f, Fault{path, fmt.Sprintf(format, args...)})
	case len(*f) == maxFaults:
		*f = append(*f, Fault{path, "more faults are not listed"})
	}
}

// within checks that every x is a number from low to high.
func (f *Faults) within(path string, low, high float64, x ...float64) bool {
	for _, v := range x {
		if !(v >= low && v <= high) {
			f.add(path, "got %g, want %g to %g", v, low, high)
			return false
		}
	}
	return true
}

// turn checks a quaternion and returns it with length 1; all zero means no turn.
func (f *Faults) turn(path string, a [4]float64) r3.Quat {
	if a == ([4]float64{}) {
		return r3.Quat{W: 1}
	}
	q := r3.PackQuat(a)
	if n := q.Norm(); !(n > 1e-6 && n < 1e6) {
		f.add(path, "got %g, want a unit quaternion", a)
		return r3.Quat{W: 1}
	}
	return q.Unit()
}

// softness checks values whose zero means the default.
func (f *Faults) softness(path string, s *Softness) {
	f.within(path+".time", 0, 1e6, s.Time)
	f.within(path+".ratio", 0, 1e6, s.Ratio)
	f.within(path+".impedance", 0, 1, s.Impedance)
	f.within(path+".erp", 0, 1, s.ERP)
	f.within(path+".cfm", 0, 1e12, s.CFM)
	f.within(path+".slip", 0, 1e12, s.Slip)
	f.within(path+".haste", 0, 1e12, s.Haste)
}

// body checks the numbers of one body; order checks the tree.
func (f *Faults) body(path string, b *Body) {
	f.within(path+".position", -maxLength, maxLength, b.Position[:]...)
	f.turn(path+".rotation", b.Rotation)
	f.within(path+".mass", 0, maxMass, b.Mass)
	f.within(path+".com", -maxLength, maxLength, b.COM[:]...)
	f.inertia(path+".inertia", b)
	f.added(path+".added", b.Added)
	f.joint(path+".joint", &b.Joint)
}

// inertia checks that the inertia is symmetric, not negative, and that of some distribution of mass: no principal
// moment above the sum of the others.
func (f *Faults) inertia(path string, b *Body) {
	a := &b.Inertia
	if !f.within(path, -maxInertia, maxInertia, a[:]...) {
		return
	}
	// Values from CAD programs are rounded, so an error of a millionth is accepted.
	size := math.Abs(a[0]) + math.Abs(a[4]) + math.Abs(a[8])
	slack := 1e-6 * size
	if math.Abs(a[1]-a[3]) > slack || math.Abs(a[2]-a[6]) > slack || math.Abs(a[5]-a[7]) > slack {
		f.add(path, "got %g, want a symmetric matrix", *a)
		return
	}
	if b.Mass == 0 && size > 0 {
		f.add(path, "got %g of a body without mass, want 0", size)
		return
	}
	d, _ := principal(sym{a[0], a[1], a[2], a[4], a[5], a[8]})
	for i, x := range d {
		if y, z := d[(i+1)%3], d[(i+2)%3]; x < -slack || x > y+z+slack {
			f.add(path, "got principal moments %.6g, want none negative and none above the sum of the others", d)
			return
		}
	}
}

// joint checks everything of a joint but its place in the tree.
func (f *Faults) joint(path string, j *Joint) {
	if j.Kind >= numKinds {
		f.add(path+".kind", "got %d, want weld, hinge, slide, ball or free", j.Kind)
		return
	}
	axial := j.Kind == Hinge || j.Kind == Slide
	f.within(path+".anchor", -maxLength, maxLength, j.Anchor[:]...)
	if axial && f.within(path+".axis", -maxLength, maxLength, j.Axis[:]...) {
		if n := r3.Pack(j.Axis).Norm(); !(n > 1e-6) {
			f.add(path+".axis", "got length %g, want a direction", n)
		}
	}
	f.within(path+".armature", 0, maxInertia, j.Armature)
	f.within(path+".damping", 0, maxForce, j.Damping)
	f.within(path+".stiffness", 0, maxForce, j.Stiffness)
	f.within(path+".rest", -maxLength, maxLength, j.Rest)
	f.within(path+".dry", 0, maxForce, j.Dry)
	f.within(path+".static", 0, maxForce, j.Static)
	if j.Static > j.Dry && !(j.Stribeck > 0 && j.Stribeck < maxLength) {
		f.add(path+".stribeck", "got %g, want a speed above 0", j.Stribeck)
	}
	if !axial && (j.Stiffness != 0 || j.Limited) {
		f.add(path, "got a stiffness or limits on a %s, want a hinge or slide", j.Kind)
	}
	if j.Limited && (!f.within(path+".limits", -maxLength, maxLength, j.Limits[:]...) ||
		!(j.Limits[0] <= j.Limits[1])) {
		f.add(path+".limits", "got %g, want the lower one first", j.Limits)
	}
	f.softness(path+".stop", &j.Stop)
}

// equality checks an equality; its bodies must exist and, to be coupled, have a coordinate of their own.
func (f *Faults) equality(path string, e *Equality, s *Spec) {
	if e.Kind >= numEqualities {
		f.add(path+".kind", "got %d, want point, fixed or mirror", e.Kind)
		return
	}
	known := f.index(path+".a", e.A, 0, s)
	if e.Kind == Mirror {
		known = f.index(path+".b", e.B, 0, s) && known
		for i, b := range [...]int{e.A, e.B} {
			if known && s.Bodies[b].Joint.Kind != Hinge && s.Bodies[b].Joint.Kind != Slide {
				f.add(path+[...]string{".a", ".b"}[i], "got the %s of body %d, want a hinge or slide",
					s.Bodies[b].Joint.Kind, b)
			}
		}
	} else {
		f.index(path+".b", e.B, World, s)
	}
	if e.A == e.B {
		f.add(path+".b", "got %d, which is a too, want another body", e.B)
	}
	f.within(path+".anchorA", -maxLength, maxLength, e.AnchorA[:]...)
	f.within(path+".anchorB", -maxLength, maxLength, e.AnchorB[:]...)
	f.turn(path+".rotation", e.Rotation)
	f.within(path+".ratio", -1e6, 1e6, e.Ratio)
	f.within(path+".offset", -maxLength, maxLength, e.Offset)
	f.softness(path+".soft", &e.Soft)
}

// index checks that i is a body.
func (f *Faults) index(path string, i, low int, s *Spec) bool {
	if i < low || i >= len(s.Bodies) {
		f.add(path, "got body %d, want %d to %d", i, low, len(s.Bodies)-1)
		return false
	}
	return true
}

// options checks the options; most take 0 as their standard.
func (f *Faults) options(o *Options) {
	if o.Integrator > RK4 {
		f.add("options.integrator", "got %d, want euler or rk4", o.Integrator)
	}
	f.within("options.subSteps", 0, 1e6, float64(o.SubSteps))
	f.within("options.gravity", -1e6, 1e6, o.Gravity[:]...)
	f.within("options.iterations", 0, 1e6, float64(o.Iterations))
	f.within("options.tolerance", 0, 1, o.Tolerance)
	f.within("options.contacts", 0, 1e6, float64(o.Contacts))
	f.within("options.maxSpeed", 0, 1e12, o.MaxSpeed)
	f.within("options.maxTurn", -1, 1e6, o.MaxTurn)
	f.within("options.eulerTurn", 0, 1e6, o.EulerTurn)
	f.softness("options.contact", &o.Contact)
}
