package policy

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/internal/sim/exact"
)

// operator adds the outputs of a node to b and returns what computes them; nil: they are values of the inputs.
type operator func(b *build) (run func(), err error)

// operators has the operators by their names in ONNX.
var operators = func() map[string]operator {
	m := map[string]operator{
		"Add": pairwise(func(x, y float64) float64 { return x + y }),
		"Sub": pairwise(func(x, y float64) float64 { return x - y }),
		"Mul": pairwise(func(x, y float64) float64 { return x * y }),
		"Div": pairwise(func(x, y float64) float64 { return x / y }),
		"Pow": pairwise(math.Pow), "Min": folded(math.Min), "Max": folded(math.Max), "PRelu": pairwise(prelu),
		"Clip": clip,
		"Gemm": gemm, "MatMul": matMul, "Conv": conv, "LSTM": recurrent, "GRU": recurrent,
		"LayerNormalization": layerNorm, "BatchNormalization": batchNorm, "Softmax": softmax,
		"ReduceMean": reduce, "ReduceSum": reduce, "ReduceSumSquare": reduce, "ReduceL2": reduce, "ReduceMax": reduce,
		"Concat": concat, "Slice": slice, "Split": split, "Gather": gather, "Transpose": transpose, "Expand": expand,
		"Reshape": reshape, "Flatten": flatten, "Squeeze": squeeze, "Unsqueeze": unsqueeze, "Shape": shapeOf,
		"Identity": identity, "Dropout": identity, "Cast": cast, "Constant": constant,
		"ConstantOfShape": constantOfShape,
	}
	for name, f := range unary {
		m[name] = each(f)
	}
	return m
}()

// each applies a function to every value.
func each(of func(*build) function) operator {
	return func(b *build) (func(), error) {
		x, err := b.arg(0)
		if err != nil {
			return nil, err
		}
		out, err := b.new(x.kind, x.shape...)
		if err != nil {
			return nil, err
		}
		f := of(b)
		return func() {
			for i, v := range x.v {
				out.v[i] = float32(f(float64(v)))
			}
		}, nil
	}
}

// pairwise applies a function to pairs. In float64 a sum or product of two float32 rounds to the same float32.
func pairwise(f func(x, y float64) float64) operator {
	return func(b *build) (func(), error) {
		x, err := b.arg(0)
		if err != nil {
			return nil, err
		}
		y, err := b.arg(1)
		if err != nil {
			return nil, err
		}
		if b.op == "Div" && x.kind == ints {
			return nil, errors.New("got integers, want float")
		}
		return b.pairs(x, y, f)
	}
}

func (b *build) pairs(x, y *tensor, f func(x, y float64) float64) (func(), error) {
	shape, err := broadcast(x.shape, y.shape)
	if err != nil {
		return nil, err
	}
	out, err := b.new(x.kind, shape...)
	if err != nil {
		return nil, err
	}
	if slices.Equal(x.shape, y.shape) {
		return func() {
			for i, v := range x.v {
				out.v[i] = float32(f(float64(v), float64(y.v[i])))
			}
		}, nil
	}
	xs, ys := spread(x.shape, shape), spread(y.shape, shape)
	return func() {
		for i, at := range xs {
			out.v[i] = float32(f(float64(x.v[at]), float64(y.v[ys[i]])))
		}
	}, nil
}

// folded applies a function to any number of inputs, in order.
func folded(f func(x, y float64) float64) operator {
	return func(b *build) (func(), error) {
		x, err := b.arg(0)
		if err != nil {
			return nil, err
		}
		var all []func()
		for i := range b.in[1:] {
			y, err := b.arg(i + 1)
			if err != nil {
				return nil, err
			}
			run, err := b.pairs(x, y, f)
			if err != nil {
				return nil, err
			}
			all, x = append(all, run), b.outs[len(b.outs)-1]
		}
		if len(all) == 0 {
			return nil, b.alias(x, x.kind, x.shape...)
		}
		b.outs = []*tensor{x}
		return func() {
			for _, run := range all {
				run()
			}
		}, nil
	}
}

