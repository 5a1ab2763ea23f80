package simloid

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// Dialect is a generation of the protocol.
type Dialect uint8

// The dialects.
const (
	Document Dialect = iota // as in its document: Simloid 0.1.0 of 2016
	Later                   // of 2018 to 2020: body names, motor currents, interlaced, more commands
)

func (d Dialect) String() string { return [...]string{"document", "later"}[min(d, Later)] }

// Bounds of decoded and served frames. The original's client has the same for joints and accelerometers, and reads
// frames below 8192 bytes.
const (
	MaxJoints = 64
	MaxAccels = 50
	MaxBodies = MaxJoints + 1
	maxFrame  = 8191
)

// The errors of decoding.
var (
	// ErrTruncated reports that the bytes end before the frame does: more may follow.
	ErrTruncated = errors.New("simloid: truncated")
	// ErrUnknown reports that no command starts like this.
	ErrUnknown = errors.New("simloid: unknown command")
	// ErrFormat reports malformed numbers.
	ErrFormat = errors.New("simloid: bad format")
)

// Traits describe a robot.
type Traits struct {
	Bodies, Accels int
	Joints         []Joint
	Names          []string // of the bodies; only in the later dialect
}

// Joint is one line of the traits. Low, High and Default are in shares of π.
type Joint struct {
	Name      string // without blanks; not always in one joint only
	Mirrored  bool   // type 1: it is the image of its partner
	Partner   int    // the joint of the other side, itself if absent
	Low, High float64
	Default   float64
}

// Free reports whether j has no stops.
func (j *Joint) Free() bool { return j.Low <= -1 && j.High >= 1 }

// AppendTraits appends the bytes of t.
func AppendTraits(dst []byte, t *Traits, d Dialect) []byte {
	dst = appendInts(dst, t.Bodies, len(t.Joints), t.Accels)
	dst = append(dst, '\n')
	for i := range t.Joints {
		j := &t.Joints[i]
		kind := 0
		if j.Mirrored {
			kind = 1
		}
		dst = appendInts(dst, i, kind, j.Partner)
		for _, v := range []float64{j.Low, j.High, j.Default} {
			dst = strconv.AppendFloat(append(dst, ' '), v, 'e', 6, 64)
		}
		dst = append(append(append(dst, ' '), j.Name...), '\n')
	}
	if d == Later {
		for i, name := range t.Names {
			dst = append(strconv.AppendInt(dst, int64(i), 10), ' ')
			dst = append(append(dst, name...), '\n')
		}
	}
	return dst
}

func appendInts(dst []byte, first int, more ...int) []byte {
	dst = strconv.AppendInt(dst, int64(first), 10)
	for _, v := range more {
		dst = strconv.AppendInt(append(dst, ' '), int64(v), 10)
	}
	return dst
}

// decodeTraits reads traits from the start of b and returns their length, bytes; ErrTruncated means that more are
// needed.
func decodeTraits(b []byte, t *Traits, d Dialect) (int, error) {
	r := lines{rest: b}
	*t = Traits{Joints: t.Joints[:0], Names: t.Names[:0]}
	joints := 0
	if err := r.next(); err != nil {
		return 0, err
	}
	t.Bodies, joints, t.Accels = r.int(MaxBodies), r.int(MaxJoints), r.int(MaxAccels)
	for i := 0; i < joints && r.err == nil; i++ {
		if err := r.next(); err != nil {
			return 0, err
		}
		if r.int(MaxJoints) != i {
			r.fail()
		}
		j := Joint{Mirrored: r.int(1) == 1, Partner: r.int(joints - 1)}
		j.Low, j.High, j.Default, j.Name = r.number(), r.number(), r.number(), r.word()
		t.Joints = append(t.Joints, j)
	}
	for i := 0; d == Later && i < t.Bodies && r.err == nil; i++ {
		if err := r.next(); err != nil {
			return 0, err
		}
		if r.int(MaxBodies) != i {
			r.fail()
		}
		t.Names = append(t.Names, r.word())
	}
	return len(b) - len(r.rest), r.err
}

// lines reads words of one line after the other. Its first fault stays.
type lines struct {
	rest, line []byte
	err        error
}

