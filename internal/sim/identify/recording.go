package identify

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
)

// Run is one recording: a servo that moves a pendulum of known mass.
type Run struct {
	Name       string  // of the file
	Motor      string  // as the recorder names it
	Trajectory string  // "sin_sin", "lift_and_drop"
	Mass       float64 // kg, a point at the end of the arm
	ArmMass    float64 // kg, of the arm, a rod
	Length     float64 // m, of the arm
	Volts      float64 // V, of the supply
	P          float64 // the servo's position gain, in the units of its register
	I, D       float64 // likewise; 0 on a bench
	Inertia    float64 // kg·m², of the load in addition to the point mass and the arm; negative if it has less
	Down       float64 // rad, the position at which the load hangs down, without the offset found by a fit
	Samples    []Sample
	// the load at each sample, in place of mass and arm, where it changes as other joints move; nil: it does not
	Loads []Moved
}

// Moved is what moves with a joint, as a pendulum.
type Moved struct {
	Pull    float64 // N·m, what gravity pulls with where it pulls most
	Down    float64 // rad, the position at which it hangs down
	Inertia float64 // kg·m², without the servo's own
	Push    float64 // N·m, with which the motion of other joints turns it
}

// Sample is one line of a recording. Angles are those of the servo: 0 is the centre of its encoder.
type Sample struct {
	Time     float64 // s
	Goal     float64 // rad
	Position float64 // rad
	Load     float64 // raw value of the register; NaN if the recording has none
	Volts    float64 // V, measured by the servo; NaN if the recording has none
	Torque   bool    // torque enable
}

// Bounds of a recording. They refuse files that are no recordings of a bench before a fit wastes minutes on them.
const (
	maxFile    = 64 << 20 // bytes
	maxSamples = 1 << 20
	minSamples = 50
	minSeconds = 1
	maxGap     = 0.25 // s between two samples
	minMotion  = 0.05 // rad between the lowest and the highest position
	maxAngle   = 100  // rad
)

// recordingFile is BAM's raw JSON (github.com/Rhoban/bam), which is Halyard's own format as well. Pointers distinguish
// a missing number from zero.
type recordingFile struct {
	Mass       *float64     `json:"mass"`
	ArmMass    *float64     `json:"arm_mass"`
	ArmDash    *float64     `json:"arm-mass,omitempty"` // as BAM's recorder spells it
	Length     *float64     `json:"length"`
	P          *float64     `json:"kp"`
	I          *float64     `json:"ki"`
	D          *float64     `json:"kd"`
	Inertia    *float64     `json:"inertia"`
	Down       *float64     `json:"down"`
	Volts      *float64     `json:"vin"`
	Motor      *string      `json:"motor"`
	Trajectory string       `json:"trajectory"`
	Entries    *[]entryFile `json:"entries"`
}

type entryFile struct {
	Time     *float64 `json:"timestamp"`
	Goal     *float64 `json:"goal_position"`
	Position *float64 `json:"position"`
	Load     *float64 `json:"load,omitempty"`
	Volts    *float64 `json:"input_volts,omitempty"`
	Torque   *bool    `json:"torque_enable"`
}

// Load reads the recordings at paths; of a folder, every file NAME.json in it. A path that is given twice is read once.
func Load(paths []string) ([]*Run, error) {
	var files []string
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, &hal.Error{Kind: hal.Invalid, Op: "read recording " + p, Err: err}
		}
		if !info.IsDir() {
			files = append(files, filepath.Clean(p))
			continue
		}
		in, err := filepath.Glob(filepath.Join(p, "*.json"))
		if err != nil || len(in) == 0 {
			return nil, refuse(p, "got a folder without recordings, want files NAME.json in it")
		}
		files = append(files, in...)
	}
	var runs []*Run
	for i, file := range files {
		if slices.Contains(files[:i], file) {
			continue
		}
		data, err := readFile(file)
		if err != nil {
			return nil, &hal.Error{Kind: hal.Invalid, Op: "read recording " + file, Err: err}
		}
		r, err := Read(file, data)
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	if len(runs) == 0 {
		return nil, refuse("--data", "got no recordings, want at least one file")
	}
	return runs, nil
}

