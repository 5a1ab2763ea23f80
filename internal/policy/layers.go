package policy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/halyard-robotics/halyard/internal/must"
)

// matrix is a product whose weights are the values of t: set once, or in each step where they are computed.
func (b *build) matrix(t *tensor, units, terms, unit, term int) (*product, func()) {
	p := must.Get(newProduct(b.net, units, terms))
	if t.fixed {
		p.set(t.v, unit, term)
		return p, func() {}
	}
	return p, func() { p.set(t.v, unit, term) }
}

func gemm(b *build) (func(), error) {
	x := must.Get(b.arg(0))
	w := must.Get(b.arg(1))
	if len(x.shape) != 2 || len(w.shape) != 2 {
		return nil, fmt.Errorf("got shapes %v and %v, want matrices", x.shape, w.shape)
	}
	rows, terms := x.shape[0], x.shape[1]
	turned := b.int("transA", 0) != 0
	if turned {
		rows, terms = terms, rows
	}
	units, unit, term, have := w.shape[1], 1, w.shape[1], w.shape[0]
	if b.int("transB", 0) != 0 {
		units, unit, term, have = w.shape[0], w.shape[1], 1, w.shape[1]
	}
	if have != terms {
		return nil, fmt.Errorf("got shapes %v and %v", x.shape, w.shape)
	}
	out := must.Get(b.new(floats, rows, units))
	p, load := b.matrix(w, units, terms, unit, term)
	var bias []int32
	c := b.opt(2)
	if c != nil {
		if shape, err := broadcast(c.shape, out.shape); err != nil || !slices.Equal(shape, out.shape) {
			return nil, fmt.Errorf("input 2: got shape %v, want one for %v", c.shape, out.shape)
		}
		bias = spread(c.shape, out.shape)
	}
	alpha, beta := b.float("alpha", 1), b.float("beta", 1)
	must.Be(errors.Join(b.net.room(2*units+terms), b.net.load(rows, units, terms)))
	sums, row := make([]float64, units), make([]float32, terms)
	return func() {
		load()
		for r := range rows {
			from := x.v[min(r*terms, len(x.v)):]
			if turned {
				for k := range row {
					row[k] = x.v[k*rows+r]
				}
				from = row
			}
			p.row(from, sums)
			for u, s := range sums {
				if s = float64(s * alpha); c != nil {
					s += float64(beta * float64(c.v[bias[r*units+u]]))
				}
				out.v[r*units+u] = float32(s)
			}
		}
	}, nil
}

func matMul(b *build) (func(), error) {
	x := must.Get(b.arg(0))
	w := must.Get(b.arg(1))
	if len(x.shape) == 0 || len(w.shape) == 0 {
		return nil, errors.New("got a scalar, want matrices")
	}
	left, right := x.shape, w.shape
	if len(left) == 1 {
		left = []int{1, left[0]}
	}
	if len(right) == 1 {
		right = []int{right[0], 1}
	}
	rows, terms, units := left[len(left)-2], left[len(left)-1], right[len(right)-1]
	if right[len(right)-2] != terms {
		return nil, fmt.Errorf("got shapes %v and %v", x.shape, w.shape)
	}
	batch := must.Get(broadcast(left[:len(left)-2], right[:len(right)-2]))
	shape := slices.Clone(batch)
	if len(x.shape) > 1 {
		shape = append(shape, rows)
	}
	if len(w.shape) > 1 {
		shape = append(shape, units)
	}
	out := must.Get(b.new(floats, shape...))
	xs, ws := spread(left[:len(left)-2], batch), spread(right[:len(right)-2], batch)
	p := must.Get(newProduct(b.net, units, terms))
	once := w.fixed && len(w.v) == units*terms
	if once {
		p.set(w.v, 1, units)
	}
	must.Be(errors.Join(b.net.room(2*units), b.net.load(len(out.v), terms, 2)))
	sums := make([]float64, units)
	return func() {
		for k, at := range xs {
			if !once {
				p.set(w.v[int(ws[k])*terms*units:], 1, units)
			}
			for r := range rows {
				p.row(x.v[(int(at)*rows+r)*terms:], sums)
				for u, s := range sums {
					out.v[(k*rows+r)*units+u] = float32(s)
				}
			}
		}
	}, nil
}

