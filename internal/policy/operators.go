package policy

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/internal/must"
)

// operator adds the outputs of a node to b and returns what computes them; nil: they are values of the inputs. It may
// refuse its inputs by package must.
type operator func(b *build) (run func(), err error)

func (of operator) add(b *build) (run func(), err error) {
	defer must.Catch(&err)
	return of(b)
}

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
		x := must.Get(b.arg(0))
		out := must.Get(b.new(x.kind, x.shape...))
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
		x := must.Get(b.arg(0))
		y := must.Get(b.arg(1))
		if b.op == "Div" && x.kind == ints {
			return nil, errors.New("got integers, want float")
		}
		return b.pairs(x, y, f)
	}
}

func (b *build) pairs(x, y *tensor, f func(x, y float64) float64) (func(), error) {
	shape := must.Get(broadcast(x.shape, y.shape))
	out := must.Get(b.new(x.kind, shape...))
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
		x := must.Get(b.arg(0))
		var all []func()
		for i := range b.in[1:] {
			y := must.Get(b.arg(i + 1))
			run := must.Get(b.pairs(x, y, f))
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
	x := must.Get(b.arg(0))
	out := must.Get(b.new(x.kind, x.shape...))
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
	x := must.Get(b.arg(0))
	if t := b.opt(2); b.op == "Dropout" && t != nil && !(t.fixed && len(t.v) == 1 && t.v[0] == 0) {
		return nil, errors.New("got training mode, want a model for inference")
	}
	return nil, b.alias(x, x.kind, x.shape...)
}

func cast(b *build) (func(), error) {
	x := must.Get(b.arg(0))
	to, _, err := kindOf(uint64(b.int("to", 0)))
	must.Be(err)
	if to == x.kind || to == floats {
		return nil, b.alias(x, to, x.shape...)
	}
	out := must.Get(b.new(to, x.shape...))
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
	shape := must.Get(b.list(0))
	fill, k := float32(0), floats
	if t := b.attr["value"].t; t != nil {
		if len(t.v) != 1 {
			return nil, fmt.Errorf("value: got %d values, want one value", len(t.v))
		}
		fill, k = t.v[0], t.kind
	}
	out := must.Get(b.new(k, shape...))
	for i := range out.v {
		out.v[i] = fill
	}
	out.fixed = true
	return nil, nil
}
