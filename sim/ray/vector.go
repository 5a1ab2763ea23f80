package ray

import "math"

// vec is a vector inside the package. A struct of three fields lives in registers, which an array does not.
type vec struct{ x, y, z float64 }

func pack(a [3]float64) vec     { return vec{a[0], a[1], a[2]} }
func (a vec) array() [3]float64 { return [3]float64{a.x, a.y, a.z} }
func (a vec) sub(b vec) vec     { return vec{a.x - b.x, a.y - b.y, a.z - b.z} }
func (a vec) neg() vec          { return vec{-a.x, -a.y, -a.z} }

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

// across returns some unit vector at right angles to the unit vector a.
func (a vec) across() vec {
	b := vec{-a.z, 0, a.x}
	if math.Abs(a.x) < 0.6 {
		b = vec{0, a.z, -a.y}
	}
	return b.mul(1 / b.norm())
}

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
