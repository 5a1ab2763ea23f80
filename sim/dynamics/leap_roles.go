package dynamics

import "math"

// role writes the dependence of a block's forces on its accelerations, S, and their constant part, keep. It returns
// true for a sliding contact, whose friction in keep is proportional to its normal force.
func (v *solver) role(k *block, rows []row) bool {
	n := len(rows)
	slope := v.slope[k.square:][:n*n]
	clear(slope)
	k.follows = false
	for i := range rows {
		r := &rows[i]
		held := true
		switch k.kind {
		case dry:
			held = math.Abs(r.f) < r.bound
		case stop:
			held = r.f > 0
		case contact:
			held = rows[0].f > 0 && (i == 0 || r.bound > 0 && !(k.box && math.Abs(r.f) >= r.bound))
		}
		if r.keep = r.f; held {
			r.keep, slope[i*n+i] = 0, 1/r.give
		}
	}
	if k.kind != contact || k.box || n == 1 || !(rows[0].f > 0 && k.push > 0) {
		return false
	}
	// In units of the bounds the friction is a vector x as long as the normal force. It turns, and the multiplier of
	// its bound describes how stiffly; along its way it is as great as the normal force lets it be.
	k.normal = rows[0].f
	var c, w [maxRows]float64 // how stiff each part of x is, and its way over that
	sum := 0.0
	for i := 1; i < n; i++ {
		r := &rows[i]
		r.keep = r.f
		if r.bound > 0 {
			c[i] = k.push + float64(r.give*float64(r.bound*r.bound))
			w[i] = r.f / r.bound / c[i]
			sum += float64(w[i] * (r.f / r.bound))
		}
	}
	if !(sum > 0) {
		return false
	}
	for i := 1; i < n; i++ {
		for j := 1; j < n; j++ {
			share := -float64(w[i]*w[j]) / sum
			if i == j && c[i] > 0 {
				share += 1 / c[i]
			}
			slope[i*n+j] = float64(float64(rows[i].bound*rows[j].bound) * share)
		}
	}
	return true
}

// constant writes the forces of a block without acceleration: keep + S (want - R keep).
func (v *solver) constant(k *block, rows []row, c *[maxRows]float64) {
	n := len(rows)
	slope := v.slope[k.square:][:n*n]
	for i := range rows {
		sum := rows[i].keep
		if k.follows && i > 0 {
			sum = 0 // it is added with the normal force
		}
		for j, s := range slope[i*n:][:n] {
			if s == 0 {
				continue
			}
			r := &rows[j]
			want := r.want
			if !(k.follows && j > 0) {
				want -= float64(r.give * r.keep)
			}
			sum += float64(s * want)
		}
		c[i] = sum
	}
}

// along writes the friction of a sliding contact per newton of normal force.
func (v *solver) along(k *block, rows []row, c *[maxRows]float64) {
	n := len(rows)
	slope := v.slope[k.square:][:n*n]
	c[0] = 0
	for i := 1; i < n; i++ {
		sum := rows[i].keep
		for j := 1; j < n; j++ {
			sum -= float64(slope[i*n+j] * float64(rows[j].give*rows[j].keep))
		}
		c[i] = sum / k.normal
	}
}

// followers adds the effect of the friction of sliding contacts, which depends on their normal forces r, to z. Each is
// r = c - s y z, and z changes with each of them by a column that is solved for: (1 + s y Z) r = c - s y z.
func (v *solver) followers(m *Model, z []float64) {
	n := len(v.slides)
	if n == 0 {
		return
	}
	nv := len(m.dofs)
	var a [mostSlides * mostSlides]float64
	var r [mostSlides]float64
	var c, u [maxRows]float64
	for j, i := range v.slides {
		k := &v.blocks[i]
		rows := v.row[k.row:][:k.rows]
		x := v.columns[j*nv:][:nv]
		for _, t := range v.members {
			tree := &m.trees[t]
			clear(x[tree.dof : tree.dof+tree.dofs])
		}
		v.along(k, rows, &c)
		v.push(k, x, &c)
		v.settleTrees(m, x)
		v.constant(k, rows, &c)
		v.motion(k, z, &u)
		r[j] = c[0] - float64(v.slope[k.square]*u[0])
	}
	for i, b := range v.slides {
		k := &v.blocks[b]
		for j := range n {
			v.motion(k, v.columns[j*nv:][:nv], &u)
			a[i*n+j] = float64(v.slope[k.square] * u[0])
		}
		a[i*n+i]++
	}
	if !eliminate(a[:n*n], r[:n]) {
		for j, i := range v.slides {
			r[j] = v.row[v.blocks[i].row].last
		}
	}
	for j := range n {
		x := v.columns[j*nv:][:nv]
		for _, t := range v.members {
			tree := &m.trees[t]
			for k := tree.dof; k < tree.dof+tree.dofs; k++ {
				z[k] += float64(r[j] * x[k])
			}
		}
	}
}

// eliminate solves a x = x, a n x n, by elimination with pivots from each column. It is false where a is singular.
func eliminate(a, x []float64) bool {
	n := len(x)
	for j := range n {
		p := j
		for i := j + 1; i < n; i++ {
			if math.Abs(a[i*n+j]) > math.Abs(a[p*n+j]) {
				p = i
			}
		}
		if !(math.Abs(a[p*n+j]) > 1e-9) {
			return false
		}
		if p != j {
			x[p], x[j] = x[j], x[p]
			for k := j; k < n; k++ {
				a[p*n+k], a[j*n+k] = a[j*n+k], a[p*n+k]
			}
		}
		for i := j + 1; i < n; i++ {
			l := a[i*n+j] / a[j*n+j]
			for k := j + 1; k < n; k++ {
				a[i*n+k] -= float64(l * a[j*n+k])
			}
			x[i] -= float64(l * x[j])
		}
	}
	for i := n - 1; i >= 0; i-- {
		for j := i + 1; j < n; j++ {
			x[i] -= float64(a[i*n+j] * x[j])
		}
		x[i] /= a[i*n+i]
	}
	return true
}

