package hydro

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sim/camera"
	"github.com/halyard-robotics/halyard/internal/sim/exact"
	"github.com/halyard-robotics/halyard/internal/sim/r3"
	"github.com/halyard-robotics/halyard/internal/yaml"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/collide"
	"github.com/halyard-robotics/halyard/sim/dynamics"
)

// Parse reads a vehicle file, named source in faults. All faults are reported together, each with its place, its path,
// the value found and the values allowed. The error's kind is hal.Invalid.
func Parse(b []byte, source string) (*Vehicle, error) {
	var f file
	d, ok := yaml.Decode(b, source, &f)
	if !ok {
		return nil, d.Err()
	}
	return yaml.Valid(d, f.vehicle(d))
}

func (f *file) vehicle(d *yaml.Document) *Vehicle {
	v := &Vehicle{Name: f.Name, Title: f.Title, Mass: f.Mass, COM: f.COM, Lag: f.Lag / 1e3, Propeller: f.Propeller}
	v.Inertia = f.inertia(d)
	v.Hull = f.Hull.hull(d)
	v.Added = f.Added.matrix(d)
	v.Drag = Drag{At: f.Drag.At, Linear: f.Drag.Linear, Quadratic: f.Drag.Quadratic, Greater: f.Drag.Law == "greater"}
	v.Curve = f.Curve.curve(d)
	// Without a supply thrust does not depend on the voltage (exponent 0), and the battery has four cells.
	if v.Supply.Volts = 16; f.Supply != nil {
		v.Supply = Supply(*f.Supply)
	}
	for i := range f.Thrusters {
		v.Thrusters = append(v.Thrusters, f.Thrusters[i].thruster(yaml.Path("thrusters").Index(i), d))
	}
	for i := range f.Shapes {
		v.shapes = append(v.shapes, f.Shapes[i].geom(yaml.Path("shapes").Index(i), d))
	}
	for i := range f.Cameras {
		v.cameras = append(v.cameras, f.Cameras[i].camera(yaml.Path("cameras").Index(i), d))
	}
	// The engine checks only values without other faults.
	if len(d.Faults) == 0 {
		v.checkInertias(d)
	}
	return v
}

// checkInertias lets the engine check whether a rigid body can have the inertias.
func (v *Vehicle) checkInertias(d *yaml.Document) {
	_, err := dynamics.New(dynamics.Spec{Bodies: []dynamics.Body{v.Body()}})
	keys := map[string]yaml.Path{"inertia": "inertia_kgm2", "added": "added_mass"}
	var wrong dynamics.Faults
	if errors.As(err, &wrong) {
		for _, w := range wrong {
			name := strings.TrimPrefix(w.Path, "bodies[0].")
			d.Note(keys[name], name+": "+w.Text)
		}
	}
}

// inertia is three or six numbers as a matrix: three where the axes are those of symmetry, as of most vehicles.
func (f *file) inertia(d *yaml.Document) (m [9]float64) {
	if n := len(f.Inertia); n != 3 && n != 6 {
		d.Add("inertia_kgm2", fmt.Sprint(n), "a list of 3 or 6 numbers", "")
		return m
	}
	a := append(append([]float64(nil), f.Inertia...), 0, 0, 0)
	return [9]float64{a[0], a[3], a[4], a[3], a[1], a[5], a[4], a[5], a[2]}
}

func (f *hullFile) hull(d *yaml.Document) Hull {
	h := Hull{Volume: f.Volume, Centre: f.Centre}
	if f.Ramp != nil {
		if h.Ramp = *f.Ramp; f.Box != nil || f.Cells != nil {
			d.Add("hull.ramp_m", "it with box_m or cells", "either a ramp or a box", "")
		}
	} else if f.Box != nil && f.Cells != nil {
		h.Box, h.Cells = *f.Box, *f.Cells
	}
	return h
}

func (f *addedFile) matrix(d *yaml.Document) (m [6][6]float64) {
	// Without either the vehicle is in water all the same, and has drag.
	if f.Matrix == nil {
		for i := range 3 {
			m[i][i], m[i+3][i+3] = f.Mass[i], f.Inertia[i]
		}
		return m
	}
	if d.Has("added_mass.kg") || d.Has("added_mass.kgm2") {
		d.Add("added_mass.matrix", "it with kg or kgm2", "either matrix, or kg and kgm2", "")
	}
	return *f.Matrix
}

