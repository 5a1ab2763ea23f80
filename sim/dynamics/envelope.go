package dynamics

import "math"

// The matrix of a leap where constraints join branches or trees: symmetric, by rows from the first entry that is not 0
// to the diagonal, the envelope, which also contains its Cholesky factor (A. George and J. Liu, Computer Solution of
// Large Sparse Positive Definite Systems, 1981, chapter 4). Touching trees are close together in it, in the order of a
// breadth-first search from one end of the island.

// Maximum cost of a factorisation, in products: above mostProducts sweeps without leaps are faster, and far from the
// solution above fewProducts.
const mostProducts, fewProducts = 120_000, 1500

// envelope is the matrix and its factor, over the reordered degrees of freedom of an island.
type envelope struct {
	n           int
	local       []int32 // of a degree of freedom of the model
	first, at   []int32 // of each row: its first column, and where its entries begin
	entry, x    []float64
	queue       []int32 // trees in order
	room        []int32 // a tree each: whether it is in the queue
	turn        int32
	islandLimit int
	products    int // that a factorisation costs
}

func (e *envelope) size(nv, trees int) {
	// Of rows as long as this, the products are as many as is allowed: r³/6.
	e.islandLimit = min(nv, maxEnvelope)
	e.local = make([]int32, nv)
	e.first, e.at = make([]int32, e.islandLimit), make([]int32, e.islandLimit+1)
	e.entry = make([]float64, min(e.islandLimit*(e.islandLimit+1)/2, mostEntries))
	e.x = make([]float64, e.islandLimit)
	e.queue, e.room = make([]int32, 0, trees), make([]int32, trees)
}

const (
	maxEnvelope = 240    // degrees of freedom
	mostEntries = 16_384 // of the envelope
)

// plan lays the island's degrees of freedom out; false where it is too large.
func (e *envelope) plan(v *solver, m *Model, island []int32) bool {
	dofs := 0
	for _, t := range v.members {
		dofs += int(m.trees[t].dofs)
	}
	if dofs > e.islandLimit {
		return false
	}
	// The last that a search finds is at an end of the island; from there the next one keeps neighbours closest.
	e.search(v, m, island, v.members[0])
	e.search(v, m, island, e.queue[len(e.queue)-1])
	e.n = 0
	for _, t := range e.queue {
		tree := &m.trees[t]
		for k := tree.dof; k < tree.dof+tree.dofs; k++ {
			e.local[k] = int32(e.n)
			e.first[e.n] = int32(e.n)
			e.n++
		}
	}
	for _, i := range island {
		index := v.index[v.blocks[i].index:][:v.blocks[i].count]
		low := e.local[index[0]]
		for _, j := range index {
			low = min(low, e.local[j])
		}
		for _, j := range index {
			e.first[e.local[j]] = min(e.first[e.local[j]], low)
		}
	}
	at, products := int32(0), 0
	for i, first := range e.first[:e.n] {
		e.at[i] = at
		w := int32(i) - first + 1
		at += w
		products += int(w) * int(w) / 2
	}
	e.at[e.n], e.products = at, products
	return int(at) <= len(e.entry) && products <= mostProducts
}

// search lists the trees of the island in breadth from one of them.
func (e *envelope) search(v *solver, m *Model, island []int32, from int32) {
	e.turn++
	e.queue = append(e.queue[:0], from)
	e.room[from] = e.turn
	for done := 0; done < len(e.queue); done++ {
		t := e.queue[done]
		for _, i := range island {
			k := &v.blocks[i]
			if k.a < 0 || k.b < 0 {
				continue
			}
			a, b := m.tree(k.a), m.tree(k.b)
			if b == t {
				a, b = b, a
			}
			if a == t && e.room[b] != e.turn {
				e.room[b] = e.turn
				e.queue = append(e.queue, b)
			}
		}
	}
}

// unit makes the matrix the identity.
func (e *envelope) unit() {
	clear(e.entry[:e.at[e.n]])
	for i := range e.n {
		e.entry[e.at[i+1]-1] = 1
	}
}

