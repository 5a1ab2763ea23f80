package calibrate

import (
	"context"
	"slices"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
)

// Check compares the servos of a config with their calibrations: identity, homing offset, firmware, range and, if the
// robot is in its rest pose, drift. It returns the doctor's findings of those checks. No joint moves.
func Check(ctx context.Context, config string, o configs.Options) (*doctor.Examination, error) {
	d, err := doctor.Load(config, o, nil)
	if err != nil {
		return nil, err
	}
	if err := d.Run(ctx); err != nil {
		return nil, err
	}
	d.Found = slices.DeleteFunc(d.Found, func(f doctor.Finding) bool {
		return !slices.Contains([]string{"calibration", "drift", "id", "model", "servo"}, f.Check)
	})
	return d, nil
}
