package batch

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// Type is the kind of a frame.
type Type uint8

// The types.
const (
	helloType        Type = 1
	stepType         Type = 2
	resetType        Type = 3
	spacesType       Type = 129
	observationsType Type = 130
	errorType        Type = 255
)

// Bounds of received data.
const (
	maxFrame  = 64 << 20 // bytes
	maxNames  = 4096
	maxString = 1024
	magic     = "HLYB"
	version   = 1
)

// Target selects the rig of a session: copies, or the served rig.
type Target uint8

// The targets.
const (
	Copies Target = iota // copies of the rig, its own
	Itself               // the served rig; one
)

// Hello requests copies.
type Hello struct {
	Target                Target
	Copies                int
	Seed                  int64    // of copy 0; copy i has Seed + i; 0 = the config's
	Actions, Observations []string // by name; none: the usual ones
}

// Column is one column of the arrays.
type Column struct {
	Name, Unit string
	Min, Max   float64
}

// Spaces answers Hello.
type Spaces struct {
	Copies                int
	Period                int64 // ns of a step
	Actions, Observations []Column
}

// Refusal is the data of an ERROR.
type Refusal struct {
	Kind uint8 // hal.Kind
	Text string
}

func (r *Refusal) Error() string { return r.Text }

// appendHello appends the body of a frame, the part after its length; likewise the other functions.
func appendHello(b []byte, h *Hello) []byte {
	b = append(append(b, byte(helloType)), magic...)
	b = binary.LittleEndian.AppendUint16(b, version)
	b = append(b, byte(h.Target))
	b = binary.LittleEndian.AppendUint32(b, uint32(h.Copies))
	b = binary.LittleEndian.AppendUint64(b, uint64(h.Seed))
	return appendNames(appendNames(b, h.Actions), h.Observations)
}

// appendStep appends a STEP; appendObservations the answer.
func appendStep(b []byte, actions []float64) []byte {
	return appendFloats(append(b, byte(stepType)), actions)
}
func appendObservations(b []byte, observations []float64) []byte {
	return appendFloats(append(b, byte(observationsType)), observations)
}

// appendReset appends a RESET of the copies marked in which, all where it is nil.
func appendReset(b []byte, copies int, which []bool, seeds []int64) []byte {
	b = append(b, byte(resetType))
	for i := range copies {
		mark := byte(1)
		if which != nil && !which[i] {
			mark = 0
		}
		b = append(b, mark)
	}
	for i := range copies {
		seed := int64(0)
		if seeds != nil {
			seed = seeds[i]
		}
		b = binary.LittleEndian.AppendUint64(b, uint64(seed))
	}
	return b
}

// appendSpaces appends a SPACES.
func appendSpaces(b []byte, s *Spaces) []byte {
	b = binary.LittleEndian.AppendUint32(append(b, byte(spacesType)), uint32(s.Copies))
	b = binary.LittleEndian.AppendUint64(b, uint64(s.Period))
	for _, list := range [...][]Column{s.Actions, s.Observations} {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(list)))
		for _, c := range list {
			b = appendString(appendString(b, c.Name), c.Unit)
			b = appendFloats(b, []float64{c.Min, c.Max})
		}
	}
	return b
}

// appendRefusal appends an ERROR; a text that is too long is cut.
func appendRefusal(b []byte, r *Refusal) []byte {
	return appendString(append(b, byte(errorType), r.Kind), r.Text[:min(len(r.Text), maxString)])
}

func appendNames(b []byte, names []string) []byte {
	b = binary.LittleEndian.AppendUint16(b, uint16(len(names)))
	for _, n := range names {
		b = appendString(b, n)
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint16(b, uint16(len(s))), s...)
}

func appendFloats(b []byte, values []float64) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

// reader parses a body; it keeps the first fault.
type reader struct {
	b   []byte
	err error
}

func (r *reader) take(n int) []byte {
	if r.err == nil && len(r.b) < n {
		r.err = fmt.Errorf("batch: got a frame that ends %d bytes too early", n-len(r.b))
	}
	if r.err != nil {
		return make([]byte, min(n, 8))
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) u8() uint8   { return r.take(1)[0] }
func (r *reader) u16() int    { return int(binary.LittleEndian.Uint16(r.take(2))) }
func (r *reader) u32() uint32 { return binary.LittleEndian.Uint32(r.take(4)) }
func (r *reader) i64() int64  { return int64(binary.LittleEndian.Uint64(r.take(8))) }
func (r *reader) f64() float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(r.take(8)))
}

func (r *reader) text() string {
	n := r.u16()
	if n > maxString && r.err == nil {
		r.err = fmt.Errorf("batch: got a string of %d bytes, want at most %d", n, maxString)
	}
	if r.err != nil {
		return ""
	}
	return string(r.take(n))
}

