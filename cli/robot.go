package cli

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/model"
)

// newRobot creates the sub-command that shows what a robot file has, before any config names it.
func newRobot(a *app) *cobra.Command {
	var base string
	var config bool
	c := &cobra.Command{
		Use:   "robot FILE",
		Short: "show the bodies, joints and repairs of a robot file",
		Long: "Loads a URDF, an MJCF or a robot file of Halyard's own and prints its tree, a row a body, with the " +
			"joint that holds it.\nWhat was repaired or left out follows on stderr. HOLDS is the greatest torque that " +
			"the weight beyond the joint\ncan have, all of it stretched out; SERVO is the weakest servo of the table " +
			"that has twice that.",
		Example: "  halyard robot arm.urdf\n  halyard robot arm.urdf --config > arm.yaml    # then: halyard serve " +
			"arm.yaml",
		Args: arguments("FILE", "halyard robot arm.urdf"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := openRobot(args[0], base)
			if err != nil {
				return err
			}
			if config {
				fmt.Fprint(a.out, starter(r, args[0], base))
				return nil
			}
			if err := show(a, robotRows(r)); err != nil {
				return err
			}
			for _, line := range robotSummary(r) {
				a.note("%s", line)
			}
			return nil
		},
	}
	c.Flags().StringVar(&base, "base", "", "fixed or floating; overrides the file")
	c.Flags().BoolVar(&config, "config", false, "print a config to start from")
	return c
}

// openRobot opens the robot file at path.
func openRobot(path, base string) (*model.Robot, error) {
	if base != "" && base != "fixed" && base != "floating" {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "robot",
			Err: fmt.Errorf("--base: got %q, want fixed or floating", base), Try: "halyard robot --help"}
	}
	if model.InXML(path) {
		return model.OpenFile(path, model.FileOptions{Base: base})
	}
	return model.Open(path, path)
}

// robotRow is a body with the joint that holds it. Angles are radians and lengths metres in JSON.
type robotRow struct {
	Body   string      `json:"body"`
	Parent string      `json:"parent,omitempty"`
	Mass   float64     `json:"mass_kg"`
	Joint  string      `json:"joint,omitempty"`
	Kind   string      `json:"kind,omitempty"`
	Limits *[2]float64 `json:"limits,omitempty"` // nil: none
	Torque float64     `json:"max_torque,omitempty"`
	Speed  float64     `json:"max_velocity,omitempty"`
	Motor  string      `json:"motor,omitempty"`
	Holds  float64     `json:"holds_nm,omitempty"` // the greatest torque of the weight beyond the joint
	Servo  string      `json:"servo,omitempty"`    // of the table, that would do

	depth int
	slide bool
}

func (r robotRow) Cells() report.Cells {
	torque, speed, holds, limits := "", "", "", "none"
	if r.Joint == "" || r.Motor == "" {
		limits = ""
	}
	if r.Limits != nil {
		limits = fmt.Sprintf("%.1f° .. %.1f°", r.Limits[0]*180/math.Pi, r.Limits[1]*180/math.Pi)
		if r.slide {
			limits = fmt.Sprintf("%.0f .. %.0f mm", r.Limits[0]*1e3, r.Limits[1]*1e3)
		}
	}
	if r.Holds > 0 {
		holds = fmt.Sprintf("%.3g N·m", r.Holds)
	}
	if r.Motor != "" {
		torque, speed = fmt.Sprintf("%.3g N·m", r.Torque), fmt.Sprintf("%.0f°/s", r.Speed*180/math.Pi)
		if r.slide {
			torque, speed = fmt.Sprintf("%.3g N", r.Torque), fmt.Sprintf("%.0f mm/s", r.Speed*1e3)
		}
	}
	return report.Cells{{"body", strings.Repeat("  ", r.depth) + r.Body}, {"mass", fmt.Sprintf("%.4g kg", r.Mass)},
		{"joint", r.Joint}, {"kind", r.Kind}, {"limits", limits}, {"torque", torque}, {"speed", speed},
		{"motor", r.Motor}, {"holds", holds}, {"servo", r.Servo}}
}

// robotRows are the bodies, parents first, and the joints that hold them. Without bodies they are the joints.
func robotRows(r *model.Robot) (rows []robotRow) {
	parents := r.Parents()
	depth := make([]int, len(r.Bodies))
	for _, i := range r.Order() {
		row := robotRow{Body: r.Bodies[i].Name, Mass: r.Bodies[i].Mass}
		if up := parents[i]; up != hal.None {
			depth[i] = depth[up] + 1
			row.Parent = r.Bodies[up].Name
		}
		row.depth = depth[i]
		if k := slices.IndexFunc(r.Joints, func(j model.Joint) bool { return j.Child == i }); k >= 0 {
			row.driven(&r.Joints[k])
			row.weigh(r, &r.Joints[k])
		} else if k := slices.IndexFunc(r.Passive, func(p model.Passive) bool { return p.Child == i }); k >= 0 {
			row.passive(r, &r.Passive[k])
		}
		rows = append(rows, row)
	}
	if len(r.Bodies) == 0 {
		for i := range r.Joints {
			var row robotRow
			row.driven(&r.Joints[i])
			rows = append(rows, row)
		}
	}
	return rows
}

