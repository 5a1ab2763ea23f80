package catalog

import (
	"sync"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/drivers/gpio"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/kinematics"
)

// SensorPlan is a device that measures, resolved: it serves sensors of one robot, or is watched.
type SensorPlan struct {
	Agent       int
	Name        string // of its first use, or of the monitor
	Config      configs.Sensor
	Kind        *SensorKind
	Address     int // 0 on a serial line
	Body        configs.BodyKind
	Calibration *calibration.Inertial // nil: it has the axes of its mount
	Truth       *calibration.Inertial // of an emulated one; nil: as calibrated
	Uses        []Use                 // empty: a monitor
	Serial      bool
	Most        float64    // of the robot's sensor: the greatest value of its first channel
	Turn        *gpio.Turn // of sonars: the robot's
	Scanner     *scanner   // of a laser scanner

	First *SensorPlan // the first sensor on another input of the same chip; nil: none
	taken sync.Mutex  // of a chip with several inputs: held while one is read
}

// Values is how many the device measures.
func (p *SensorPlan) Values() int {
	if p.Scanner != nil {
		return p.Scanner.rays
	}
	return p.Kind.Values
}

// Use is one sensor of the robot and the first of the device's values that is its.
type Use struct {
	Sensor string
	First  int
}

// mounted is how an inertial sensor lies.
func (p *SensorPlan) mounted() *calibration.Inertial {
	if p.Calibration == nil {
		return calibration.NominalInertial(p.Name, p.Config.Device)
	}
	return p.Calibration
}

// truly is how an emulated inertial sensor really is.
func (p *SensorPlan) truly() *calibration.Inertial {
	if p.Truth == nil {
		return p.mounted()
	}
	return p.Truth
}

// fused is a chip without an attitude of its own, with one.
func (p *SensorPlan) fused(raw drivers.Sensor, clock hal.Clock) drivers.Sensor {
	return drivers.NewAHRS(raw, p.mounted(), clock, kinematics.AttitudeConfig{})
}

// chip is the lock to hold while reading an input of p's chip.
func (p *SensorPlan) chip() *sync.Mutex {
	if p.First != nil {
		return &p.First.taken
	}
	return &p.taken
}

// Look is the true state of a simulated robot.
type Look struct {
	Body  hal.Body
	Frame *hal.Frame
}

// Size is how many channels a board has that is sold.
func (p *BoardPlan) Size() int {
	for _, n := range p.Kind.Channels {
		if n >= p.Channels {
			return n
		}
	}
	return p.Channels
}

// StandardGravity is the original's, m/s².
const StandardGravity = 9.81
