package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/internal/catalog"
)

// ranges checks that an inertial chip supports the ranges of the config.
func (r *Resolver) ranges(at configs.Path, c *configs.Sensor) bool {
	var gyro, acc []imu.Range
	switch {
	case strings.HasPrefix(c.Device, "lsm6"):
		gyro, acc = imu.LSM6GyroRanges(), imu.LSM6AccRanges(c.Device == catalog.LSM6DSO32)
	case slices.ContainsFunc(imu.MPUModels(), func(m imu.MPUModel) bool { return m.Name == c.Device }):
		gyro, acc = imu.MPUGyroRanges(), imu.MPUAccRanges()
	default:
		return true
	}
	check := func(key string, got float64, ranges []imu.Range) bool {
		var of []float64
		for _, x := range ranges {
			of = append(of, x.Full)
		}
		if slices.Contains(of, got) {
			return true
		}
		slices.Sort(of)
		r.fault(at.Key(key), fmt.Sprint(got), "one of "+strings.Trim(fmt.Sprint(of), "[]"), "")
		return false
	}
	ok := check("gyro_range", c.GyroRange, gyro)
	return check("acceleration_range", c.AccRange, acc) && ok
}

// input finds the sensors on other inputs of p's chip, and reports a sensor on the same input.
func (r *Resolver) input(at configs.Path, p *catalog.SensorPlan) bool {
	for _, other := range r.devices.Sensors {
		if other.Config.Device != p.Config.Device || other.Config.Bus != p.Config.Bus || other.Address != p.Address {
			continue
		}
		if other.Config.Input == p.Config.Input {
			r.fault(at.Key("input"), fmt.Sprint(p.Config.Input), "an input of its own",
				fmt.Sprintf("%s of the same chip has it too", other.Name))
			return false
		}
		if p.First == nil && other.Body == p.Body {
			p.First = other
		}
	}
	return true
}
