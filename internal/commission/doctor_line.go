package commission

import (
	"github.com/halyard-robotics/halyard/hal"
)

// Tries is how often a tool asks before it takes silence for an answer.
const Tries = 3

// Insist repeats what a line may have lost. What the servo itself refuses is repeated in vain, which does no harm.
func Insist(try func() error) error {
	var err error
	for range Tries {
		if err = try(); hal.KindOf(err) != hal.Timeout && hal.KindOf(err) != hal.BusFault {
			break
		}
	}
	return err
}

const EchoFix = "use an adapter that switches direction by itself, or one with its receiver off while it sends"
