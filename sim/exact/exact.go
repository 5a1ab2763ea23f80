// Package exact has the elementary functions that a simulation step needs, with the same bits on every machine.
//
// The functions of package math do not promise that: some have assembly for one architecture and not for another, and
// the compiler may fuse a product and a sum into one rounding where the processor can (arm64, amd64 from v3 on). Here
// every product that is added to something is rounded first, by an explicit conversion, which the Go specification
// ("Floating-point operators") says prevents fusion. The error of each function is below 2 units in the last place.
package exact

import "math"

// Sin returns the sine of x, rad. |x| must stay below 1e6 for the accuracy above; NaN and infinities give NaN.
func Sin(x float64) float64 {
	k, r := reduce(x)
	switch k & 3 {
	case 0:
		return sinKernel(r)
	case 1:
		return cosKernel(r)
	case 2:
		return -sinKernel(r)
	}
	return -cosKernel(r)
}

// Cos returns the cosine of x, rad, as Sin does.
func Cos(x float64) float64 {
	k, r := reduce(x)
	switch k & 3 {
	case 0:
		return cosKernel(r)
	case 1:
		return -sinKernel(r)
	case 2:
		return -cosKernel(r)
	}
	return sinKernel(r)
}

// reduce writes x as k quarter turns and a rest within an eighth of a turn, with pi/2 in three parts of 33 bits, whose
// products with a small k are exact (Cody and Waite).
func reduce(x float64) (k int, r float64) {
	const (
		part1 = 1.57079632673412561417e+00
		part2 = 6.07710050630396597660e-11
		part3 = 2.02226624879595063154e-21
	)
	q := math.Floor(float64(x*(2/math.Pi)) + 0.5)
	if !(math.Abs(q) < 1<<30) {
		return 0, math.NaN()
	}
	r = x - float64(q*part1)
	r -= float64(q * part2)
	r -= float64(q * part3)
	return int(q), r
}

// The minimax polynomials of fdlibm for |r| <= pi/4.
func sinKernel(r float64) float64 {
	z := float64(r * r)
	p := 1.58969099521155010221e-10
	p = float64(p*z) - 2.50507602534068634195e-08
	p = float64(p*z) + 2.75573137070700676789e-06
	p = float64(p*z) - 1.98412698298579493134e-04
	p = float64(p*z) + 8.33333333332248946124e-03
	p = float64(p*z) - 1.66666666666666324348e-01
	return r + float64(float64(r*z)*p)
}

func cosKernel(r float64) float64 {
	z := float64(r * r)
	p := -1.13596475577881948265e-11
	p = float64(p*z) + 2.08757232129817482790e-09
	p = float64(p*z) - 2.75573143513906633035e-07
	p = float64(p*z) + 2.48015872894767294178e-05
	p = float64(p*z) - 1.38888888888741095749e-03
	p = float64(p*z) + 4.16666666666666019037e-02
	half := float64(0.5 * z)
	w := 1 - half
	// What was lost in 1 - half is put back.
	return w + (((1 - w) - half) + float64(float64(z*z)*p))
}

const (
	ln2High = 6.93147180369123816490e-01
	ln2Low  = 1.90821492927058770002e-10
)

// Exp returns e to the power x.
func Exp(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > 709.7:
		return math.Inf(1)
	case x < -708:
		return 0 // below the normal range
	}
	k := math.Floor(float64(x*(1/math.Ln2)) + 0.5)
	r := (x - float64(k*ln2High)) - float64(k*ln2Low)
	// Taylor; |r| <= ln 2 / 2, so the first term left out is below 1e-17.
	p := 1 + float64(r/13)
	p = 1 + float64(r*p)/12
	p = 1 + float64(r*p)/11
	p = 1 + float64(r*p)/10
	p = 1 + float64(r*p)/9
	p = 1 + float64(float64(r*p)*0.125)
	p = 1 + float64(r*p)/7
	p = 1 + float64(r*p)/6
	p = 1 + float64(r*p)/5
	p = 1 + float64(float64(r*p)*0.25)
	p = 1 + float64(r*p)/3
	p = 1 + float64(float64(r*p)*0.5)
	p = 1 + float64(r*p)
	// p is 0.7 to 1.5 and the result normal: its exponent alone changes.
	return math.Float64frombits(math.Float64bits(p) + uint64(int64(k))<<52)
}

// Log returns the natural logarithm of a normal x > 0.
func Log(x float64) float64 {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = m*2, e-1
	}
	// ln m = 2 atanh(s), |s| < 0.172
	s := (m - 1) / (m + 1)
	z := float64(s * s)
	p := 0.0
	for n := 21.0; n > 1; n -= 2 {
		p = float64(z * (1/n + p))
	}
	k := float64(e)
	return float64(k*ln2High) + (float64(2*s) + (float64(2*s*p) + float64(k*ln2Low)))
}

// Pow returns x to the power y for x >= 0 and y > 0. Its relative error is below 1e-13 as long as |y ln x| < 100.
func Pow(x, y float64) float64 {
	if x == 0 {
		return 0
	}
	return Exp(float64(y * Log(x)))
}
