package hydro

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/camera"
	"github.com/halyard-robotics/halyard/sim/collide"
	"github.com/halyard-robotics/halyard/sim/dynamics"
	"github.com/halyard-robotics/halyard/sim/exact"
	"github.com/halyard-robotics/halyard/sim/r3"
)

func (f *file) vehicle(faults *faults) *Vehicle {
	v := &Vehicle{Name: f.Name, Title: f.Title, Mass: f.Mass, Lag: f.Lag / 1e3, Propeller: f.Propeller}
	if !namePattern.MatchString(f.Name) {
		faults.add("name: got %q, want lower-case letters, digits, - and _", f.Name)
	}
	faults.number("mass_kg", f.Mass, 1e-3, maxFigure)
	v.COM = faults.point("com_m", f.COM)
	v.Inertia = f.inertia(faults)
	v.Hull = f.Hull.hull(faults)
	v.Added = f.Added.matrix(faults)
	v.Drag = f.Drag.drag(faults)
	v.Curve = f.Curve.curve(faults)
	faults.number("lag_ms", f.Lag, 0, 1e4)
	faults.number("propeller_m", f.Propeller, 0, maxLength)
	// Without a supply thrust depends on none, to the power 0, and the battery has four cells.
	if v.Supply.Volts = 16; f.Supply != nil {
		v.Supply = Supply{f.Supply.Volts, f.Supply.Exponent}
		faults.number("supply.volts", f.Supply.Volts, 0.1, 1e3)
		faults.number("supply.exponent", f.Supply.Exponent, 0, 4)
	}
	if faults.count("thrusters", len(f.Thrusters)) {
		seen := map[string]bool{}
		for i := range f.Thrusters {
			path := fmt.Sprintf("thrusters[%d]", i)
			faults.name(path, f.Thrusters[i].Name, seen)
			v.Thrusters = append(v.Thrusters, f.Thrusters[i].thruster(path, faults))
		}
	}
	if faults.count("shapes", len(f.Shapes)) {
		for i := range f.Shapes {
			v.shapes = append(v.shapes, f.Shapes[i].geom(fmt.Sprintf("shapes[%d]", i), faults))
		}
	}
	f.lenses(v, faults)
	// Only whole figures are worth the engine's opinion.
	if len(*faults) == 0 {
		v.settle(faults)
	}
	return v
}

// settle lets the engine check what only it knows: whether a body can have the inertias.
func (v *Vehicle) settle(faults *faults) {
	_, err := dynamics.New(dynamics.Spec{Bodies: []dynamics.Body{v.Body()}})
	var wrong dynamics.Faults
	if errors.As(err, &wrong) {
		for _, w := range wrong {
			faults.add("%s: %s", strings.TrimPrefix(w.Path, "bodies[0]."), w.Text)
		}
	}
}

// inertia is three or six numbers as a matrix.
func (f *file) inertia(faults *faults) (m [9]float64) {
	// Three where the axes are those of symmetry, as of most vehicles.
	n := 3
	if len(f.Inertia) > 3 {
		n = 6
	}
	if faults.list("inertia_kgm2", f.Inertia, n, -maxFigure, maxFigure) {
		a := append(append([]float64(nil), f.Inertia...), 0, 0, 0)
		m = [9]float64{a[0], a[3], a[4], a[3], a[1], a[5], a[4], a[5], a[2]}
	}
	return m
}

func (f *hullFile) hull(faults *faults) Hull {
	h := Hull{Volume: f.Volume, Centre: faults.point("hull.centre_m", f.Centre), Ramp: f.Ramp}
	faults.number("hull.volume_m3", f.Volume, 0, maxFigure)
	if f.Ramp != 0 {
		faults.number("hull.ramp_m", f.Ramp, 1e-3, maxLength)
		if f.Box != nil || f.Cells != nil {
			faults.add("hull: got ramp_m and box_m or cells, want either a ramp or a box")
		}
		return h
	}
	if faults.list("hull.box_m", f.Box, 3, 1e-3, maxLength) {
		h.Box = [3]float64(f.Box)
	}
	ok := len(f.Cells) == 3
	for _, n := range f.Cells {
		ok = ok && n >= 1 && n <= maxCells
	}
	if !ok {
		faults.add("hull.cells: got %v, want three numbers of 1..%d", f.Cells, maxCells)
		return h
	}
	h.Cells = [3]int(f.Cells)
	return h
}

