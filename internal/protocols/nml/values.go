package nml

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
)

// Bool passes a bool: a char of 0 or 1.
func (c *Codec) Bool(v *bool) {
	var b byte
	if *v {
		b = 1
	}
	c.Char(&b)
	if c.mode == decoding {
		*v = b != 0
	}
}

// Char passes a char or an unsigned char.
func (c *Codec) Char(v *byte) {
	if c.encoding != Disp || c.mode == measuring {
		n := int64(*v)
		if c.integer(&n, 1, 1, ""); c.mode == decoding {
			*v = byte(n)
		}
		return
	}
	if c.mode == encoding {
		c.buf = append(appendDisp(c.buf, *v), ',')
		return
	}
	if text := c.token(); len(text) == 0 {
		*v = 0
	} else {
		*v, _ = c.character(text)
	}
}

// Short passes a short.
func (c *Codec) Short(v *int16) {
	n := int64(*v)
	if c.integer(&n, 2, 2, "%+d,"); c.mode == decoding {
		*v = int16(n)
	}
}

// Int passes ints or enumerations.
func (c *Codec) Int(fields ...*int32) {
	for _, v := range fields {
		n := int64(*v)
		if c.integer(&n, 4, 4, "%+6d,"); c.mode == decoding {
			*v = int32(n)
		}
	}
}

// Long passes a long, which has 32 bits on the wire.
func (c *Codec) Long(v *int32) {
	n, packed := int64(*v), 4
	if c.wide {
		packed = 8
	}
	if c.integer(&n, packed, 8, "%+d,"); c.mode == decoding {
		*v = int32(n)
	}
}

// Uint passes an unsigned int.
func (c *Codec) Uint(v *uint32) {
	n := int64(*v)
	if c.integer(&n, 4, 4, "%6d,"); c.mode == decoding {
		*v = uint32(n)
	}
}

// Enum passes an enumeration.
func Enum[T ~int32](c *Codec, v *T) {
	n := int32(*v)
	if c.Int(&n); c.mode == decoding {
		*v = T(n)
	}
}

// integer passes an integer of so many bytes packed and native in C++; disp is its format.
func (c *Codec) integer(v *int64, packed, native int, disp string) {
	switch {
	case c.err != nil:
	case c.mode == measuring:
		c.lay(native, native)
	case c.encoding == Disp && c.mode == encoding:
		c.buf = fmt.Appendf(c.buf, disp, *v)
	case c.encoding == Disp:
		c.number(v)
	default:
		if c.encoding == XDR {
			packed = 4
		}
		c.fixed(v, packed)
	}
}

// number decodes an integer of Disp: blanks, a sign, digits.
func (c *Codec) number(v *int64) {
	text := bytes.TrimLeft(c.token(), " ")
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n < math.MinInt32 || n > math.MaxUint32 {
		c.Fail(fmt.Errorf("integer %.20q: %w", text, ErrFormat))
	}
	*v = n
}

// fixed passes an integer of n bytes.
func (c *Codec) fixed(v *int64, n int) {
	var b [8]byte
	unused := 64 - 8*n // bits
	if c.mode == encoding {
		if c.little {
			binary.LittleEndian.PutUint64(b[:], uint64(*v))
		} else {
			binary.BigEndian.PutUint64(b[:], uint64(*v)<<unused)
		}
		c.buf = append(c.buf, b[:n]...)
	} else if in := c.take(n); in != nil {
		copy(b[:], in)
		if c.little {
			*v = int64(binary.LittleEndian.Uint64(b[:])<<unused) >> unused
		} else {
			*v = int64(binary.BigEndian.Uint64(b[:])) >> unused
		}
	}
}

// zeros are padding.
var zeros [8]byte

// Float passes floats; their unit is that of the fields.
func (c *Codec) Float(fields ...*float32) {
	for _, v := range fields {
		c.float(v)
	}
}

func (c *Codec) float(v *float32) {
	switch {
	case c.err != nil:
	case c.mode == measuring:
		c.lay(4, 4)
	case c.encoding == Disp:
		wide := float64(*v)
		if c.decimal(&wide); c.mode == decoding {
			*v = float32(wide)
		}
	default:
		bits := int64(math.Float32bits(*v))
		if c.fixed(&bits, 4); c.mode == decoding {
			*v = math.Float32frombits(uint32(bits))
		}
	}
}

// Double passes doubles.
func (c *Codec) Double(fields ...*float64) {
	for _, v := range fields {
		c.double(v)
	}
}

func (c *Codec) double(v *float64) {
	switch {
	case c.err != nil:
	case c.mode == measuring:
		c.lay(8, 8)
	case c.encoding == Disp:
		c.decimal(v)
	default:
		bits := int64(math.Float64bits(*v))
		if c.fixed(&bits, 8); c.mode == decoding {
			*v = math.Float64frombits(uint64(bits))
		}
	}
}

// decimal passes a number of Disp.
func (c *Codec) decimal(v *float64) {
	if c.mode == encoding {
		c.buf = append(strconv.AppendFloat(c.buf, *v, 'f', 6, 64), ',')
		return
	}
	text := bytes.TrimLeft(c.token(), " ")
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		c.Fail(fmt.Errorf("number %.20q: %w", text, ErrFormat))
	}
	*v = f
}

// Doubles passes an array of variable length, at most limit doubles.
func (c *Codec) Doubles(v *[]float64, limit int) {
	Array(c, v, limit, func(v *float64, c *Codec) { c.double(v) })
}

