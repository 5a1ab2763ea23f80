package dynamics

import (
	"math"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
)

// principal returns the eigenvalues of s and a rotation whose columns are the eigenvectors, by Jacobi's method (Golub
// and Van Loan, Matrix Computations, 8.5). A diagonal matrix is returned unchanged, without rounding.
func principal(s sym) ([3]float64, r3.Mat) {
	a := [3][3]float64{{s.xx, s.xy, s.xz}, {s.xy, s.yy, s.yz}, {s.xz, s.yz, s.zz}}
	v := [3][3]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
	for range 30 {
		off := math.Abs(a[0][1]) + math.Abs(a[0][2]) + math.Abs(a[1][2])
		if off <= 1e-18*(math.Abs(a[0][0])+math.Abs(a[1][1])+math.Abs(a[2][2])) {
			break
		}
		for _, p := range [...][2]int{{0, 1}, {0, 2}, {1, 2}} {
			i, j := p[0], p[1]
			if a[i][j] == 0 {
				continue
			}
			// the rotation in the plane of i and j that makes a[i][j] zero
			tau := (a[j][j] - a[i][i]) / float64(2*a[i][j])
			t := math.Copysign(1, tau) / (math.Abs(tau) + math.Sqrt(1+float64(tau*tau)))
			c := 1 / math.Sqrt(1+float64(t*t))
			sn := float64(t * c)
			for k := range 3 {
				x, y := a[k][i], a[k][j]
				a[k][i], a[k][j] = float64(c*x)-float64(sn*y), float64(sn*x)+float64(c*y)
				x, y = v[k][i], v[k][j]
				v[k][i], v[k][j] = float64(c*x)-float64(sn*y), float64(sn*x)+float64(c*y)
			}
			for k := range 3 {
				x, y := a[i][k], a[j][k]
				a[i][k], a[j][k] = float64(c*x)-float64(sn*y), float64(sn*x)+float64(c*y)
			}
			a[i][j], a[j][i] = 0, 0
		}
	}
	return [3]float64{a[0][0], a[1][1], a[2][2]}, r3.Mat{
		X: r3.XYZ(v[0][0], v[1][0], v[2][0]), Y: r3.XYZ(v[0][1], v[1][1], v[2][1]),
		Z: r3.XYZ(v[0][2], v[1][2], v[2][2]),
	}
}
