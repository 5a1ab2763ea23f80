package rays

import (
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// nobody is a line that is never there.
func nobody() (servo.Line, error) {
	return nil, &hal.Error{Kind: hal.Absent, Op: "open", Err: servo.ErrGone}
}