// conv is the convolution along one dimension.
func conv(b *build) (func(), error) {
	x := must.Get(b.arg(0))
	w := must.Get(b.arg(1))
	if len(x.shape) != 3 || len(w.shape) != 3 {
		return nil, fmt.Errorf("got shapes %v and %v, want a convolution along one dimension", x.shape, w.shape)
	}
	if auto := b.attr["auto_pad"].s; auto != "" && auto != "NOTSET" && auto != "VALID" {
		return nil, fmt.Errorf("auto_pad: got %.20q, want NOTSET or VALID", auto)
	}
	get := func(name string, i int, otherwise int) int {
		l := b.attr[name].ints
		if l == nil {
			return otherwise
		}
		if i >= len(l) || l[i] < 0 || l[i] > maxValues {
			must.Be(fmt.Errorf("%s: got %v", name, l))
		}
		return int(l[i])
	}
	before, after, stride, apart := get("pads", 0, 0), get("pads", 1, 0), get("strides", 0, 1), get("dilations", 0, 1)
	groups := int(min(max(b.int("group", 1), 0), maxValues))
	n, channels, length := x.shape[0], x.shape[1], x.shape[2]
	units, each, taps := w.shape[0], w.shape[1], w.shape[2]
	bias := b.opt(2)
	span := length + before + after - (taps-1)*apart - 1
	if stride < 1 || apart < 1 || groups < 1 || taps < 1 || each*groups != channels || units%groups != 0 || span < 0 ||
		bias != nil && len(bias.v) != units {
		return nil, fmt.Errorf("got shapes %v and %v in %d groups", x.shape, w.shape, groups)
	}
	out := must.Get(b.new(floats, n, units, span/stride+1))
	must.Be(b.net.load(len(out.v), each, taps))
	places := span/stride + 1
	return func() {
		for k := range out.v {
			at, u := k%places*stride-before, k/places%units
			first := k / places / units * channels
			first += u / (units / groups) * each
			s := 0.0
			for c := range each {
				row, taken := x.v[(first+c)*length:][:length], w.v[(u*each+c)*taps:][:taps]
				for t, v := range taken {
					if p := at + t*apart; p >= 0 && p < length {
						s += float64(v) * float64(row[p])
					}
				}
			}
			if bias != nil {
				s += float64(bias.v[u])
			}
			out.v[k] = float32(s)
		}
	}, nil
}

// cell is one direction of an LSTM or GRU.
type cell struct {
	lstm, linear  bool // linear: the GRU's reset gate after its product
	hidden, width int
	input, state  *product
	bias          []float64 // of the input's gates, then the state's
	h, c          []float32
	fromX, fromH  []float64
	reset         []float32
}

func (b *build) cell(direction int, x *tensor, w, r, bias *tensor, hidden, gates int) (*cell, error) {
	width, rows := x.shape[2], gates*hidden
	l := &cell{lstm: gates == 4, linear: b.int("linear_before_reset", 0) != 0, hidden: hidden, width: width}
	l.input = must.Get(newProduct(b.net, rows, width))
	l.state = must.Get(newProduct(b.net, rows, hidden))
	l.input.set(w.v[direction*rows*width:], width, 1)
	l.state.set(r.v[direction*rows*hidden:], hidden, 1)
	l.bias = make([]float64, 2*rows)
	if bias != nil {
		for i := range l.bias {
			l.bias[i] = float64(bias.v[direction*2*rows+i])
		}
	}
	l.h, l.c, l.reset = make([]float32, hidden), make([]float32, hidden), make([]float32, hidden)
	l.fromX, l.fromH = make([]float64, rows), make([]float64, rows)
	return l, b.net.room(8 * rows)
}

// step takes one x: gates i o f c of an LSTM, z r h of a GRU.
func (l *cell) step(x []float32) {
	n := l.hidden
	l.input.row(x, l.fromX)
	l.state.row(l.h, l.fromH)
	rows := len(l.fromX)
	for i := range l.fromX {
		l.fromX[i] += l.bias[i]
		l.fromH[i] += l.bias[rows+i]
	}
	gate := func(k, i int) float64 { return sigmoid(l.fromX[k*n+i] + l.fromH[k*n+i]) }
	if l.lstm {
		for i := range n {
			fresh := tanh(l.fromX[3*n+i] + l.fromH[3*n+i])
			c := float64(gate(2, i)*float64(l.c[i])) + float64(gate(0, i)*fresh)
			l.c[i] = float32(c)
			l.h[i] = float32(gate(1, i) * tanh(c))
		}
		return
	}
	if !l.linear {
		for i := range n {
			l.reset[i] = float32(gate(1, i) * float64(l.h[i]))
		}
		keep := l.fromH[:n]        // of z, which is overwritten by the second product
		copy(l.fromX[n:2*n], keep) // the reset gate is used up
		l.state.row(l.reset, l.fromH)
		copy(l.fromH[:n], l.fromX[n:2*n])
		for i := range n {
			l.fromH[2*n+i] += l.bias[rows+2*n+i]
		}
	}
	for i := range n {
		from := l.fromH[2*n+i]
		if l.linear {
			from = float64(gate(1, i) * from)
		}
		z, fresh := gate(0, i), tanh(l.fromX[2*n+i]+from)
		l.h[i] = float32(float64((1-z)*fresh) + float64(z*float64(l.h[i])))
	}
}