// readFile reads a file up to one byte more than Read accepts.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// Read reads one recording and checks it. Every error is hal.Invalid and names the file and the place in it.
func Read(name string, data []byte) (*Run, error) {
	if len(data) > maxFile {
		return nil, refuse(name, "got more than %d bytes, want a recording of at most that", maxFile)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, refuse(name, "got an empty file, want a recording")
	}
	if n := items(data); n > maxSamples { // each would take 50 bytes, or 20 times what it takes in the file
		return nil, refuse(name, "entries: got %d, want %d..%d", n, minSamples, maxSamples)
	}
	var f recordingFile
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&f); err != nil {
		return nil, unreadable(name, data, err)
	}
	if rest := bytes.TrimSpace(data[d.InputOffset():]); len(rest) > 0 {
		return nil, refuse(name, "got %d bytes behind the recording, want one JSON object", len(rest))
	}
	if err := f.foreign(data); err != "" {
		return nil, refuse(name, "%s", err)
	}
	r := &Run{Name: name, Motor: *f.Motor, Trajectory: f.Trajectory}
	for i, c := range []struct {
		key       string
		from      *float64
		to        *float64
		low, high float64
	}{
		{"mass", f.Mass, &r.Mass, 1e-4, 100}, {"length", f.Length, &r.Length, 1e-3, 10},
		{"kp", f.P, &r.P, 0, 32767}, {"vin", f.Volts, &r.Volts, 1, 100},
		{"arm_mass", cmp.Or(f.ArmMass, f.ArmDash), &r.ArmMass, 0, 100},
		{"ki", f.I, &r.I, 0, 32767}, {"kd", f.D, &r.D, 0, 32767},
		{"inertia", f.Inertia, &r.Inertia, -100, 100}, {"down", f.Down, &r.Down, -maxAngle, maxAngle},
	} {
		const required = 4 // the first ones
		if c.from == nil && i < required {
			return nil, refuse(name, "%s: got none, want a number: the bench needs it", c.key)
		} else if c.from == nil {
			continue
		}
		if *c.to = *c.from; !(*c.to >= c.low && *c.to <= c.high) {
			return nil, refuse(name, "%s: got %g, want %g..%g", c.key, *c.to, c.low, c.high)
		}
	}
	if r.Mass*r.Length*r.Length+r.Inertia <= 0 {
		return nil, refuse(name, "inertia: got %g, want more than %g: the load's is above 0", r.Inertia,
			-r.Mass*r.Length*r.Length)
	}
	if err := r.samples(*f.Entries); err != nil {
		return nil, err
	}
	return r, r.Plausible()
}

// items returns about how many items the lists in a JSON object have.
func items(data []byte) (n int) {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted:
			if c == '\\' {
				i++
			}
			quoted = c != '"'
		case c == '"':
			quoted = true
		case c == '[' || c == '{':
			depth++
			if depth == 2 {
				n++
			}
		case c == ']' || c == '}':
			depth--
		case c == ',' && depth == 2:
			n++
		}
	}
	return n
}

// refuse is the error of a recording that is not used.
func refuse(name, format string, args ...any) error {
	return &hal.Error{Kind: hal.Invalid, Op: "read recording " + name, Err: fmt.Errorf(format, args...),
		Try: "see docs/identify.md"}
}

// unreadable is the error of JSON that cannot be decoded.
func unreadable(name string, data []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return refuse(name, "file ends at byte %d in the middle of the recording: half written", len(data))
	case errors.As(err, &syntax):
		at := int(min(max(syntax.Offset-1, 0), int64(len(data))))
		if before := bytes.LastIndexByte(data[:at], ':'); before >= 0 { // -Infinity fails at its second byte
			value := strings.TrimSpace(string(data[before+1 : min(before+20, len(data))]))
			for _, bad := range []string{"NaN", "-NaN", "Infinity", "-Infinity", "nan", "inf", "-inf"} {
				if strings.HasPrefix(value, bad) {
					return refuse(name, "byte %d: got %s, want a number: drop the samples that were not read", at, bad)
				}
			}
		}
		return refuse(name, "byte %d: got no JSON (%v), want a recording", at, err)
	case errors.As(err, &kind) && kind.Field == "":
		return refuse(name, "got a JSON %s, want an object with mass, length, kp, vin, motor and entries", kind.Value)
	case errors.As(err, &kind):
		return refuse(name, "%s: got a %s at byte %d, want a %s", kind.Field, kind.Value, kind.Offset, kind.Type)
	}
	return refuse(name, "%v", err)
}

