package calibration

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/halyard-robotics/halyard/hal"
)

// Inertial is the calibration of an inertial sensor: how its chip lies in its mount, and what its axes say at nothing. It is
// made by ParseInertial, LoadInertial or NominalInertial and passes Validate; goroutines may share it. A file:
//
//	sensor: imu
//	model: mpu-6050
//	method: hand                  # nominal, hand, import, identified
//	date: 2026-11-21T14:03:00Z
//	axes: [y, -x, z]              # the mount's x is the chip's y, its y the chip's -x, ..; a rotation
//	rates: {offset: [0.012, -0.003, 0.001]}                              # rad/s; of the chip's own axes, as the rest
//	acceleration: {offset: [0.1, 0, -0.2], scale: [1.002, 0.998, 1]}     # m/s²; true = (said - offset) · scale
//	field: {offset: [12.5e-6, -3e-6, 0], scale: [1, 1.05, 0.97]}         # T
//	chip: 0102..16                # what a chip with a fusion of its own found, hexadecimal: a BNO055's 22 bytes
type Inertial struct {
	Sensor       string
	Model        string
	Method       Method
	Date         time.Time
	Version      int
	Axes         [3]Axis
	Rates        Correction
	Acceleration Correction
	Field        Correction
	Chip         string // 44 hexadecimal digits, or none
}

// Axis is one of the chip's axes with its sign: "x", "-x" ..
type Axis string

// Correction is what each of the chip's axes says at nothing, and by what to multiply the rest; a zero Scale is 1.
type Correction struct{ Offset, Scale [3]float64 }

// axes are all that an Axis may be.
var axes = [...]Axis{"x", "y", "z", "-x", "-y", "-z"}

// index and sign of an axis that is valid.
func (a Axis) index() (int, float64) {
	i := slices.Index(axes[:], a)
	if i < 0 {
		return 0, 0
	}
	return i % 3, float64(1 - 2*(i/3))
}

// NominalInertial is the calibration of a chip that lies as its mount does and of which nothing was measured.
func NominalInertial(sensor, model string) *Inertial {
	return &Inertial{Sensor: sensor, Model: model, Method: ByNominal, Version: 1, Axes: [3]Axis{"x", "y", "z"}}
}

// apply corrects what the chip's axes say and turns it into the mount's.
func (c *Correction) apply(j *Inertial, said [3]float64) (v [3]float64) {
	for i, axis := range j.Axes {
		k, sign := axis.index()
		scale := c.Scale[k]
		if scale == 0 {
			scale = 1
		}
		v[i] = sign * scale * (said[k] - c.Offset[k])
	}
	return v
}

// Corrected are rates (rad/s), acceleration (m/s²) and field (T), said in the chip's axes, as they are in the mount's.
func (j *Inertial) Corrected(rates, acceleration, field [3]float64) (r, a, f [3]float64) {
	return j.Rates.apply(j, rates), j.Acceleration.apply(j, acceleration), j.Field.apply(j, field)
}

// Mount is the mount's attitude in the chip's axes, a unit quaternion w x y z: the chip's attitude in the world times this
// is the mount's. false where the axes are no rotation: one is there twice, or they are mirrored.
func (j *Inertial) Mount() (q [4]float64, ok bool) {
	var want [3][3]float64 // the mount's axes in the chip's
	for i, axis := range j.Axes {
		k, sign := axis.index()
		want[i][k] = sign
	}
	// The 24 rotations that turn axes into axes are among the quaternions whose parts are all 0, 1 or -1 before they are
	// brought to length 1; there are few enough to try.
	for n := range 81 {
		p := [4]float64{float64(n%3 - 1), float64(n/3%3 - 1), float64(n/9%3 - 1), float64(n/27 - 1)}
		length := math.Sqrt(p[0]*p[0] + p[1]*p[1] + p[2]*p[2] + p[3]*p[3])
		if length == 0 || p[0] < 0 {
			continue
		}
		for i := range p {
			p[i] /= length
		}
		far, turn := 0.0, hal.Pose{Rotation: p}
		for i := range want {
			var axis [3]float64
			axis[i] = 1
			for k, v := range turn.Turn(axis) {
				far = math.Max(far, math.Abs(v-want[i][k]))
			}
		}
		if far < 1e-9 {
			return p, true
		}
	}
	return [4]float64{1}, false
}

