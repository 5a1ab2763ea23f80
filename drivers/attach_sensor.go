package drivers

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

var errUndriven = errors.New("no device drives it")

// Source provides a sensor's values: a Poller, or a driven device that also measures.
type Source interface {
	// Latest copies the newest good values into dst, from the source's value first on. It returns their age (< 0: no
	// values yet) and the present error. It does not wait.
	Latest(dst []float64, first int) (age time.Duration, err error)
	Values() int // how many it has
}

// sense is one sensor of the layout.
type sense struct {
	name   string
	source Source // nil: not connected to a device here
	first  int    // which of the source's values is the sensor's first
	last   lastFault
}

// AttachSensor connects the layout's sensor called name to the values of p, usually a Poller, from its value first on.
// Call it before the body is in a rig. One device may serve several sensors, for example an IMU's gyro and
// accelerometer.
func (b *Body) AttachSensor(name string, p Source, first int) error {
	for i := range b.senses {
		s, count := &b.senses[i], b.layout.Sensors[i].Count
		switch {
		case s.name != name:
		case first < 0 || first+count > p.Values():
			return &hal.Error{Kind: hal.Invalid, Op: "sensor " + name,
				Err: fmt.Errorf("values: got %d of the device's from %d on, want within %d", count, first, p.Values())}
		default:
			s.source, s.first = p, first
			return nil
		}
	}
	return &hal.Error{Kind: hal.Invalid, Op: "sensor " + name, Err: errors.New("the layout has none of that name")}
}

func (s *sense) read(f *hal.Frame, at *hal.Sensor) hal.Status {
	age, err := time.Duration(-1), errUndriven
	if s.source != nil {
		age, err = s.source.Latest(f.Measured[at.First:at.First+at.Count], s.first)
	}
	if !s.last.is(err) {
		s.last = lastFault{err, s.explain(err)}
	}
	return hal.Status{Time: since(f.Time, age), Err: s.last.fault}
}

// explain adds the sensor's name to err and keeps the driver's bus, address and remedy.
func (s *sense) explain(err error) error {
	e := hal.Error{Kind: hal.BusFault, Err: err, Try: "halyard doctor"}
	switch known, ok := err.(*hal.Error); {
	case ok:
		e = *known
	case err == errUndriven:
		e.Kind, e.Try = hal.Absent, ""
	case err == errStale:
		e.Kind = hal.Timeout
	}
	e.Op = "sensor " + s.name
	if known, ok := err.(*hal.Error); ok && known.Op != "" {
		e.Op += ": " + known.Op
	}
	return &e
}

// same reports whether a and b are equal, if they can be compared without a panic: == may panic, for example on a
// struct with a slice. reflect.Value's Comparable would cover more types, but allocates.
func same(a, b error) bool {
	t := reflect.TypeOf(b)
	return t != nil && t.Comparable() && t.Kind() != reflect.Struct && t.Kind() != reflect.Array && a == b
}
