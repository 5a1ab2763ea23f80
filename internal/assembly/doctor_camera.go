package assembly

import (
	"errors"

	"github.com/halyard-robotics/halyard/hal"
)

// Fix is what helps against err.
func (q *CameraPlan) Fix(err error) string {
	key := "hardware.cameras." + q.Name
	var known *hal.Error
	switch errors.As(err, &known); {
	case known != nil && known.Kind == hal.Invalid:
		return "set the keys of " + key + " to what it offers"
	case known != nil && known.Kind != hal.Absent && known.Try != "":
		return known.Try
	}
	return "plug it in, or put its name into " + key + ".port: ls /dev/v4l/by-id"
}
