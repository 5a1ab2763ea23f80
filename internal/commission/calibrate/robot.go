package calibrate

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/servo"
)

// Robot is one agent of a config, or a class that has hardware: the joints that servos drive.
type Robot struct {
	Config *configs.Config
	Name   string
	Path   configs.Path // of the agent
	Joints []Joint      // in the order of the layout
	plan   *plan.AgentPlan
}

// Joint is a joint with a servo.
type Joint struct {
	Name, Bus, Port string
	Baud            int
	File            string // of its calibration, resolved; "" if the config has none
	Named           string // as the config names it
	ID              int
	Model           servo.Model
	Limits          hal.Limits // of the robot's model, rad or m
	Rest            float64    // where it is at a reset, rad or m
	Kind            hal.ActuatorKind

	Positive string // which way it turns while its angle rises
	Drawn    string // direction of its load at 0; "" = not visible
}

// Open reads the robot called agent of a config; "" is the only one with servos. Calibration files are not read: they
// may be missing or bad.
func Open(config, agent string, o configs.Options, cat *halyard.Catalog) (*Robot, error) {
	c, err := configs.Load(config, o)
	if err != nil {
		return nil, err
	}
	files := map[string]map[string]string{}
	for _, r := range c.Robots() {
		if r.Hardware == nil {
			continue
		}
		files[r.Name] = map[string]string{}
		for name, j := range r.Hardware.Joints {
			if j.Device == "" {
				files[r.Name][name], j.Calibration = j.Calibration, ""
				r.Hardware.Joints[name] = j
			}
		}
	}
	for i := range c.Agents { // a real joint without its file would be a fault
		c.Agents[i].Body, c.Agents[i].Parts = configs.Sim, nil
	}
	p, err := plan.Resolve(c, cat)
	if err == nil {
		p, err = p.Stationed()
	}
	if err != nil {
		return nil, err
	}
	var robots []*Robot
	var names []string
	for i := range p.Agents {
		if r := robotOf(c, &p.Agents[i], files); len(r.Joints) > 0 {
			robots, names = append(robots, r), append(names, r.Name)
		}
	}
	i := slices.Index(names, agent)
	switch {
	case len(robots) == 0:
		return nil, &hal.Error{Kind: hal.Invalid, Op: "calibration " + config,
			Err: errors.New("got no joint with a servo, want hardware.joints")}
	case agent == "" && len(robots) == 1:
		i = 0
	case i < 0:
		return nil, &hal.Error{Kind: hal.Invalid, Op: "calibration " + config,
			Err: fmt.Errorf("got agent %q, want one of %s", agent, strings.Join(names, ", ")),
			Try: "--agent " + names[0]}
	}
	return robots[i], nil
}

func robotOf(c *configs.Config, a *plan.AgentPlan, files map[string]map[string]string) *Robot {
	r := &Robot{Config: c, Name: a.Config.Name, plan: a}
	for i := range c.Agents {
		if c.Agents[i].Name == r.Name {
			r.Path = configs.Path("agents").Index(i)
		}
	}
	for i := range a.Joints {
		j := &a.Joints[i]
		if j.Hardware == nil || j.Servo == nil {
			continue
		}
		act, bus := &a.Layout.Actuators[i], c.Buses[j.Hardware.Bus]
		file := cmp.Or(files[r.Name][act.Name], files[a.Config.Name][act.Name])
		n := Joint{Name: act.Name, Bus: j.Hardware.Bus, Port: bus.Port, Baud: bus.Baud, Named: file, ID: j.Hardware.ID,
			Model:  j.Servo,
			Limits: act.Limits, Rest: act.Default, Kind: act.Kind, Positive: positive(a, i), Drawn: drawn(a, i)}
		if file != "" {
			n.File = c.Resolve(file)
		}
		r.Joints = append(r.Joints, n)
	}
	return r
}

// Joint is the joint called name, nil if absent.
func (r *Robot) Joint(name string) *Joint {
	for i := range r.Joints {
		if r.Joints[i].Name == name {
			return &r.Joints[i]
		}
	}
	return nil
}

// names lists the joints.
func (r *Robot) names() (list []string) {
	for i := range r.Joints {
		list = append(list, r.Joints[i].Name)
	}
	return list
}

// servo returns the identity of the servo for a calibration file.
func (j *Joint) servo() calibration.Servo {
	return calibration.Servo{Model: j.Model.Units().Name, ID: j.ID, Adapter: j.Port}
}

// nominal is the calibration by the data sheet.
func (j *Joint) nominal() *calibration.Joint {
	u := j.Model.Units()
	return calibration.Nominal(j.Name, j.servo(),
		calibration.Model{TicksPerTurn: u.TicksPerTurn, CentreTicks: u.CentreTicks,
			MinTicks: u.MinTicks, MaxTicks: u.MaxTicks, TorqueConstant: u.TorqueConstant})
}

// old is the joint's calibration in dir, or, where dir is "", that which the config names; nil if absent, or it is of
// another servo.
func (j *Joint) old(dir string) *calibration.Joint {
	path := j.File
	if dir != "" {
		path = filepath.Join(dir, j.Name+".yaml")
	}
	if path == "" {
		return nil
	}
	c, err := calibration.Load(path)
	if err != nil || c.Servo.Model != j.Model.Units().Name || c.Servo.ID != j.ID {
		return nil
	}
	return c
}

// Row is one joint's calibration.
type Row struct {
	Joint     string           `json:"joint"`
	File      string           `json:"file"`
	Version   int              `json:"version"`
	Method    string           `json:"method"`
	Model     string           `json:"model"`
	ID        int              `json:"id"`
	Direction int              `json:"direction"`
	Zero      report.Number    `json:"zero_ticks"`
	Low       report.Number    `json:"low_rad"`
	High      report.Number    `json:"high_rad"`
	Gear      report.Number    `json:"gear"`
	Torque    report.Number    `json:"torque_constant"`
	Date      string           `json:"date"`
	Ticks     [2]report.Number `json:"range_ticks"`
}

func (r Row) Cells() report.Cells {
	return report.Cells{{"joint", r.Joint}, {"servo", fmt.Sprintf("%s %d", r.Model, r.ID)}, {"version", r.Version},
		{"method", r.Method}, {"direction", r.Direction}, {"zero", r.Zero},
		{"range ticks", r.Ticks[0].String() + ".." + r.Ticks[1].String()},
		{"range rad", r.Low.String() + ".." + r.High.String()}, {"gear", r.Gear}, {"torque", r.Torque},
		{"date", r.Date}}
}

func rowOf(path string, c *calibration.Joint) Row {
	low, high := c.Range()
	n := func(v float64) report.Number { return report.Number(v) }
	return Row{Joint: c.Joint, File: path, Version: c.Version, Method: string(c.Method), Model: c.Servo.Model,
		ID: c.Servo.ID, Direction: c.Direction,
		Zero: n(c.ZeroTicks), Low: n(low), High: n(high), Gear: n(c.Gear), Torque: n(c.Torque.Constant),
		Date: c.Date.UTC().Format("2006-01-02"), Ticks: [2]report.Number{n(c.RangeTicks[0]), n(c.RangeTicks[1])}}
}
