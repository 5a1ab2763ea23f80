package policy

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/internal/must"
	"github.com/halyard-robotics/halyard/internal/sim/exact"
)

// reduce folds axes into one value.
func reduce(b *build) (func(), error) {
	x := must.Get(b.arg(0))
	axes := must.Get(b.axes(1, len(x.shape)))
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
	out := must.Get(b.new(x.kind, shape...))
	must.Be(b.net.room(2*len(out.v) + len(x.v)))
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
	x := must.Get(b.arg(0))
	otherwise := int64(-1)
	if b.opset < 13 {
		otherwise = 1
	}
	axis := must.Get(dim(b.int("axis", otherwise), len(x.shape)))
	width := 1
	for _, d := range x.shape[axis:] {
		width *= d
	}
	if b.opset >= 13 && width != x.shape[axis] {
		return nil, fmt.Errorf("got axis %d of %v, want the last", axis, x.shape)
	}
	out := must.Get(b.new(x.kind, x.shape...))
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
	x := must.Get(b.arg(0))
	axis := must.Get(dim(b.int("axis", -1), len(x.shape)))
	width := 1
	for _, d := range x.shape[axis:] {
		width *= d
	}
	scale := must.Get(b.arg(1))
	bias := b.opt(2)
	if len(scale.v) != width || bias != nil && len(bias.v) != width {
		return nil, fmt.Errorf("got %d scales, want %d and as many offsets", len(scale.v), width)
	}
	out := must.Get(b.new(x.kind, x.shape...))
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
	x := must.Get(b.arg(0))
	if len(x.shape) < 2 || b.int("training_mode", 0) != 0 {
		return nil, errors.New("got training mode, or an input without channels")
	}
	var of [4][]float32 // scale, offset, mean, variance
	for i := range of {
		t := must.Get(b.arg(i + 1))
		if of[i] = t.v; len(t.v) != x.shape[1] {
			return nil, fmt.Errorf("input %d: got %d values, want %d", i+1, len(t.v), x.shape[1])
		}
	}
	out := must.Get(b.new(x.kind, x.shape...))
	epsilon, inner := b.float("epsilon", 1e-5), strides(x.shape)[1]
	return func() {
		for i, v := range x.v {
			c := i / inner % len(of[0])
			share := float64(of[0][c]) / math.Sqrt(float64(of[3][c])+epsilon)
			out.v[i] = float32(float64((float64(v)-float64(of[2][c]))*share) + float64(of[1][c]))
		}
	}, nil
}
