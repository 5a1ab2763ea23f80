package actuator

import (
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
)

// drooping is an XL330 whose resistance rises with the duty.
func drooping(droop float64) *Spec {
	k, _ := Lookup("xl330-m288")
	c := *k
	c.Droop = droop
	return &c
}

// The torque that a held shaft gets per duty falls as the duty rises, and only with a droop.
func TestDroopWeakensFullDrive(t *testing.T) {
	perDuty := func(droop, duty float64) float64 {
		s := onDuty(drooping(droop), duty)
		s.Step(ms)
		return s.Control(ms).Torque / duty
	}
	if low, full := perDuty(0, 0.1), perDuty(0, 1); math.Abs(full/low-1) > 1e-12 {
		t.Errorf("without droop: torque per duty falls from %g to %g", low, full)
	}
	r := drooping(0).R
	want := (r + 1.7*0.01) / (r + 1.7)
	if low, full := perDuty(1.7, 0.1), perDuty(1.7, 1); math.Abs(full/low-want) > 1e-12 {
		t.Errorf("with 1.7 Ω: full drive has %g of the torque per duty of a tenth, want %g", full/low, want)
	}
}

// A current regulator finds the duty at which its current flows, whether it measures the winding or the supply.
func TestDroopUnderCurrentControl(t *testing.T) {
	for _, supply := range []bool{false, true} {
		for _, amps := range []float64{-0.9, -0.1, 0, 0.2, 0.6} {
			k := drooping(1.7)
			k.SupplyCurrent = supply
			s := NewServo(k)
			s.Supply = NewSupply(6, 0)
			s.Enable, s.Mode, s.GoalCurrent = true, hal.TorqueMode, amps
			s.Step(1e-9) // no time to move in
			if got := s.MeasuredCurrent(); math.Abs(got-amps) > 1e-9 {
				t.Errorf("supply %v: got %g A at duty %g, want %g", supply, got, s.Duty, amps)
			}
			if got := s.Duty * 6 / (k.R + 1.7*s.Duty*s.Duty); math.Abs(got-s.Current) > 1e-6 {
				t.Errorf("supply %v: duty %g drives %g A, want the winding's %g", supply, s.Duty, got, s.Current)
			}
		}
	}
	// More than can flow ends at full drive.
	k := drooping(1.7)
	s := NewServo(k)
	s.Enable, s.Mode, s.GoalCurrent = true, hal.TorqueMode, 50
	s.Step(ms)
	if s.Duty != k.MaxDuty {
		t.Errorf("50 A: got duty %g, want %g", s.Duty, k.MaxDuty)
	}
}
