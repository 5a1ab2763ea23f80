package manual

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
)

// Motion is positions of joints over time, as a hand has shown them.
type Motion struct {
	Joints  []string `json:"joints"` // JOINT or AGENT/JOINT
	Samples []Sample `json:"samples"`
}

// Sample is the positions at a time, s: rad or m, one a joint.
type Sample struct {
	Time      float64   `json:"t_s"`
	Positions []float64 `json:"positions"`
}

// Bounds of a motion.
const (
	maxSamples = 100_000
	maxJoints  = 128

	hingeSlip = 0.2 // rad beyond a soft limit that is played as the limit
	slideSlip = 0.02
)

// Record is the motion that Watch and Guide report: Add takes each update.
type Record struct{ Motion }

// Add appends the positions of u; an unknown position keeps its last value.
func (r *Record) Add(u Update) error {
	if r.Joints == nil {
		several := slices.ContainsFunc(u.Joints, func(j Joint) bool { return j.Agent != u.Joints[0].Agent })
		for _, j := range u.Joints {
			name := j.Joint
			if several {
				name = j.Agent + "/" + name
			}
			r.Joints = append(r.Joints, name)
		}
	}
	if len(r.Samples) == maxSamples {
		return errors.New("the motion is too long: end it")
	}
	s := Sample{Time: u.Time}
	for i, j := range u.Joints {
		v := float64(j.Position)
		if n := len(r.Samples); math.IsNaN(v) && n > 0 {
			v = r.Samples[n-1].Positions[i]
		}
		s.Positions = append(s.Positions, v)
	}
	if slices.ContainsFunc(s.Positions, math.IsNaN) {
		return nil // not known yet
	}
	if n := len(r.Samples); n > 0 && s.Time <= r.Samples[n-1].Time {
		return nil
	}
	r.Samples = append(r.Samples, s)
	return nil
}

// Trim drops what is before the first movement and behind the last, but for a moment.
func (m *Motion) Trim() {
	const still, moment = 0.01, 0.2
	first, last := 0, len(m.Samples)-1
	same := func(i, k int) bool {
		for n, v := range m.Samples[i].Positions {
			if math.Abs(v-m.Samples[k].Positions[n]) > still {
				return false
			}
		}
		return true
	}
	for first < last && same(first+1, 0) {
		first++
	}
	for end := len(m.Samples) - 1; last > first && same(last-1, end); {
		last--
	}
	if first >= last {
		return
	}
	from, to := m.Samples[first].Time-moment, m.Samples[last].Time+moment
	m.Samples = slices.DeleteFunc(m.Samples, func(s Sample) bool { return s.Time < from || s.Time > to })
}

// Moving are the joints that move by more than a little.
func (m *Motion) Moving() (names []string) {
	const little = 0.02 // rad or m
	for i, name := range m.Joints {
		low, high := math.Inf(1), math.Inf(-1)
		for _, s := range m.Samples {
			low, high = min(low, s.Positions[i]), max(high, s.Positions[i])
		}
		if high-low > little {
			names = append(names, name)
		}
	}
	return names
}

// at is the positions at a time within the motion.
func (m *Motion) at(t float64) []float64 {
	k, _ := slices.BinarySearchFunc(m.Samples, t, func(s Sample, t float64) int {
		if s.Time < t {
			return -1
		}
		return 1
	})
	if k == 0 {
		return m.Samples[0].Positions
	}
	if k == len(m.Samples) {
		return m.Samples[k-1].Positions
	}
	a, b := m.Samples[k-1], m.Samples[k]
	share := (t - a.Time) / (b.Time - a.Time)
	out := make([]float64, len(a.Positions))
	for i := range out {
		out[i] = a.Positions[i] + share*(b.Positions[i]-a.Positions[i])
	}
	return out
}

func (m *Motion) validate() error {
	switch {
	case m == nil || len(m.Samples) < 2 || len(m.Joints) == 0:
		return errors.New("got fewer than two samples")
	case len(m.Samples) > maxSamples || len(m.Joints) > maxJoints:
		return fmt.Errorf("got %d samples of %d joints, want at most %d of %d", len(m.Samples), len(m.Joints),
			maxSamples, maxJoints)
	}
	for i, s := range m.Samples {
		if len(s.Positions) != len(m.Joints) || i > 0 && !(s.Time > m.Samples[i-1].Time) ||
			!(math.Abs(s.Time) < 1e6) || slices.ContainsFunc(s.Positions,
			func(v float64) bool { return !(math.Abs(v) < 1e3) }) {
			return fmt.Errorf("sample %d: want rising times, and a position of each of %d joints", i+1, len(m.Joints))
		}
	}
	return nil
}

