package policy

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/internal/must"
)

func shapeOf(b *build) (func(), error) {
	x := must.Get(b.arg(0))
	rank := int64(len(x.shape))
	ends := []int64{b.int("start", 0), b.int("end", rank)}
	for i, e := range ends {
		if e < 0 {
			e += rank
		}
		ends[i] = min(max(e, 0), rank)
	}
	part := x.shape[ends[0]:max(ends[0], ends[1])]
	out := must.Get(b.new(ints, len(part)))
	for i, d := range part {
		out.v[i] = float32(d)
	}
	out.fixed = true
	return nil, nil
}

func reshape(b *build) (func(), error) {
	x := must.Get(b.arg(0))
	shape := must.Get(b.list(1))
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
	x := must.Get(b.arg(0))
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
	x := must.Get(b.arg(0))
	axes := must.Get(b.axes(1, len(x.shape)))
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
	x := must.Get(b.arg(0))
	n := len(b.attr["axes"].ints)
	if t := b.opt(1); t != nil {
		n += len(t.v)
	}
	if n+len(x.shape) > maxRank {
		return nil, fmt.Errorf("got %d dimensions, want at most %d", n+len(x.shape), maxRank)
	}
	axes := must.Get(b.axes(1, len(x.shape)+n))
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
	first := must.Get(b.arg(0))
	axis := must.Get(dim(b.int("axis", 0), len(first.shape)))
	shape := slices.Clone(first.shape)
	for i := range b.in[1:] {
		t := must.Get(b.arg(i + 1))
		same := len(t.shape) == len(shape)
		for d := 0; same && d < len(shape); d++ {
			same = d == axis || t.shape[d] == shape[d]
		}
		if !same {
			return nil, fmt.Errorf("got shapes %v and %v", first.shape, t.shape)
		}
		shape[axis] += t.shape[axis]
	}
	out := must.Get(b.new(first.kind, shape...))
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
	out := must.Get(b.new(x.kind, shape...))
	return picked(out.v, x.v, table(shape, by, first)), nil
}

func slice(b *build) (func(), error) {
	x := must.Get(b.arg(0))
	lists := [4][]int{} // starts, ends, axes, steps
	for i, name := range []string{"starts", "ends", "axes", "steps"} {
		lists[i] = must.Get(b.list(i + 1))
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
		d := must.Get(dim(int64(axis), len(x.shape)))
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
	x := must.Get(b.arg(0))
	axis := must.Get(dim(b.int("axis", 0), len(x.shape)))
	sizes := must.Get(b.list(1))
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
		run := must.Get(b.part(x, shape, by, at*by[axis]))
		all, at = append(all, run), at+size
	}
	return func() {
		for _, run := range all {
			run()
		}
	}, nil
}

func gather(b *build) (func(), error) {
	x := must.Get(b.arg(0))
	at := must.Get(b.arg(1))
	list := must.Get(b.list(1))
	axis := must.Get(dim(b.int("axis", 0), len(x.shape)))
	out := must.Get(b.new(x.kind, slices.Concat(x.shape[:axis], at.shape, x.shape[axis+1:])...))
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
	x := must.Get(b.arg(0))
	var shape, by []int
	own, used := strides(x.shape), map[int]bool{}
	for i := range x.shape {
		d := len(x.shape) - 1 - i
		if p, ok := b.attr["perm"]; ok {
			if len(p.ints) != len(x.shape) {
				return nil, fmt.Errorf("perm: got %v of %v", p.ints, x.shape)
			}
			d = must.Get(dim(p.ints[i], len(x.shape)))
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
	x := must.Get(b.arg(0))
	want := must.Get(b.list(1))
	if len(want) > maxRank {
		return nil, fmt.Errorf("got %d dimensions, want at most %d", len(want), maxRank)
	}
	shape := must.Get(broadcast(x.shape, want))
	out := must.Get(b.new(x.kind, shape...))
	return picked(out.v, x.v, spread(x.shape, shape)), nil
}