// ParseInertial reads one YAML file, as Parse does.
func ParseInertial(data []byte) (*Inertial, error) {
	r := &reader{faults{lines: map[string]int{}}}
	body, err := document(data)
	if err != nil {
		return nil, &Fault{Text: err.Error()}
	}
	j := NominalInertial("", "")
	top := r.object("", body, "sensor", "model", "method", "date", "version", "axes", "rates", "acceleration", "field", "chip")
	top.require("sensor", "model", "method", "date")
	top.text("sensor", &j.Sensor)
	top.text("model", &j.Model)
	top.text("method", (*string)(&j.Method))
	top.date("date", &j.Date)
	top.whole("version", &j.Version)
	top.text("chip", &j.Chip)
	// What is no text, or one too many, leaves an axis empty, which makes no rotation: one fault says it all.
	if list := top.list("axes"); list != nil {
		j.Axes = [3]Axis{}
		for i, n := range list {
			if s, ok := n.(*ast.StringNode); ok && i < len(j.Axes) {
				j.Axes[i] = Axis(s.Value)
			}
		}
		if len(list) != len(j.Axes) {
			r.add("axes", "got %d, want 3", len(list))
		}
	}
	for _, c := range [...]struct {
		key string
		to  *Correction
	}{{"rates", &j.Rates}, {"acceleration", &j.Acceleration}, {"field", &j.Field}} {
		if n, ok := top.nodes[c.key]; ok {
			o := r.object(c.key, n, "offset", "scale")
			o.triple("offset", &c.to.Offset)
			o.triple("scale", &c.to.Scale)
		}
	}
	r.merge(func(f *faults) { f.inertial(j) })
	if len(r.list) > 0 {
		return nil, r.join()
	}
	return j, nil
}

// triple reads a list of three numbers, one an axis.
func (o object) triple(key string, to *[3]float64) {
	list := o.list(key)
	if list == nil {
		return
	}
	for i, n := range list {
		if v, ok := number(n); ok && len(list) == len(to) {
			to[i] = v
			continue
		}
		o.wrong(key, "a list of three numbers")
		return
	}
}

// LoadInertial reads and checks the file at path. A missing file is hal.Uncalibrated, a bad one hal.Invalid.
func LoadInertial(path string) (*Inertial, error) {
	op := "calibration " + path
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &hal.Error{Kind: hal.Uncalibrated, Op: op, Err: errors.New("sensor has no calibration file"), Try: "halyard doctor"}
	case err != nil:
		return nil, &hal.Error{Kind: hal.Invalid, Op: op, Err: err}
	}
	j, err := ParseInertial(data)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: op, Err: err}
	}
	return j, nil
}

// Validate reports everything that is wrong with j at once, each thing a *Fault, or nil.
func (j *Inertial) Validate() error {
	f := &faults{}
	f.inertial(j)
	return f.join()
}

// chipBytes is how much a BNO055 tells of what it found: offsets of three sensors and two radii.
const chipBytes = 22

// What is believed of a chip: no gyro is off by 35 °/s, no accelerometer by 2 g, no magnetometer by 10 times the earth's field.
const (
	maxRateOffset         = 0.6
	maxAccelerationOffset = 20
	maxFieldOffset        = 1e-3
)

// inertial adds what is wrong with j.
func (f *faults) inertial(j *Inertial) {
	f.text("sensor", j.Sensor, true)
	f.text("model", j.Model, true)
	if !slices.Contains(methods[:], j.Method) {
		f.add("method", "got %q, want one of %q", j.Method, methods)
	}
	if y := j.Date.Year(); y < 1 || y > 9999 {
		f.add("date", "got year %d, want 1..9999", y)
	}
	if j.Version < 1 || j.Version > maxTicks {
		f.add("version", "got %d, want 1 or more", j.Version)
	}
	if b, err := hex.DecodeString(j.Chip); err != nil || len(b) != 0 && len(b) != chipBytes {
		f.add("chip", "got %q, want %d hexadecimal digits", j.Chip, 2*chipBytes)
	}
	if _, ok := j.Mount(); !ok {
		f.add("axes", "got %q, want x, y and z in some order with signs that make a rotation, not a mirror", j.Axes)
	}
	for _, c := range [...]struct {
		key   string
		is    *Correction
		limit float64
	}{{"rates", &j.Rates, maxRateOffset}, {"acceleration", &j.Acceleration, maxAccelerationOffset}, {"field", &j.Field, maxFieldOffset}} {
		for i := range 3 {
			f.within(fmt.Sprintf("%s.offset[%d]", c.key, i), c.is.Offset[i], -c.limit, c.limit)
			if s := c.is.Scale[i]; s != 0 {
				f.within(fmt.Sprintf("%s.scale[%d]", c.key, i), s, 0.5, 2)
			}
		}
	}
}
