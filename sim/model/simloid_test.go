package model

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
)

// What the original printed of each robot: counts, the body with the accelerometer, mass and centre of mass.
var simloidFacts = []struct {
	id, bodies, joints int
	accel              string
	mass, centre       string
}{
	{10, 5, 4, "body", "1.7741", "0.0000, 0.0811, 0.0842"},
	{11, 5, 4, "body", "1.7741", "0.0000, 0.0842, 0.0874"},
	{20, 3, 2, "body", "2.1479", "0.0000, 0.2009, 0.1330"},
	{30, 13, 12, "body", "4.7190", "0.0000, 0.2000, 0.2077"},
	{31, 13, 12, "body", "4.7190", "0.0000, 0.2000, 0.2077"},
	{40, 9, 8, "head", "3.6206", "0.0000, 0.0939, 0.3081"},
	{50, 23, 22, "head", "6.0656", "0.0000, -0.0015, 0.3006"},
	{60, 7, 6, "head", "3.9375", "0.0000, 0.5250, 0.0135"},
	{90, 2, 1, "lever", "281.7188", "0.0000, 0.2496, 0.3751"},
	{91, 3, 2, "lever2", "469.3759", "0.0000, 0.2496, 0.6250"},
	{92, 2, 1, "rotor", "187.8125", "0.0004, 0.0000, 0.2504"},
	{93, 2, 1, "rotor", "47.1875", "0.0000, 0.1241, 0.2513"},
	{94, 2, 1, "rotor", "42.5000", "0.0000, 0.0000, 0.2882"},
	{95, 2, 1, "", "281.7188", "0.0000, 0.2496, 0.3751"},
}

// printed is x with digits behind the point, without the sign of a zero.
func printed(x float64, digits int) string {
	s := strconv.FormatFloat(x, 'f', digits, 64)
	if strings.Trim(s, "-0.") == "" {
		return strings.TrimPrefix(s, "-")
	}
	return s
}

func triple(v [3]float64) string {
	return printed(v[0], 4) + ", " + printed(v[1], 4) + ", " + printed(v[2], 4)
}

// precise is a place for sameRow.
func precise(v [3]float64) string {
	return printed(v[0], 9) + ", " + printed(v[1], 9) + ", " + printed(v[2], 9)
}

func loadSimloid(t *testing.T, id int) *Robot {
	t.Helper()
	r, err := LoadSimloid(id)
	if err != nil {
		t.Fatalf("%d: %v", id, err)
	}
	return r
}

func TestSimloidFacts(t *testing.T) {
	var ids []int
	for _, want := range simloidFacts {
		ids = append(ids, want.id)
		r := loadSimloid(t, want.id)
		if r.Simloid != want.id || r.Name != fmt.Sprintf("simloid-%d", want.id) || r.Fixed {
			t.Errorf("%d: got id %d, name %q, fixed %v", want.id, r.Simloid, r.Name, r.Fixed)
		}
		if len(r.Bodies) != want.bodies || len(r.Joints) != want.joints {
			t.Errorf("%d: got %d bodies and %d joints, want %d and %d", want.id, len(r.Bodies), len(r.Joints),
				want.bodies, want.joints)
		}
		var accel string
		if len(r.Accelerometers) > 0 {
			accel = r.Bodies[r.Accelerometers[0].Body].Name
		}
		if accel != want.accel || len(r.Accelerometers) > 1 {
			t.Errorf("%d: got %d accelerometers, the first on %q, want %q", want.id, len(r.Accelerometers), accel,
				want.accel)
		}
		if got := printed(r.Mass(), 4); got != want.mass {
			t.Errorf("%d: mass: got %s kg, want %s", want.id, got, want.mass)
		}
		if got := triple(r.CentreOfMass()); got != want.centre {
			t.Errorf("%d: centre of mass: got %s m, want %s", want.id, got, want.centre)
		}
		if err := r.Layout().Validate(); err != nil {
			t.Errorf("%d: %v", want.id, err)
		}
		for i, b := range r.Order() {
			if i != b {
				t.Errorf("%d: order: got %v, want the file's", want.id, r.Order())
				break
			}
		}
	}
	if got := SimloidIDs(); fmt.Sprint(got) != fmt.Sprint(ids) {
		t.Errorf("ids: got %v, want %v", got, ids)
	}
}

