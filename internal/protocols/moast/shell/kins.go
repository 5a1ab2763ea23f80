package shell

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/kinematics"
	"github.com/halyard-robotics/halyard/internal/protocols/moast"
)

// kinematic are the words of servoShell that compute where a mission package is.
func (s *Shell) kinematic() []command {
	return []command{
		{"movew", "X Y Z R P W: move a package's last link to a pose on the vehicle",
			s.numbers("syntax: mismove <X Y Z R P W>", 6, s.moveTo)},
		{"kins", "print the pose of a package's last link on the vehicle", func([]string) error { return s.kins() }},
		{"jacs", "print its Jacobian, the inverse, and the joints' speeds for 5 mm/s along y",
			func([]string) error { return s.jacs() }},
		{"fact", "choose the factory, which no robot here has", func([]string) error {
			return errors.New("no factory: its messages were not published")
		}},
	}
}

// arm is the mission package at work and where its links are. As the original takes it, the links are a row: each turns
// about, or slides along, the z axis of its pose on the one before, the first on the vehicle.
func (s *Shell) arm() (*kinematics.Arm, []float64, error) {
	kind := moast.ModuleNamed("servoMisJA")
	set, ok := s.peek(kind.Buffer(moast.Set, s.Vehicle, s.pack)).(*moast.ServoMisSet)
	stat, known := s.peek(kind.Buffer(moast.Stat, s.Vehicle, s.pack)).(*moast.ServoMisStat)
	if !ok || !known || len(set.Links) == 0 || len(stat.Links) < len(set.Links) {
		return nil, nil, fmt.Errorf("no links of mission package %d", s.pack)
	}
	var tree kinematics.Tree
	var limits [][2]float64
	var at []float64
	home := hal.Pose{Rotation: [4]float64{1}}
	for i := range set.Links {
		l := &set.Links[i]
		home = home.Times(poseOf(moast.PoseAt(l.Location, l.Rotation)))
		tree = append(tree, kinematics.Link{Name: fmt.Sprint("link ", i+1), Parent: i - 1, Home: home, Joint: i,
			Slide: l.Joint == 1, Anchor: home.Position, Axis: home.Turn([3]float64{0, 0, 1}), Times: 1})
		stops := [2]float64{l.MinRange, l.MaxRange}
		if !(stops[0] < stops[1]) {
			stops = [2]float64{-math.Pi, math.Pi} // it turns without end
		}
		limits, at = append(limits, stops), append(at, stat.Links[i].Value)
	}
	arm, err := kinematics.NewArm(tree, limits)
	return arm, at, err
}

// peek is the latest message of a buffer, nil if absent.
func (s *Shell) peek(buffer string) any {
	c, err := s.Open(buffer)
	if err != nil {
		return nil
	}
	if c, ok := c.(io.Closer); ok {
		defer c.Close()
	}
	m, _ := c.Peek(moast.New)
	return m
}

func poseOf(p moast.Pose) hal.Pose {
	t := p.Translation
	return hal.Pose{Position: [3]float64{t.X, t.Y, t.Z}, Rotation: [4]float64{p.S, p.X, p.Y, p.Z}}
}

func (s *Shell) kins() error {
	arm, at, err := s.arm()
	if err != nil {
		return err
	}
	tip := arm.Tip(at)
	p, r := tip.Position, tip.RollPitchYaw()
	fmt.Fprintf(s.Out, "%f %f %f %f %f %f\n", p[0], p[1], p[2], r[0], r[1], r[2])
	return nil
}

// moveTo moves the last link to x, y, z, roll, pitch, yaw.
func (s *Shell) moveTo(v []float64) error {
	arm, at, err := s.arm()
	if err != nil {
		return err
	}
	to := poseOf(moast.PoseAt(moast.Cartesian{X: v[0], Y: v[1], Z: v[2]}, moast.RPY{R: v[3], P: v[4], Y: v[5]}))
	joints, err := arm.Reach(kinematics.Target{Position: &to.Position, Rotation: &to.Rotation}, at)
	if err != nil {
		return errors.New("can't compute inverse kinematics")
	}
	c := &moast.ServoMisCmdMove{}
	for _, value := range joints {
		c.Links = append(c.Links, moast.LinkCmd{Value: value, Kind: moast.LinkPosition})
	}
	return s.to("mis", "servoMisJA", c)
}

// jacs prints a row for each of x, y, z, roll, pitch, yaw with a column a joint, then the inverse, or the nearest to
// one.
func (s *Shell) jacs() error {
	arm, at, err := s.arm()
	if err != nil {
		return err
	}
	forward := arm.Jacobian(at)
	s.matrix(forward)
	inverse := pseudoinverse(forward)
	if inverse == nil {
		return errors.New("can't invert Jacobian")
	}
	s.matrix(inverse)
	for _, row := range inverse {
		fmt.Fprintf(s.Out, "%f ", 0.005*row[1])
	}
	fmt.Fprintln(s.Out)
	return nil
}

func (s *Shell) matrix(rows [][]float64) {
	for _, row := range rows {
		for _, x := range row {
			fmt.Fprintf(s.Out, "%.2f\t", x)
		}
		fmt.Fprintln(s.Out)
	}
	fmt.Fprintln(s.Out, "  ---")
}

// pseudoinverse is (mᵀm)⁻¹mᵀ of a matrix with as many rows as columns or more, else mᵀ(mmᵀ)⁻¹; nil where it has none.
func pseudoinverse(m [][]float64) [][]float64 {
	if len(m[0]) > len(m) {
		if inverse := pseudoinverse(transposed(m)); inverse != nil {
			return transposed(inverse)
		}
		return nil
	}
	t := transposed(m)
	rows := make([][]float64, len(t)) // mᵀm | mᵀ
	for i := range t {
		for _, other := range t {
			sum := 0.0
			for k := range other {
				sum += t[i][k] * other[k]
			}
			rows[i] = append(rows[i], sum)
		}
		rows[i] = append(rows[i], t[i]...)
	}
	for i := range rows {
		best := i
		for k := i; k < len(rows); k++ {
			if math.Abs(rows[k][i]) > math.Abs(rows[best][i]) {
				best = k
			}
		}
		rows[i], rows[best] = rows[best], rows[i]
		pivot := rows[i][i]
		if !(math.Abs(pivot) > 1e-9) {
			return nil
		}
		for j := range rows[i] {
			rows[i][j] /= pivot
		}
		for k := range rows {
			if f := rows[k][i]; k != i {
				for j := range rows[k] {
					rows[k][j] -= f * rows[i][j]
				}
			}
		}
	}
	for i := range rows {
		rows[i] = rows[i][len(rows):]
	}
	return rows
}

func transposed(m [][]float64) [][]float64 {
	t := make([][]float64, len(m[0]))
	for _, row := range m {
		for j, x := range row {
			t[j] = append(t[j], x)
		}
	}
	return t
}
