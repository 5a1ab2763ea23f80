package assembly

import (
	"errors"
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/model"
)

// The bounds of settable values: far beyond any robot, but small enough that the physics stays finite.
const (
	minMass, maxMass         = 1e-6, 1e6 // kg
	minLength, maxLength     = 1e-4, 1e3 // m
	maxFriction              = 1e3       // a coefficient, N, N·m or N·m·s/rad
	minStrength, maxStrength = 0.01, 100.0
	maxAngle                 = 360.0 // degrees
	maxVolts                 = 60.0  // V, of a supply
	maxOhms                  = 100.0
)

// parameter is one number of a T that may be set from low to high.
type parameter[T any] struct {
	name      string
	low, high float64
	at        func(*T) *float64
}

// linkParameters are the parameters of every joint.
func linkParameters() []parameter[model.Linkage] {
	// Not Friction: a body may have the joint's name, and its surface is called that.
	return []parameter[model.Linkage]{
		{"JointFriction", 0, maxFriction, func(l *model.Linkage) *float64 { return &l.Friction }},
		{"JointDamping", 0, maxFriction, func(l *model.Linkage) *float64 { return &l.Damping }},
	}
}

// jointParameters are the parameters of a joint with a motor: friction and damping only if it connects bodies.
func jointParameters(j *model.Joint) []parameter[model.Joint] {
	list := []parameter[model.Joint]{{"MotorStrength", minStrength, maxStrength,
		func(j *model.Joint) *float64 { return &j.Strength }}}
	if j.Child != hal.None {
		for _, f := range linkParameters() {
			list = append(list, parameter[model.Joint]{f.name, f.low, f.high,
				func(j *model.Joint) *float64 { return f.at(&j.Linkage) }})
		}
	}
	return list
}

// declare declares the value f. now returns its owner, nil once that is removed, and change changes it.
func declare[T any](values declarer, prefix string, f *parameter[T], now func() *T, change func(func(*T)) error) {
	at := f.at
	declareNumber(values, prefix+f.name, f.low, f.high, now, func(t *T) float64 { return *at(t) },
		func(x float64) error { return change(func(t *T) { *at(t) = x }) })
}

// declareNumber declares a number that may be set from low to high.
func declareNumber[T any](values declarer, name string, low, high float64, now func() *T, get func(*T) float64,
	set func(float64) error) {
	values.Declare(name, hal.DoubleValue, func() hal.Value {
		if t := now(); t != nil {
			return hal.Value{Kind: hal.DoubleValue, Double: get(t)}
		}
		return gone(hal.DoubleValue)
	}, func(x hal.Value) error {
		// OSP rejects NaN, but other protocols may set a value too.
		if now() == nil {
			return errGone
		}
		if err := within(name, x.Double, low, high); err != nil {
			return err
		}
		return set(x.Double)
	})
}

// errGone reports that the owner of a value is not in the scene any more.
var errGone = errors.New("got a value of what is not there any more")

// gone returns the reading of such a value.
func gone(kind hal.ValueKind) hal.Value {
	nan := math.NaN()
	return hal.Value{Kind: kind, Double: nan, Vector: [4]float64{nan, nan, nan, nan}}
}

func vector(v [3]float64) hal.Value {
	return hal.Value{Kind: hal.VectorValue, Vector: [4]float64{v[0], v[1], v[2]}}
}

// within checks that x is a number from low to high.
func within(what string, x, low, high float64) error {
	if !(x >= low && x <= high) {
		return fmt.Errorf("%s: got %g, want %g..%g", what, x, low, high)
	}
	return nil
}

// unitQuaternion gives q the length 1. Text of few digits is never quite of length 1.
func unitQuaternion(q [4]float64) ([4]float64, error) {
	n := math.Sqrt(q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3])
	if !(n > 0.9 && n < 1.1) {
		return q, fmt.Errorf("orientation: got %v, want a unit quaternion", q)
	}
	for i := range q {
		q[i] /= n
	}
	return q, nil
}
