package calibration

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// Inertial is the calibration of an inertial sensor: the orientation of the chip in its mount, and the offsets and
// scales of its axes. It is made by parseInertial, LoadInertial or NominalInertial; goroutines may share it. A file:
//
//	sensor: imu
//	model: mpu-6050
//	method: manual                # nominal, manual, import, identified
//	date: 2026-11-21T14:03:00Z
//	axes: [y, -x, z]              # the mount's x is the chip's y, its y the chip's -x, ..; a rotation
//	gyro: {offset: [0.012, -0.003, 0.001]}                              # rad/s; in the chip's axes, as all offsets
//	accelerometer: {offset: [0.1, 0, -0.2], scale: [1.002, 0.998, 1]}     # m/s²; true = (raw - offset) · scale
//	magnetometer: {offset: [12.5e-6, -3e-6, 0], scale: [1, 1.05, 0.97], cross: [0.01, 0, -0.02]} # T
//	chip: 0102..16                # calibration data of a chip with its own fusion, hexadecimal: a BNO055's 22 bytes
type Inertial struct {
	Sensor        string     `yaml:"sensor" required:"true" form:"label"`
	Model         string     `yaml:"model" required:"true" form:"label"`
	Method        Method     `yaml:"method" required:"true" enum:"nominal|manual|endstops|import|identified"`
	Date          time.Time  `yaml:"date" required:"true"`
	Version       int        `yaml:"version" default:"1" min:"1" max:"1000000000"`
	Axes          [3]Axis    `yaml:"axes" default:"[x, y, z]" enum:"x|y|z|-x|-y|-z"`
	Gyro          Correction `yaml:"gyro"`
	Accelerometer Correction `yaml:"accelerometer"`
	Magnetometer  Correction `yaml:"magnetometer"`
	Chip          string     `yaml:"chip" form:"label"` // 44 hexadecimal digits, or none
}

// Axis is one of the chip's axes with its sign: "x", "-x" ..
type Axis string

// Correction has the offset of each of the chip's axes, and the symmetric matrix that multiplies the value after that:
// scale is its diagonal, cross the part of each axis in another (xy, xz, yz), which soft iron near a magnetometer
// causes.
type Correction struct {
	Offset [3]float64 `yaml:"offset"`
	Scale  [3]float64 `yaml:"scale" default:"[1, 1, 1]" min:"0.5" max:"2"`
	Cross  [3]float64 `yaml:"cross" min:"-0.5" max:"0.5"`
}

// matrix is the one that differences from the offset are multiplied by.
func (c *Correction) matrix() [3][3]float64 {
	s, x := &c.Scale, &c.Cross
	return [3][3]float64{{s[0], x[0], x[1]}, {x[0], s[1], x[2]}, {x[1], x[2], s[2]}}
}

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

// NominalInertial is the calibration of a chip aligned with its mount, without measured values.
func NominalInertial(sensor, model string) *Inertial {
	none := Correction{Scale: [3]float64{1, 1, 1}}
	return &Inertial{Sensor: sensor, Model: model, Method: ByNominal, Version: 1, Axes: [3]Axis{"x", "y", "z"},
		Gyro: none, Accelerometer: none, Magnetometer: none}
}

// apply corrects the values of the chip's axes and rotates them to the mount's.
func (c *Correction) apply(j *Inertial, measured [3]float64) (v [3]float64) {
	for k := range measured {
		measured[k] -= c.Offset[k]
	}
	measured = c.weigh(measured)
	for i, axis := range j.Axes {
		k, sign := axis.index()
		v[i] = sign * measured[k]
	}
	return v
}

// weigh multiplies d, a difference from the offset, by the matrix.
func (c *Correction) weigh(d [3]float64) (v [3]float64) {
	if c.Cross == ([3]float64{}) {
		return [3]float64{c.Scale[0] * d[0], c.Scale[1] * d[1], c.Scale[2] * d[2]}
	}
	for i, row := range c.matrix() {
		v[i] = row[0]*d[0] + row[1]*d[1] + row[2]*d[2]
	}
	return v
}

// unapply is the inverse of apply: the raw values of the chip's axes for v in the mount's.
func (c *Correction) unapply(j *Inertial, v [3]float64) (raw [3]float64) {
	var d [3]float64
	for i, axis := range j.Axes {
		k, sign := axis.index()
		d[k] = sign * v[i]
	}
	m := c.matrix()
	for k := range raw { // by Cramer's rule; a matrix of a checked file is far from singular
		a, b := m[(k+1)%3], m[(k+2)%3]
		for i := range d {
			raw[i] += d[k] * (a[(i+1)%3]*b[(i+2)%3] - a[(i+2)%3]*b[(i+1)%3])
		}
	}
	a, b := m[1], m[2]
	det := m[0][0]*(a[1]*b[2]-a[2]*b[1]) + m[0][1]*(a[2]*b[0]-a[0]*b[2]) + m[0][2]*(a[0]*b[1]-a[1]*b[0])
	for k := range raw {
		raw[k] = raw[k]/det + c.Offset[k]
	}
	return raw
}

