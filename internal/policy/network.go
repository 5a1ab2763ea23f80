package policy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
)

// Network computes its outputs from its inputs. One goroutine uses it at a time.
type Network struct {
	Meta    map[string]string // the file's own words: metadata_props
	Inputs  []Port            // to be filled in before Run
	Outputs []Port            // valid until the next Run
	steps   []func()
	values  int // in all tensors
	work    int // products of one step
}

// Port is an input or an output.
type Port struct {
	Name   string
	Shape  []int
	Values []float32
}

// Read reads an ONNX file. The error is hal.Invalid: it names the node and operator that this package does not have.
// Bounds: MaxFile bytes; 16 million values in weights and results.
func Read(data []byte) (*Network, error) {
	f, err := parse(data)
	if err == nil {
		var n *Network
		if n, err = f.network(); err == nil {
			return n, nil
		}
	}
	return nil, &hal.Error{Kind: hal.Invalid, Op: "read ONNX", Err: err}
}

// Run computes the outputs. It allocates nothing.
func (net *Network) Run() {
	for _, step := range net.steps {
		step()
	}
}

// build is the node that is being added to a network.
type build struct {
	*node
	net   *Network
	opset int64
	in    []*tensor // nil = left out
	outs  []*tensor
}

// network builds the steps of m.
func (m *file) network() (*Network, error) {
	net := &Network{Meta: m.meta}
	known := m.weights
	if len(m.inputs) > 256 || len(m.outputs) > 256 {
		return nil, fmt.Errorf("got %d inputs and %d outputs, want at most 256", len(m.inputs), len(m.outputs))
	}
	for _, in := range m.inputs {
		if _, weight := known[in.name]; weight {
			continue
		}
		n, err := volume(in.shape)
		if err == nil {
			err = net.room(n)
		}
		if err != nil {
			return nil, fmt.Errorf("input %.80q: %w", in.name, err)
		}
		in.v = make([]float32, n)
		known[in.name] = in
		net.Inputs = append(net.Inputs, Port{in.name, in.shape, in.v})
	}
	for i := range m.nodes {
		if err := net.add(&m.nodes[i], m.opset, known); err != nil {
			return nil, err
		}
	}
	for _, name := range m.outputs {
		t := known[name]
		if t == nil {
			return nil, fmt.Errorf("output %.80q: got no node that computes it", name)
		}
		net.Outputs = append(net.Outputs, Port{name, t.shape, t.v})
	}
	if len(net.Inputs) == 0 || len(net.Outputs) == 0 {
		return nil, fmt.Errorf("got %d inputs and %d outputs, want at least one of each", len(net.Inputs),
			len(net.Outputs))
	}
	return net, nil
}

// room counts n further values.
func (net *Network) room(n int) error {
	if net.values += n; net.values > maxTotal {
		return fmt.Errorf("got more than %d values in all", maxTotal)
	}
	return nil
}

// load counts n × m × k further products of a step.
func (net *Network) load(n, m, k int) error {
	if n > 0 && m > maxWork/n || n*m > 0 && k > (maxWork-net.work)/(n*m) {
		return fmt.Errorf("got a step of more than %d products", maxWork)
	}
	net.work += n * m * k
	return nil
}

// add adds the step of a node; one that depends on no input is computed here, once.
func (net *Network) add(n *node, opset int64, known map[string]*tensor) error {
	of, have := operators[n.op]
	if !have || n.domain != "" && n.domain != "ai.onnx" {
		op := strings.TrimPrefix(n.domain+"."+n.op, ".")
		return n.fault("got operator %.80q, want one of %s", op,
			strings.Join(slices.Sorted(maps.Keys(operators)), ", "))
	}
	b := &build{node: n, net: net, opset: opset}
	fixed := true
	for _, name := range n.in {
		t := known[name]
		if t == nil && name != "" {
			return n.fault("input %.80q: got no node before it that computes it", name)
		}
		if b.in = append(b.in, t); t != nil {
			fixed = fixed && t.fixed
		}
	}
	for name, a := range n.attr {
		if a.other {
			return n.fault("attribute %.40q: got a graph or a list of tensors, want numbers", name)
		}
	}
	run, err := of.add(b)
	if err != nil {
		return n.fault("%w", err)
	}
	if fixed && run != nil {
		run()
	} else if run != nil {
		net.steps = append(net.steps, run)
	}
	for i, name := range n.out {
		if name == "" {
			continue
		}
		if i >= len(b.outs) {
			return n.fault("output %.80q: got %d outputs, want at most %d", name, len(n.out), len(b.outs))
		}
		if known[name] != nil {
			return n.fault("output %.80q: got a second value of that name", name)
		}
		t := b.outs[i]
		t.fixed = t.fixed || fixed
		known[name] = t
	}
	return nil
}

// arg is input i, which must be there.
func (b *build) arg(i int) (*tensor, error) {
	if i >= len(b.in) || b.in[i] == nil {
		return nil, fmt.Errorf("input %d: got none, want a tensor", i)
	}
	return b.in[i], nil
}

// opt is input i, or nil.
func (b *build) opt(i int) *tensor {
	if i >= len(b.in) {
		return nil
	}
	return b.in[i]
}

