package lerobot

import (
	"bytes"
	"image"
	"image/jpeg"
	"math"
	"slices"
)

// quantiles are those that LeRobot computes, by their names.
var quantiles = []struct {
	name string
	q    float64
}{{"q01", 0.01}, {"q10", 0.1}, {"q50", 0.5}, {"q90", 0.9}, {"q99", 0.99}}

// stat is the statistics of one feature: a value a channel.
type stat struct {
	names  []string // min, max, mean, std, then the quantiles
	values [][]float64
	count  int
}

func newStat(count int) *stat {
	s := &stat{names: []string{"min", "max", "mean", "std"}, count: count}
	for _, q := range quantiles {
		s.names = append(s.names, q.name)
	}
	s.values = make([][]float64, len(s.names))
	return s
}

// statOf are the statistics of columns of numbers.
func statOf(columns [][]float32) *stat {
	s := newStat(len(columns[0]))
	for _, c := range columns {
		sorted := slices.Clone(c)
		slices.Sort(sorted)
		sum, square, n := 0.0, 0.0, float64(len(c))
		for _, v := range c {
			sum += float64(v)
		}
		mean := sum / n
		for _, v := range c {
			square += (float64(v) - mean) * (float64(v) - mean)
		}
		list := []float64{float64(sorted[0]), float64(sorted[len(c)-1]), mean, math.Sqrt(square / n)}
		for _, q := range quantiles { // linear between neighbours, as numpy's
			at := q.q * (n - 1)
			k := int(at)
			v := float64(sorted[k])
			if k+1 < len(c) {
				v += (at - float64(k)) * (float64(sorted[k+1]) - v)
			}
			list = append(list, v)
		}
		for i, v := range list {
			s.values[i] = append(s.values[i], v)
		}
	}
	return s
}

// shades counts the values of the three channels of pictures.
type shades struct {
	counts [3][256]uint64
	frames int
}

const (
	// sampled is how many frames of an episode are looked at, as LeRobot samples at least as many of a longer one.
	sampled = 100
	// maxSide is to how many pixels a side a picture is thinned out.
	maxSide = 150
)

// add counts a JPEG.
func (s *shades) add(data []byte) error {
	p, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		return err
	}
	s.frames++
	b := p.Bounds()
	step := max(1, max(b.Dx(), b.Dy())/maxSide)
	y, ycc := p.(*image.YCbCr)
	for row := b.Min.Y; row < b.Max.Y; row += step {
		for col := b.Min.X; col < b.Max.X; col += step {
			var r, g, bl uint32
			if ycc {
				r, g, bl, _ = y.YCbCrAt(col, row).RGBA()
			} else {
				r, g, bl, _ = p.At(col, row).RGBA()
			}
			s.counts[0][r>>8]++
			s.counts[1][g>>8]++
			s.counts[2][bl>>8]++
		}
	}
	return nil
}

func (s *shades) merge(o *shades) {
	for c := range s.counts {
		for v := range s.counts[c] {
			s.counts[c][v] += o.counts[c][v]
		}
	}
	s.frames += o.frames
}

// stat are the statistics of all pictures, 0 to 1.
func (s *shades) stat() *stat {
	out := newStat(s.frames)
	for c := range s.counts {
		n, sum, square, low, high := 0.0, 0.0, 0.0, -1, 0
		for v, k := range s.counts[c] {
			if k == 0 {
				continue
			}
			if n += float64(k); low < 0 {
				low = v
			}
			high = v
			sum += float64(k) * float64(v)
			square += float64(k) * float64(v) * float64(v)
		}
		mean := sum / n
		list := []float64{float64(low), float64(high), mean, math.Sqrt(max(0, square/n-mean*mean))}
		for _, q := range quantiles {
			below, v := 0.0, 0
			for ; v < 255; v++ {
				if below += float64(s.counts[c][v]); below > q.q*(n-1) {
					break
				}
			}
			list = append(list, float64(v))
		}
		for i, v := range list {
			out.values[i] = append(out.values[i], v/255)
		}
	}
	return out
}
