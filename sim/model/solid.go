package model

import (
	"cmp"
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sim/mesh"
	"github.com/halyard-robotics/halyard/sim/collide"
)

// The masses of solids and meshes, by the rules of MuJoCo where a file in its format asks for more than a density.

// weight is the mass of a solid, kg.
func (p *solidPart) weight() float64 {
	size := p.shape.Volume()
	if area, _ := p.shape.surface(); p.shell && area > 0 {
		size = area
	}
	switch {
	case p.massive:
		return p.shape.Mass
	case p.density > 0:
		return p.density * size
	}
	return ordinary * size
}

// moments is the inertia of the solid with a mass, about its centre, in its own axes.
func (p *solidPart) moments(mass float64) mat {
	if area, inertia := p.shape.surface(); p.shell && area > 0 {
		for i := range inertia {
			inertia[i] = scale(mass, inertia[i])
		}
		return inertia
	}
	return p.shape.inertia(mass)
}

// surface is the surface of a shape, m², and its inertia per mass, about its centre, in its own axes; 0 of a hull.
func (s *Shape) surface() (area float64, inertia mat) {
	r, l := s.Radius, 2*s.Half[2]
	square := r * r
	tube, ends, x, z := 2*math.Pi*r*l, 0.0, 0.0, 0.0 // x, z: of the ends per mass
	switch s.Kind {
	case Sphere:
		tube, ends, x, z = 0, 4*math.Pi*square, 2.0/3*square, 2.0/3*square
	case Capsule:
		ends, x, z = 4*math.Pi*square, float64(2.0/3*square)+float64(l*l/4)+float64(l*r/2), 2.0/3*square
	case Cylinder:
		ends, x, z = 2*math.Pi*square, float64(square/4)+float64(l*l/4), square/2
	case Box:
		h := vec{float64(s.Half[0] * s.Half[0]), float64(s.Half[1] * s.Half[1]), float64(s.Half[2] * s.Half[2])}
		area = 8 * (float64(s.Half[0]*s.Half[1]) + float64(s.Half[1]*s.Half[2]) + float64(s.Half[2]*s.Half[0]))
		for i := range 3 { // the two sides across axis i
			j, k := (i+1)%3, (i+2)%3
			side := 8 * s.Half[j] * s.Half[k] / area
			inertia[i][i] += float64(side / 3 * (h[j] + h[k]))
			inertia[j][j] += float64(side * (h[i] + h[k]/3))
			inertia[k][k] += float64(side * (h[i] + h[j]/3))
		}
		return area, inertia
	default:
		return 0, inertia
	}
	area = tube + ends
	x = (float64(tube*(float64(square/2)+float64(l*l/12))) + float64(ends*x)) / area
	return area, mat{{x, 0, 0}, {0, x, 0}, {0, 0, (float64(tube*square) + float64(ends*z)) / area}}
}

// ellipsoidMass is the volume, m³, or of a shell the area, m², of an ellipsoid, and its inertia per mass. The area is
// Thomsen's formula, and the shell is equally thick, as in MuJoCo.
func ellipsoidMass(half vec, shell bool) (size float64, inertia [6]float64) {
	a, b, c := half[0], half[1], half[2]
	faces := float64(a*b) + float64(b*c) + float64(c*a)
	for i := range 3 {
		j, k := (i+1)%3, (i+2)%3
		inertia[i] = (float64(half[j]*half[j]) + float64(half[k]*half[k])) / 5
		if shell {
			inertia[i] += 2 * a * b * c * (half[j] + half[k]) / faces / 5
		}
	}
	if !shell {
		return 4.0 / 3 * math.Pi * a * b * c, inertia
	}
	const p = 1.6075
	sum := math.Pow(a*b, p) + math.Pow(b*c, p) + math.Pow(c*a, p)
	return 4 * math.Pi * math.Pow(sum/3, 1/p), inertia
}