func prelu(x, slope float64) float64 {
	if x < 0 {
		return x * slope
	}
	return x
}

func clip(b *build) (func(), error) {
	x, err := b.arg(0)
	if err != nil {
		return nil, err
	}
	out, err := b.new(x.kind, x.shape...)
	if err != nil {
		return nil, err
	}
	low := []float32{float32(b.float("min", -math.MaxFloat32))}
	high := []float32{float32(b.float("max", math.MaxFloat32))}
	for i, side := range []*[]float32{&low, &high} {
		if t := b.opt(i + 1); t != nil {
			if len(t.v) != 1 {
				return nil, fmt.Errorf("input %d: got %d values, want one value", i+1, len(t.v))
			}
			*side = t.v
		}
	}
	return func() {
		for i, v := range x.v {
			out.v[i] = min(max(v, low[0]), high[0])
		}
	}, nil
}

func identity(b *build) (func(), error) {
	x, err := b.arg(0)
	if err != nil {
		return nil, err
	}
	if t := b.opt(2); b.op == "Dropout" && t != nil && !(t.fixed && len(t.v) == 1 && t.v[0] == 0) {
		return nil, errors.New("got training mode, want a model for inference")
	}
	return nil, b.alias(x, x.kind, x.shape...)
}

func cast(b *build) (func(), error) {
	x, err := b.arg(0)
	if err != nil {
		return nil, err
	}
	to, _, err := kindOf(uint64(b.int("to", 0)))
	if err != nil {
		return nil, err
	}
	if to == x.kind || to == floats {
		return nil, b.alias(x, to, x.shape...)
	}
	out, err := b.new(to, x.shape...)
	if err != nil {
		return nil, err
	}
	return func() {
		for i, v := range x.v {
			if out.v[i] = float32(math.Trunc(float64(v))); to == bools && v != 0 {
				out.v[i] = 1
			}
		}
	}, nil
}

func constant(b *build) (func(), error) {
	for name, a := range b.attr {
		t := a.t
		switch name {
		case "value":
		case "value_float":
			t = &tensor{v: []float32{a.f}}
		case "value_int":
			t = &tensor{kind: ints, v: []float32{float32(a.i)}}
		case "value_floats":
			t = &tensor{shape: []int{len(a.floats)}, v: a.floats}
		case "value_ints":
			t = &tensor{kind: ints, shape: []int{len(a.ints)}, v: make([]float32, len(a.ints))}
			for i, v := range a.ints {
				t.v[i] = float32(v)
			}
		default:
			return nil, fmt.Errorf("attribute %.40q: want numbers", name)
		}
		if t != nil {
			t.fixed = true
			b.outs = append(b.outs, t)
			return nil, nil
		}
	}
	return nil, errors.New("got no value")
}

func constantOfShape(b *build) (func(), error) {
	shape, err := b.list(0)
	if err != nil {
		return nil, err
	}
	fill, k := float32(0), floats
	if t := b.attr["value"].t; t != nil {
		if len(t.v) != 1 {
			return nil, fmt.Errorf("value: got %d values, want one value", len(t.v))
		}
		fill, k = t.v[0], t.kind
	}
	out, err := b.new(k, shape...)
	if err != nil {
		return nil, err
	}
	for i := range out.v {
		out.v[i] = fill
	}
	out.fixed = true
	return nil, nil
}

func shapeOf(b *build) (func(), error) {
	x, err := b.arg(0)
	if err != nil {
		return nil, err
	}
	rank := int64(len(x.shape))
	ends := []int64{b.int("start", 0), b.int("end", rank)}
	for i, e := range ends {
		if e < 0 {
			e += rank
		}
		ends[i] = min(max(e, 0), rank)
	}
	part := x.shape[ends[0]:max(ends[0], ends[1])]
	out, err := b.new(ints, len(part))
	if err != nil {
		return nil, err
	}
	for i, d := range part {
		out.v[i] = float32(d)
	}
	out.fixed = true
	return nil, nil
}

