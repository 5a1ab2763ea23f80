package calibration

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// keptName is the name of a kept version.
var keptName = regexp.MustCompile(`\.v[1-9][0-9]*\.yaml$`)

// Load reads and checks the file at path. A missing file is hal.Uncalibrated, a bad one hal.Invalid with every fault.
func Load(path string) (*Joint, error) { return load(path, "joint", Parse) }

// Encode returns j as the YAML that Parse reads; the same j gives the same bytes.
func (j *Joint) Encode() []byte {
	var b bytes.Buffer
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	p("# radians = direction * (ticks - zero_ticks) * 2 pi / (ticks_per_turn * gear)\n")
	p("# torque = direction * constant * (effort - offset), N m\n")
	p("joint: %q\nservo:\n  model: %q\n  id: %d\n", j.Joint, j.Servo.Model, j.Servo.ID)
	if j.Servo.Firmware != "" {
		p("  firmware: %q\n", j.Servo.Firmware)
	}
	if j.Servo.Adapter != "" {
		p("  adapter: %q\n", j.Servo.Adapter)
	}
	if j.Servo.HomingOffset != 0 {
		p("  homing_offset: %d\n", j.Servo.HomingOffset)
	}
	p("method: %s\ndate: %q\nversion: %d\n", j.Method, j.Date.UTC().Format(time.RFC3339), j.Version)
	p("direction: %d\nzero_ticks: %s\nticks_per_turn: %s\n", j.Direction, plain(j.ZeroTicks), plain(j.TicksPerTurn))
	p("gear: %s\nrange_ticks: [%s, %s]\n", plain(j.Gear), plain(j.RangeTicks[0]), plain(j.RangeTicks[1]))
	if j.RestTicks != nil {
		p("rest_ticks: %s\n", plain(*j.RestTicks))
	}
	if len(j.Table) > 0 {
		p("table: # [ticks, radians]\n")
	}
	for _, at := range j.Table {
		p("  - [%s, %s]\n", plain(at.Ticks), plain(at.Radians))
	}
	if j.Torque != (Torque{}) {
		p("torque: {constant: %s, offset: %s", plain(j.Torque.Constant), plain(j.Torque.Offset))
		if j.Torque.Delay != 0 {
			p(", delay_s: %s", plain(j.Torque.Delay))
		}
		p("}\n")
	}
	if len(j.Intervals) > 0 {
		p("intervals: # 95 %%\n")
	}
	for _, name := range slices.Sorted(maps.Keys(j.Intervals)) {
		p("  %s: [%s, %s]\n", name, plain(j.Intervals[name][0]), plain(j.Intervals[name][1]))
	}
	if f := j.Source; f != (Source{}) {
		p("source: {format: %s, place: %d", f.Format, f.Place)
		if f.Mode != "" {
			p(", mode: %s", f.Mode)
		}
		p(", newline: %t}\n", f.Newline)
	}
	return b.Bytes()
}

// plain writes v without an exponent, which YAML readers disagree on; 0 + v turns -0 into 0.
func plain(v float64) string { return strconv.FormatFloat(0+v, 'f', -1, 64) }

// Save writes j to path, with the next free version, which it stores in j. The previous file is kept in the same folder
// as NAME.vN.yaml, N its version; kept is that path, "" for the first. A crash at any moment leaves a complete file at
// path, the old one or the new one.
func Save(path string, j *Joint) (kept string, err error) { return save(path, j, Parse) }

// file is a calibration of type T that save writes.
type file[T any] interface {
	*T
	Validate() error
	Encode() []byte
	version() *int
}

func (j *Joint) version() *int { return &j.Version }