// start checks m against rig, and returns its joints with its first positions as goals.
func (m *Motion) start(rig *hal.Rig) ([]*axis, error) {
	if err := m.validate(); err != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "play motion", Err: err}
	}
	list, err := axes(rig, m.Joints)
	if err != nil {
		return nil, err
	}
	for i, x := range list {
		if err := x.blocked(); err != nil {
			return nil, err
		}
		for _, s := range m.Samples { // a hand may have gone a little too far
			v := &s.Positions[i]
			if inside := x.clamp(*v); math.Abs(*v-inside) <= x.of(hingeSlip, slideSlip) {
				*v = inside
			}
			if err := x.within(*v, report.SI); err != nil {
				return nil, err
			}
		}
		x.from, x.to = x.start(), m.Samples[0].Positions[i]
		if x.act.Wraps {
			x.from = x.to + x.off(x.from, x.to)
		}
	}
	return list, nil
}

// playPace is Pace, checked.
func (q *Request) playPace() (float64, error) {
	if q.Pace == 0 {
		return 1, nil
	}
	if !(q.Pace > 0 && q.Pace <= maxPace) {
		return 0, &hal.Error{Kind: hal.Invalid, Op: "pace", Err: fmt.Errorf("got %g, want above 0, at most %d", q.Pace,
			maxPace)}
	}
	return q.Pace, nil
}

// Write writes m as comma-separated values: the time, and each joint with the unit in its heading.
func (m *Motion) Write(w io.Writer, u report.Units, slides map[string]bool) error {
	out := csv.NewWriter(w)
	head, sizes := []string{"time_s"}, []float64{}
	for _, j := range m.Joints {
		unit, size := u.Of(hal.Position.UnitOf(slides[j]))
		head, sizes = append(head, j+"_"+unit), append(sizes, size)
	}
	out.Write(head)
	for _, s := range m.Samples {
		row := []string{strconv.FormatFloat(s.Time-m.Samples[0].Time, 'f', 3, 64)}
		for i, v := range s.Positions {
			row = append(row, strconv.FormatFloat(v/sizes[i], 'f', 5, 64))
		}
		out.Write(row)
	}
	out.Flush()
	return out.Error()
}

// Read reads what Write wrote, in any of its units.
func Read(r io.Reader) (*Motion, error) {
	in := csv.NewReader(io.LimitReader(r, 64<<20))
	in.Comment, in.TrimLeadingSpace = '#', true
	head, err := in.Read()
	if err != nil {
		return nil, err
	}
	m, sizes := &Motion{}, []float64{}
	if head[0] != "time_s" {
		return nil, fmt.Errorf("heading: got %.40q, want time_s, then JOINT_rad, JOINT_deg, JOINT_m or JOINT_mm",
			head[0])
	}
	for _, h := range head[1:] {
		k := strings.LastIndex(h, "_")
		var size float64
		for _, u := range []report.Units{report.SI, report.Degrees} {
			for _, si := range []string{"rad", "m"} {
				if unit, s := u.Of(si); k > 0 && h[k+1:] == unit {
					size = s
				}
			}
		}
		if size == 0 {
			return nil, fmt.Errorf("heading: got %.60q, want JOINT_rad, JOINT_deg, JOINT_m or JOINT_mm", h)
		}
		m.Joints, sizes = append(m.Joints, h[:k]), append(sizes, size)
	}
	for {
		row, err := in.Read()
		if err == io.EOF {
			return m, m.validate()
		}
		if err != nil {
			return nil, err
		}
		if len(m.Samples) == maxSamples {
			return nil, fmt.Errorf("got more than %d samples", maxSamples)
		}
		values := make([]float64, len(row))
		for i, text := range row {
			if values[i], err = strconv.ParseFloat(strings.TrimSpace(text), 64); err != nil {
				return nil, fmt.Errorf("sample %d: got %.40q, want a number", len(m.Samples)+1, text)
			}
			if i > 0 {
				values[i] *= sizes[i-1]
			}
		}
		m.Samples = append(m.Samples, Sample{Time: values[0], Positions: values[1:]})
	}
}
