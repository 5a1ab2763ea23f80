package dynamics

import "math"

// slip is how much softer than its normal a contact is along the surface: a body on a slope creeps by R f / b, which is
// to be microns, not millimetres, a second.
const slip = 0.01

// hard is R as a share of A where a row should not give way at all.
const hard = 1e-6

// recovery is the speed, m/s, above which a contact does not push bodies apart: a spring that can push but not pull
// would throw a body back instead of stopping it.
const recovery = 0.1

// solve finds the constraint forces, and adds their effect to the accelerations. The trees with constraints are
// factored, and their part of qdd is D^-1/2 L^-T times the torques.
func (v *solver) solve(s *System) {
	z := s.qdd
	v.islands(s.m)
	v.sweeps = 0
	for i, first := range v.starts[:len(v.starts)-1] {
		v.sweeps = max(v.sweeps, v.settle(s, v.order[first:v.starts[i+1]]))
	}
	// back from z to the accelerations: L^-1 D^-1/2
	for t := range s.m.trees {
		if !s.busy[t] {
			continue
		}
		tree := &s.m.trees[t]
		for k := tree.dof; k < tree.dof+tree.dofs; k++ {
			z[k] = float64(z[k] * s.root[k])
		}
		s.m.ascend(tree, s.matrix, z)
	}
}

// settle solves one island and returns how many sweeps that took.
func (v *solver) settle(s *System, island []int32) (sweeps int) {
	z := s.qdd
	scale := 0.0
	v.spring.soft = nil // it may have been changed since
	var rest [maxRows]float64
	// The residual of each row without any force is the scale of the tolerance.
	patch := 0 // blocks of the patch at work that are whitened
	for n, i := range island {
		k := &v.blocks[i]
		if patch > 0 {
			patch--
		} else if patch = v.patch(s, island[n:]); patch > 0 {
			v.whitenPatch(s, island[n:n+patch])
			patch--
		} else {
			v.whiten(s, k)
		}
		v.weigh(s, k)
		rows := v.row[k.row : k.row+k.rows]
		v.residual(k, z, &rest)
		for c := range rows {
			scale = max(scale, math.Abs(rest[c]-float64(rows[c].give*rows[c].f)))
		}
	}
	budget, near := -1, 0.0
	small, redundant := v.trees(s.m, island)
	v.restart(s.m, z, true)
	v.apply(s.m, island, z)
	enough := float64(s.options.Tolerance * scale)
	limit := s.options.Iterations
	last, origin, leapt, first, alone := math.Inf(1), 0.0, false, true, 0
	for sweeps < limit {
		sweeps++
		change := 0.0
		for _, i := range island {
			change = max(change, v.visit(&v.blocks[i], z))
		}
		if change <= enough {
			break
		}
		if sweeps == 1 && small && (len(island) > 1 || v.blocks[island[0]].rows > 1) {
			budget, near = v.prepare(s.m, island)
		}
		if sweeps == limit && !first && change > origin {
			// Leaps have failed: the sweeps continue without them from the state before the first leap.
			v.back(s.m, island, z, true)
			first, budget, limit = true, -1, sweeps+s.options.Iterations/2
			continue
		}
		if leapt && !(change < float64(astray*last)) {
			v.back(s.m, island, z, false)
			if leapt, alone = false, sweepsAlone; v.coupled {
				budget = -1
			}
			continue
		}
		before := last
		last, leapt = change, false
		if alone > 0 {
			alone--
		} else if budget > 0 && change <= float64(near*scale) &&
			(sweeps == 1 && redundant && (v.coupled || change > float64(mild*enough)) ||
				sweeps > 1 && !soon(change, before, enough)) {
			if first {
				origin = change
			}
			leapt = v.leap(s, island, &budget, first)
			first = false
		}
	}
	return sweeps
}

// soon reports whether a few sweeps more will do, if each changes as much less than the one before it as the last one
// did.
func soon(change, before, enough float64) bool {
	rate := change / before
	return change*rate*rate*rate*rate <= enough
}