func reshape(b *build) (func(), error) {
	x, err := b.arg(0)
	if err != nil {
		return nil, err
	}
	shape, err := b.list(1)
	if err != nil {
		return nil, err
	}
	for _, d := range b.attr["shape"].ints { // before opset 5
		shape = append(shape, int(min(max(d, -2), maxValues+1)))
	}
	open, rest := -1, 1
	for i, d := range shape {
		switch {
		case d == 0 && i < len(x.shape) && b.int("allowzero", 0) == 0:
			shape[i] = x.shape[i]
		case d == -1 && open < 0:
			open = i
			continue
		case d < 0 || d > maxValues:
			return nil, fmt.Errorf("got a shape of %v", shape)
		}
		if rest *= shape[i]; rest > maxValues {
			return nil, fmt.Errorf("got a shape of %v", shape)
		}
	}
	if open >= 0 {
		if rest == 0 || len(x.v)%rest != 0 {
			return nil, fmt.Errorf("got a shape of %v for %v", shape, x.shape)
		}
		shape[open] = len(x.v) / rest
	}
	return nil, b.alias(x, x.kind, shape...)
}

func flatten(b *build) (func(), error) {
	x, err := b.arg(0)
	if err != nil {
		return nil, err
	}
	axis := b.int("axis", 1)
	if axis < 0 {
		axis += int64(len(x.shape))
	}
	if axis < 0 || axis > int64(len(x.shape)) {
		return nil, fmt.Errorf("got axis %d of %v", axis, x.shape)
	}
	rows := 1
	for _, d := range x.shape[:axis] {
		rows *= d
	}
	return nil, b.alias(x, x.kind, rows, len(x.v)/max(rows, 1))
}

func squeeze(b *build) (func(), error) {
	x, err := b.arg(0)
	if err != nil {
		return nil, err
	}
	axes, err := b.axes(1, len(x.shape))
	if err != nil {
		return nil, err
	}
	var shape []int
	for i, d := range x.shape {
		if slices.Contains(axes, i) || axes == nil && d == 1 {
			if d != 1 {
				return nil, fmt.Errorf("got axis %d of %v, want one of size 1", i, x.shape)
			}
			continue
		}
		shape = append(shape, d)
	}
	return nil, b.alias(x, x.kind, shape...)
}

func unsqueeze(b *build) (func(), error) {
	x, err := b.arg(0)
	if err != nil {
		return nil, err
	}
	n := len(b.attr["axes"].ints)
	if t := b.opt(1); t != nil {
		n += len(t.v)
	}
	if n+len(x.shape) > maxRank {
		return nil, fmt.Errorf("got %d dimensions, want at most %d", n+len(x.shape), maxRank)
	}
	axes, err := b.axes(1, len(x.shape)+n)
	if err != nil {
		return nil, err
	}
	shape, at := make([]int, n+len(x.shape)), 0
	for i := range shape {
		if shape[i] = 1; !slices.Contains(axes, i) {
			shape[i] = x.shape[at]
			at++
		}
	}
	return nil, b.alias(x, x.kind, shape...)
}

func concat(b *build) (func(), error) {
	first, err := b.arg(0)
	if err != nil {
		return nil, err
	}
	axis, err := dim(b.int("axis", 0), len(first.shape))
	if err != nil {
		return nil, err
	}
	shape := slices.Clone(first.shape)
	for i := range b.in[1:] {
		t, err := b.arg(i + 1)
		if err != nil {
			return nil, err
		}
		same := len(t.shape) == len(shape)
		for d := 0; same && d < len(shape); d++ {
			same = d == axis || t.shape[d] == shape[d]
		}
		if !same {
			return nil, fmt.Errorf("got shapes %v and %v", first.shape, t.shape)
		}
		shape[axis] += t.shape[axis]
	}
	out, err := b.new(first.kind, shape...)
	if err != nil {
		return nil, err
	}
	inner := 1
	for _, d := range shape[axis+1:] {
		inner *= d
	}
	parts, row := b.in, shape[axis]*inner
	return func() {
		at := 0
		for _, t := range parts {
			width := t.shape[axis] * inner
			for r := 0; width > 0 && r*width < len(t.v); r++ {
				copy(out.v[r*row+at:], t.v[r*width:(r+1)*width])
			}
			at += width
		}
	}, nil
}