func (f *addedFile) matrix(faults *faults) (m [6][6]float64) {
	// Without either the vehicle is in water all the same, and has drag.
	if f.Matrix == nil {
		if f.Mass != nil && faults.list("added_mass.kg", f.Mass, 3, 0, maxFigure) {
			m[0][0], m[1][1], m[2][2] = f.Mass[0], f.Mass[1], f.Mass[2]
		}
		if f.Inertia != nil && faults.list("added_mass.kgm2", f.Inertia, 3, 0, maxFigure) {
			m[3][3], m[4][4], m[5][5] = f.Inertia[0], f.Inertia[1], f.Inertia[2]
		}
		return m
	}
	if f.Mass != nil || f.Inertia != nil || len(f.Matrix) != 6 {
		faults.add("added_mass: got %d rows, want six rows of matrix, or kg and kgm2", len(f.Matrix))
		return m
	}
	for i, row := range f.Matrix {
		if faults.list(fmt.Sprintf("added_mass.matrix[%d]", i), row, 6, -maxFigure, maxFigure) {
			m[i] = [6]float64(row)
		}
	}
	return m
}

func (f *dragFile) drag(faults *faults) Drag {
	d := Drag{At: faults.point("drag.at_m", f.At), Greater: f.Law == "greater"}
	if f.Law != "sum" && f.Law != "greater" {
		faults.add("drag.law: got %q, want sum or greater", f.Law)
	}
	if faults.list("drag.linear", f.Linear, 6, 0, maxFigure) {
		d.Linear = [6]float64(f.Linear)
	}
	if faults.list("drag.quadratic", f.Quadratic, 6, 0, maxFigure) {
		d.Quadratic = [6]float64(f.Quadratic)
	}
	return d
}

func (f *curveFile) curve(faults *faults) Curve {
	c := Curve{Neutral: f.Neutral, Span: f.Span}
	faults.number("curve.neutral_us", f.Neutral, 1, 1e5)
	faults.number("curve.span_us", f.Span, 1, 1e5)
	// One way to write it, so that no figure is written twice and differs.
	forms := 0
	for _, n := range [...]int{len(f.Polynomial), len(f.Kgf), len(f.Newtons)} {
		if n > 0 && faults.count("curve", n) {
			forms++
		}
	}
	if forms != 1 {
		faults.add("curve: got %d of polynomial, table_kgf and table_n, want one", forms)
		return c
	}
	for i := range f.Polynomial {
		p, path := &f.Polynomial[i], fmt.Sprintf("curve.polynomial[%d]", i)
		if faults.list(path+".newtons", p.Newtons, 3, -maxFigure, maxFigure) {
			c.Pieces = append(c.Pieces, Piece{p.From, p.To, [3]float64(p.Newtons)})
		}
	}
	table, unit := f.Newtons, 1.0
	if f.Kgf != nil {
		table, unit = f.Kgf, actuator.StandardGravity
	}
	c.Pieces = append(c.Pieces, lines(table, unit, faults)...)
	if len(c.Pieces) == 0 {
		faults.add("curve: got no piece, want at least two points or one polynomial")
		return c
	}
	// A polynomial across neutral would push at rest; a table may lie across it with its zero.
	last := 0.0
	for i, p := range c.Pieces {
		if !(p.From >= last && p.From < p.To && p.To <= 1e5) {
			faults.add("curve: piece %d: got %g to %g us after %g, want rising pulses", i, p.From, p.To, last)
		}
		if p.From < c.Neutral && p.To > c.Neutral && f.Polynomial != nil {
			faults.add("curve: piece %d: got %g to %g us across neutral, want one side of it", i, p.From, p.To)
		}
		last = p.To
	}
	return c
}

// lines are the straight pieces between the points of a table.
func lines(table [][]float64, unit float64, faults *faults) (pieces []Piece) {
	for i, row := range table {
		if !faults.list(fmt.Sprintf("curve.table[%d]", i), row, 2, -maxFigure, maxFigure) {
			return nil
		}
		if i == 0 {
			continue
		}
		a, b := table[i-1], row
		if !(a[0] < b[0]) {
			faults.add("curve.table[%d]: got %g us after %g, want rising pulses", i, b[0], a[0])
			return nil
		}
		// As c0 + c1 p, like any other piece.
		slope := unit * (b[1] - a[1]) / (b[0] - a[0])
		pieces = append(pieces, Piece{a[0], b[0], [3]float64{float64(unit*a[1]) - float64(slope*a[0]), slope}})
	}
	return pieces
}

