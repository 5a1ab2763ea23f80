package kinematics

import (
	"errors"
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/hal"
)

// Arm is a row of joints that carries a tip: the origin of its tree's last link. Its actuators are its own joints, one
// a column of the Jacobian. One goroutine at a time uses it.
type Arm struct {
	tree   Tree
	limits [][2]float64 // rad or m, one a joint
	state  *State
	still  []float64 // no joint moves
	one    []float64 // one does
}

// NewArm returns an arm of a tree whose links name its joints 0 to len(limits)-1, and its limits.
func NewArm(t Tree, limits [][2]float64) (*Arm, error) {
	if len(t) == 0 || len(limits) == 0 {
		return nil, fmt.Errorf("kinematics: arm: got %d links and %d joints, want some", len(t), len(limits))
	}
	if err := t.Validate(len(limits)); err != nil {
		return nil, err
	}
	for i, l := range limits {
		if !(l[0] <= l[1]) {
			return nil, fmt.Errorf("kinematics: arm: limits[%d]: got %g, want a rising pair", i, l)
		}
	}
	return &Arm{tree: t, limits: limits, state: t.NewState(), still: make([]float64, len(limits)),
		one: make([]float64, len(limits))}, nil
}

// Target is where a tip must be, or how it must move; nil leaves that free.
type Target struct {
	Position *[3]float64 // m; of a motion m/s, of a push N
	Rotation *[4]float64 // a unit quaternion, only for Reach
	Spin     *[3]float64 // rad/s, of a push N·m; of Move and Push
}

// Tip is where the tip is with the joints at q.
func (a *Arm) Tip(q []float64) hal.Pose {
	a.tree.Forward(a.state, q, a.still, hal.Pose{Rotation: [4]float64{1}}, [3]float64{}, [3]float64{})
	return a.state.Poses[len(a.tree)-1]
}

// Tolerances and limits of Reach.
const (
	nearEnough = 1e-5 // m
	straight   = 1e-4 // rad
	maxSteps   = 60
	maxStarts  = 100
	heaviest   = 1e6
)

// ErrReach reports that no position of the joints brings the tip where it must be.
var ErrReach = errors.New("kinematics: out of reach")

// Reach finds joint positions that bring the tip to a target, starting at from. Of several solutions it returns the
// first that its steps find; the steps are short, so it is one near from. Joints stay within their limits.
//
// The steps are those of Levenberg and Marquardt: least squares of the remaining error, damped until a step reduces the
// error (Nocedal and Wright, Numerical Optimization, 2006, section 10.3). In a local minimum it tries again from other
// start positions, always the same ones.
func (a *Arm) Reach(to Target, from []float64) ([]float64, error) {
	n := len(a.limits)
	q := make([]float64, n)
	// The generalised golden ratio of n dimensions: its powers spread points evenly through them (Roberts, 2018).
	golden := 1.5
	for range 20 {
		golden = math.Pow(1+golden, 1/float64(n+1))
	}
	for start := range maxStarts {
		pace := 1.0
		for i, l := range a.limits {
			// The first start is from; the others are spread over the range.
			at := from[i]
			pace /= golden
			if start > 0 {
				at = l[0] + float64(math.Mod(0.5+float64(float64(start)*pace), 1)*(l[1]-l[0]))
			}
			if math.IsNaN(at) {
				at = 0
			}
			q[i] = math.Max(l[0], math.Min(l[1], at))
		}
		if a.descend(to, q) {
			return q, nil
		}
	}
	return nil, ErrReach
}

// descend steps q towards the target, and reports whether it came there.
func (a *Arm) descend(to Target, q []float64) bool {
	n, damping := len(q), 1e-3
	next := make([]float64, n)
	left, size := a.left(to, q)
	for range maxSteps {
		if arrived(to, left) {
			return true
		}
		rows := a.jacobian(q, to.Position != nil, to.Rotation != nil)
		step, ok := a.within(rows, left, damping, q)
		if !ok {
			return false
		}
		for i, l := range a.limits {
			next[i] = math.Max(l[0], math.Min(l[1], q[i]+step[i]))
		}
		if l, s := a.left(to, next); s < size {
			copy(q, next)
			left, size, damping = l, s, math.Max(1e-9, damping/5)
		} else if damping *= 4; damping > heaviest {
			return false
		}
	}
	return arrived(to, left)
}

// within is the damped step for joints at q: one that is at its limit, and would step beyond, stays and leaves the way
// to the others.
func (a *Arm) within(rows [][]float64, left []float64, damping float64, q []float64) (step []float64, ok bool) {
	for range q {
		if step, ok = damped(rows, left, damping); !ok {
			return nil, false
		}
		free := true
		for j, l := range a.limits {
			if step[j] != 0 && (q[j] <= l[0] && step[j] < 0 || q[j] >= l[1] && step[j] > 0) {
				free = false
				for r := range rows {
					rows[r][j] = 0
				}
			}
		}
		if free {
			break
		}
	}
	return step, true
}

