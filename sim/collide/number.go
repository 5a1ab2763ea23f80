package collide

func clamp(x, lo, hi float64) float64 {
	if x < lo {
		return lo
	}
	if x > hi {
		return hi
	}
	return x
}

// finite reports whether x, and so the terms it was computed from, did not overflow.
func finite(x float64) bool { return x-x == 0 }
