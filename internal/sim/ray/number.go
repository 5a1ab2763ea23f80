package ray

// lesser and greater ignore b where it is not a number, which a ray along the side of a box gives.
func lesser(a, b float64) float64 {
	if b < a {
		return b
	}
	return a
}

func greater(a, b float64) float64 {
	if b > a {
		return b
	}
	return a
}
