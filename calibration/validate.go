package calibration

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// Bounds of what is believed; they keep all arithmetic finite.
const (
	maxTicks = 1e9
	maxGear  = 1e4
	maxTable = 4096 // a row a tick of the finest single-turn encoder
	maxText  = 256
	maxID    = 253 // the highest address of Dynamixel 1.0 and Feetech; 254 is the broadcast
)

// Fault is one thing wrong with a calibration.
type Fault struct {
	Line int    // in its file; 0 = not from a file
	Path string // "servo.id"; "" = the whole file
	Text string // got, want
}

func (f *Fault) Error() string {
	s := f.Text
	if f.Path != "" {
		s = f.Path + ": " + s
	}
	if f.Line > 0 {
		s = fmt.Sprintf("line %d: %s", f.Line, s)
	}
	return s
}

// faults collects them.
type faults struct {
	list    []error
	lines   map[string]int // each path's line; nil = no file
	partial bool           // not all could be read: what depends on two keys is not compared
}

// add notes a fault at path: got, want.
func (f *faults) add(path, format string, args ...any) {
	f.list = append(f.list, &Fault{f.lines[path], path, fmt.Sprintf(format, args...)})
}

func (f *faults) join() error { return errors.Join(f.list...) }

// Validate reports everything that is wrong with j at once, each thing a *Fault, or nil.
func (j *Joint) Validate() error {
	f := &faults{}
	f.check(j)
	return f.join()
}

// check adds what is wrong with j, in the order of the file.
func (f *faults) check(j *Joint) {
	f.text("joint", j.Joint, true)
	f.text("servo.model", j.Servo.Model, true)
	f.text("servo.firmware", j.Servo.Firmware, false)
	f.text("servo.adapter", j.Servo.Adapter, false)
	if j.Servo.ID < 0 || j.Servo.ID > maxID {
		f.add("servo.id", "got %d, want 0..%d", j.Servo.ID, maxID)
	}
	f.within("servo.homing_offset", float64(j.Servo.HomingOffset), -maxTicks, maxTicks)
	if !slices.Contains(methods[:], j.Method) {
		f.add("method", "got %q, want one of %q", j.Method, methods)
	}
	if y := j.Date.Year(); y < 1 || y > 9999 {
		f.add("date", "got year %d, want 1..9999", y)
	}
	if j.Version < 1 || j.Version > maxTicks {
		f.add("version", "got %d, want 1 or more", j.Version)
	}
	if j.Direction != 1 && j.Direction != -1 {
		f.add("direction", "got %d, want 1 or -1", j.Direction)
	}
	f.within("zero_ticks", j.ZeroTicks, -maxTicks, maxTicks)
	f.within("ticks_per_turn", j.TicksPerTurn, 2, maxTicks)
	f.within("gear", j.Gear, 1/maxGear, maxGear)
	f.within("torque.constant", j.Torque.Constant, 0, maxGear)
	f.within("torque.offset", j.Torque.Offset, -maxGear, maxGear)
	// A range that is not numbers is one fault, not two.
	ok := f.within("range_ticks[0]", j.RangeTicks[0], -maxTicks, maxTicks)
	ok = f.within("range_ticks[1]", j.RangeTicks[1], -maxTicks, maxTicks) && ok
	if ok && j.RangeTicks[1]-j.RangeTicks[0] < 1 {
		f.add("range_ticks", "got %g..%g, want a rising range of 1 tick or more", j.RangeTicks[0], j.RangeTicks[1])
	}
	if n := len(f.list); len(j.Table) > 0 {
		f.table(j)
		if n == 0 && len(f.list) == 0 && !f.partial { // the rest makes sense, so the two ways to say zero can be compared
			if zero := j.Ticks(0); math.Abs(zero-j.ZeroTicks) > 1 {
				f.add("table", "got 0 rad at tick %g, want it at zero_ticks %g", zero, j.ZeroTicks)
			}
		}
	}
}

// table checks that both columns are strictly monotonic, the angles in the direction that j says.
func (f *faults) table(j *Joint) {
	if n := len(j.Table); n < 2 || n > maxTable {
		f.add("table", "got %d rows, want 2..%d", n, maxTable)
		return
	}
	for i, p := range j.Table {
		at := fmt.Sprintf("table[%d]", i)
		if !f.within(at, p.Ticks, -maxTicks, maxTicks) || !f.within(at, p.Radians, -maxTicks, maxTicks) || i == 0 {
			continue
		}
		// Steps too small to divide by would not be monotonic in floating point.
		before := j.Table[i-1]
		if !(p.Ticks-before.Ticks >= 1e-3) {
			f.add(at, "ticks: got %g after %g, want rising by 0.001 or more", p.Ticks, before.Ticks)
		}
		if d := float64(j.Direction); d*d == 1 && !(d*(p.Radians-before.Radians) >= 1e-9) {
			f.add(at, "radians: got %g after %g, want them to follow direction %d", p.Radians, before.Radians, j.Direction)
		}
	}
}

// within wants low <= v <= high; NaN and infinities are never.
func (f *faults) within(path string, v, low, high float64) bool {
	if v >= low && v <= high {
		return true
	}
	f.add(path, "got %g, want %g..%g", v, low, high)
	return false
}

// text bounds a name, so that what Encode writes Parse reads.
func (f *faults) text(path, s string, required bool) {
	if required && s == "" {
		f.add(path, "want a text that is not empty")
	}
	if len(s) > maxText || !utf8.ValidString(s) {
		f.add(path, "got %d bytes, want at most %d of UTF-8", len(s), maxText)
	}
}
