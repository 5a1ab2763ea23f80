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
	var gyro, acc []float64
	switch {
	case c.Device == "lsm6dsox":
		for _, x := range imu.LSM6GyroRanges() {
			gyro = append(gyro, x.Full)
		}
		for _, x := range imu.LSM6AccRanges() {
			acc = append(acc, x.Full)
		}
	case slices.ContainsFunc(imu.MPUModels(), func(m imu.MPUModel) bool { return m.Name == c.Device }):
		for _, x := range imu.MPUGyroRanges() {
			gyro = append(gyro, x.Full)
		}
		for _, x := range imu.MPUAccRanges() {
			acc = append(acc, x.Full)
		}
	default:
		return true
	}
	check := func(key string, got float64, of []float64) bool {
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
			r.fault(at.Key("input"), fmt.Sprint(p.Config.Input), "an input of its own", fmt.Sprintf("%s of the same chip has it too", other.Name))
			return false
		}
		if p.First == nil && other.Body == p.Body {
			p.First = other
		}
	}
	return true
}