func (f *curveFile) curve(d *yaml.Document) Curve {
	c := Curve{Neutral: f.Neutral, Span: f.Span}
	// One form only, so that no value is written twice and differs.
	key, forms := "", 0
	for _, k := range []string{"polynomial", "table_kgf", "table_n"} {
		if d.Has(yaml.Path("curve").Key(k)) {
			key = k
			forms++
		}
	}
	path := yaml.Path("curve").Key(key)
	if forms != 1 {
		d.Add("curve", fmt.Sprintf("%d of polynomial, table_kgf and table_n", forms), "one", "")
		return c
	}
	for i := range f.Polynomial {
		p := &f.Polynomial[i]
		c.Pieces = append(c.Pieces, Piece(*p))
	}
	c.Pieces = append(c.Pieces, lines(f.Newtons, 1, path, d)...)
	c.Pieces = append(c.Pieces, lines(f.Kgf, actuator.StandardGravity, path, d)...)
	if len(c.Pieces) == 0 {
		d.Add(path, "no piece", "at least two points or one polynomial", "")
	}
	// A polynomial across neutral would push at rest; a table may lie across it with its zero.
	last := 0.0
	for i, p := range c.Pieces {
		if !(p.From >= last && p.From < p.To && p.To <= 1e5) {
			d.Add(path.Index(i), fmt.Sprintf("%g to %g us after %g", p.From, p.To, last),
				"rising pulses up to 100000 us", "")
		}
		if p.From < c.Neutral && p.To > c.Neutral && f.Polynomial != nil {
			d.Add(path.Index(i), fmt.Sprintf("%g to %g us across neutral", p.From, p.To), "one side of it", "")
		}
		last = p.To
	}
	return c
}

// lines are the straight pieces between the points of a table.
func lines(table [][2]float64, unit float64, path yaml.Path, d *yaml.Document) (pieces []Piece) {
	for i := 1; i < len(table); i++ {
		a, b := table[i-1], table[i]
		if !(a[0] < b[0]) {
			d.Add(path.Index(i), fmt.Sprintf("%g us after %g", b[0], a[0]), "rising pulses", "")
			continue
		}
		// As c0 + c1 p, like any other piece.
		slope := unit * (b[1] - a[1]) / (b[0] - a[0])
		pieces = append(pieces, Piece{a[0], b[0], [3]float64{float64(unit*a[1]) - float64(slope*a[0]), slope}})
	}
	return pieces
}

func (f *thrusterFile) thruster(path yaml.Path, d *yaml.Document) Thruster {
	t := Thruster{Name: f.Name, At: f.At}
	forms := 0
	if f.Up {
		t.Direction = [3]float64{0, 0, 1}
		forms++
	}
	if f.Axis != nil {
		axis := r3.Pack(*f.Axis)
		if n := axis.Norm(); n > 1e-6 {
			t.Direction = axis.Unit(r3.Vec{}).Array()
		} else {
			d.Add(path.Key("axis"), fmt.Sprint(*f.Axis), "a direction: x, y, z", "")
		}
		forms++
	}
	if f.Yaw != nil {
		a := radians(*f.Yaw)
		t.Direction = [3]float64{exact.Cos(a), exact.Sin(a), 0}
		forms++
	}
	if forms != 1 {
		d.Add(path, fmt.Sprintf("%d of yaw_deg, up and axis", forms), "one", "")
	}
	return t
}

func (f *shapeFile) geom(path yaml.Path, d *yaml.Document) collide.Geom {
	g := collide.Geom{Local: collide.Identity()}
	g.Local.Position = f.At
	forms := 0
	if f.Sphere != nil {
		g.Kind, g.Radius = collide.Sphere, *f.Sphere
		forms++
	}
	if f.Box != nil {
		g.Kind, g.Half = collide.Box, [3]float64{f.Box[0] / 2, f.Box[1] / 2, f.Box[2] / 2}
		forms++
	}
	long := func(kind collide.Kind, v *[2]float64) {
		if v != nil {
			g.Kind, g.Radius, g.Half[2] = kind, v[0], v[1]/2
			forms++
		}
	}
	long(collide.Capsule, f.Capsule)
	long(collide.Cylinder, f.Cylinder)
	// Solids are along their own z: a quarter turn about y puts them along x, one about x along y.
	const half = math.Sqrt2 / 2
	switch f.Along {
	case "x":
		g.Local.Rotation = [4]float64{half, 0, half, 0}
	case "y":
		g.Local.Rotation = [4]float64{half, half, 0, 0}
	}
	if forms != 1 {
		d.Add(path, fmt.Sprintf("%d of sphere, capsule, box and cylinder", forms), "one", "")
	} else if err := g.Check(); err != nil {
		d.Note(path, err.Error())
	}
	return g
}

func (f *cameraFile) camera(path yaml.Path, d *yaml.Document) camera.Camera {
	if f.Range[0] >= f.Range[1] {
		d.Add(path.Key("range_m"), fmt.Sprint(f.Range), "two rising numbers", "")
	}
	// First down from the axis, then to the left about the vertical.
	turn := r3.Spin(r3.XYZ(0, 0, radians(f.Yaw))).Times(r3.Spin(r3.XYZ(0, radians(f.Down), 0)))
	return camera.Camera{
		Name: f.Name, FieldOfView: radians(f.View), Depth: f.Depth, Detects: f.Detects,
		Mount: hal.Pose{Position: f.At, Rotation: turn.Array()},
		Width: f.Size[0], Height: f.Size[1], Near: f.Range[0], Far: f.Range[1],
	}
}

func radians(degrees float64) float64 { return degrees * (math.Pi / 180) }
