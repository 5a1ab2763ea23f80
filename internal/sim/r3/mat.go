package r3

// Mat is a matrix by its columns; of a rotation they are the axes of the turned frame.
type Mat struct{ X, Y, Z Vec }

// Identity is no turn.
func Identity() Mat { return Mat{Vec{X: 1}, Vec{Y: 1}, Vec{Z: 1}} }

// Of returns m a.
func (m *Mat) Of(a Vec) Vec {
	return Vec{
		float64(m.X.X*a.X) + float64(m.Y.X*a.Y) + float64(m.Z.X*a.Z),
		float64(m.X.Y*a.X) + float64(m.Y.Y*a.Y) + float64(m.Z.Y*a.Z),
		float64(m.X.Z*a.X) + float64(m.Y.Z*a.Y) + float64(m.Z.Z*a.Z),
	}
}

// Back returns the transpose of m, of a rotation its inverse, times a.
func (m *Mat) Back(a Vec) Vec { return Vec{m.X.Dot(a), m.Y.Dot(a), m.Z.Dot(a)} }

// Times returns m n: of rotations, the turn n followed by m.
func (m *Mat) Times(n *Mat) Mat { return Mat{m.Of(n.X), m.Of(n.Y), m.Of(n.Z)} }

// Transpose is the inverse of a rotation.
func (m *Mat) Transpose() Mat {
	return Mat{Vec{m.X.X, m.Y.X, m.Z.X}, Vec{m.X.Y, m.Y.Y, m.Z.Y}, Vec{m.X.Z, m.Y.Z, m.Z.Z}}
}

// Quat returns the quaternion of the rotation m, its greatest part positive (Shepperd, J. Guidance 1, 1978).
func (m *Mat) Quat() Quat {
	var q Quat
	switch trace := m.X.X + m.Y.Y + m.Z.Z; {
	case trace >= m.X.X && trace >= m.Y.Y && trace >= m.Z.Z:
		q = Quat{1 + trace, m.Y.Z - m.Z.Y, m.Z.X - m.X.Z, m.X.Y - m.Y.X}
	case m.X.X >= m.Y.Y && m.X.X >= m.Z.Z:
		q = Quat{m.Y.Z - m.Z.Y, 1 + m.X.X - m.Y.Y - m.Z.Z, m.X.Y + m.Y.X, m.Z.X + m.X.Z}
	case m.Y.Y >= m.Z.Z:
		q = Quat{m.Z.X - m.X.Z, m.X.Y + m.Y.X, 1 + m.Y.Y - m.X.X - m.Z.Z, m.Y.Z + m.Z.Y}
	default:
		q = Quat{m.X.Y - m.Y.X, m.Z.X + m.X.Z, m.Y.Z + m.Z.Y, 1 + m.Z.Z - m.X.X - m.Y.Y}
	}
	return q.Unit()
}
