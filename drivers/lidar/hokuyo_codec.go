package lidar

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/halyard-robotics/halyard/internal/wire/lidarwire"
)

// SCIPBlock is one answer: the command that it answers, the two characters of its status, one of SCIP 1.1, and its
// lines, each with its newline. It is the parser's until Feed or Reset.
type SCIPBlock struct {
	Echo, Status, Lines []byte
}

// scipParser extracts blocks from a stream of bytes. Its result does not depend on the sizes of the pieces fed.
type scipParser struct {
	Garbage uint64 // malformed blocks, and bytes of one without an end
	buf     []byte // buf[at:] is unread
	at      int
	scan    int // up to where buf has been searched
}

// NewSCIPParser returns an empty parser.
func NewSCIPParser() *scipParser { return &scipParser{buf: make([]byte, 0, 2*scipMaxLine)} }

// Reset discards all buffered bytes.
func (p *scipParser) Reset() { p.buf, p.at, p.scan = p.buf[:0], 0, 0 }

// Feed accepts bytes of b and returns their number. It invalidates the last block.
func (p *scipParser) Feed(b []byte) int {
	if p.at > 0 {
		p.scan -= p.at
		p.buf = p.buf[:copy(p.buf, p.buf[p.at:])]
		p.at = 0
	}
	if len(p.buf) > scipMaxLine { // no block is that long
		p.Garbage += uint64(len(p.buf))
		p.Reset()
	}
	n := min(len(b), cap(p.buf)-len(p.buf))
	p.buf = append(p.buf, b[:n]...)
	return n
}

// Next gives the next block that an empty line ends; false until one is complete.
func (p *scipParser) Next(k *SCIPBlock) bool {
	for {
		// Back by one: the first of the two newlines may have been there already.
		from := max(p.at, p.scan-1)
		i := bytes.Index(p.buf[from:], []byte("\n\n"))
		if i < 0 {
			p.scan = len(p.buf)
			return false
		}
		end := from + i + 1
		block := p.buf[p.at:end]
		p.at, p.scan = end+1, end+1
		if k.decode(block) {
			return true
		}
		if len(bytes.TrimSpace(block)) > 0 {
			p.Garbage++
		}
	}
}

// decode finds the command and its status in a block, and skips an echo of the line or noise before them.
func (k *SCIPBlock) decode(block []byte) bool {
	var echo []byte
	for rest := block; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		if !whole {
			return false
		}
		old := len(line) == 1 && len(after) == 0 // of SCIP 1.1, without a sum
		if len(echo) >= 2 && (old || len(line) == 3 && lidarwire.SCIPSum(line[:2]) == line[2]) {
			k.Echo, k.Status, k.Lines = echo, line[:min(2, len(line))], after
			return true
		}
		echo, rest = line, after
	}
	return false
}

// Is reports whether the block answers a command that begins with name.
func (k *SCIPBlock) Is(name string) bool {
	return len(k.Echo) >= len(name) && string(k.Echo[:len(name)]) == name
}

// Field is the value of a line KEY:value;S of the block. The sum leaves out the semicolon; some firmware counts it.
func (k *SCIPBlock) Field(key string) (string, bool) {
	for rest := k.Lines; len(rest) > 0; {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		n := len(line)
		if n < len(key)+3 || string(line[:len(key)]) != key || line[len(key)] != ':' || line[n-2] != ';' {
			continue
		}
		if sum := line[n-1]; sum == lidarwire.SCIPSum(line[:n-2]) || sum == lidarwire.SCIPSum(line[:n-1]) {
			return string(line[len(key)+1 : n-2]), true
		}
	}
	return "", false
}

// Number is the value of a line as a number.
func (k *SCIPBlock) Number(key string) (int, error) {
	text, ok := k.Field(key)
	if !ok {
		return 0, fmt.Errorf("%s: missing", key)
	}
	return strconv.Atoi(text)
}

var errSCIPLine = errors.New("scan: a line's sum or length is wrong")

// Scan decodes the ranges of a data block of model m into dst, in m: size characters a value, and exactly len(dst)
// values. A range beyond the scanner's reach, or beyond the limit of two characters, is +Inf; an error code is NaN. It
// returns the scanner's time of its step 0, ms modulo 2^24, by its own clock, which is not synchronized with ours.
// After an error dst is undefined.
func (k *SCIPBlock) Scan(size int, m *HokuyoModel, dst []float64) (ms int, err error) {
	line, rest, _ := bytes.Cut(k.Lines, []byte("\n"))
	if len(line) != 5 || lidarwire.SCIPSum(line[:4]) != line[4] {
		return 0, errSCIPLine
	}
	ms, ok := lidarwire.DecodeSCIPValue(line[:4])
	if !ok {
		return 0, errSCIPLine
	}
	f := scipFill{dst: dst, size: size, model: m, limit: m.MaxRange}
	if size == 2 {
		f.limit = min(f.limit, scipMaxShort-1) // farther ranges have this value
	}
	for left := size * len(dst); left > 0; {
		n := min(left, lidarwire.ScipLine)
		if len(rest) < n+2 || rest[n+1] != '\n' || lidarwire.SCIPSum(rest[:n]) != rest[n] || !f.line(rest[:n]) {
			return 0, errSCIPLine
		}
		left, rest = left-n, rest[n+2:]
	}
	if len(rest) > 0 {
		return 0, fmt.Errorf("scan: got %d bytes more than of %d values", len(rest), len(dst))
	}
	return ms, nil
}

// scipFill decodes the values of lines into dst, m. Values may continue in the next line: their first characters are
// kept.
type scipFill struct {
	dst      []float64
	model    *HokuyoModel
	size     int
	limit    int // mm, of finite ranges
	v, chars int // of the value that the last line ended in
}

// line takes a line's characters, as many as there is room for; false where one is no character of a value.
func (f *scipFill) line(p []byte) bool {
	for len(p) > 0 {
		// Those of three and two characters as a whole.
		switch {
		case f.chars == 0 && f.size == 3 && len(p) >= 3:
			a, b, c := p[0]-0x30, p[1]-0x30, p[2]-0x30
			if a|b|c > 0x3F {
				return false
			}
			f.put(int(a)<<12 | int(b)<<6 | int(c))
			p = p[3:]
			continue
		case f.chars == 0 && f.size == 2 && len(p) >= 2:
			a, b := p[0]-0x30, p[1]-0x30
			if a|b > 0x3F {
				return false
			}
			f.put(int(a)<<6 | int(b))
			p = p[2:]
			continue
		}
		c := p[0] - 0x30
		if c > 0x3F {
			return false
		}
		f.v, p = f.v<<6|int(c), p[1:]
		if f.chars++; f.chars == f.size {
			f.put(f.v)
			f.v, f.chars = 0, 0
		}
	}
	return true
}

// put is the next value, mm or an error's code.
func (f *scipFill) put(v int) {
	switch f.dst[0] = float64(v) / 1000; {
	case v > f.limit, v == f.model.Void && v > 0:
		f.dst[0] = math.Inf(1)
	case v < f.model.MinRange:
		f.dst[0] = math.NaN()
	}
	f.dst = f.dst[1:]
}