// list is the integers of input i, which must be constant; nil if it is left out.
func (b *build) list(i int) ([]int, error) {
	t := b.opt(i)
	if t == nil {
		return nil, nil
	}
	if !t.fixed {
		return nil, fmt.Errorf("input %d: got a value that is computed in each step, want a constant", i)
	}
	if len(t.v) > maxValues {
		return nil, errors.New("too many values")
	}
	return indexes(t.v), nil
}

// indexes converts float32 to int, within ±2^31.
func indexes(v []float32) []int {
	list := make([]int, len(v))
	for i, x := range v {
		list[i] = int(min(max(float64(x), -1<<31), 1<<31))
	}
	return list
}

// new is a new output of a shape.
func (b *build) new(k kind, shape ...int) (*tensor, error) {
	if len(shape) > maxRank {
		return nil, fmt.Errorf("got %d dimensions, want at most %d", len(shape), maxRank)
	}
	n, err := volume(shape)
	if err == nil {
		err = b.net.room(n)
	}
	if err != nil {
		return nil, err
	}
	t := &tensor{kind: k, shape: slices.Clone(shape), v: make([]float32, n)}
	b.outs = append(b.outs, t)
	return t, nil
}

// alias is an output with the values of x in another shape.
func (b *build) alias(x *tensor, k kind, shape ...int) error {
	n, err := volume(shape)
	if err == nil && (n != len(x.v) || len(shape) > maxRank) {
		err = fmt.Errorf("got a shape of %v for %v", shape, x.shape)
	}
	b.outs = append(b.outs, &tensor{kind: k, shape: slices.Clone(shape), v: x.v, fixed: x.fixed})
	return err
}

// float, int, axis are attributes, with their defaults.
func (b *build) float(name string, otherwise float32) float64 {
	if a, ok := b.attr[name]; ok {
		return float64(a.f)
	}
	return float64(otherwise)
}

func (b *build) int(name string, otherwise int64) int64 {
	if a, ok := b.attr[name]; ok {
		return a.i
	}
	return otherwise
}

// dim is an axis of rank dimensions, of which -1 is the last.
func dim(axis int64, rank int) (int, error) {
	if axis < 0 {
		axis += int64(rank)
	}
	if axis < 0 || axis >= int64(rank) {
		return 0, fmt.Errorf("got axis %d, want below %d", axis, rank)
	}
	return int(axis), nil
}

// axes are those of an attribute, or of input i; none: nil.
func (b *build) axes(i int, rank int) ([]int, error) {
	given, err := b.list(i)
	if err != nil {
		return nil, err
	}
	if a, ok := b.attr["axes"]; ok {
		for _, x := range a.ints {
			given = append(given, int(min(max(x, -maxRank-1), maxRank)))
		}
	}
	var list []int
	for _, x := range given {
		d, err := dim(int64(x), rank)
		if err != nil {
			return nil, err
		}
		if slices.Contains(list, d) {
			return nil, fmt.Errorf("got axis %d twice", x)
		}
		list = append(list, d)
	}
	return list, nil
}

// strides of a shape.
func strides(shape []int) []int {
	s := make([]int, len(shape))
	step := 1
	for i := len(shape) - 1; i >= 0; i-- {
		s[i] = step
		step *= shape[i]
	}
	return s
}

// walk calls f for every place of a shape in order, with the offset by the given strides.
func walk(shape, by []int, f func(offset int)) {
	n := 1
	for _, d := range shape {
		n *= d
	}
	at := make([]int, len(shape))
	offset := 0
	for range n {
		f(offset)
		for i := len(shape) - 1; i >= 0; i-- {
			at[i]++
			offset += by[i]
			if at[i] < shape[i] {
				break
			}
			offset -= at[i] * by[i]
			at[i] = 0
		}
	}
}

// table is the offset of each place of shape, by strides from first.
func table(shape, by []int, first int) []int32 {
	var list []int32
	walk(shape, by, func(offset int) { list = append(list, int32(first+offset)) })
	return list
}

// picked is a step that copies src[from[i]] to dst[i].
func picked(dst, src []float32, from []int32) func() {
	return func() {
		for i, at := range from {
			dst[i] = src[at]
		}
	}
}

// broadcast is the common shape of two.
func broadcast(a, b []int) ([]int, error) {
	out := make([]int, max(len(a), len(b)))
	for i := range out {
		x, y := 1, 1
		if k := i - len(out) + len(a); k >= 0 {
			x = a[k]
		}
		if k := i - len(out) + len(b); k >= 0 {
			y = b[k]
		}
		if x != y && x != 1 && y != 1 {
			return nil, fmt.Errorf("got shapes %v and %v, want equal ones", a, b)
		}
		if out[i] = x; x == 1 {
			out[i] = y
		}
	}
	return out, nil
}

// spread is the table of a tensor of shape over the broadcast shape out.
func spread(shape, out []int) []int32 {
	by := make([]int, len(out))
	own := strides(shape)
	for i := range shape {
		if shape[i] != 1 {
			by[i+len(out)-len(shape)] = own[i]
		}
	}
	return table(out, by, 0)
}
