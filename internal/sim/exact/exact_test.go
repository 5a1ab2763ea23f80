package exact

import (
	"math"
	"testing"
)

func TestAgainstMath(t *testing.T) {
	cases := []struct {
		name      string
		got, want func(float64) float64
		from, to  float64
		ulps      float64 // allowed, of the result
		absolute  float64 // allowed near a zero of the function
	}{
		{"sin", Sin, math.Sin, -20, 20, 2, 1e-16},
		{"cos", Cos, math.Cos, -20, 20, 2, 1e-16},
		{"sin far", Sin, math.Sin, 1e5, 1e5 + 10, 4, 1e-13},
		{"exp", Exp, math.Exp, -100, 100, 4, 0},
		{"log", Log, math.Log, 1e-9, 50, 4, 1e-16},
		{"pow 1.334", func(x float64) float64 { return Pow(x, 1.334) },
			func(x float64) float64 { return math.Pow(x, 1.334) }, 0, 30, 40, 0},
		{"pow 8.68", func(x float64) float64 { return Pow(x, 8.68) },
			func(x float64) float64 { return math.Pow(x, 8.68) }, 0, 3, 100, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			const n = 20011
			for i := range n {
				x := c.from + (c.to-c.from)*float64(i)/(n-1)
				got, want := c.got(x), c.want(x)
				limit := c.absolute + c.ulps*math.Abs(want)*0x1p-52
				if !(math.Abs(got-want) <= limit) {
					t.Fatalf("f(%v): got %v, want %v", x, got, want)
				}
			}
		})
	}
}

func TestEdges(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if got := Sin(x); !math.IsNaN(got) {
			t.Errorf("Sin(%v): got %v, want NaN", x, got)
		}
	}
	if got := Exp(math.NaN()); !math.IsNaN(got) {
		t.Errorf("Exp(NaN): got %v", got)
	}
	if got := Exp(-1000); got != 0 {
		t.Errorf("Exp(-1000): got %v, want 0", got)
	}
	if got := Exp(1000); !math.IsInf(got, 1) {
		t.Errorf("Exp(1000): got %v, want +Inf", got)
	}
	if Sin(0) != 0 || Cos(0) != 1 || Exp(0) != 1 || Log(1) != 0 || Pow(0, 2) != 0 {
		t.Error("the exact points are not exact")
	}
}

// The bits themselves, as computed on amd64; they must be the same everywhere.
func TestBits(t *testing.T) {
	var h uint64
	for i := range 1000 {
		x := float64(float64(i) * 0.0371) // rounded, so that x + 0.5 is not fused
		for _, v := range []float64{Sin(x), Cos(x), Exp(-x), Log(x + 0.5), Pow(x, 1.7)} {
			h = (h ^ math.Float64bits(v)) * 0x100000001b3
		}
	}
	const want = 0xa3833e40dde15bc9
	if h != want {
		t.Errorf("hash: got %#x, want %#x", h, uint64(want))
	}
}