// add adds Y' S Y of a block of n rows.
func (e *envelope) add(index []int32, y, slope []float64, n int) {
	if n == 3 {
		e.addThree(index, y, slope)
		return
	}
	var own [maxRows]float64
	for x, j := range index {
		for c := range n {
			sum := 0.0
			for d, s := range slope[c*n:][:n] {
				sum += float64(s * y[x*n+d])
			}
			own[c] = sum
		}
		row := e.local[j]
		for i, k := range index[:x+1] {
			sum := 0.0
			for c, f := range y[i*n:][:n] {
				sum += float64(own[c] * f)
			}
			r, c := row, e.local[k]
			if c > r {
				r, c = c, r
			}
			e.entry[e.at[r]+c-e.first[r]] += sum
		}
	}
}

// addThree is add for three rows, of which the first answers only itself.
func (e *envelope) addThree(index []int32, y, slope []float64) {
	_, slope = y[:3*len(index)], slope[:9]
	for x, j := range index {
		own := y[3*x:][:3]
		a := float64(slope[0] * own[0])
		b := float64(slope[4]*own[1]) + float64(slope[5]*own[2])
		c := float64(slope[7]*own[1]) + float64(slope[8]*own[2])
		row := e.local[j]
		to := e.entry[e.at[row]:]
		first, from := e.first[row], y
		for _, k := range index[:x+1] {
			f := from[:3]
			from = from[3:]
			sum := float64(a*f[0]) + float64(b*f[1]) + float64(c*f[2])
			if col := e.local[k]; col <= row {
				to[col-first] += sum
			} else {
				e.entry[e.at[col]+row-e.first[col]] += sum
			}
		}
	}
}

// factor turns the matrix into its Cholesky factor; false where a pivot is not positive.
func (e *envelope) factor() bool {
	for i := range int32(e.n) {
		first := e.first[i]
		row := e.entry[e.at[i]:e.at[i+1]]
		for j := first; j < i; j++ {
			low := max(first, e.first[j])
			other := e.entry[e.at[j]:e.at[j+1]]
			sum := row[j-first] - dot(row[low-first:j-first], other[low-e.first[j]:])
			row[j-first] = float64(sum * other[len(other)-1]) // the diagonal holds its inverse
		}
		pivot := row[len(row)-1] - dot(row[:len(row)-1], row)
		if !(pivot > 0) {
			return false
		}
		row[len(row)-1] = 1 / math.Sqrt(pivot)
	}
	return true
}

// dot is the product of a with the beginning of b.
func dot(a, b []float64) float64 {
	b = b[:len(a)]
	var p, q, r, s float64
	for len(a) >= 4 && len(b) >= 4 {
		p += float64(a[0] * b[0])
		q += float64(a[1] * b[1])
		r += float64(a[2] * b[2])
		s += float64(a[3] * b[3])
		a, b = a[4:], b[4:]
	}
	for i, x := range a {
		p += float64(x * b[i])
	}
	return (p + q) + (r + s)
}

// solve computes z <- A^-1 z of the island's degrees of freedom.
func (e *envelope) solve(m *Model, z []float64) {
	x := e.x[:e.n]
	for _, t := range e.queue {
		tree := &m.trees[t]
		for k := tree.dof; k < tree.dof+tree.dofs; k++ {
			x[e.local[k]] = z[k]
		}
	}
	for i := range x {
		row := e.entry[e.at[i]:e.at[i+1]]
		last := len(row) - 1
		x[i] = float64((x[i] - dot(row[:last], x[e.first[i]:])) * row[last])
	}
	for i := len(x) - 1; i >= 0; i-- {
		row := e.entry[e.at[i]:e.at[i+1]]
		last := len(row) - 1
		xi := float64(x[i] * row[last])
		x[i] = xi
		to := x[e.first[i]:][:last]
		for j, l := range row[:last] {
			to[j] -= float64(l * xi)
		}
	}
	for _, t := range e.queue {
		tree := &m.trees[t]
		for k := tree.dof; k < tree.dof+tree.dofs; k++ {
			z[k] = x[e.local[k]]
		}
	}
}
