package calibration

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"unicode/utf8"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// Parse reads one YAML file, which faults call source. All faults are reported at once, each with its place and path.
// The error's kind is hal.Invalid.
func Parse(data []byte, source string) (*Joint, error) {
	j := &Joint{}
	d := decode(data, source, j)
	j.check(d)
	return yaml.Valid(d, j)
}

func decode(data []byte, source string, into any) *yaml.Document {
	d := yaml.Read(data, source)
	if d.Root != nil {
		d.Decode(into, forms)
	}
	return d
}

// forms are the patterns of texts: a firmware of 48 needs no quotes.
func forms(string) yaml.Form {
	short := func(s string) bool { return len(s) <= 256 && utf8.ValidString(s) }
	return yaml.Form{Rule: "a text of at most 256 bytes", OK: short, Bare: short}
}

// load reads and checks the file at path. A missing file is hal.Uncalibrated, a bad one hal.Invalid.
func load[T any](path, what string, parse func([]byte, string) (*T, error)) (*T, error) {
	data, err := yaml.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &hal.Error{Kind: hal.Uncalibrated, Op: "calibration " + path,
			Err: errors.New(what + " has no calibration file"), Try: "halyard doctor"}
	case err != nil:
		return nil, &hal.Error{Kind: hal.Invalid, Op: "calibration " + path, Err: err}
	}
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	if looksLikeLeRobot(data) {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "calibration " + path,
			Err: errors.New("got LeRobot's calibration of a whole robot, want a file a joint"),
			Try: "halyard calibration import " + path + " --config CONFIG --dir calibration"}
	}
	return parse(data, path)
}

// valid checks a value by its file: text must parse, and encode to the same text.
func valid[T interface{ Encode() []byte }](text []byte, parse func([]byte, string) (T, error)) error {
	again, err := parse(text, "")
	var faults yaml.Faults
	switch {
	case errors.As(err, &faults):
		for i := range faults {
			faults[i].Line, faults[i].Column = 0, 0 // there is no file
		}
		return faults
	case err == nil && !bytes.Equal(again.Encode(), text):
		return yaml.Faults{{Got: "bytes that are not text", Rule: "UTF-8"}}
	}
	return err
}

// Validate reports everything that is wrong with j at once, or nil.
func (j *Joint) Validate() error { return valid(j.Encode(), Parse) }

// check adds faults between keys.
func (j *Joint) check(d *yaml.Document) {
	if r := j.RangeTicks; d.Has("range_ticks") && d.Clean("range_ticks") && r[1]-r[0] < 1 {
		d.Add("range_ticks", fmt.Sprintf("%g..%g", r[0], r[1]), "a rising range of 1 tick or more", "")
	}
	if len(j.Table) == 0 {
		return
	}
	if len(j.Table) < 2 {
		d.Add("table", "1 row", "2 or more", "")
	}
	for i := 1; i < len(j.Table); i++ {
		p, before, at := j.Table[i], j.Table[i-1], yaml.Path("table").Index(i)
		// Steps too small to divide by would not be monotonic in floating point.
		if !(p.Ticks-before.Ticks >= 1e-3) {
			d.Add(at, fmt.Sprintf("tick %g after %g", p.Ticks, before.Ticks), "rising by 0.001 or more", "")
		} else if way := float64(j.Direction); way != 0 && !(way*(p.Radians-before.Radians) >= 1e-9) {
			d.Add(at, fmt.Sprintf("%g rad after %g", p.Radians, before.Radians),
				fmt.Sprintf("radians that follow direction %d", j.Direction), "")
		}
	}
	if len(d.Faults) == 0 { // only then can the two definitions of zero be compared
		if zero := j.Ticks(0); math.Abs(zero-j.ZeroTicks) > 1 {
			d.Add("table", fmt.Sprintf("0 rad at tick %g", zero), fmt.Sprintf("it at zero_ticks %g", j.ZeroTicks), "")
		}
	}
}