// weigh computes the block Y Y', and the acceleration each row wants and how it gives way.
func (v *solver) weigh(s *System, k *block) {
	n := int(k.rows)
	y := v.values[k.values:][:int(k.count)*n]
	a := v.square[k.square:][:n*n]
	squares(a, y, n)
	standard := &softHeld
	switch k.kind {
	case stop:
		standard = &softStop
	case contact:
		standard = &softContact
	}
	rows := v.row[k.row:][:n]
	most := greatest(rows, a)
	for i := range rows {
		r := &rows[i]
		aii, all := a[i*n+i], most[0]
		if r.angular {
			all = most[1]
		}
		switch {
		case k.kind == dry:
			// the row's violation is the slip of Drive
			r.want, r.give = -r.v/v.h, max(float64(hard*aii), r.r/v.h)
		case k.kind == stop && r.r > 0:
			// not there yet: the joint may just come as far as the stop
			r.want, r.give = (-r.r/v.h-r.v)/v.h, float64(hard*aii)
		case k.bounce && i == 0:
			r.give = float64(hard * aii) // want is known
		default:
			if v.spring.soft != r.soft || v.spring.standard != standard || v.spring.h != v.h {
				v.spring.set(r.soft, standard, v.h)
			}
			r.want, r.give = v.spring.reference(r.v, r.r, max(aii, float64(1e-3*all)))
			if k.kind == contact && i > 0 && r.soft.CFM > 0 && r.soft.Slip > 0 {
				r.want, r.give = -r.v/v.h, r.soft.Slip/v.h
			}
			if k.kind == contact && r.soft.CFM == 0 {
				if i > 0 {
					r.give = float64(r.give * slip)
				} else if fast := (recovery - r.v) / v.h; r.want > fast {
					r.want = fast
				}
			}
		}
		r.want -= r.given
		for j := range i {
			a[j*n+i] = a[i*n+j]
		}
		a[i*n+i] = aii + r.give
		if aii <= float64(1e-10*all) {
			// Nothing gives way here, so no force is known: a planar loop held across its plane.
			for j := range n {
				a[i*n+j], a[j*n+i] = 0, 0
			}
			a[i*n+i], r.give, r.want, r.f = 1, 1, 0, 0
			v.still(k, i)
		}
	}
	switch {
	case k.kind == equal:
		cholesky(a, n)
	case k.kind == contact && n == 3:
		k.stick = [6]float64{}
		if det := float64(a[4]*a[8]) - float64(a[5]*a[5]); det > 0 {
			det = 1 / det
			k.stick[0], k.stick[1], k.stick[2] = float64(a[8]*det), -float64(a[5]*det), float64(a[4]*det)
		}
	case k.kind == contact && n == 4:
		k.stick = inverse(a[5], a[6], a[7], a[10], a[11], a[15])
	}
}

// inverse is that of a symmetric positive matrix by the rows of its upper half; zeros where it is singular.
func inverse(a, b, c, d, e, f float64) [6]float64 {
	p, q, r := float64(d*f)-float64(e*e), float64(c*e)-float64(b*f), float64(b*e)-float64(c*d)
	det := float64(a*p) + float64(b*q) + float64(c*r)
	if !(det > 0) {
		return [6]float64{}
	}
	det = 1 / det
	return [6]float64{
		float64(p * det), float64(q * det), float64(r * det), float64((float64(a*f) - float64(c*c)) * det),
		float64((float64(b*c) - float64(a*e)) * det), float64((float64(a*d) - float64(b*b)) * det),
	}
}

// squares writes the lower half of Y Y'.
func squares(a, y []float64, n int) {
	switch n {
	case 1:
		sum := 0.0
		for _, x := range y {
			sum += float64(x * x)
		}
		a[0] = sum
	case 3:
		var aa, ab, bb, ac, bc, cc float64
		for len(y) >= 3 {
			p, q, r := y[0], y[1], y[2]
			aa, ab, bb = aa+float64(p*p), ab+float64(p*q), bb+float64(q*q)
			ac, bc, cc = ac+float64(p*r), bc+float64(q*r), cc+float64(r*r)
			y = y[3:]
		}
		_ = a[8]
		a[0], a[3], a[4], a[6], a[7], a[8] = aa, ab, bb, ac, bc, cc
	case 4:
		var aa, ab, bb, ac, bc, cc, ad, bd, cd, dd float64
		for len(y) >= 4 {
			p, q, r, s := y[0], y[1], y[2], y[3]
			aa, ab, bb = aa+float64(p*p), ab+float64(p*q), bb+float64(q*q)
			ac, bc, cc = ac+float64(p*r), bc+float64(q*r), cc+float64(r*r)
			ad, bd, cd, dd = ad+float64(p*s), bd+float64(q*s), cd+float64(r*s), dd+float64(s*s)
			y = y[4:]
		}
		_ = a[15]
		a[0], a[4], a[5], a[8], a[9], a[10] = aa, ab, bb, ac, bc, cc
		a[12], a[13], a[14], a[15] = ad, bd, cd, dd
	default:
		clear(a)
		for len(y) >= n {
			for i, yi := range y[:n] {
				for j, yj := range y[:i+1] {
					a[i*n+j] += float64(yi * yj)
				}
			}
			y = y[n:]
		}
	}
}

