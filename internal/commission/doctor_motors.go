package commission

import (
	"errors"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// FaultsOf splits the error of opening a chain by servo id; unplaced has the rest.
func FaultsOf(err error) (faults map[int]*hal.Error, unplaced error) {
	faults = map[int]*hal.Error{}
	all := []error{err}
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		all = j.Unwrap()
	}
	for _, one := range all {
		var e *hal.Error
		switch {
		case one == nil:
		case errors.Is(one, servo.ErrDisconnected) || !errors.As(one, &e):
			return nil, one
		default:
			faults[e.ID] = e
		}
	}
	return faults, nil
}
