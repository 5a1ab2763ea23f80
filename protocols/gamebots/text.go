package gamebots

import (
	"math"
	"strconv"
)

// text builds one line after another in b.
type text struct {
	b     []byte
	named bool // a pair of this segment is there
}

// begin starts a line.
func (t *text) begin(kind string) { t.b = append(t.b, kind...) }

// end ends it.
func (t *text) end() []byte {
	t.b = append(t.b, "\r\n"...)
	return t.b
}

// open and close are the braces of a segment; name begins a pair of it.
func (t *text) open() {
	t.b = append(t.b, " {"...)
	t.named = false
}

func (t *text) close() { t.b = append(t.b, '}') }

// name begins a pair; its value follows.
func (t *text) name(name string) {
	if t.named {
		t.b = append(t.b, ' ')
	}
	t.named = true
	t.b = append(append(t.b, name...), ' ')
}

// word, number, vector, integer and truth are pairs.
func (t *text) word(name, value string) {
	t.name(name)
	t.b = append(t.b, value...)
}

func (t *text) number(name string, v float64, decimals int) {
	t.name(name)
	t.b = appendNumber(t.b, v, decimals)
}

func (t *text) vector(name string, v [3]float64, decimals int) {
	t.name(name)
	t.numbers(v[:], decimals)
}

// numbers are the value of a pair.
func (t *text) numbers(v []float64, decimals int) {
	for i := range v {
		if i > 0 {
			t.b = append(t.b, ',')
		}
		t.b = appendNumber(t.b, v[i], decimals)
	}
}

func (t *text) integer(name string, v int) {
	t.name(name)
	t.b = strconv.AppendInt(t.b, int64(v), 10)
}

func (t *text) truth(name string, v bool) {
	t.name(name)
	if v {
		t.b = append(t.b, "True"...)
	} else {
		t.b = append(t.b, "False"...)
	}
}

// segment, and those below, are segments of one pair.
func (t *text) segment(name, value string) { t.open(); t.word(name, value); t.close() }

func (t *text) numberSegment(name string, v float64, decimals int) {
	t.open()
	t.number(name, v, decimals)
	t.close()
}

func (t *text) vectorSegment(name string, v [3]float64, decimals int) {
	t.open()
	t.vector(name, v, decimals)
	t.close()
}

func (t *text) integerSegment(name string, v int) { t.open(); t.integer(name, v); t.close() }
func (t *text) truthSegment(name string, v bool)  { t.open(); t.truth(name, v); t.close() }

// Decimals of what goes out: section 5.2 of the manual, and its examples of times and tags.
const (
	fine   = 4
	coarse = 2
)

// greatest bounds numbers: beyond it a float64 has no thousandths.
const greatest = 1e12

// appendNumber appends v cut to so many decimals, at most 9, as the original's FloatString does: the sign stays, so
// that a little below 0 is -0.0000. What a decimal number lost to its binary form is given back, a millionth of the
// last decimal, or the last digit of a float64, so that a number that was read goes out as it came. NaN, not known, is
// NaN; what is too great is cut to ±10¹².
func appendNumber(dst []byte, v float64, decimals int) []byte {
	if v < 0 {
		dst, v = append(dst, '-'), -v
	}
	if math.IsNaN(v) {
		return append(dst, "NaN"...)
	}
	v = math.Min(v, greatest)
	scale := 1.0
	for range decimals {
		scale *= 10
	}
	// the whole part apart, so that the product keeps its digits
	whole, lost := math.Floor(v), math.Nextafter(v, math.Inf(1))-v
	part := math.Floor((v-whole)*scale + math.Max(1e-6, lost*scale))
	if part >= scale {
		whole, part = whole+1, 0
	}
	dst = strconv.AppendInt(dst, int64(whole), 10)
	if decimals == 0 {
		return dst
	}
	dst = append(dst, '.')
	for digit := scale / 10; digit > part && digit > 1; digit /= 10 {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, int64(part), 10)
}