// surfaceMass gives a hull the volume, centre and inertia that MuJoCo gives its mesh. "legacy", its default, is the sum
// of the tetrahedra between each triangle and the middle of the surface, all counted as positive, regardless of their
// side: it is right for a surface that is inside out, and more than the volume of one with hollows. "exact" counts
// their sides; "shell" puts the mass into the surface, whose area is then the volume.
func surfaceMass(s Shape, surface []mesh.Triangle, how string) Shape {
	var middle vec
	area := 0.0
	areas := make([]float64, len(surface))
	for i, t := range surface {
		n := cross(add(t[1], scale(-1, t[0])), add(t[2], scale(-1, t[0])))
		areas[i] = math.Sqrt(dot(n, n)) / 2
		area += areas[i]
		middle = add(middle, scale(areas[i]/3, add(add(t[0], t[1]), t[2])))
	}
	middle = scale(1/area, middle)
	own := *s.Hull
	centre := middle
	if how == "shell" {
		own.Volume, own.Inertia = area, shellInertia(surface, areas, middle)
	} else {
		sum := func(from vec) *collide.Moments {
			m := collide.MomentsFrom(from, how == "legacy")
			for _, t := range surface {
				m.Add(t[0], t[1], t[2])
			}
			return m
		}
		var ok bool
		if _, centre, _, ok = sum(middle).Solid(); !ok {
			return s
		}
		own.Volume, _, _, _ = sum(centre).Solid()
		own.Inertia = sum(centre).About()
	}
	if !(area > 0) || !plausible(own.Inertia) {
		return s
	}
	own.Centre = add(centre, scale(-1, s.Pose.Position))
	s.Hull, s.Pose.Position = own.Moved(own.Centre), centre
	return s
}

// shellInertia is the inertia per mass of a surface about a point.
func shellInertia(surface []mesh.Triangle, areas []float64, about vec) [6]float64 {
	var sum mat
	area := 0.0
	for i, t := range surface {
		area += areas[i]
		var all vec
		for _, c := range t {
			c = add(c, scale(-1, about))
			all = add(all, c)
			sum.add(moved(areas[i]/12, c))
		}
		sum.add(moved(areas[i]/12, all))
	}
	for i := range sum {
		sum[i] = scale(1/area, sum[i])
	}
	return sum.list()
}

// fitted replaces the hull of a mesh by a shape of a kind: its size is that of the box with the mesh's inertia, and its
// longest side is along z.
func (p *solidPart) fitted(kind ShapeKind) {
	s := &p.shape
	moments, axes := principal(symmetric(s.Hull.Inertia))
	order := []int{0, 1, 2}
	slices.SortStableFunc(order, func(i, k int) int { return cmp.Compare(moments[k], moments[i]) })
	var turn mat
	var half vec
	for i, k := range order {
		half[i] = p.fit * math.Sqrt(math.Max(0, 1.5*(moments[0]+moments[1]+moments[2]-2*moments[k])))
		for row := range turn {
			turn[row][i] = axes[row][k]
		}
	}
	if dot(cross(column(turn, 0), column(turn, 1)), column(turn, 2)) < 0 {
		for row := range turn {
			turn[row][2] = -turn[row][2]
		}
	}
	s.Pose = within(s.Pose, hal.Pose{Rotation: quaternion(turn)})
	s.Kind, s.Half, s.Hull = kind, half, nil
	switch kind {
	case Sphere:
		s.Radius = (half[0] + half[1] + half[2]) / 3
	case Capsule:
		s.Radius = (half[0] + half[1]) / 2
		s.Half = vec{0, 0, math.Max(0, half[2]-s.Radius/2)}
	case Cylinder:
		s.Radius, s.Half = (half[0]+half[1])/2, vec{0, 0, half[2]}
	}
}

// bound applies the least mass and moments that the file sets, and makes moments that no body has equal if the file
// says so.
func (d *description) bound(p *part) {
	if p.name == mjcfWorld || p.mass == nil && d.least == 0 ||
		d.least == 0 && d.moment == 0 && !d.balance {
		return
	}
	if p.mass == nil {
		p.mass = &inertial{place: p.at, at: hal.Pose{Rotation: [4]float64{1}}}
	}
	m := p.mass
	m.mass = math.Max(m.mass, d.least)
	if m.inertia == nil {
		m.inertia = &[6]float64{}
	}
	moments, axes := principal(symmetric(*m.inertia))
	sum := 0.0
	for i := range moments {
		moments[i] = math.Max(moments[i], d.moment)
		sum += moments[i]
	}
	if d.balance && slices.Max(moments[:]) > sum/2 {
		moments = vec{sum / 3, sum / 3, sum / 3}
	}
	bounded := axes.diagonal(moments)
	m.inertia = &bounded
}