func (f *thrusterFile) thruster(path string, faults *faults) Thruster {
	t := Thruster{Name: f.Name, At: faults.point(path+".at_m", f.At)}
	forms := 0
	if f.Up {
		t.Direction = [3]float64{0, 0, 1}
		forms++
	}
	if f.Axis != nil {
		t.Direction = faults.direction(path+".axis", f.Axis)
		forms++
	}
	if f.Yaw != nil && faults.number(path+".yaw_deg", *f.Yaw, -360, 360) {
		a := radians(*f.Yaw)
		t.Direction = [3]float64{exact.Cos(a), exact.Sin(a), 0}
		forms++
	}
	if forms != 1 {
		faults.add("%s: got %d of yaw_deg, up and axis, want one", path, forms)
	}
	return t
}

func (f *shapeFile) geom(path string, faults *faults) collide.Geom {
	g := collide.Geom{Local: collide.Identity()}
	g.Local.Position = faults.point(path+".at_m", f.At)
	forms := 0
	if f.Sphere != nil {
		g.Kind, g.Radius = collide.Sphere, *f.Sphere
		forms++
	}
	if f.Box != nil && faults.list(path+".box", f.Box, 3, 0, maxLength) {
		g.Kind, g.Half = collide.Box, [3]float64{f.Box[0] / 2, f.Box[1] / 2, f.Box[2] / 2}
		forms++
	}
	long := func(kind collide.Kind, v []float64) {
		if v != nil && faults.list(path+"."+kind.String(), v, 2, 0, maxLength) {
			g.Kind, g.Radius, g.Half[2] = kind, v[0], v[1]/2
			forms++
		}
	}
	long(collide.Capsule, f.Capsule)
	long(collide.Cylinder, f.Cylinder)
	// Solids stand along their own z: a quarter turn about y lays them along x, one about x along y.
	const half = math.Sqrt2 / 2
	switch f.Along {
	case "", "z":
	case "x":
		g.Local.Rotation = [4]float64{half, 0, half, 0}
	case "y":
		g.Local.Rotation = [4]float64{half, half, 0, 0}
	default:
		faults.add("%s.along: got %q, want x, y or z", path, f.Along)
	}
	if forms != 1 {
		faults.add("%s: got %d of sphere, capsule, box and cylinder, want one", path, forms)
	} else if err := g.Check(); err != nil {
		faults.add("%s: %w", path, err)
	}
	return g
}

func (f *file) lenses(v *Vehicle, faults *faults) {
	if !faults.count("cameras", len(f.Cameras)) {
		return
	}
	seen := map[string]bool{}
	for i := range f.Cameras {
		c, path := &f.Cameras[i], fmt.Sprintf("cameras[%d]", i)
		faults.name(path, c.Name, seen)
		faults.number(path+".field_of_view_deg", c.View, 1, 170)
		faults.number(path+".down_deg", c.Down, -90, 90)
		faults.number(path+".yaw_deg", c.Yaw, -360, 360)
		out := camera.Camera{Name: c.Name, FieldOfView: radians(c.View), Depth: c.Depth, Detects: c.Detects}
		// First down from the axis, then to the left about the vertical.
		turn := r3.Spin(r3.XYZ(0, 0, radians(c.Yaw))).Times(r3.Spin(r3.XYZ(0, radians(c.Down), 0)))
		out.Mount = hal.Pose{Position: faults.point(path+".at_m", c.At), Rotation: turn.Array()}
		if len(c.Size) != 2 || c.Size[0] < 1 || c.Size[1] < 1 || c.Size[0] > 4096 || c.Size[1] > 4096 {
			faults.add("%s.size: got %v, want width and height, 1..4096", path, c.Size)
		} else {
			out.Width, out.Height = c.Size[0], c.Size[1]
		}
		if faults.list(path+".range_m", c.Range, 2, 0, 1e5) {
			if out.Near, out.Far = c.Range[0], c.Range[1]; !(out.Near < out.Far) {
				faults.add("%s.range_m: got %v, want two rising numbers", path, c.Range)
			}
		}
		v.cameras = append(v.cameras, out)
	}
}