// part is an output of x's places from first with the strides by.
func (b *build) part(x *tensor, shape, by []int, first int) (func(), error) {
	out, err := b.new(x.kind, shape...)
	if err != nil {
		return nil, err
	}
	return picked(out.v, x.v, table(shape, by, first)), nil
}

func slice(b *build) (func(), error) {
	x, err := b.arg(0)
	if err != nil {
		return nil, err
	}
	lists := [4][]int{} // starts, ends, axes, steps
	for i, name := range []string{"starts", "ends", "axes", "steps"} {
		if lists[i], err = b.list(i + 1); err != nil {
			return nil, err
		}
		for _, v := range b.attr[name].ints { // before opset 10
			lists[i] = append(lists[i], int(min(max(v, math.MinInt32), math.MaxInt32)))
		}
	}
	shape, by, first := slices.Clone(x.shape), strides(x.shape), 0
	for i, start := range lists[0] {
		axis, step := i, 1
		if lists[2] != nil && i < len(lists[2]) {
			axis = lists[2][i]
		}
		if i < len(lists[3]) {
			step = lists[3][i]
		}
		d, err := dim(int64(axis), len(x.shape))
		if err != nil {
			return nil, err
		}
		if step == 0 || i >= len(lists[1]) || shape[d] != x.shape[d] {
			return nil, fmt.Errorf("got starts, ends, axes, steps %v", lists)
		}
		n, end := x.shape[d], lists[1][i]
		if start < 0 {
			start += n
		}
		if end < 0 {
			end += n
		}
		if step > 0 {
			start, end = min(max(start, 0), n), min(max(end, 0), n)
			shape[d] = max(0, (end-start+step-1)/step)
		} else {
			start, end = min(max(start, 0), n-1), min(max(end, -1), n-1)
			shape[d] = max(0, (start-end-step-1)/-step)
		}
		first += start * by[d]
		by[d] *= step
	}
	return b.part(x, shape, by, first)
}

func split(b *build) (func(), error) {
	x, err := b.arg(0)
	if err != nil {
		return nil, err
	}
	axis, err := dim(b.int("axis", 0), len(x.shape))
	if err != nil {
		return nil, err
	}
	sizes, err := b.list(1)
	if err != nil {
		return nil, err
	}
	for _, v := range b.attr["split"].ints { // before opset 13
		sizes = append(sizes, int(min(max(v, -1), maxValues)))
	}
	if n := len(b.out); sizes == nil {
		if n == 0 {
			return nil, errors.New("got no outputs, want at least one")
		}
		each := (x.shape[axis] + n - 1) / n
		for left := x.shape[axis]; len(sizes) < n; left -= each {
			sizes = append(sizes, min(each, max(left, 0)))
		}
	}
	var all []func()
	at, by := 0, strides(x.shape)
	for _, size := range sizes {
		if size < 0 || at+size > x.shape[axis] {
			return nil, fmt.Errorf("got parts of %v of %v", sizes, x.shape)
		}
		shape := slices.Clone(x.shape)
		shape[axis] = size
		run, err := b.part(x, shape, by, at*by[axis])
		if err != nil {
			return nil, err
		}
		all, at = append(all, run), at+size
	}
	return func() {
		for _, run := range all {
			run()
		}
	}, nil
}