// save writes c to path with the next free version, as Save does. parse reads the version of the previous file.
func save[T any, P file[T]](path string, c P, parse func([]byte, string) (P, error)) (kept string, err error) {
	next := *c
	version := P(&next).version()
	*version = 1 // the next version is not known yet
	// Nothing on disk changes for a calibration that could not be loaded again.
	if err := P(&next).Validate(); err != nil {
		return "", &hal.Error{Kind: hal.Invalid, Op: "calibration " + path, Err: err}
	}
	versions, last, err := keptVersions(path)
	if err != nil {
		return "", err
	}
	if old, err := os.ReadFile(path); err == nil {
		// It keeps its own number where that is free, or holds the same already: a crash between the two steps below.
		n := last + 1 // for a file not written by Save, or edited since
		if o, err := parse(old, path); err == nil {
			if v := *o.version(); v > last || v > 0 && same(versions[v], old) {
				n = v
			}
		}
		kept, last = versionPath(path, n), max(last, n)
		if err := yaml.WriteFile(kept, old); err != nil {
			return "", err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	// Until here the old one is at path, from here the new one.
	*version = last + 1
	if err := yaml.WriteFile(path, P(&next).Encode()); err != nil {
		return kept, err
	}
	*c.version() = *version
	return kept, nil
}

// SaveAll saves each of joints as DIR/JOINT.yaml. If one of them cannot be written, the previous files are restored:
// all are new, or none.
func SaveAll(dir string, joints []*Joint) error {
	for _, j := range joints {
		if err := fileName(j.Joint); err != nil {
			return err
		}
	}
	var done []saved
	for _, j := range joints {
		path := filepath.Join(dir, j.Joint+".yaml")
		kept, err := Save(path, j)
		if err != nil {
			for _, d := range done {
				err = errors.Join(err, d.undo())
			}
			return err
		}
		done = append(done, saved{path, kept})
	}
	return nil
}

// saved is a file that Save wrote, and where it kept the previous one.
type saved struct{ path, kept string }

// undo restores the previous file.
func (s saved) undo() error {
	if s.kept == "" {
		return os.Remove(s.path)
	}
	old, err := os.ReadFile(s.kept)
	if err != nil {
		return err
	}
	return yaml.WriteFile(s.path, old)
}

// fileName returns an error if the joint's name cannot be a file name.
func fileName(joint string) error {
	if joint == "" || strings.ContainsAny(joint, "/\\") || strings.HasPrefix(joint, ".") {
		return &hal.Error{Kind: hal.Invalid, Op: "calibration", Joint: joint,
			Err: fmt.Errorf("got joint %q, want a name that can be a file's", joint)}
	}
	return nil
}

// LoadAll reads the calibrations of all joints in dir, without kept versions, in the order of their ids. All faults are
// returned together. Other files in dir, such as an inertial sensor's, are not read.
func LoadAll(dir string) (joints []*Joint, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var faults []error
	for _, path := range paths {
		data, err := yaml.ReadFile(path)
		if d := yaml.Read(data, path); err == nil && (keptName.MatchString(path) || d.Root != nil && !d.Has("joint")) {
			continue
		}
		j, err := Load(path)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		joints = append(joints, j)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	if len(joints) == 0 {
		return nil, &hal.Error{Kind: hal.Uncalibrated, Op: "calibration " + dir,
			Err: errors.New("got no calibration of a joint, want JOINT.yaml"), Try: "halyard calibrate CONFIG"}
	}
	slices.SortStableFunc(joints, func(a, b *Joint) int {
		return cmp.Or(a.Source.Place-b.Source.Place, a.Servo.ID-b.Servo.ID)
	})
	return joints, nil
}

// Versions returns the paths of the kept versions of the calibration at path, oldest first.
func Versions(path string) ([]string, error) {
	versions, _, err := keptVersions(path)
	return slices.SortedFunc(maps.Values(versions),
		func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) }), err
}

// versionPath is where version n of path is kept.
func versionPath(path string, n int) string {
	ext := filepath.Ext(path)
	return fmt.Sprintf("%s.v%d%s", strings.TrimSuffix(path, ext), n, ext)
}

// keptVersions finds the kept files of path by their version, and the greatest.
func keptVersions(path string) (byVersion map[int]string, last int, err error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, 0, err
	}
	byVersion = map[int]string{}
	for _, e := range entries {
		ext := filepath.Ext(path)
		middle, ok := strings.CutPrefix(e.Name(), strings.TrimSuffix(filepath.Base(path), ext)+".v")
		number, ext2 := strings.CutSuffix(middle, ext)
		n, err := strconv.Atoi(number)
		if full := versionPath(path, n); ok && ext2 && err == nil && n > 0 && filepath.Base(full) == e.Name() {
			byVersion[n], last = full, max(last, n)
		}
	}
	return byVersion, last, nil
}

// same reports that the file at path holds data.
func same(path string, data []byte) bool {
	old, err := os.ReadFile(path)
	return err == nil && bytes.Equal(old, data)
}
