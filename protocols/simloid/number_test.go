package simloid

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// TestAppendFixed compares with strconv, which rounds the exact value as the C library does.
func TestAppendFixed(t *testing.T) {
	values := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 0.0000005, 0.0000015, 1.5e-6, 2.5e-6, 0.5e-6, 1 << 52,
		1 << 53, 1 << 54,
		1e300, 5e-324, math.MaxFloat64, math.SmallestNonzeroFloat64, 0.9999995, 0.99999949999, 0.015625,
		1.0 / 128 / 128,
		0.00000762939453125, 32767.0 / 32768, -1.0 / 32768, 1e-7, 4.9999999999e-7, 5.0000000001e-7, 123456.7890125}
	random := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		values = append(values, random.NormFloat64(), random.NormFloat64()*1e-6, math.Float64frombits(random.Uint64()),
			float64(int16(random.Uint32()))/32768, math.Ldexp(float64(random.IntN(1000)), -random.IntN(140)))
	}
	for _, v := range values {
		for _, v := range []float64{v, -v} {
			want := strings.Replace(strconv.FormatFloat(v, 'f', 6, 64), "NaN", "nan", 1)
			if got := string(appendFixed(nil, v)); got != want {
				t.Fatalf("%b (%g): got %s, want %s", v, v, got, want)
			}
		}
	}
}

func TestNumber(t *testing.T) {
	for token, want := range map[string]float64{"0.5": 0.5, "-1": -1, "+2": 2, "1e-3": 0.001, ".5": 0.5, "5.": 5} {
		if got, ok := number([]byte(token)); !ok || got != want {
			t.Errorf("%q: got %v, %v, want %v", token, got, ok, want)
		}
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 100_000 {
		token := strconv.FormatFloat(random.NormFloat64()*math.Pow10(random.IntN(8)-3), 'f', random.IntN(16), 64)
		want, _ := strconv.ParseFloat(token, 64)
		if got, ok := number([]byte(token)); !ok || math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%q: got %v, %v, want %v", token, got, ok, want)
		}
	}
	for _, token := range []string{".", "-.", "1.2.3", "1..", "..1", "-", "-1.-", "", "x", "1x", "nan", "NaN", "inf",
		"-Infinity", "1e999", "0,5", "--1", string(make([]byte, 65))} {
		if got, ok := number([]byte(token)); ok {
			t.Errorf("%q: got %v, want none", token, got)
		}
	}
	for _, token := range []string{"", "-1", "1.5", "+1", "9999999999999999999999", "1048577"} {
		if got, ok := index([]byte(token)); ok {
			t.Errorf("index %q: got %v, want none", token, got)
		}
	}
	if got, ok := index([]byte("1048576")); !ok || got != maxIndex {
		t.Errorf("index: got %v, %v, want %v", got, ok, maxIndex)
	}
}

func BenchmarkAppendFixed(b *testing.B) {
	var dst []byte
	b.Run("here", func(b *testing.B) {
		for b.Loop() {
			dst = appendFixed(dst[:0], -0.0481567)
		}
	})
	b.Run("strconv", func(b *testing.B) {
		for b.Loop() {
			dst = strconv.AppendFloat(dst[:0], -0.0481567, 'f', 6, 64)
		}
	})
}