func gather(b *build) (func(), error) {
	x, err := b.arg(0)
	if err != nil {
		return nil, err
	}
	at, err := b.arg(1)
	if err != nil {
		return nil, err
	}
	list, err := b.list(1)
	if err != nil {
		return nil, err
	}
	axis, err := dim(b.int("axis", 0), len(x.shape))
	if err != nil {
		return nil, err
	}
	out, err := b.new(x.kind, slices.Concat(x.shape[:axis], at.shape, x.shape[axis+1:])...)
	if err != nil {
		return nil, err
	}
	n, inner := x.shape[axis], strides(x.shape)[axis]
	var from []int32
	for outer := 0; len(from) < len(out.v); outer++ {
		for _, k := range list {
			if k < -n || k >= n {
				return nil, fmt.Errorf("got index %d of %d", k, n)
			}
			if k < 0 {
				k += n
			}
			for i := range inner {
				from = append(from, int32((outer*n+k)*inner+i))
			}
		}
	}
	return picked(out.v, x.v, from), nil
}

func transpose(b *build) (func(), error) {
	x, err := b.arg(0)
	if err != nil {
		return nil, err
	}
	var shape, by []int
	own, used := strides(x.shape), map[int]bool{}
	for i := range x.shape {
		d := len(x.shape) - 1 - i
		if p, ok := b.attr["perm"]; ok {
			if len(p.ints) != len(x.shape) {
				return nil, fmt.Errorf("perm: got %v of %v", p.ints, x.shape)
			}
			if d, err = dim(p.ints[i], len(x.shape)); err != nil {
				return nil, err
			}
		}
		if used[d] {
			return nil, fmt.Errorf("perm: got axis %d twice", d)
		}
		used[d] = true
		shape, by = append(shape, x.shape[d]), append(by, own[d])
	}
	return b.part(x, shape, by, 0)
}

func expand(b *build) (func(), error) {
	x, err := b.arg(0)
	if err != nil {
		return nil, err
	}
	want, err := b.list(1)
	if err != nil {
		return nil, err
	}
	if len(want) > maxRank {
		return nil, fmt.Errorf("got %d dimensions, want at most %d", len(want), maxRank)
	}
	shape, err := broadcast(x.shape, want)
	if err != nil {
		return nil, err
	}
	out, err := b.new(x.kind, shape...)
	if err != nil {
		return nil, err
	}
	return picked(out.v, x.v, spread(x.shape, shape)), nil
}

// reduce folds axes into one value.
func reduce(b *build) (func(), error) {
	x, err := b.arg(0)
	if err != nil {
		return nil, err
	}
	axes, err := b.axes(1, len(x.shape))
	if err != nil {
		return nil, err
	}
	if axes == nil && b.int("noop_with_empty_axes", 0) != 0 {
		return nil, errors.New("got no axes, want at least one")
	}
	var shape []int
	by, kept := make([]int, len(x.shape)), slices.Clone(x.shape)
	count := 1
	for i, d := range x.shape {
		if axes == nil || slices.Contains(axes, i) {
			count, kept[i] = count*d, 1
			if b.int("keepdims", 1) != 0 {
				shape = append(shape, 1)
			}
		} else {
			shape = append(shape, d)
		}
	}
	for i, s := range strides(kept) {
		if kept[i] != 1 {
			by[i] = s
		}
	}
	out, err := b.new(x.kind, shape...)
	if err != nil {
		return nil, err
	}
	if err := b.net.room(2*len(out.v) + len(x.v)); err != nil {
		return nil, err
	}
	sums, into, op := make([]float64, len(out.v)), table(x.shape, by, 0), b.op
	return func() {
		for i := range sums {
			if sums[i] = 0; op == "ReduceMax" {
				sums[i] = math.Inf(-1)
			}
		}
		for i, at := range into {
			v := float64(x.v[i])
			switch op {
			case "ReduceMax":
				sums[at] = max(sums[at], v)
			case "ReduceL2", "ReduceSumSquare":
				sums[at] += v * v
			default:
				sums[at] += v
			}
		}
		for i, s := range sums {
			switch op {
			case "ReduceMean":
				s /= float64(count)
			case "ReduceL2":
				s = math.Sqrt(s)
			}
			out.v[i] = float32(s)
		}
	}, nil
}

