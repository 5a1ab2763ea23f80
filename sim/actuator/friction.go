package actuator

import (
	"math"

	"github.com/halyard-robotics/halyard/internal/sim/exact"
)

// Friction is the friction of a gear at its output shaft: one of the models of Rhoban's BAM (arXiv 2410.08650).
// With s = exp(-|ω/Dqs|^Alpha), te the torque of the load and tm that of the motor, the greatest friction is
//
//	M1  Kb + Kv·|ω|
//	M2  M1 + s·Ks
//	M3  M1 + Kl·|te - tm|
//	M4  M1 + s·Ks + |te - tm|·(Kl + s·Kls)
//	M5  M1 + s·Ks + |Ke·te - Km·tm| + s·|Kes·te - Kms·tm|
//	M6  M5 + s·(Keq·te² if |te| < |tm|, Kmq·tm² if |te| > |tm|), if te and tm have opposite signs
//
// M3 to M6 also add Kq·(te - tm)², which BAM does not have: recordings of strongly loaded gears require it.
//
// Parameters that a model does not name are ignored. Torques in N·m, speeds in rad/s.
type Friction struct {
	Model      int // 1..6
	Kb, Ks, Kv float64
	Kl, Kls    float64
	Km, Ke     float64
	Kms, Kes   float64
	Kmq, Keq   float64
	Kq         float64 // 1/(N·m)
	Dqs, Alpha float64
}

// Bound returns the greatest dry friction, N·m, and the viscous coefficient, N·m·s/rad, when the motor gives motor and
// the load external, both in N·m with the sign of the angle they push to, at velocity rad/s.
func (f *Friction) Bound(motor, external, velocity float64) (dry, viscous float64) {
	dry = f.Kb
	load := math.Abs(external - motor)
	switch {
	case f.Model >= 5:
		dry += math.Abs(float64(f.Ke*external) - float64(f.Km*motor))
	case f.Model >= 3:
		dry += float64(f.Kl * load)
	}
	if f.Model >= 3 && f.Kq != 0 {
		dry += float64(f.Kq * load * load)
	}
	if s := f.stribeck(velocity); s > 0 {
		extra := f.Ks
		switch {
		case f.Model == 4:
			extra += float64(f.Kls * load)
		case f.Model >= 5:
			extra += math.Abs(float64(f.Kes*external) - float64(f.Kms*motor))
		}
		if f.Model == 6 && sign(external) != sign(motor) {
			if e, m := math.Abs(external), math.Abs(motor); e < m {
				extra += float64(f.Keq * e * e)
			} else if e > m {
				extra += float64(f.Kmq * m * m)
			}
		}
		dry += float64(s * extra)
	}
	return dry, f.Kv
}

// stribeck is 1 at rest and falls to 0 as the shaft turns faster; always 0 in the models without it.
func (f *Friction) stribeck(velocity float64) float64 {
	if f.Model == 1 || f.Model == 3 {
		return 0
	}
	if velocity == 0 || !(f.Dqs > 0) {
		return 1
	}
	x := math.Abs(velocity) / f.Dqs
	if f.Alpha != 1 {
		x = exact.Pow(x, f.Alpha)
	}
	return exact.Exp(-x)
}

func sign(x float64) int {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}