// Ints passes an array of variable length, at most limit ints.
func (c *Codec) Ints(v *[]int32, limit int) {
	Array(c, v, limit, func(v *int32, c *Codec) { c.Int(v) })
}

// Chars passes a char[n], n at least 1, as the text before its NUL. Text of n bytes or more is cut.
func (c *Codec) Chars(v *string, n int) {
	if c.mode == measuring {
		c.lay(n, 1)
		return
	}
	c.characters(v, n)
}

// Text passes a char array of variable length, at most limit with its NUL, as the text before the NUL. Longer text is
// cut. An empty text has length 0.
func (c *Codec) Text(v *string, limit int) {
	n := int32(0)
	if *v != "" {
		n = int32(min(len(*v)+1, limit))
	}
	if c.text(&n, limit) {
		c.characters(v, int(n))
	}
}

// Bytes passes a char array of variable length, at most limit, NULs included. Disp sends it up to the first NUL.
func (c *Codec) Bytes(v *[]byte, limit int) {
	n := int32(len(*v))
	if !c.text(&n, limit) {
		return
	}
	if c.encoding == Disp {
		text := string(*v)
		c.dispText(&text, int(n)+1)
		if c.mode == decoding {
			*v = append(make([]byte, 0, n), text[:min(len(text), int(n))]...)
			*v = (*v)[:n]
		}
		return
	}
	c.raw(v, int(n))
}

// raw passes n bytes as they are.
func (c *Codec) raw(v *[]byte, n int) {
	padding := 0
	if c.encoding == XDR {
		count := int32(n)
		if c.Int(&count); c.err == nil && int(count) != n {
			c.Fail(fmt.Errorf("characters: got %d, want %d: %w", count, n, ErrCount))
		}
		padding = -n & 3
	}
	if c.err != nil {
		return
	}
	if c.mode == encoding {
		c.buf = append(append(c.buf, *v...), zeros[:padding]...)
	} else if b := c.take(n + padding); b != nil {
		*v = append((*v)[:0], b[:n]...)
	}
}

// text passes the length of a text, and reports whether its characters follow. Disp sends fewer than the length
// announces.
func (c *Codec) text(n *int32, limit int) bool {
	c.Int(n)
	if c.mode == measuring {
		c.lay(limit, 1)
		return false
	}
	if c.encoding == Disp && c.err == nil && *n >= 0 && int(*n) <= limit {
		return true
	}
	return c.length(*n, limit)
}

// characters passes n characters with a NUL among them; n is within the declaration.
func (c *Codec) characters(v *string, n int) {
	if c.err != nil {
		return
	}
	if c.encoding == Disp {
		c.dispText(v, n)
		return
	}
	var fixed []byte
	if c.mode == encoding {
		fixed = make([]byte, n)
		copy(fixed, cut(*v, n))
	}
	if c.raw(&fixed, n); c.mode == decoding {
		*v = string(beforeNUL(fixed))
	}
}

// cut is text up to its NUL and short enough for a NUL within n bytes.
func cut(text string, n int) string {
	for i := range len(text) {
		if text[i] == 0 || i == n-1 {
			return text[:i]
		}
	}
	return text[:min(len(text), max(0, n-1))]
}

func beforeNUL(b []byte) []byte {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return b[:i]
	}
	return b
}

// dispText passes a text of Disp: its characters, escaped, and a comma.
func (c *Codec) dispText(v *string, n int) {
	if c.mode == encoding {
		for _, b := range []byte(cut(*v, n)) {
			c.buf = appendDisp(c.buf, b)
		}
		c.buf = append(c.buf, ',')
		return
	}
	var out []byte
	for text := c.token(); len(text) > 0 && len(out) < n; {
		b, used := c.character(text)
		out, text = append(out, b), text[used:]
	}
	*v = string(beforeNUL(out))
}

// token is the text before the next comma; the last one may end with the message or its NUL.
func (c *Codec) token() []byte {
	if c.err != nil {
		return nil
	}
	if c.at >= len(c.buf) || c.buf[c.at] == 0 {
		c.Fail(ErrTruncated)
		return nil
	}
	rest := c.buf[c.at:]
	end := bytes.IndexAny(rest, ",\x00")
	if end < 0 {
		end = len(rest)
	}
	c.at += end
	if c.at < len(c.buf) && c.buf[c.at] == ',' {
		c.at++
	}
	return rest[:end]
}

// appendDisp appends one escaped character. Control characters, blanks and bytes above 126 are three decimal digits;
// rcslib writes the latter as a negative number and cuts its last digit, but reads both forms.
func appendDisp(dst []byte, b byte) []byte {
	switch {
	case b == ',':
		return append(dst, `\c`...)
	case b == '\\':
		return append(dst, `\\`...)
	case b == '\n':
		return append(dst, `\n`...)
	case b > ' ' && b < 0x7f:
		return append(dst, b)
	}
	return fmt.Appendf(dst, `\%03d`, b)
}

// character decodes one character and returns how many bytes it took.
func (c *Codec) character(text []byte) (b byte, used int) {
	if text[0] != '\\' {
		return text[0], 1
	}
	if len(text) > 1 {
		switch text[1] {
		case 'c':
			return ',', 2
		case '\\':
			return '\\', 2
		case 'n':
			return '\n', 2
		}
	}
	n, err := strconv.ParseInt(string(text[1:min(4, len(text))]), 10, 16)
	if err != nil {
		c.Fail(fmt.Errorf("character %.8q: %w", text, ErrFormat))
	}
	return byte(n), min(4, len(text))
}
