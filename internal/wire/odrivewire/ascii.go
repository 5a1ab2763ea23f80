package odrivewire

import (
	"bytes"
	"math"
	"strconv"
)

// MaxLine is the maximum length of a line of the ASCII protocol, with its end; a longer one is discarded.
const MaxLine = 256

// AppendLine appends text as a line with its checksum. It must be printable and hold no asterisk.
func AppendLine(dst []byte, text string) []byte { return seal(append(dst, text...), len(dst)) }

// AppendAnswer is AppendLine for a controller, whose lines end with CR LF, and have a checksum if the command had one.
func AppendAnswer(dst, text []byte, sealed bool) []byte {
	at := len(dst)
	if dst = append(dst, text...); sealed {
		dst = seal(dst, at)
		dst = dst[:len(dst)-1]
	}
	return append(dst, '\r', '\n')
}

// seal ends the line that begins at start.
func seal(dst []byte, start int) []byte {
	sum := checksum(dst[start:])
	return append(strconv.AppendUint(append(dst, '*'), uint64(sum), 10), '\n')
}

func checksum(p []byte) (sum byte) {
	for _, b := range p {
		sum ^= b
	}
	return sum
}

// appendNumber appends v as the protocol reads it: six places, which is finer than an encoder.
func appendNumber(dst []byte, v float64) []byte {
	if v == 0 {
		return append(dst, " 0"...)
	}
	return strconv.AppendFloat(append(dst, ' '), v, 'f', 6, 64)
}

// AppendSet appends a goal command with its numbers: 'p', 'v' or 'c'.
func AppendSet(dst []byte, command byte, axis int, values ...float64) []byte {
	start := len(dst)
	dst = strconv.AppendInt(append(dst, command, ' '), int64(axis), 10)
	for _, v := range values {
		dst = appendNumber(dst, v)
	}
	return seal(dst, start)
}

// AppendRead appends the question for a property.
func AppendRead(dst []byte, p Property, d Dialect, axis int) []byte {
	start := len(dst)
	return seal(p.Append(append(dst, 'r', ' '), d, axis), start)
}

// AppendWrite appends the writing of a property.
func AppendWrite(dst []byte, p Property, d Dialect, axis int, v float64) []byte {
	start := len(dst)
	dst = append(p.Append(append(dst, 'w', ' '), d, axis), ' ')
	return seal(strconv.AppendFloat(dst, v, 'f', -1, 64), start)
}

// Lines extracts lines of either side from a stream of bytes. A line with a wrong or missing checksum is dropped whole:
// a search inside it could find numbers without their first digits. It never grows.
type Lines struct {
	// Bare lets lines without a checksum pass, as a controller does; Sealed reports whether the last line had one.
	Bare   bool
	Sealed bool
	// Endless lets a line end with its checksum: firmware 0.5.2 sends no end of line behind one.
	Endless bool

	BadChecksum uint64 // lines dropped
	Garbage     uint64 // bytes of lines too long, or not printable

	buf     [MaxLine]byte
	n       int
	lost    bool // until the next end of line
	Current []byte
	text    [MaxLine]byte
}

// Reset discards all buffered bytes; the counters stay.
func (l *Lines) Reset() { l.n, l.lost = 0, false }

// Feed takes the bytes of p up to the end of a line, and returns how many. Line then is the line, sound and without its
// checksum, or nil.
func (l *Lines) Feed(p []byte) int {
	l.Current = nil
	for i, b := range p {
		switch {
		case b == '\n' || b == '\r':
			if l.n > 0 && !l.lost {
				l.finish()
			}
			if l.Reset(); l.Current != nil {
				return i + 1
			}
		case l.lost:
			l.Garbage++
		case b < ' ' || b > '~' || l.n == len(l.buf):
			l.lost = true
			l.Garbage += uint64(l.n) + 1
		default:
			l.buf[l.n] = b
			if l.n++; l.Endless && l.Whole() {
				return i + 1
			}
		}
	}
	return len(p)
}

// Whole takes the bytes since the last line as a line where they end with their checksum, and reports whether they do.
func (l *Lines) Whole() bool {
	whole := l.buf[:l.n]
	star := bytes.LastIndexByte(whole, '*')
	if l.lost || star < 0 || !sumIs(whole[star+1:], checksum(whole[:star])) {
		return false
	}
	l.Sealed, l.Current = true, l.text[:copy(l.text[:], whole[:star])]
	l.Reset()
	return true
}

// Line is the line that the last Feed ended with, until the next.
func (l *Lines) Line() []byte { return l.Current }

// finish checks the line that has ended.
func (l *Lines) finish() {
	whole := l.buf[:l.n]
	star := bytes.LastIndexByte(whole, '*')
	if l.Sealed = star >= 0; l.Bare && !l.Sealed {
		l.Current = l.text[:copy(l.text[:], whole)]
		return
	}
	if star < 0 || !sumIs(whole[star+1:], checksum(whole[:star])) {
		l.BadChecksum++
		return
	}
	l.Current = l.text[:copy(l.text[:], whole[:star])]
}

// sumIs reports whether digits are sum in decimal.
func sumIs(digits []byte, sum byte) bool {
	if len(digits) == 0 || len(digits) > 3 {
		return false
	}
	n := 0
	for _, c := range digits {
		if c < '0' || c > '9' {
			return false
		}
		n = 10*n + int(c-'0')
	}
	return n == int(sum)
}

// Numbers reads the numbers of a reply into dst; false if their count differs from len(dst), or one is malformed.
func Numbers(line []byte, dst []float64) bool {
	for i := range dst {
		word := line
		end := bytes.IndexByte(line, ' ')
		if last := i == len(dst)-1; last != (end < 0) {
			return false
		}
		if end >= 0 {
			word, line = line[:end], line[end+1:]
		}
		v, ok := number(word)
		if !ok {
			return false
		}
		dst[i] = v
	}
	return true
}

// number parses a decimal number of a sign, digits and a point, as the firmware prints it, or "inf" or "nan". It does
// not allocate.
func number(p []byte) (v float64, ok bool) {
	negative := len(p) > 0 && p[0] == '-'
	if negative {
		p = p[1:]
	}
	switch {
	case string(p) == "nan":
		return math.NaN(), true
	case string(p) == "inf" && negative:
		return math.Inf(-1), true
	case string(p) == "inf":
		return math.Inf(1), true
	}
	if len(p) == 0 || len(p) > 18 {
		return 0, false
	}
	var whole int64
	scale, point := int64(1), false
	for _, c := range p {
		switch {
		case c == '.' && !point:
			point = true
		case c < '0' || c > '9':
			return 0, false
		default:
			whole = 10*whole + int64(c-'0')
			if ok = true; point {
				scale *= 10
			}
		}
	}
	if v = float64(whole) / float64(scale); negative {
		v = -v
	}
	return v, ok
}
