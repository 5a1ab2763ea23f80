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
	high, low := x-float64(k*ln2High), float64(k*ln2Low)
	r := high - low
	// The minimax polynomial of fdlibm for r (e^r + 1)/(e^r - 1), |r| <= ln 2 / 2.
	z := float64(r * r)
	p := 4.13813679705723846039e-08
	p = float64(p*z) - 1.65339022054652515390e-06
	p = float64(p*z) + 6.61375632143793436117e-05
	p = float64(p*z) - 2.77777777770155933842e-03
	p = float64(p*z) + 1.66666666666666019037e-01
	c := r - float64(z*p)
	y := 1 - ((low - float64(r*c)/(2-c)) - high)
	// y is 0.7 to 1.5 and the result normal: its exponent alone changes.
	return math.Float64frombits(math.Float64bits(y) + uint64(int64(k))<<52)
}

// Log returns the natural logarithm of x > 0.
func Log(x float64) float64 {
	// x = m 2^e, 0.5 <= m < 1
	bits := math.Float64bits(x)
	m, e := math.Float64frombits(bits&(1<<52-1)|1022<<52), int(bits>>52)-1022
	if !(x >= 0x1p-1022 && x <= math.MaxFloat64) {
		m, e = math.Frexp(x)
	}
	if m < math.Sqrt2/2 {
		m, e = m*2, e-1
	}
	// ln m = ln(1 + f), with the minimax polynomials of fdlibm for s = f/(2 + f), |s| < 0.172
	f := m - 1
	s := f / (2 + f)
	z := float64(s * s)
	w := float64(z * z)
	even := float64(w*1.531383769920937332e-01) + 2.222219843214978396e-01
	even = float64(w * (float64(w*even) + 3.999999999940941908e-01))
	odd := float64(w*1.479819860511658591e-01) + 1.818357216161805012e-01
	odd = float64(w*odd) + 2.857142874366239149e-01
	odd = float64(z * (float64(w*odd) + 6.666666666666735130e-01))
	half := float64(0.5 * float64(f*f))
	k := float64(e)
	return float64(k*ln2High) - ((half - (float64(s*(half+(even+odd))) + float64(k*ln2Low))) - f)
}

// Pow returns x to the power y for x >= 0 and y > 0. Its relative error is below 1e-13 as long as |y ln x| < 100.
func Pow(x, y float64) float64 {
	if x == 0 {
		return 0
	}
	return Exp(float64(y * Log(x)))
}