// traits is what the server sends before anything else (wire facts, section 1).
func traits(r *Robot) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %d %d\n", len(r.Bodies), len(r.Joints), len(r.Accelerometers))
	for i := range r.Joints {
		j := &r.Joints[i]
		kind := 0
		if j.Mirrors {
			kind = 1
		}
		stops := j.Stops
		if j.Wraps {
			stops = [2]float64{-math.Pi, math.Pi}
		}
		fmt.Fprintf(&b, "%d %d %d %e %e %e %s\n", i, kind, j.Partner, stops[0]/math.Pi, stops[1]/math.Pi,
			j.Default/math.Pi, j.Path)
	}
	return b.String()
}

// shared is the folder of reference data next to the repository, where there is one.
func shared(t *testing.T, name ...string) []byte {
	t.Helper()
	path := filepath.Join(append([]string{"..", "..", "..", "shared"}, name...)...)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Skipf("no reference data: %v", err)
	}
	return b
}

func TestSimloidTraits(t *testing.T) {
	for _, f := range simloidFacts {
		t.Run(strconv.Itoa(f.id), func(t *testing.T) {
			want := string(shared(t, "data", "simloid", "traits", strconv.Itoa(f.id)+".traits"))
			if got := traits(loadSimloid(t, f.id)); got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

// Every row of the tables of the original's own construction, to the digits they print.
func TestSimloidTables(t *testing.T) {
	text := string(shared(t, "design", "simloid-robots.md"))
	_, text, ok := strings.Cut(text, "# Part A:")
	if !ok {
		t.Fatal("no part A")
	}
	text, _, _ = strings.Cut(text, "# Part B:")
	var r *Robot
	var robots, bodies, joints int
	section := regexp.MustCompile(`^### (\d+) `)
	for line := range strings.Lines(text) {
		if m := section.FindStringSubmatch(line); m != nil {
			id, _ := strconv.Atoi(m[1])
			r = loadSimloid(t, id)
			robots++
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		i, err := strconv.Atoi(cells[0])
		if err != nil || r == nil {
			continue
		}
		switch got := ""; {
		case len(cells) == 7 && i < len(r.Bodies):
			bodies++
			if got = bodyRow(r, i); !sameRow(got, strings.Join(cells[1:], " | ")) {
				t.Errorf("%s: body %d:\n got %s\nwant %s", r.Name, i, got, strings.Join(cells[1:], " | "))
			}
		case len(cells) == 9 && i < len(r.Joints):
			joints++
			if got = jointRow(r, i); !sameRow(got, strings.Join(cells[1:], " | ")) {
				t.Errorf("%s: joint %d:\n got %s\nwant %s", r.Name, i, got, strings.Join(cells[1:], " | "))
			}
		}
	}
	if robots != 14 || bodies != 91 || joints != 77 {
		t.Errorf("compared %d robots, %d bodies, %d joints, want 14, 91, 77", robots, bodies, joints)
	}
}

// sameRow compares two rows word by word, a number with a point by the table's own rounding: one that lies on the edge
// between two (0.42875) may have been rounded either way.
func sameRow(got, want string) bool {
	a, b := strings.Fields(got), strings.Fields(want)
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, err := strconv.ParseFloat(strings.TrimSuffix(a[i], ","), 64)
		y, err2 := strconv.ParseFloat(strings.TrimSuffix(b[i], ","), 64)
		_, digits, _ := strings.Cut(strings.TrimSuffix(b[i], ","), ".")
		switch {
		case a[i] == b[i]:
		case err != nil || err2 != nil || digits == "" || math.Abs(x-y) > 0.5001*math.Pow10(-len(digits)):
			return false
		}
	}
	return true
}

// bodyRow prints a body as the table does.
func bodyRow(r *Robot, i int) string {
	b := &r.Bodies[i]
	s := &b.Shapes[0]
	six := func(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
	got := fmt.Sprintf("box %s x %s x %s", six(2*s.Half[0]), six(2*s.Half[1]), six(2*s.Half[2]))
	if s.Kind == Capsule {
		m := matrix(s.Pose.Rotation)
		along := "?"
		for k, name := range []string{"x", "y", "z"} {
			if math.Abs(m[k][2]) > 0.999999 {
				along = name
			}
		}
		got = fmt.Sprintf("capsule %s len %s r %s", along, six(2*s.Half[2]), six(s.Radius))
	}
	collides := map[bool]string{true: "y", false: "n"}[s.Collides]
	mu := strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(s.Material.Friction, 'g', 5, 64), "+"))
	if !s.Material.ForceLimit {
		mu += " (a coefficient)"
	}
	return strings.Join([]string{
		b.Name, got, precise(b.Pose.Position), strconv.FormatFloat(b.Mass, 'g', 9, 64), collides, mu,
	}, " | ")
}

func jointRow(r *Robot, i int) string {
	j := &r.Joints[i]
	axis := "?"
	for k := range 3 {
		if math.Abs(j.Axis[k]) == 1 {
			axis = map[bool]string{true: "+", false: "-"}[j.Axis[k] > 0] + string(rune('x'+k))
		}
	}
	degrees := func(x float64) string { return printed(x*180/math.Pi, 0) }
	stops := j.Stops
	if j.Wraps {
		stops = [2]float64{-math.Pi, math.Pi}
	}
	kind := 0
	if j.Mirrors {
		kind = 1
	}
	if j.Sign != -1 || j.Start != 0 || j.Motor == nil || j.Motor.Name != "simloid-rx-28" {
		axis += " with a wrong sign, start or motor"
	}
	return strings.Join([]string{
		j.Path, r.Bodies[j.Parent].Name + " -> " + r.Bodies[j.Child].Name, precise(j.Anchor), axis,
		degrees(stops[0]) + ".." + degrees(stops[1]), degrees(j.Default),
		fmt.Sprintf("%d, %d", kind, j.Partner), strconv.FormatFloat(j.Motor.Factor, 'g', 5, 64),
	}, " | ")
}

// The positions in the first recorded status, before anything moved, have two digits more than the tables.
func TestSimloidRecordedPositions(t *testing.T) {
	for _, f := range []struct {
		id   int
		file string
	}{{31, "31-stand.txt"}, {90, "90-free-swing.txt"}, {91, "91-voltage-sine.txt"}} {
		t.Run(strconv.Itoa(f.id), func(t *testing.T) {
			r := loadSimloid(t, f.id)
			var fields []string
			for line := range strings.Lines(string(shared(t, "data", "simloid", f.file))) {
				if !strings.HasPrefix(line, "#") {
					fields = strings.Fields(line)
					break
				}
			}
			first := 1 + 2*len(r.Joints) + 3*len(r.Accelerometers)
			for i := range r.Bodies {
				for k := range 3 {
					want := fields[first+6*i+k]
					if got := printed(r.Bodies[i].Pose.Position[k], 6); got != strings.TrimPrefix(want, "-0.000000") &&
						got != want {
						t.Errorf("%s: %c: got %s, want %s", r.Bodies[i].Name, 'x'+k, got, want)
					}
				}
			}
		})
	}
}

// The capsule quirk, as it was measured on the original's engine for a capsule along y: its small moment is that about
// the vertical. A capsule along z is not touched.
func TestSimloidCapsuleInertia(t *testing.T) {
	r := loadSimloid(t, 31)
	body := r.Bodies[r.Body("body")]
	// The measurement was at 1000 kg/m³ and gave .0344, .00347, .0344 in the turned frame, whose y is the vertical.
	want := [6]float64{0.0344 / 5, 0.0344 / 5, 0.00347 / 5}
	for i := range want {
		if got := body.Inertia[i]; math.Abs(got-want[i]) > 1e-5 {
			t.Errorf("body: inertia %d: got %g, want %g", i, got, want[i])
		}
	}
	leg := r.Bodies[r.Body("lflu")]
	if !(leg.Inertia[2] < leg.Inertia[0]/2) || leg.Inertia[0] != leg.Inertia[1] {
		t.Errorf("upper leg: inertia: got %v, want small about z alone", leg.Inertia)
	}
	// In all robots: what a table's mass gives, with the long axis moved to z where the capsule lies along x or y.
	for _, f := range simloidFacts {
		r := loadSimloid(t, f.id)
		for i := range r.Bodies {
			b := &r.Bodies[i]
			s := b.Shapes[0]
			own := s.inertia(b.Mass)
			for k, want := range own.list() {
				if got := b.Inertia[k]; math.Abs(got-want) > 1e-9*(1+want) {
					t.Errorf("%s: %s: inertia %d: got %g, want %g", r.Name, b.Name, k, got, want)
				}
			}
		}
	}
}

func TestSimloidAccelerometers(t *testing.T) {
	// The recordings at rest: gravity reads -1/8 on the second axis of the wildcat's turned body, +1/8 on the third of
	// a head that stands upright.
	for id, want := range map[int][3]float64{31: {0, -1, 0}, 50: {0, 0, 1}, 90: {0, 0, 1}} {
		a := loadSimloid(t, id).Accelerometers[0]
		for k, axis := range a.Axes {
			if got := dot(axis, vec{0, 0, 1}); got != want[k] {
				t.Errorf("%d: axis %d: got %g of gravity, want %g", id, k, got, want[k])
			}
		}
		if a.Range != 8*9.81 || len(a.Axes) != 3 {
			t.Errorf("%d: got range %g and %d axes", id, a.Range, len(a.Axes))
		}
	}
}

func TestSimloidMotor(t *testing.T) {
	rx28, ok := lookupMotor("simloid-rx-28")
	sensorimotor, ok2 := lookupMotor("simloid-sensorimotor")
	if !ok || !ok2 {
		t.Fatal("a motor is missing")
	}
	if got := printed(rx28.StallTorque(), 4); got != "2.3241" {
		t.Errorf("rx-28: stall torque: got %s N·m, want 2.3241", got)
	}
	if got := printed(sensorimotor.StallTorque(), 4); got != "1.3361" {
		t.Errorf("sensorimotor: stall torque: got %s N·m, want 1.3361", got)
	}
	if got := printed(rx28.StartTorque*rx28.StallTorque(), 3); got != "1.162" {
		t.Errorf("rx-28: torque limit after a reset: got %s N·m, want 1.162", got)
	}
	if _, ok := lookupMotor("rx-28"); ok {
		t.Error("rx-28 alone is a servo, no motor of Simloid")
	}
	l := loadSimloid(t, 90).Layout()
	a := &l.Actuators[0]
	if a.Goal[hal.DutyMode] == hal.None || a.Goal[hal.PositionMode] == hal.None ||
		a.Goal[hal.VelocityMode] != hal.None || !a.Wraps {
		t.Errorf("pendulum: got goals %v, wraps %v", a.Goal, a.Wraps)
	}
	if got := printed(a.Limits.MaxTorque, 4); got != "0.9296" { // factor 2
		t.Errorf("pendulum: torque: got %s N·m, want 0.9296", got)
	}
}

// Every constant of the table of motors, the one of 2016 and the later one.
func TestSimloidMotorTable(t *testing.T) {
	text := string(shared(t, "design", "simloid-robots.md"))
	_, text, _ = strings.Cut(text, "## Motor and joint model")
	rows := map[string]func(m *Motor) float64{
		"V_in": func(m *Motor) float64 { return m.Volts }, "kM": func(m *Motor) float64 { return m.TorqueConstant },
		"kB": func(m *Motor) float64 { return m.BackEMF }, "1/R_i": func(m *Motor) float64 { return m.Conductance },
		"Coulomb":           func(m *Motor) float64 { return m.Coulomb },
		"sticking":          func(m *Motor) float64 { return m.Sticking },
		"fluid":             func(m *Motor) float64 { return m.Fluid },
		"stiction":          func(m *Motor) float64 { return m.StictionSpeed },
		"bristle max":       func(m *Motor) float64 { return m.BristleMax },
		"bristle stiffness": func(m *Motor) float64 { return m.BristleStiffness },
	}
	var compared int
	for line := range strings.Lines(text) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			continue
		}
		for prefix, get := range rows {
			if !strings.HasPrefix(strings.TrimSpace(cells[1]), prefix) {
				continue
			}
			for i, m := range bristleMotors() {
				words := strings.Fields(strings.ReplaceAll(cells[2+i], "1/9.59 = ", ""))
				want, err := strconv.ParseFloat(words[0], 64)
				if got := get(&m); err != nil || math.Abs(got-want) > 3e-6*want {
					t.Errorf("%s: %s: got %g, want %s", m.Name, prefix, got, words[0])
				}
				compared++
			}
		}
	}
	if compared != 2*len(rows) {
		t.Errorf("compared %d constants, want %d", compared, 2*len(rows))
	}
}

// The worm's joints share a name on the wire and nowhere else.
func TestWorm(t *testing.T) {
	r := loadSimloid(t, 60)
	for i := range r.Joints {
		if got, want := r.Joints[i].Name, fmt.Sprintf("joint_%d", i); got != want {
			t.Errorf("joint %d: got %q, want %q", i, got, want)
		}
	}
	if r.Joints[1].Path != "joint_" || r.Joints[4].Path != "joint_" || r.Joints[5].Path != "joint_5" {
		t.Errorf("paths: got %q, %q, %q", r.Joints[1].Path, r.Joints[4].Path, r.Joints[5].Path)
	}
}
