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

// finite reports that neither x nor what it is made of overflowed.
func finite(x float64) bool { return x-x == 0 }