// foreign describes a JSON object that is not a recording; "" for a recording.
func (f *recordingFile) foreign(data []byte) string {
	if f.Entries != nil && f.Motor != nil {
		return ""
	}
	if f.Entries != nil {
		return "motor: got none, want the servo's name"
	}
	var top map[string]json.RawMessage
	if json.Unmarshal(data, &top) != nil {
		return "got no object, want a recording"
	}
	has := func(keys ...string) bool {
		return !slices.ContainsFunc(keys, func(k string) bool { return top[k] == nil })
	}
	if has("kt", "R", "model") {
		return "got parameters of BAM, want a recording, with entries"
	}
	for _, v := range top {
		var joint map[string]json.RawMessage
		if json.Unmarshal(v, &joint) == nil && joint["homing_offset"] != nil {
			return "got a LeRobot calibration, want a recording, with entries"
		}
	}
	keys := slices.Sorted(maps.Keys(top))
	if len(keys) > 8 {
		keys = append(keys[:8], "...")
	}
	return fmt.Sprintf("got an object of %q, want mass, length, kp, vin, motor and entries", keys)
}

// samples takes the entries over and checks each.
func (r *Run) samples(entries []entryFile) error {
	if n := len(entries); n < minSamples || n > maxSamples {
		return refuse(r.Name, "entries: got %d, want %d..%d", n, minSamples, maxSamples)
	}
	r.Samples = make([]Sample, len(entries))
	for i := range entries {
		e, s := &entries[i], &r.Samples[i]
		at := func(key string) string { return fmt.Sprintf("entries[%d].%s", i, key) }
		for _, c := range []struct {
			key  string
			from *float64
			to   *float64
			most float64
		}{{"timestamp", e.Time, &s.Time, 1e10}, {"goal_position", e.Goal, &s.Goal, maxAngle},
			{"position", e.Position, &s.Position, maxAngle}} {
			if c.from == nil {
				return refuse(r.Name, "%s: got none, want a number", at(c.key))
			}
			if *c.to = *c.from; !(math.Abs(*c.to) <= c.most) {
				return refuse(r.Name, "%s: got %g, want at most %g", at(c.key), *c.to, c.most)
			}
		}
		if e.Torque == nil {
			return refuse(r.Name, "%s: got none, want true or false", at("torque_enable"))
		}
		s.Torque, s.Load, s.Volts = *e.Torque, math.NaN(), math.NaN()
		if e.Load != nil {
			s.Load = *e.Load
		}
		if e.Volts != nil {
			s.Volts = *e.Volts
		}
		if i > 0 {
			gap := s.Time - r.Samples[i-1].Time
			if !(gap > 0) {
				return refuse(r.Name, "%s: got %g s after %g s, want rising times", at("timestamp"), s.Time,
					r.Samples[i-1].Time)
			}
			if gap > maxGap {
				return refuse(r.Name, "%s: got a gap of %.3g s, want at most %g s: samples are missing",
					at("timestamp"), gap, maxGap)
			}
		}
	}
	return nil
}

// Encode is the run as the JSON that Read reads.
func (r *Run) Encode() ([]byte, error) {
	f := recordingFile{Mass: &r.Mass, ArmMass: &r.ArmMass, Length: &r.Length, P: &r.P, I: &r.I, D: &r.D,
		Inertia: &r.Inertia, Down: &r.Down,
		Volts: &r.Volts, Motor: &r.Motor, Trajectory: r.Trajectory, Entries: &[]entryFile{}}
	number := func(v float64) *float64 {
		if math.IsNaN(v) {
			return nil
		}
		return &v
	}
	for i := range r.Samples {
		s := &r.Samples[i]
		*f.Entries = append(*f.Entries, entryFile{&s.Time, &s.Goal, &s.Position, number(s.Load), number(s.Volts),
			&s.Torque})
	}
	return json.MarshalIndent(&f, "", " ")
}

// Plausible refuses recordings of which each sample is good and the whole is not.
func (r *Run) Plausible() error {
	first, last := &r.Samples[0], &r.Samples[len(r.Samples)-1]
	if d := last.Time - first.Time; d < minSeconds {
		return refuse(r.Name, "got %.2g s, want at least %d s", d, minSeconds)
	}
	low, high := math.Inf(1), math.Inf(-1)
	for i := range r.Samples {
		low, high = math.Min(low, r.Samples[i].Position), math.Max(high, r.Samples[i].Position)
	}
	if high-low < minMotion {
		return refuse(r.Name, "no motion: the position stays within %.2g rad, want at least %g rad (is the servo "+
			"powered, and the torque on?)", high-low, minMotion)
	}
	return nil
}