func (r *reader) count() int {
	n := r.u16()
	if n > maxNames && r.err == nil {
		r.err = fmt.Errorf("batch: got %d names, want at most %d", n, maxNames)
	}
	if r.err != nil {
		return 0
	}
	return n
}

func (r *reader) names() (list []string) {
	for range r.count() {
		if r.err != nil {
			return nil
		}
		list = append(list, r.text())
	}
	return list
}

// end returns the fault of the body, which must be read completely.
func (r *reader) end() error {
	if r.err == nil && len(r.b) > 0 {
		r.err = fmt.Errorf("batch: got %d bytes too many", len(r.b))
	}
	return r.err
}

// open checks the type of a body. An ERROR is returned as the error that it carries.
func open(body []byte, want Type) (reader, error) {
	r := reader{b: body}
	got := Type(r.u8())
	switch {
	case r.err != nil:
		return r, r.err
	case got == errorType && want != errorType:
		refusal := &Refusal{Kind: r.u8(), Text: r.text()}
		if err := r.end(); err != nil {
			return r, err
		}
		return r, refusal
	case got != want:
		return r, fmt.Errorf("batch: got a frame of type %d, want %d", got, want)
	}
	return r, nil
}

// parseHello reads the body of a HELLO.
func parseHello(body []byte) (*Hello, error) {
	r, err := open(body, helloType)
	if err != nil {
		return nil, err
	}
	if m, v := string(r.take(4)), r.u16(); r.err == nil && (m != magic || v != version) {
		return nil, fmt.Errorf("batch: got %q version %d, want %q version %d", m, v, magic, version)
	}
	h := &Hello{Target: Target(r.u8()), Copies: int(r.u32()), Seed: r.i64()}
	h.Actions, h.Observations = r.names(), r.names()
	if h.Target > Itself && r.err == nil {
		r.err = fmt.Errorf("batch: got target %d, want 0 or 1", h.Target)
	}
	return h, r.end()
}

// parseSpaces reads the body of a SPACES.
func parseSpaces(body []byte) (*Spaces, error) {
	r, err := open(body, spacesType)
	if err != nil {
		return nil, err
	}
	s := &Spaces{Copies: int(r.u32()), Period: r.i64()}
	for _, list := range [...]*[]Column{&s.Actions, &s.Observations} {
		for range r.count() {
			if r.err != nil {
				break
			}
			*list = append(*list, Column{r.text(), r.text(), r.f64(), r.f64()})
		}
	}
	return s, r.end()
}

// parseFloats reads the body of a STEP or of OBSERVATIONS into values; the body must have as many numbers.
func parseFloats(body []byte, want Type, values []float64) error {
	r, err := open(body, want)
	if err != nil {
		return err
	}
	if len(r.b) != 8*len(values) {
		return fmt.Errorf("batch: got %d bytes of numbers, want %d", len(r.b), 8*len(values))
	}
	for i := range values {
		values[i] = math.Float64frombits(binary.LittleEndian.Uint64(r.b[8*i:]))
	}
	return nil
}

// parseReset reads the body of a RESET of len(which) copies into which and seeds.
func parseReset(body []byte, which []bool, seeds []int64) error {
	r, err := open(body, resetType)
	if err != nil {
		return err
	}
	if n := len(which); len(r.b) != 9*n {
		return fmt.Errorf("batch: got %d bytes of a reset, want %d", len(r.b), 9*n)
	}
	for i := range which {
		mark := r.u8()
		if mark > 1 {
			return fmt.Errorf("batch: got the mark %d, want 0 or 1", mark)
		}
		which[i] = mark == 1
	}
	for i := range seeds {
		seeds[i] = r.i64()
	}
	return nil
}

// readFrame reads one body into buf, which grows with the received bytes: a length alone reserves no memory.
func readFrame(in io.Reader, buf []byte, most int) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return buf[:0], err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n < 1 || n > uint32(most) {
		return buf[:0], fmt.Errorf("batch: got a frame of %d bytes, want 1..%d", n, most)
	}
	buf = buf[:0]
	for left := int(n); left > 0; {
		part := min(left, 1<<20)
		if cap(buf)-len(buf) < part {
			buf = append(make([]byte, 0, 2*len(buf)+part), buf...)
		}
		at := len(buf)
		buf = buf[:at+part]
		if _, err := io.ReadFull(in, buf[at:]); err != nil {
			return buf[:0], err
		}
		left -= part
	}
	return buf, nil
}

// beginFrame begins a frame in b; endFrame fills in its length.
func beginFrame(b []byte) []byte { return append(b[:0], 0, 0, 0, 0) }
func endFrame(b []byte) []byte {
	binary.LittleEndian.PutUint32(b, uint32(len(b)-4))
	return b
}