// Corrected converts rates (rad/s), acceleration (m/s²) and field (T) from the chip's raw axes to the mount's,
// corrected.
func (j *Inertial) Corrected(rates, acceleration, field [3]float64) (r, a, f [3]float64) {
	return j.Gyro.apply(j, rates), j.Accelerometer.apply(j, acceleration), j.Magnetometer.apply(j, field)
}

// Measured is the inverse of Corrected: the raw values of the chip's axes for rates (rad/s), acceleration (m/s²) and
// field (T) in the mount's axes.
func (j *Inertial) Measured(rates, acceleration, field [3]float64) (r, a, f [3]float64) {
	return j.Gyro.unapply(j, rates), j.Accelerometer.unapply(j, acceleration), j.Magnetometer.unapply(j, field)
}

// Mount returns the mount's attitude in the chip's axes, a unit quaternion w x y z: the chip's attitude in the world
// times this is the mount's. ok is false if the axes are not a rotation: an axis occurs twice, or they are mirrored.
func (j *Inertial) Mount() (q [4]float64, ok bool) {
	var want [3][3]float64 // the mount's axes in the chip's
	for i, axis := range j.Axes {
		k, sign := axis.index()
		want[i][k] = sign
	}
	// The 24 rotations that map axes to axes are among the quaternions with components 0, 1 or -1 before normalization;
	// there are few enough to try all.
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

// parseInertial reads one YAML file, as Parse does.
func parseInertial(data []byte, source string) (*Inertial, error) {
	j := &Inertial{}
	d := decode(data, source, j)
	j.check(d)
	return yaml.Valid(d, j)
}

// Encode returns j as the YAML that parseInertial reads; the same j gives the same bytes.
func (j *Inertial) Encode() []byte {
	var b bytes.Buffer
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	p("# true = (measured - offset) * scale, in the chip's axes\n")
	p("sensor: %q\nmodel: %q\nmethod: %s\ndate: %q\nversion: %d\n", j.Sensor, j.Model, j.Method,
		j.Date.UTC().Format(time.RFC3339), j.Version)
	p("axes: [%s, %s, %s]\n", j.Axes[0], j.Axes[1], j.Axes[2])
	triple := func(v [3]float64) string {
		return "[" + strings.Join([]string{plain(v[0]), plain(v[1]), plain(v[2])}, ", ") + "]"
	}
	for _, c := range []struct {
		key string
		is  *Correction
	}{{"gyro", &j.Gyro}, {"accelerometer", &j.Accelerometer}, {"magnetometer", &j.Magnetometer}} {
		p("%s: {offset: %s, scale: %s", c.key, triple(c.is.Offset), triple(c.is.Scale))
		if c.is.Cross != ([3]float64{}) {
			p(", cross: %s", triple(c.is.Cross))
		}
		p("}\n")
	}
	if j.Chip != "" {
		p("chip: %q\n", j.Chip)
	}
	return b.Bytes()
}

// Validate reports everything that is wrong with j at once, or nil.
func (j *Inertial) Validate() error { return valid(j.Encode(), parseInertial) }

// SaveInertial writes j to path, as Save does.
func SaveInertial(path string, j *Inertial) (kept string, err error) {
	return save(path, j, parseInertial)
}

func (j *Inertial) version() *int { return &j.Version }

// LoadInertial reads and checks the file at path. A missing file is hal.Uncalibrated, a bad one hal.Invalid.
func LoadInertial(path string) (*Inertial, error) { return load(path, "sensor", parseInertial) }

// chipBytes is the length of a BNO055's calibration: offsets of three sensors and two radii.
const chipBytes = 22

// check adds faults between keys, and impossible offsets: a gyro by 35 °/s, an accelerometer by 2 g, a magnetometer by
// 10 times the earth's field.
func (j *Inertial) check(d *yaml.Document) {
	if b, err := hex.DecodeString(j.Chip); err != nil || len(b) != 0 && len(b) != chipBytes {
		d.Add("chip", yaml.Quote(j.Chip), fmt.Sprintf("%d hexadecimal digits", 2*chipBytes), "")
	}
	if _, ok := j.Mount(); !ok && d.Clean("axes") {
		d.Add("axes", fmt.Sprint(j.Axes), "x, y and z in some order with signs that make a rotation, not a mirror", "")
	}
	for _, c := range [...]struct {
		at    yaml.Path
		is    *Correction
		limit float64
	}{{"gyro.offset", &j.Gyro, 0.6}, {"accelerometer.offset", &j.Accelerometer, 20},
		{"magnetometer.offset", &j.Magnetometer, 1e-3}} {
		for i, x := range c.is.Offset {
			d.Within(c.at.Index(i), x, -c.limit, c.limit)
		}
		if s := c.is; s.Cross != ([3]float64{}) && !positive(s.matrix()) {
			d.Add(c.at.Parent().Key("cross"), fmt.Sprint(s.Cross),
				"values that keep scale and cross a positive definite matrix", "")
		}
	}
}

// positive reports whether the symmetric matrix m is positive definite.
func positive(m [3][3]float64) bool {
	minor := m[0][0]*m[1][1] - m[0][1]*m[0][1]
	det := m[2][2]*minor - m[0][0]*m[1][2]*m[1][2] - m[1][1]*m[0][2]*m[0][2] + 2*m[0][1]*m[1][2]*m[0][2]
	return m[0][0] > 0 && minor > 0 && det > 0
}
