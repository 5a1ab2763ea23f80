package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
)

// part is the place of a quantity in the values of a kind of sensor.
type part struct {
	kind         string
	first, count int
}

// quantities are the parts of sensors that give a term, the best first. A world part is turned into the base's axes by
// the attitude of the same sensor.
var quantities = map[string][]part{
	"base_ang_vel": {{"imu", 4, 3}, {"gyro", 0, 3}}, "base_lin_acc": {{"imu", 7, 3}, {"accelerometer", 0, 3}},
	"projected_gravity": {{"imu", 0, 4}, {"pose", 3, 4}}, "base_lin_vel": {{"pose", 7, 3}},
	"foot_contact": {{"contact", 0, 1}}, "height_scan": {{"range", 0, 0}},
}

// sensed finds the sensors of a term.
func (d *Driver) sensed(t *term) error {
	l := d.layout
	var found []int
	var at []part
	for _, p := range quantities[t.Term] {
		for i := range l.Sensors {
			s := &l.Sensors[i]
			if s.Kind == p.kind && s.Count >= p.first+p.count &&
				(len(t.Sensors) == 0 || slices.Contains(t.Sensors, s.Name)) &&
				(len(found) == 0 || t.Term == "foot_contact") {
				found, at = append(found, i), append(at, p)
			}
		}
	}
	if t.Term == "sensor" || t.Term == "foot_contact" && len(t.Sensors) > 0 {
		found, at = nil, nil
		for _, name := range t.Sensors { // in the order of the config
			i := slices.IndexFunc(l.Sensors, func(s hal.Sensor) bool { return s.Name == name })
			if i < 0 {
				return fmt.Errorf("got sensor %.60q, want one of the robot", name)
			}
			found, at = append(found, i), append(at, part{l.Sensors[i].Kind, 0, l.Sensors[i].Count})
		}
	}
	if len(found) == 0 {
		var want []string
		for _, p := range quantities[t.Term] {
			want = append(want, p.kind)
		}
		return fmt.Errorf("the robot has no sensor for it, want one of kind %s", strings.Join(want, " or "))
	}
	for k, i := range found {
		if at[k].count == 0 {
			at[k].count = l.Sensors[i].Count
		}
		t.size += at[k].count
		t.devices = append(t.devices, len(l.Actuators)+i)
	}
	s := &l.Sensors[found[0]]
	first, mount := s.First+at[0].first, s.Mount.Rotation
	attitude := s.First
	if s.Kind == "pose" {
		attitude += 3
	}
	switch t.Term {
	case "base_ang_vel", "base_lin_acc":
		t.fill = func(dst, m []float64) { put(dst, turned(mount, [3]float64(m[first:first+3]))) }
	case "base_lin_vel":
		t.fill = func(dst, m []float64) {
			v := against([4]float64(m[attitude:attitude+4]), [3]float64(m[first:first+3]))
			put(dst, turned(mount, v))
		}
	case "projected_gravity":
		t.size = 3
		t.fill = func(dst, m []float64) {
			v := against([4]float64(m[attitude:attitude+4]), [3]float64{0, 0, -1})
			put(dst, turned(mount, v))
		}
	default:
		t.fill = func(dst, m []float64) {
			n := 0
			for k, i := range found {
				from := l.Sensors[i].First + at[k].first
				n += copy(dst[n:], m[from:from+at[k].count])
			}
		}
	}
	return nil
}

func put(dst []float64, v [3]float64) { dst[0], dst[1], dst[2] = v[0], v[1], v[2] }

// turned is v turned by a unit quaternion (w, x, y, z); the zero one is the identity.
func turned(q [4]float64, v [3]float64) [3]float64 {
	if q == [4]float64{} {
		return v
	}
	w, x, y, z := q[0], q[1], q[2], q[3]
	t := [3]float64{2 * (y*v[2] - z*v[1]), 2 * (z*v[0] - x*v[2]), 2 * (x*v[1] - y*v[0])}
	v[0] += w*t[0] + y*t[2] - z*t[1]
	v[1] += w*t[1] + z*t[0] - x*t[2]
	v[2] += w*t[2] + x*t[1] - y*t[0]
	return v
}

// against is v turned back by q.
func against(q [4]float64, v [3]float64) [3]float64 {
	return turned([4]float64{q[0], -q[1], -q[2], -q[3]}, v)
}
