package simloid

import (
	"math"
	"math/bits"
	"strconv"
)

// maxToken bounds the digits of one number. The longest that C prints of a joint's value has some twenty.
const maxToken = 64

// cut returns the first word of b and the rest. All bytes that are not printable count as blanks.
func cut(b []byte) (token, rest []byte) {
	start := 0
	for start < len(b) && blank(b[start]) {
		start++
	}
	end := start
	for end < len(b) && !blank(b[end]) {
		end++
	}
	return b[start:end], b[end:]
}

func blank(c byte) bool { return c <= ' ' }

// number is the finite number that token spells.
func number(token []byte) (float64, bool) {
	if v, ok := decimal(token); ok {
		return v, true
	}
	if len(token) == 0 || len(token) > maxToken {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(token), 64)
	return v, err == nil && !math.IsInf(v, 0) && !math.IsNaN(v)
}

// decimal is number for the usual form: digits with a point, few enough that the digits and the power of ten are both
// exact, so that their quotient is rounded once, as in ParseFloat.
func decimal(token []byte) (float64, bool) {
	powers := [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}
	digits := token
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) < 2 || len(digits) >= len(powers) || digits[0] == '.' {
		return 0, false
	}
	var units uint64
	point := len(digits) - 1
	for i, c := range digits {
		switch {
		case c >= '0' && c <= '9':
			units = 10*units + uint64(c-'0')
		case c == '.' && point == len(digits)-1:
			point = i
		default:
			return 0, false
		}
	}
	if digits[point] != '.' { // none, or a bare number
		return 0, false
	}
	v := float64(units) / powers[len(digits)-1-point]
	if len(digits) < len(token) {
		v = -v
	}
	return v, true
}

// maxIndex bounds the indexes and counts of a line; the session checks them against the robot.
const maxIndex = 1 << 20

// index is the number of at most maxIndex that token spells in digits.
func index(token []byte) (int, bool) {
	n := 0
	for _, c := range token {
		if c < '0' || c > '9' || n > maxIndex {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, len(token) > 0 && n <= maxIndex
}

// unknownNumber is C's %lf of NaN, which its scanf reads as one.
const unknownNumber = "nan"

// appendFixed appends v in the form of C's %lf: six decimals, the exact value rounded half to even. strconv needs three
// times as long, and a status has up to two hundred numbers.
func appendFixed(dst []byte, v float64) []byte {
	const millions, fraction = 1_000_000, 52
	word := math.Float64bits(v)
	exponent := int(word>>fraction&0x7ff) - 1075 // v = mantissa·2^exponent
	mantissa := word&(1<<fraction-1) | 1<<fraction
	if exponent == -1075 {
		exponent, mantissa = -1074, mantissa&(1<<fraction-1)
	}
	if v != v {
		return append(dst, unknownNumber...)
	}
	if exponent > -9 || exponent < -115 { // units would not fit 64 bits, or all digits are 0
		return strconv.AppendFloat(dst, v, 'f', 6, 64)
	}

	// v·10^6 = hi:lo·2^exponent; the bits dropped by the shift decide the rounding
	const half = 1 << 63
	hi, lo := bits.Mul64(mantissa, millions)
	var units, dropped uint64
	switch shift := uint(-exponent); {
	case shift < 64:
		units, dropped = hi<<(64-shift)|lo>>shift, lo<<(64-shift)
	case shift == 64:
		units, dropped = hi, lo
	default:
		units, dropped = hi>>(shift-64), hi<<(128-shift)
		if lo != 0 {
			dropped |= 1 // somewhere below the highest bit
		}
	}
	if dropped > half || dropped == half && units&1 == 1 {
		units++
	}

	if word>>63 != 0 {
		dst = append(dst, '-')
	}
	whole := units / millions
	if rest := uint32(units % millions); whole < 10 {
		return append(dst, '0'+byte(whole), '.', '0'+byte(rest/100_000), '0'+byte(rest/10_000%10),
			'0'+byte(rest/1000%10), '0'+byte(rest/100%10), '0'+byte(rest/10%10), '0'+byte(rest%10))
	}
	dst = strconv.AppendUint(dst, whole, 10)
	at := len(dst)
	dst = strconv.AppendUint(dst, millions+units%millions, 10) // 1ffffff
	dst[at] = '.'
	return dst
}
