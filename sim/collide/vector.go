package collide

import "math"

// vec is a vector inside the package. A struct of three fields lives in registers, which an array does not.
type vec struct{ x, y, z float64 }

func pack(a [3]float64) vec     { return vec{a[0], a[1], a[2]} }
func (a vec) array() [3]float64 { return [3]float64{a.x, a.y, a.z} }

func (a vec) add(b vec) vec { return vec{a.x + b.x, a.y + b.y, a.z + b.z} }
func (a vec) sub(b vec) vec { return vec{a.x - b.x, a.y - b.y, a.z - b.z} }
func (a vec) neg() vec      { return vec{-a.x, -a.y, -a.z} }

func (a vec) mul(s float64) vec {
	return vec{float64(a.x * s), float64(a.y * s), float64(a.z * s)}
}

// along returns a + s b.
func (a vec) along(s float64, b vec) vec {
	return vec{a.x + float64(s*b.x), a.y + float64(s*b.y), a.z + float64(s*b.z)}
}

func (a vec) dot(b vec) float64 {
	return float64(a.x*b.x) + float64(a.y*b.y) + float64(a.z*b.z)
}

func (a vec) cross(b vec) vec {
	return vec{
		float64(a.y*b.z) - float64(a.z*b.y),
		float64(a.z*b.x) - float64(a.x*b.z),
		float64(a.x*b.y) - float64(a.y*b.x),
	}
}

func (a vec) norm() float64 { return math.Sqrt(a.dot(a)) }

// unit returns a with length 1, or fallback where a has no direction.
func (a vec) unit(fallback vec) vec {
	n := a.norm()
	if !(n > tiny) || n > huge {
		return fallback
	}
	return vec{a.x / n, a.y / n, a.z / n}
}

// across returns some unit vector at right angles to the unit vector a: always the same one for the same a.
func (a vec) across() vec {
	if math.Abs(a.x) < 0.6 {
		return vec{0, a.z, -a.y}.unit(vec{0, 1, 0})
	}
	return vec{-a.z, 0, a.x}.unit(vec{0, 1, 0})
}

const (
	tiny = 1e-150 // the smallest length whose square is still a normal number
	huge = 1e150  // the greatest whose square is finite
)

func clamp(x, lo, hi float64) float64 {
	if x < lo {
		return lo
	}
	if x > hi {
		return hi
	}
	return x
}

// finite tells that neither x nor what it is made of overflowed.
func finite(x float64) bool { return x-x == 0 }

func (a vec) finite() bool { return finite(a.x) && finite(a.y) && finite(a.z) }
