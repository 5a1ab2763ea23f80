package identify

import (
	"math"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/sim/actuator"
)

// recorders are names of servos in BAM's recordings, and the models that they may be.
var recorders = map[string][]string{
	"mx28": {"mx-28", "mx-28-2"}, "mx64": {"mx-64", "mx-64-2"}, "mx106": {"mx-106", "mx-106-2"}, "xl320": {"xl-320"},
	"xl330": {"xl330-m288", "xl330-m077"}, "xl330i": {"xl330-m288", "xl330-m077"},
	"feetech_sts3215_7_4v": {"sts3215"}, "ax12": {"ax-12a"},
}

// fits refuses a recording of another servo than spec.
func (r *Run) fits(spec *actuator.Spec) error {
	motor := strings.ToLower(r.Motor)
	models := append(slices.Clone(recorders[motor]), motor)
	if !slices.Contains(models, spec.Name) && !slices.Contains(models, strings.TrimSuffix(spec.Name, "-2")) {
		return refuse(r.Name, "motor: got a recording of %q, want one of %s", r.Motor, spec.Name)
	}
	// A bench may go somewhat beyond the rated voltage; twice of it is another servo's supply.
	if low, high := 0.7*spec.MinVolts, 1.4*spec.MaxVolts; r.Volts < low || r.Volts > high {
		return refuse(r.Name, "vin: got %g V, want %.3g..%.3g V of %s: another servo's recording?", r.Volts, low, high,
			spec.Name)
	}
	if full := fullLoad(spec); full > 0 {
		for i := range r.Samples {
			if l := signed(r.Samples[i].Load); math.Abs(l) > full {
				return refuse(r.Name, "entries[%d].load: got %g, want at most %g of %s: another servo's register?", i,
					r.Samples[i].Load, full, spec.Name)
			}
		}
	}
	return r.onGrid(spec)
}

// onGrid refuses positions that lie on the ticks of another encoder. Positions between ticks are accepted: the
// recording may be interpolated.
func (r *Run) onGrid(spec *actuator.Spec) error {
	share := func(ticksPerTurn float64) float64 {
		n := 0
		for i := range r.Samples {
			ticks := r.Samples[i].Position * ticksPerTurn / (2 * math.Pi)
			if math.Abs(ticks-math.Round(ticks)) < 0.02 {
				n++
			}
		}
		return float64(n) / float64(len(r.Samples))
	}
	if share(spec.TicksPerTurn) > 0.5 {
		return nil
	}
	for _, name := range actuator.Names() {
		other, _ := actuator.Lookup(name)
		if other.TicksPerTurn < spec.TicksPerTurn && share(other.TicksPerTurn) > 0.95 {
			return refuse(r.Name, "position: got steps of 1/%.4g turn, as of %s, want 1/%g turn of %s",
				other.TicksPerTurn, name, spec.TicksPerTurn, spec.Name)
		}
	}
	return nil
}

// fullLoad is the load register at full drive, 0 where the register is no duty.
func fullLoad(spec *actuator.Spec) float64 {
	if spec.Firmware == actuator.X {
		return 885
	}
	return 0
}

// signed is a register of 16 bits, read without its sign, as a number with sign.
func signed(register float64) float64 {
	if register > 32767 {
		return register - 65536
	}
	return register
}

// Duty is the drive of a sample from the servo's own register, -1..1; NaN if the recording or the servo has none.
func (s *Sample) Duty(spec *actuator.Spec) float64 {
	full := fullLoad(spec)
	if full == 0 || math.IsNaN(s.Load) {
		return math.NaN()
	}
	return signed(s.Load) / full
}