// left is the remaining error with the joints at q, as a vector, and its square.
func (a *Arm) left(to Target, q []float64) (e []float64, square float64) {
	tip := a.Tip(q)
	if to.Position != nil {
		for k := range 3 {
			e = append(e, to.Position[k]-tip.Position[k])
		}
	}
	if to.Rotation != nil {
		d := hal.Pose{Rotation: *to.Rotation}.Times(hal.Pose{Rotation: tip.Rotation}.Inverse()).Rotation
		if d[0] < 0 {
			d = [4]float64{-d[0], -d[1], -d[2], -d[3]}
		}
		v := [3]float64{d[1], d[2], d[3]}
		sin := math.Sqrt(dot(v, v))
		turn := 2.0
		if sin > 1e-9 {
			turn = 2 * math.Atan2(sin, d[0]) / sin
		}
		for k := range v {
			e = append(e, turn*v[k]) // a radian counts as a metre
		}
	}
	for _, x := range e {
		square += float64(x * x)
	}
	return e, square
}

// arrived reports whether the remaining error is within the tolerances.
func arrived(to Target, left []float64) bool {
	for i, x := range left {
		most := nearEnough
		if to.Position == nil || i >= 3 {
			most = straight
		}
		if !(math.Abs(x) <= most) {
			return false
		}
	}
	return true
}

// jacobian is how each joint moves the tip, row by row: its place, its turn, or both.
func (a *Arm) jacobian(q []float64, place, turn bool) (rows [][]float64) {
	for i := range 6 {
		if i < 3 && place || i >= 3 && turn {
			rows = append(rows, make([]float64, len(q)))
		}
	}
	last := len(a.tree) - 1
	for j := range q {
		a.one[j] = 1
		a.tree.Forward(a.state, q, a.one, hal.Pose{Rotation: [4]float64{1}}, [3]float64{}, [3]float64{})
		a.one[j] = 0
		speed, spin := a.state.SpeedAt(last, a.state.Poses[last].Position), a.state.Spin[last]
		r := 0
		if place {
			for k := range 3 {
				rows[r][j] = speed[k]
				r++
			}
		}
		if turn {
			for k := range 3 {
				rows[r][j] = spin[k]
				r++
			}
		}
	}
	return rows
}

// Jacobian is how each joint moves the tip with the joints at q: rows x, y, z in m and then in rad about x, y, z, of a
// unit of each joint.
func (a *Arm) Jacobian(q []float64) [][]float64 { return a.jacobian(q, true, true) }

// Move finds the joints' speeds that move the tip as the target requires, as nearly as they can with the joints at q.
func (a *Arm) Move(to Target, q []float64) []float64 {
	want := to.row()
	if len(want) == 0 {
		return make([]float64, len(q))
	}
	step, ok := damped(a.jacobian(q, to.Position != nil, to.Spin != nil), want, 1e-4)
	if !ok {
		return make([]float64, len(q))
	}
	return step
}

// Push finds the joints' torques with which the tip pushes as the target requires.
func (a *Arm) Push(to Target, q []float64) []float64 {
	torques := make([]float64, len(q))
	want := to.row()
	for r, row := range a.jacobian(q, to.Position != nil, to.Spin != nil) {
		for j := range torques {
			torques[j] += float64(row[j] * want[r])
		}
	}
	return torques
}

// row is a motion or a push as one row.
func (to *Target) row() (r []float64) {
	if to.Position != nil {
		r = append(r, to.Position[:]...)
	}
	if to.Spin != nil {
		r = append(r, to.Spin[:]...)
	}
	return r
}

// damped is the x that minimizes |rows·x - want|² + damping·|x|², by elimination; false without a solution.
func damped(rows [][]float64, want []float64, damping float64) (x []float64, ok bool) {
	n := len(rows[0])
	m := make([][]float64, n) // rowsᵀ·rows + damping | rowsᵀ·want
	for i := range m {
		m[i] = make([]float64, n+1)
		m[i][i] = damping
		for r := range rows {
			for j := range n {
				m[i][j] += float64(rows[r][i] * rows[r][j])
			}
			m[i][n] += float64(rows[r][i] * want[r])
		}
	}
	// It is symmetric and positive, so no pivots are needed.
	for i := range n {
		if !(m[i][i] > 0) {
			return nil, false
		}
		for k := i + 1; k < n; k++ {
			f := m[k][i] / m[i][i]
			for j := i; j <= n; j++ {
				m[k][j] -= float64(f * m[i][j])
			}
		}
	}
	x = make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		x[i] = m[i][n]
		for j := i + 1; j < n; j++ {
			x[i] -= float64(m[i][j] * x[j])
		}
		x[i] /= m[i][i]
	}
	return x, true
}
