package motion

import (
	"bufio"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// A motion is text, a sample a line: milliseconds since the start, then n angles, then n torque limits, all normalised
// as the original simulator recorded them (angle -1..1 over the motor's range, torque 0..1, negative = none given),
// separated by commas. Lines that begin with # are remarks.
type Motion struct {
	Joints  int
	Samples []Sample
}

type Sample struct {
	At     time.Duration
	Angle  []float64 // -1..1
	Torque []float64 // 0..1, or negative: none given
}

// The bounds of a motion: an hour at 1 kHz, and as many joints as fit into an ODCP datagram.
const (
	maxSamples = 3_600_000
	maxJoints  = 120
)

//go:embed motions
var motions embed.FS

// EmbeddedMotion reports whether there is a motion of that name for a robot of so many joints.
func EmbeddedMotion(name string, joints int) bool {
	_, err := fs.Stat(motions, fmt.Sprintf("motions/%s-%d.txt", name, joints))
	return err == nil
}

// OpenMotion opens the file at path, or the embedded motion of that name for a robot of so many joints.
func OpenMotion(name string, joints int) (*Motion, error) {
	f, err := motions.Open(fmt.Sprintf("motions/%s-%d.txt", name, joints))
	if errors.Is(err, fs.ErrNotExist) {
		f, err = os.Open(name)
	}
	if err != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "motion " + name,
			Try: "halyard play --help, which describes the file format",
			Err: fmt.Errorf("no such file, and no embedded motion of that name for %d joints", joints)}
	}
	defer f.Close()
	m, err := ReadMotion(f)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "motion " + name, Err: err}
	}
	return m, nil
}

// KnownMotion returns an error if name is neither a file nor an embedded motion, for any number of joints.
func KnownMotion(name string) error {
	if embedded, _ := fs.Glob(motions, fmt.Sprintf("motions/%s-*.txt", name)); len(embedded) > 0 {
		return nil
	}
	switch info, err := os.Stat(name); {
	case err != nil:
		return &hal.Error{Kind: hal.Invalid, Op: "motion " + name, Try: "halyard play wave",
			Err: errors.New("no such file, and no embedded motion of that name")}
	case info.IsDir():
		return &hal.Error{Kind: hal.Invalid, Op: "motion " + name, Try: "halyard play wave",
			Err: errors.New("got a folder, want a file")}
	}
	return nil
}

// ReadMotion reads every sample; an error has its line.
func ReadMotion(r io.Reader) (*Motion, error) {
	m := &Motion{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<10)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		s, err := m.sample(text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if len(m.Samples) == maxSamples {
			return nil, fmt.Errorf("line %d: more than %d samples", n, maxSamples)
		}
		m.Samples = append(m.Samples, s)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(m.Samples) == 0 {
		return nil, errors.New("no samples, want at least one")
	}
	return m, nil
}

func (m *Motion) sample(text string) (Sample, error) {
	fields := strings.Split(text, ",")
	n := (len(fields) - 1) / 2
	switch {
	case len(fields) != 1+2*n || n < 1 || n > maxJoints:
		return Sample{}, fmt.Errorf("fields: got %d, want a time, n angles and n torques, n in 1..%d", len(fields),
			maxJoints)
	case m.Joints == 0:
		m.Joints = n
	case m.Joints != n:
		return Sample{}, fmt.Errorf("joints: got %d, want %d as in the first sample", n, m.Joints)
	}
	values := make([]float64, len(fields))
	for i, f := range fields {
		v, err := strconv.ParseFloat(strings.TrimSpace(f), 64)
		if err != nil || math.IsNaN(v) || math.Abs(v) > 1e9 {
			return Sample{}, fmt.Errorf("field %d: got %q, want a number", i+1, f)
		}
		values[i] = v
	}
	s := Sample{At: time.Duration(values[0] * float64(time.Millisecond)), Angle: values[1 : 1+n], Torque: values[1+n:]}
	if k := len(m.Samples); values[0] < 0 || k > 0 && s.At <= m.Samples[k-1].At {
		return Sample{}, fmt.Errorf("time: got %s ms, want more than the line before", fields[0])
	}
	return s, nil
}
