package actuator

import (
	"math"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
)

const ms = 0.001

// run lets n milliseconds pass.
func run(s *Servo, n int) {
	for range n {
		s.Step(ms)
		if s.Supply != nil {
			s.Supply.FinishStep(ms)
		}
	}
}

// onDuty is a servo of spec in duty mode, even if its firmware has no duty mode.
func onDuty(spec *Spec, duty float64) *Servo {
	s := NewServo(spec)
	s.Enable, s.Mode, s.GoalDuty = true, hal.DutyMode, duty
	s.Shutdown = 0
	return s
}

// noLoad is the speed at full voltage without a load, rad/s.
func noLoad(spec *Spec) float64 {
	s := onDuty(spec, 1)
	run(s, 3000)
	return s.Velocity
}

// stall is the greatest torque against which the servo at full voltage still begins to turn, N·m.
func stall(spec *Spec) float64 {
	low, high := 0.0, 4*spec.StallTorque
	for range 40 {
		mid := (low + high) / 2
		s := onDuty(spec, 1)
		s.Load.Inertia = 0.01
		s.External = -mid
		run(s, 20)
		if s.Position > 0 {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// Fitted servos meet the datasheet; for identified ones, which were measured as they are, the difference is shown and
// bounded widely: BAM finds less stall torque than ROBOTIS publishes, and the XL-320 slower.
func TestDatasheet(t *testing.T) {
	for _, name := range Names() {
		k, ok := Lookup(name)
		if !ok {
			t.Fatalf("%s: not found", name)
		}
		speed, torque := noLoad(k)/k.NoLoadSpeed-1, stall(k)/k.StallTorque-1
		amps := k.NominalVolts/k.R/k.StallCurrent - 1
		t.Logf("%-11s %-42s kt %.3f R %6.3f J %.5f  no load %+6.1f %%  stall %+6.1f %%  stall current %+6.1f %%",
			name, k.Fit, k.Kt, k.R, k.Armature, 100*speed, 100*torque, 100*amps)
		bound := 0.03
		if !strings.HasPrefix(k.Fit, "fit to") {
			bound = 0.85
		}
		if k.Firmware == FOC { // its controller bounds the current; a bare duty does not
			torque = k.MaxCurrent*k.Kt/k.StallTorque - 1
		}
		if math.Abs(speed) > bound || math.Abs(torque) > bound {
			t.Errorf("%s: no-load speed %+.1f %%, stall torque %+.1f %%: want within %.0f %%", name, 100*speed,
				100*torque, 100*bound)
		}
		if k.Fit == "fit to datasheet stall and no-load" && math.Abs(amps) > 0.03 {
			t.Errorf("%s: stall current: %+.1f %%", name, 100*amps)
		}
		if k.Source == "" || k.Mass <= 0 || !(k.MinVolts < k.NominalVolts && k.NominalVolts <= k.MaxVolts) ||
			k.TicksPerTurn <= 0 {
			t.Errorf("%s: incomplete: %+v", name, k)
		}
		if !k.Modes[hal.PositionMode] && k.Firmware != FOC || k.Modes[hal.TorqueMode] != k.CurrentControl ||
			k.CurrentControl != (k.MaxCurrent > 0) {
			t.Errorf("%s: modes %v with current control %v", name, k.Modes, k.CurrentControl)
		}
	}
	if _, ok := Lookup("ax-13"); ok {
		t.Error("found a servo that does not exist")
	}
}

func TestWithFriction(t *testing.T) {
	for _, c := range []struct {
		servo string
		model int
		kt, r float64
	}{
		{"mx-64", 1, 1.6225, 3.949}, {"mx-64", 4, 1.6632, 3.156}, {"mx-64-2", 6, 1.6017, 2.316},
		{"mx-106", 1, 2.1914, 2.965}, {"mx-106-2", 4, 2.2314, 2.372}, {"xl-320", 6, 1.0088, 31.59},
		{"xl330-m288", 1, 0.3867, 4.017}, {"xl330-m288", 4, 0.3862, 3.403}, {"xl330-m288", 6, 0.366, 2.811},
		{"xl330-m288", 5, 0.34631, 2.8122},
	} {
		k, _ := Lookup(c.servo)
		v, ok := k.WithFriction(c.model)
		if !ok || v.Kt != c.kt || v.R != c.r || v.Friction.Model != c.model {
			t.Errorf("%s M%d: got %v kt %g R %g M%d", c.servo, c.model, ok, v.Kt, v.R, v.Friction.Model)
		}
	}
	// The best model is the default, and a variant leaves the table alone.
	k, _ := Lookup("mx-64")
	if k.Friction.Model != 6 || k.Fit != "BAM M6" {
		t.Errorf("mx-64: got M%d, %q", k.Friction.Model, k.Fit)
	}
	if _, ok := k.WithFriction(5); ok {
		t.Error("mx-64 M5: got one, but it was never identified")
	}
}

// Every row of the table of models, by hand.
func TestFriction(t *testing.T) {
	f := Friction{
		Kb: 0.1, Ks: 0.2, Kv: 0.3, Kl: 0.05, Kls: 0.07,
		Km: 0.11, Ke: 0.13, Kms: 0.17, Kes: 0.19, Kmq: 0.01, Keq: 0.02, Dqs: 2, Alpha: 1.5,
	}
	s := math.Exp(-math.Pow(0.5, 1.5)) // at 1 rad/s
	for _, c := range []struct {
		name                string
		model               int
		tm, te, v, dry, vis float64
	}{
		{"M1", 1, 1, -2, 1, 0.1, 0.3},
		{"M2", 2, 1, -2, 1, 0.1 + s*0.2, 0.3},
		{"M2 at rest", 2, 1, -2, 0, 0.1 + 0.2, 0.3},
		{"M2 far above", 2, 1, -2, 1e6, 0.1, 0.3},
		{"M3", 3, 1, -2, 1, 0.1 + 0.05*3, 0.3},
		{"M3 pulling together", 3, 1, 1, 1, 0.1, 0.3},
		{"M4", 4, 1, -2, 1, 0.1 + s*0.2 + 3*(0.05+s*0.07), 0.3},
		{"M1, quadratic", 1, 1, -2, 1, 0.1, 0.3},
		{"M3, quadratic", 3, 1, -2, 1, 0.1 + 0.05*3 + 0.4*9, 0.3},
		{"M4, quadratic", 4, 1, -2, 1, 0.1 + s*0.2 + 3*(0.05+s*0.07) + 0.4*9, 0.3},
		{"M5", 5, 1, -2, 1, 0.1 + s*0.2 + (0.13*2 + 0.11) + s*(0.19*2+0.17), 0.3},
		{"M5 pulling together", 5, 1, 2, 1, 0.1 + s*0.2 + (0.13*2 - 0.11) + s*(0.19*2-0.17), 0.3},
		{"M6, load stronger", 6, 1, -2, 1, 0.1 + s*0.2 + (0.13*2 + 0.11) + s*(0.19*2+0.17) + s*0.01*1, 0.3},
		{"M6, motor stronger", 6, 3, -2, 1, 0.1 + s*0.2 + (0.13*2 + 0.11*3) + s*(0.19*2+0.17*3) + s*0.02*4, 0.3},
		{"M6 pulling together", 6, 1, 2, 1, 0.1 + s*0.2 + (0.13*2 - 0.11) + s*(0.19*2-0.17), 0.3},
		{"M6 backwards", 6, -1, 2, -1, 0.1 + s*0.2 + (0.13*2 + 0.11) + s*(0.19*2+0.17) + s*0.01*1, 0.3},
	} {
		f.Model = c.model
		f.Kq = 0
		if strings.HasSuffix(c.name, "quadratic") {
			f.Kq = 0.4
		}
		dry, vis := f.Bound(c.tm, c.te, c.v)
		if math.Abs(dry-c.dry) > 1e-12 || vis != c.vis {
			t.Errorf("%s: got %.15g and %g, want %.15g and %g", c.name, dry, vis, c.dry, c.vis)
		}
	}
}
