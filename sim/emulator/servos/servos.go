// Package servos makes emulated servos and motor controllers of every vendor that Halyard drives.
//
//	motor := actuator.NewServo(spec)
//	elbow := servos.New(feetech.ModelByName("sts3215"), 1, motor, emulator.GroundTruth{})
//	bus := emulator.NewBus(emulator.BusConfig{Name: "arm", Baud: 1_000_000}, elbow)
package servos

import (
	"github.com/halyard-robotics/halyard/internal/emulator/cybergear"
	"github.com/halyard-robotics/halyard/internal/emulator/dynamixel"
	"github.com/halyard-robotics/halyard/internal/emulator/feetech"
	"github.com/halyard-robotics/halyard/internal/emulator/hiwonder"
	"github.com/halyard-robotics/halyard/internal/emulator/kondo"
	"github.com/halyard-robotics/halyard/internal/emulator/odrive"
	"github.com/halyard-robotics/halyard/internal/emulator/vesc"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// maker makes an emulated device of a model.
type maker func(m servo.Model, id int, act *actuator.Servo, truth emulator.GroundTruth) *emulator.Servo

// New returns an emulated device of model m, or nil if m is a model of another package than Halyard's vendors'. The id
// must be in the vendor's range. The device owns act's commands and backlash from then on; the caller steps act. truth
// is how the device is mounted; its zero value is without error. A model with a serial line and a CAN bus is on the
// serial line: see NewCAN.
func New(m servo.Model, id int, act *actuator.Servo, truth emulator.GroundTruth) *emulator.Servo {
	for _, try := range []maker{dynamixel.New, feetech.New, hiwonder.New, kondo.New, vesc.New, odrive.New,
		cybergear.New} {
		if s := try(m, id, act, truth); s != nil {
			return s
		}
	}
	return nil
}

// NewCAN is New for a device on a CAN bus.
func NewCAN(m servo.Model, id int, act *actuator.Servo, truth emulator.GroundTruth) *emulator.Servo {
	if s := odrive.NewCAN(m, id, act, truth); s != nil {
		return s
	}
	return cybergear.New(m, id, act, truth)
}