// greatest returns the greatest effective inverse mass of the rows that push, and of those that turn.
func greatest(rows []row, a []float64) (most [2]float64) {
	n := len(rows)
	for i := range rows {
		if aii := a[i*n+i]; rows[i].angular {
			most[1] = max(most[1], aii)
		} else {
			most[0] = max(most[0], aii)
		}
	}
	return most
}

// still clears the effect of row i of a block.
func (v *solver) still(k *block, i int) {
	n := int(k.rows)
	y := v.values[k.values:][:int(k.count)*n]
	for ; i < len(y); i += n {
		y[i] = 0
	}
}

// residual computes y z + R f - want of the rows of a block.
func (v *solver) residual(k *block, z []float64, rest *[maxRows]float64) {
	v.motion(k, z, rest)
	rows := v.row[k.row:][:k.rows]
	for i := range rows {
		r := &rows[i]
		rest[i] += float64(r.give*r.f) - r.want
	}
}

// motion computes y z of the rows of a block.
func (v *solver) motion(k *block, z []float64, rest *[maxRows]float64) {
	n := int(k.rows)
	index := v.index[k.index:][:k.count]
	y := v.values[k.values:][:len(index)*n]
	switch {
	case n == 1:
		sum := 0.0
		for x, j := range index {
			sum += float64(y[x] * z[j])
		}
		rest[0] = sum
	case n == 3 && k.count0 > 0: // a contact with friction, most of all there are
		a, b, c := three(y, z[k.start0:][:k.count0])
		d, e, f := three(y[3*k.count0:], z[k.start1:][:k.count1])
		rest[0], rest[1], rest[2] = a+d, b+e, c+f
	case n == 3:
		var a, b, c float64
		for _, j := range index {
			zj, yj := z[j], y[:3] // one check of bounds for three
			a += float64(yj[0] * zj)
			b += float64(yj[1] * zj)
			c += float64(yj[2] * zj)
			y = y[3:]
		}
		rest[0], rest[1], rest[2] = a, b, c
	case n == 4:
		var a, b, c, d float64
		for _, j := range index {
			zj, yj := z[j], y[:4]
			a += float64(yj[0] * zj)
			b += float64(yj[1] * zj)
			c += float64(yj[2] * zj)
			d += float64(yj[3] * zj)
			y = y[4:]
		}
		rest[0], rest[1], rest[2], rest[3] = a, b, c, d
	default:
		*rest = [maxRows]float64{}
		for _, j := range index {
			zj := z[j]
			for i, yi := range y[:n] {
				rest[i] += float64(yi * zj)
			}
			y = y[n:]
		}
	}
}

// three is the sum of y z of three rows over degrees of freedom that follow one another.
func three(y, z []float64) (a, b, c float64) {
	for _, zj := range z {
		yj := y[:3]
		a += float64(yj[0] * zj)
		b += float64(yj[1] * zj)
		c += float64(yj[2] * zj)
		y = y[3:]
	}
	return
}

// thrust adds the effect of three rows with the forces a, b and c to z.
func thrust(y, z []float64, a, b, c float64) {
	for j := range z {
		yj := y[:3]
		z[j] += float64(yj[0]*a) + float64(yj[1]*b) + float64(yj[2]*c)
		y = y[3:]
	}
}

