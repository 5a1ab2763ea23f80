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
	// Latest copies the newest good values into dst, from the source's value first on, and reports how old they are (< 0:
	// there are none) and what is wrong now. It does not wait.
	Latest(dst []float64, first int) (age time.Duration, err error)
	Values() int // how many it has
}

// sense is one sensor of the layout.
type sense struct {
	name   string
	source Source // nil: nothing here drives it
	first  int    // which of the source's values is the sensor's first
	last   lastFault
}

// AttachSensor gives the layout's sensor called name the values of p, a Poller's mostly, from its value first on. It is
// called before the body is in a rig. One device may serve several sensors: an IMU's gyro and accelerometer, say.
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

// same reports whether b is a, where that can be told without a panic: == may panic on a struct that holds a slice, say.
// reflect.Value's Comparable would tell more, and allocates.
func same(a, b error) bool {
	t := reflect.TypeOf(b)
	return t != nil && t.Comparable() && t.Kind() != reflect.Struct && t.Kind() != reflect.Array && a == b
}