// answer sets the forces of a block from the leap's z, within their bounds, and reports whether its role has changed.
func (v *solver) answer(k *block, rows []row, z []float64) bool {
	n := len(rows)
	slope := v.slope[k.square:][:n*n]
	var c, u, w [maxRows]float64
	v.motion(k, z, &u)
	v.constant(k, rows, &c)
	if k.follows {
		v.along(k, rows, &w)
	}
	before := rows[0].f
	for i := range rows {
		sum := c[i]
		for j, s := range slope[i*n:][:n] {
			sum -= float64(s * u[j])
		}
		rows[i].f = sum
		if k.follows && i > 0 {
			rows[i].f += float64(w[i] * rows[0].f)
		}
	}
	r := &rows[0]
	switch k.kind {
	case dry:
		if slope[0] != 0 {
			f := max(-r.bound, min(r.bound, r.f))
			f, r.f = r.f, f
			return f != r.f
		}
		// At its bound it stays while it is driven there.
		if float64((r.want-u[0]-float64(r.give*r.f))*r.f) < 0 {
			r.f *= 0.5
			return true
		}
	case stop:
		if slope[0] != 0 {
			r.f = max(0, r.f)
			return r.f == 0
		}
		return k.close(r, u[0], v.square[k.square])
	case contact:
		if before <= 0 {
			return k.close(r, u[0], v.square[k.square])
		}
		return k.hold(rows, &u)
	}
	return false
}

// close lets an open row, a stop or the normal of a contact, push where it would else be passed.
func (k *block) close(r *row, u, a float64) bool {
	if lack := r.want - u; lack > 0 {
		r.f = lack / a
		return true
	}
	return false
}

// hold brings the forces of a contact that was not open to within their bounds, finds the multiplier of the cone where
// it slides, and reports whether it has begun or ceased to do so, or has opened.
func (k *block) hold(rows []row, u *[maxRows]float64) bool {
	normal, slid := rows[0].f, k.push > 0
	if normal <= 0 {
		for i := range rows {
			rows[i].f = 0
		}
		k.push = 0
		return true
	}
	if k.box {
		changed := false
		for i := 1; i < len(rows); i++ {
			r := &rows[i]
			f := max(-r.bound, min(r.bound, r.f))
			changed = changed || f != r.f
			r.f = f
		}
		return changed
	}
	size := 0.0
	for i := 1; i < len(rows); i++ {
		if r := &rows[i]; r.bound > 0 {
			x := r.f / r.bound
			size += float64(x * x)
		}
	}
	size = math.Sqrt(size)
	if slid && !(size > 0) {
		k.push = 0
		return true
	}
	if !slid && size <= float64(normal*(1+1e-9)) {
		return false
	}
	// The multiplier is how strongly the bound keeps the friction from stopping it, along its way.
	shrink, against, soft := normal/size, 0.0, 0.0
	for i := 1; i < len(rows); i++ {
		r := &rows[i]
		if !(r.bound > 0) {
			continue
		}
		r.f = float64(r.f * shrink)
		against += float64((r.want - u[i] - float64(r.give*r.f)) * r.f)
		soft = max(soft, float64(r.give*float64(r.bound*r.bound)))
	}
	k.push = against / float64(normal*normal)
	if slid {
		if k.push <= 0 {
			k.push = 0
			return true
		}
		return false
	}
	k.push = max(k.push, soft)
	return true
}

// stiffen adds the responding rows of a block to the leap's matrix: Y' S Y.
func (v *solver) stiffen(m *Model, k *block) {
	n := int(k.rows)
	index := v.index[k.index:][:k.count]
	y := v.values[k.values:][:len(index)*n]
	slope := v.slope[k.square:][:n*n]
	if slope[0] == 0 { // a contact that is open, friction at its bound
		return
	}
	if v.coupled {
		v.joint.add(index, y, slope, n)
		return
	}
	switch n {
	case 1:
		s := slope[0]
		for x, j := range index {
			a, to := float64(s*y[x]), v.near[m.dofs[j].row:][:x+1]
			for i, b := range y[:x+1] {
				to[i] += float64(a * b)
			}
		}
	case 3:
		for x, j := range index {
			own := y[3*x:][:3]
			a := float64(slope[0] * own[0])
			b := float64(slope[4]*own[1]) + float64(slope[5]*own[2])
			c := float64(slope[5]*own[1]) + float64(slope[8]*own[2])
			to, from := v.near[m.dofs[j].row:][:x+1], y
			for i := range to {
				f := from[:3]
				to[i] += float64(a*f[0]) + float64(b*f[1]) + float64(c*f[2])
				from = from[3:]
			}
		}
	default:
		var a [maxRows]float64
		for x, j := range index {
			own := y[n*x:][:n]
			for c := range n {
				sum := 0.0
				for d, s := range slope[c*n:][:n] {
					sum += float64(s * own[d])
				}
				a[c] = sum
			}
			to, from := v.near[m.dofs[j].row:][:x+1], y
			for i := range to {
				sum := to[i]
				for c, f := range from[:n] {
					sum += float64(a[c] * f)
				}
				to[i] = sum
				from = from[n:]
			}
		}
	}
}