func softmax(b *build) (func(), error) {
	x, err := b.arg(0)
	if err != nil {
		return nil, err
	}
	otherwise := int64(-1)
	if b.opset < 13 {
		otherwise = 1
	}
	axis, err := dim(b.int("axis", otherwise), len(x.shape))
	if err != nil {
		return nil, err
	}
	width := 1
	for _, d := range x.shape[axis:] {
		width *= d
	}
	if b.opset >= 13 && width != x.shape[axis] {
		return nil, fmt.Errorf("got axis %d of %v, want the last", axis, x.shape)
	}
	out, err := b.new(x.kind, x.shape...)
	if err != nil {
		return nil, err
	}
	e := make([]float64, width)
	return func() {
		for at := 0; width > 0 && at < len(x.v); at += width {
			row := x.v[at : at+width]
			top, sum := float64(slices.Max(row)), 0.0
			for i, v := range row {
				e[i] = exact.Exp(float64(v) - top)
				sum += e[i]
			}
			for i := range row {
				out.v[at+i] = float32(e[i] / sum)
			}
		}
	}, nil
}

func layerNorm(b *build) (func(), error) {
	x, err := b.arg(0)
	if err != nil {
		return nil, err
	}
	axis, err := dim(b.int("axis", -1), len(x.shape))
	if err != nil {
		return nil, err
	}
	width := 1
	for _, d := range x.shape[axis:] {
		width *= d
	}
	scale, err := b.arg(1)
	if err != nil {
		return nil, err
	}
	bias := b.opt(2)
	if len(scale.v) != width || bias != nil && len(bias.v) != width {
		return nil, fmt.Errorf("got %d scales, want %d and as many offsets", len(scale.v), width)
	}
	out, err := b.new(x.kind, x.shape...)
	if err != nil {
		return nil, err
	}
	epsilon := b.float("epsilon", 1e-5)
	return func() {
		for at := 0; width > 0 && at < len(x.v); at += width {
			row := x.v[at : at+width]
			mean, square := 0.0, 0.0
			for _, v := range row {
				mean += float64(v)
			}
			mean /= float64(width)
			for _, v := range row {
				d := float64(v) - mean
				square += float64(d * d)
			}
			share := 1 / math.Sqrt(square/float64(width)+epsilon)
			for i, v := range row {
				y := float64(float64((float64(v)-mean)*share) * float64(scale.v[i]))
				if bias != nil {
					y += float64(bias.v[i])
				}
				out.v[at+i] = float32(y)
			}
		}
	}, nil
}

func batchNorm(b *build) (func(), error) {
	x, err := b.arg(0)
	if err != nil {
		return nil, err
	}
	if len(x.shape) < 2 || b.int("training_mode", 0) != 0 {
		return nil, errors.New("got training mode, or an input without channels")
	}
	var of [4][]float32 // scale, offset, mean, variance
	for i := range of {
		t, err := b.arg(i + 1)
		if err != nil {
			return nil, err
		}
		if of[i] = t.v; len(t.v) != x.shape[1] {
			return nil, fmt.Errorf("input %d: got %d values, want %d", i+1, len(t.v), x.shape[1])
		}
	}
	out, err := b.new(x.kind, x.shape...)
	if err != nil {
		return nil, err
	}
	epsilon, inner := b.float("epsilon", 1e-5), strides(x.shape)[1]
	return func() {
		for i, v := range x.v {
			c := i / inner % len(of[0])
			share := float64(of[0][c]) / math.Sqrt(float64(of[3][c])+epsilon)
			out.v[i] = float32(float64((float64(v)-float64(of[2][c]))*share) + float64(of[1][c]))
		}
	}, nil
}
