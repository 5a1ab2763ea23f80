package calibration

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

// Encode returns j as the YAML that ParseInertial reads; the same j gives the same bytes.
func (j *Inertial) Encode() []byte {
	var b bytes.Buffer
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	p("# true = (measured - offset) * scale, in the chip's axes\n")
	p("sensor: %q\nmodel: %q\nmethod: %s\ndate: %q\nversion: %d\n", j.Sensor, j.Model, j.Method, j.Date.UTC().Format(time.RFC3339), j.Version)
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
func (j *Inertial) Validate() error { return valid(j.Encode(), ParseInertial) }

// SaveInertial writes j to path, as Save does.
func SaveInertial(path string, j *Inertial) (kept string, err error) {
	return save(path, j, ParseInertial)
}

func (j *Inertial) version() *int { return &j.Version }