// recurrent is LSTM and GRU, with the usual activations.
func recurrent(b *build) (func(), error) {
	gates := 3
	if b.op == "LSTM" {
		gates = 4
	}
	x := must.Get(b.arg(0))
	w := must.Get(b.arg(1))
	r := must.Get(b.arg(2))
	bias, h0, c0 := b.opt(3), b.opt(5), b.opt(6)
	directions := len(w.shape)
	if directions > 0 {
		directions = w.shape[0]
	}
	must.Be(b.recurrentFits(x, w, r, bias, gates))
	hidden, seq, batch := r.shape[2], x.shape[0], x.shape[1]
	for _, t := range []*tensor{h0, c0} {
		if t != nil && len(t.v) != directions*batch*hidden {
			return nil, fmt.Errorf("initial state: got %v, want %v", t.shape, []int{directions, batch, hidden})
		}
	}
	must.Be(b.net.load(seq*batch, directions*gates*hidden, x.shape[2]+hidden))
	y := must.Get(b.new(floats, seq, directions, batch, hidden))
	last := must.Get(b.new(floats, directions, batch, hidden))
	lastC := last
	if gates == 4 {
		lastC = must.Get(b.new(floats, directions, batch, hidden))
	}
	cells := make([]*cell, directions)
	for d := range cells {
		cells[d] = must.Get(b.cell(d, x, w, r, bias, hidden, gates))
	}
	backward := b.attr["direction"].s == "reverse"
	return func() {
		for k := range directions * batch {
			l, at := cells[k/batch], k*hidden
			clear(l.h)
			clear(l.c)
			if h0 != nil {
				copy(l.h, h0.v[at:])
			}
			if c0 != nil {
				copy(l.c, c0.v[at:])
			}
			for t := range seq {
				if backward || k >= batch {
					t = seq - 1 - t
				}
				l.step(x.v[(t*batch+k%batch)*l.width:])
				copy(y.v[t*directions*batch*hidden+at:], l.h)
			}
			if copy(last.v[at:], l.h); l.lstm {
				copy(lastC.v[at:], l.c)
			}
		}
	}, nil
}

// recurrentFits checks shapes and attributes.
func (b *build) recurrentFits(x, w, r, bias *tensor, gates int) error {
	directions := map[string]int{"": 1, "forward": 1, "reverse": 1, "bidirectional": 2}[b.attr["direction"].s]
	hidden := 0
	if len(r.shape) == 3 {
		hidden = r.shape[2]
	}
	fits := directions > 0 && len(x.shape) == 3 && x.shape[1] > 0 && hidden > 0 && hidden <= maxValues/8 &&
		slices.Equal(r.shape, []int{directions, gates * hidden, hidden})
	fits = fits && slices.Equal(w.shape, []int{directions, gates * hidden, x.shape[2]}) &&
		(bias == nil || len(bias.v) == directions*2*gates*hidden)
	switch {
	case !fits:
		return fmt.Errorf("got shapes %v, %v, %v", x.shape, w.shape, r.shape)
	case !w.fixed || !r.fixed || bias != nil && !bias.fixed:
		return errors.New("got weights that are computed in each step, want constants")
	case b.opt(4) != nil || b.opt(7) != nil:
		return errors.New("got sequence lengths or peepholes, want none")
	case b.int("layout", 0) != 0 || b.int("input_forget", 0) != 0 || b.attr["clip"].f != 0:
		return errors.New("got layout, input_forget or clip, want none")
	}
	usual := []string{"Sigmoid", "Tanh"}
	if gates == 4 {
		usual = []string{"Sigmoid", "Tanh", "Tanh"}
	}
	if got := b.attr["activations"].words; got != nil && !slices.Equal(got, usual) &&
		!slices.Equal(got, slices.Repeat(usual, directions)) {
		return fmt.Errorf("activations: got %.80q, want %q", got, usual)
	}
	return nil
}