// next goes to the next line, whole or not at all.
func (r *lines) next() error {
	for i, c := range r.rest {
		if c == '\n' {
			r.line, r.rest = r.rest[:i], r.rest[i+1:]
			return r.err
		}
	}
	return ErrTruncated
}

func (r *lines) fail() { r.err = ErrFormat }

func (r *lines) token() []byte {
	token, rest := cut(r.line)
	r.line = rest
	return token
}

func (r *lines) word() string {
	token := r.token()
	if len(token) == 0 {
		r.fail()
	}
	return string(token)
}

func (r *lines) int(most int) int {
	n, ok := index(r.token())
	if !ok || n > most {
		r.fail()
		return 0
	}
	return n
}

func (r *lines) number() float64 {
	v, ok := number(r.token())
	if !ok {
		r.fail()
	}
	return v
}

// Status is one cycle's measurements, in the units of the wire; NaN is not known.
type Status struct {
	Time               float64 // s
	Position, Velocity []float64
	Current            []float64 // A, one a joint; only in the later dialect
	Accel              [][3]float64
	Bodies             []BodyState
}

// BodyState is where a body is, m, and how fast it moves, m/s, in the world.
type BodyState struct{ Position, Velocity [3]float64 }

// newStatus returns a status with room for all that a robot of traits t sends.
func newStatus(t *Traits, d Dialect) *Status {
	n := len(t.Joints)
	s := &Status{Position: make([]float64, n), Velocity: make([]float64, n),
		Accel: make([][3]float64, t.Accels), Bodies: make([]BodyState, t.Bodies)}
	if d == Later {
		s.Current = make([]float64, n)
	}
	return s
}

// AppendStatus appends the bytes of s. It ends with a newline in the document's dialect, and with a blank, as in the
// original, in the later one, whose statuses have currents.
func AppendStatus(dst []byte, s *Status) []byte {
	dst = appendFixed(dst, s.Time)
	for _, list := range [...][]float64{s.Position, s.Velocity, s.Current} {
		for _, v := range list {
			dst = appendFixed(append(dst, ' '), v)
		}
	}
	for i := range s.Accel {
		dst = appendVector(dst, &s.Accel[i])
	}
	for i := range s.Bodies {
		dst = appendVector(dst, &s.Bodies[i].Position)
		dst = appendVector(dst, &s.Bodies[i].Velocity)
	}
	if s.Current != nil {
		return append(dst, ' ')
	}
	return append(dst, '\n')
}

func appendVector(dst []byte, v *[3]float64) []byte {
	for _, x := range v {
		dst = appendFixed(append(dst, ' '), x)
	}
	return dst
}

// decodeStatus reads a status of s's size from the start of b and returns its length, bytes; ErrTruncated means that
// more are needed. It ends with the one byte after its last number: a newline or, as in the original, a blank.
func decodeStatus(b []byte, s *Status) (int, error) {
	r := numbers{b: b}
	for r.at < len(b) && blank(b[r.at]) {
		r.at++ // the end of the previous frame
	}
	r.one(&s.Time)
	for _, list := range [...][]float64{s.Position, s.Velocity, s.Current} {
		for i := range list {
			r.one(&list[i])
		}
	}
	for i := range s.Accel {
		r.three(&s.Accel[i])
	}
	for i := range s.Bodies {
		r.three(&s.Bodies[i].Position)
		r.three(&s.Bodies[i].Velocity)
	}
	return r.at, r.err
}

// numbers reads numbers, each with one byte behind it; a newline may be behind the last one only.
type numbers struct {
	b     []byte
	at    int
	ended bool // a newline has been read
	err   error
}

func (r *numbers) one(v *float64) {
	if r.err != nil {
		return
	}
	end := r.at
	for end < len(r.b) && !blank(r.b[end]) {
		end++
	}
	n, ok := number(r.b[r.at:end])
	if string(r.b[r.at:end]) == unknownNumber {
		n, ok = math.NaN(), true
	}
	switch {
	case r.ended, end-r.at > maxToken, end < len(r.b) && !ok:
		r.err = fmt.Errorf("number at byte %d: %w", r.at, ErrFormat)
	case end == len(r.b):
		r.err = ErrTruncated
	default:
		*v, r.at, r.ended = n, end+1, r.b[end] == '\n'
	}
}

func (r *numbers) three(v *[3]float64) {
	for i := range v {
		r.one(&v[i])
	}
}