func (r *robotRow) driven(j *model.Joint) {
	r.Joint, r.Kind, r.slide = j.Name, j.Kind.String(), j.Kind == model.Slide
	if !j.Wraps {
		r.Limits = &j.Limits
	}
	r.Torque, r.Speed, r.Motor = j.MaxTorque(), j.MaxVelocity(), "ideal"
	if j.Servo != nil {
		r.Motor = j.Servo.Name
	}
}

// weigh finds the greatest torque that the weight beyond a hinge can have, and a servo for twice that.
func (r *robotRow) weigh(of *model.Robot, j *model.Joint) {
	if r.slide {
		return
	}
	parents := of.Parents()
	reach := map[int]float64{j.Child: 0} // of the origin of a body, from the axis along the links
	for _, i := range of.Order() {
		b := &of.Bodies[i]
		if i != j.Child {
			far, beyond := reach[parents[i]]
			if !beyond {
				continue
			}
			reach[i] = far + apart(b.Pose.Position, of.Bodies[parents[i]].Pose.Position)
		}
		centre := b.Pose.Times(hal.Pose{Position: b.CentreOfMass, Rotation: [4]float64{1, 0, 0, 0}}).Position
		from := b.Pose.Position
		if i == j.Child {
			from = j.Anchor
		}
		r.Holds += b.Mass * standardGravity * (reach[i] + apart(centre, from))
	}
	r.Servo = enough(2 * r.Holds)
}

func apart(a, b [3]float64) float64 { return math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2]) }

const standardGravity = 9.81 // m/s²

func (r *robotRow) passive(of *model.Robot, p *model.Passive) {
	r.Joint, r.Kind, r.slide = p.Name, p.Kind.String()+", free", p.Kind == model.Slide
	if p.Mimic != nil {
		r.Kind = fmt.Sprintf("%s, %.4g × %s", p.Kind, p.Mimic.Times, of.Joints[p.Mimic.Joint].Name)
	}
	if p.Stops[0] < p.Stops[1] {
		r.Limits = &p.Stops
	}
}

// enough names the weakest servo of the table with at least this torque, N·m.
func enough(torque float64) string {
	var best *actuator.Spec
	for _, name := range actuator.Names() {
		s, _ := actuator.Lookup(name)
		if s.StallTorque >= torque && (best == nil || s.StallTorque < best.StallTorque) {
			best = s
		}
	}
	if best == nil {
		return ""
	}
	return best.Name
}

// robotSummary is the whole robot in a line, then what the file's reader says.
func robotSummary(r *model.Robot) (lines []string) {
	base := "floating"
	if r.Fixed {
		base = "fixed"
	}
	var sensors []string
	for i := range r.Sensors {
		sensors = append(sensors, r.Sensors[i].Kind+" "+r.Sensors[i].Name)
	}
	for i := range r.Accelerometers {
		sensors = append(sensors, "accelerometer "+r.Accelerometers[i].Name)
	}
	c := r.CentreOfMass()
	lines = append(lines, fmt.Sprintf("%s: %d bodies, %d joints with a motor, %d without, %.4g kg, centre of mass at "+
		"%.3f %.3f %.3f m, base %s, sensors: %s", cmp.Or(r.Title, r.Name), len(r.Bodies), len(r.Joints), len(r.Passive),
		r.Mass(), c[0], c[1], c[2], base, cmp.Or(strings.Join(sensors, ", "), "none")))
	for _, n := range r.Notes {
		lines = append(lines, n.String())
	}
	return lines
}

// notAName are the signs that no name in a config has.
var notAName = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// starter is a config with the robot of a file as its only agent.
func starter(r *model.Robot, path, base string) string {
	plain := func(text string) string { return strings.Trim(notAName.ReplaceAllString(text, "-"), "-._") }
	name := cmp.Or(plain(cmp.Or(r.Title, r.Name)), plain(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))),
		"robot")
	if base != "" {
		base = "\n    base: " + base
	}
	return fmt.Sprintf(`name: %[1]s

clock: {period: 20ms}

agents:
  - name: %[1]s
    model: %[2]q%[3]s
    body: sim                         # the joints' servos go under hardware: (try: halyard list, halyard setup)

servers:
  - {protocol: osp, listen: "127.0.0.1:45454"}
  - {protocol: rosbridge, listen: "127.0.0.1:9090", agent: %[1]s}
`, name, path, base)
}
