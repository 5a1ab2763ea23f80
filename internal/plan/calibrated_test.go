package plan

import (
	"testing"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// A calibration's gear and delay of the torque are those of the simulated servo; without either it is the shared one.
func TestCalibratedServo(t *testing.T) {
	spec, _ := actuator.Lookup("sts3215")
	c := calibration.Nominal("j", calibration.Servo{Model: spec.Name, ID: 1}, calibration.Model{TicksPerTurn: 4096})
	if calibratedServo(spec, c) != spec {
		t.Error("a nominal calibration changed the servo")
	}
	c.Gear, c.Torque.Delay = 2, 0.05
	k := calibratedServo(spec, c)
	if k.StallTorque != 2*spec.StallTorque || k.NoLoadSpeed != spec.NoLoadSpeed/2 || k.Kt != 2*spec.Kt ||
		k.TorqueDelay != 0.05 || spec.TorqueDelay != 0 {
		t.Errorf("got %+v", k)
	}
}
