package laser

import "math"

// Room is a rectangular room, empty, with the scanner somewhere in it: a Scene for a scanner without a world. The
// scanner looks along x, the length; y, the width, goes to its left. All in m.
type Room struct {
	Length, Width float64
	X, Y          float64 // of the scanner, from the corner behind it on its right
}

func (r Room) Scan(first, step float64, ranges []float64) {
	for i := range ranges {
		sin, cos := math.Sincos(first + float64(i)*step)
		ranges[i] = math.Min(toWall(cos, r.X, r.Length), toWall(sin, r.Y, r.Width))
	}
}

// toWall is how far it is along a ray, of which speed is the part across, to one of two walls, size apart.
func toWall(speed, at, size float64) float64 {
	switch {
	case speed > 0:
		return (size - at) / speed
	case speed < 0:
		return -at / speed
	}
	return math.Inf(1)
}