// push adds the effect of the changes of a block's forces to z.
func (v *solver) push(k *block, z []float64, f *[maxRows]float64) {
	n := int(k.rows)
	index := v.index[k.index:][:k.count]
	y := v.values[k.values:][:len(index)*n]
	switch {
	case n == 1:
		for x, j := range index {
			z[j] += float64(y[x] * f[0])
		}
	case n == 3 && k.count0 > 0:
		thrust(y, z[k.start0:][:k.count0], f[0], f[1], f[2])
		thrust(y[3*k.count0:], z[k.start1:][:k.count1], f[0], f[1], f[2])
	case n == 4:
		a, b, c, d := f[0], f[1], f[2], f[3]
		for _, j := range index {
			yj := y[:4]
			z[j] += (float64(yj[0]*a) + float64(yj[1]*b)) + (float64(yj[2]*c) + float64(yj[3]*d))
			y = y[4:]
		}
	case n == 3:
		a, b, c := f[0], f[1], f[2]
		for _, j := range index {
			yj := y[:3]
			z[j] += float64(yj[0]*a) + float64(yj[1]*b) + float64(yj[2]*c)
			y = y[3:]
		}
	default:
		for _, j := range index {
			sum := z[j]
			for i, yi := range y[:n] {
				sum += float64(yi * f[i])
			}
			z[j] = sum
			y = y[n:]
		}
	}
}

// visit solves one block for itself and returns how much that changed the acceleration of a row.
func (v *solver) visit(k *block, z []float64) float64 {
	n := int(k.rows)
	if n == 3 && k.kind == contact && k.count0 > 0 && !k.box {
		return v.visitThree(k, z)
	}
	rows := v.row[k.row:][:n]
	a := v.square[k.square:][:n*n]
	var rest, df [maxRows]float64
	v.residual(k, z, &rest)
	change := 0.0
	switch k.kind {
	case equal: // no bounds: the block is solved exactly
		for i := range rows {
			df[i] = -rest[i]
		}
		substitute(a, n, df[:n])
		for i := range rows {
			change = max(change, math.Abs(rest[i]))
		}
	case dry:
		f := rows[0].f - rest[0]/a[0]
		df[0] = max(-rows[0].bound, min(rows[0].bound, f)) - rows[0].f
		change = math.Abs(float64(df[0] * a[0]))
	case stop:
		df[0] = max(0, rows[0].f-rest[0]/a[0]) - rows[0].f
		change = math.Abs(float64(df[0] * a[0]))
	case contact:
		grip(k, rows, a, &rest, &df)
		for i := range rows {
			change = max(change, math.Abs(float64(df[i]*a[i*n+i])))
		}
	}
	if change == 0 { // most contacts at rest, and all open ones
		return 0
	}
	for i := range rows {
		rows[i].f += df[i]
	}
	v.push(k, z, &df)
	return change
}

// visitThree is visit for the most common block, a contact with friction, without loops over its rows.
func (v *solver) visitThree(k *block, z []float64) float64 {
	rows := v.row[k.row:][:3]
	a := v.square[k.square:][:9]
	y := v.values[k.values:][:3*k.count]
	near, far := z[k.start0:][:k.count0], z[k.start1:][:k.count1]
	beyond := y[3*len(near):]
	b, c, d := three(y, near)
	e, f, g := three(beyond, far)
	p, q, r := &rows[0], &rows[1], &rows[2]
	first := (b + e) + (float64(p.give*p.f) - p.want)
	second := (c + f) + (float64(q.give*q.f) - q.want)
	third := (d + g) + (float64(r.give*r.f) - r.want)
	normal := p.f - first/a[0]
	if normal < 0 {
		normal = 0
	}
	push, along, across := normal-p.f, -q.f, -r.f // open: no friction
	if normal != 0 {
		along, across = k.friction(rows, a, normal, second+float64(a[3]*push), third+float64(a[6]*push))
	}
	change := max(math.Abs(float64(push*a[0])), math.Abs(float64(along*a[4])), math.Abs(float64(across*a[8])))
	if change == 0 { // most contacts at rest, and all open ones
		return 0
	}
	p.f, q.f, r.f = p.f+push, q.f+along, r.f+across
	thrust(y, near, push, along, across)
	thrust(beyond, far, push, along, across)
	return change
}
