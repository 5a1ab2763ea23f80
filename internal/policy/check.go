package policy

import (
	"fmt"
	"math"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
)

// Finding is one thing that a check found. Fits is false for what a person should look at.
type Finding struct {
	Item string `json:"item"`
	Has  string `json:"has"`
	Fits bool   `json:"fits"`
	Note string `json:"note,omitempty"`
}

func (f Finding) Cells() report.Cells {
	fits := "yes"
	if !f.Fits {
		fits = "LOOK"
	}
	return report.Cells{{"item", f.Item}, {"has", f.Has}, {"fits", fits}, {"note", f.Note}}
}

// Check lists what the policy has beside what the robot has. What cannot work at all is the error of NewDriver.
func (d *Driver) Check() (list []Finding) {
	add := func(fits bool, item, has, note string) { list = append(list, Finding{item, has, fits, note}) }
	for _, p := range d.Net.Inputs {
		add(true, "input "+p.Name, fmt.Sprint(p.Shape), "")
	}
	for _, p := range d.Net.Outputs {
		add(true, "output "+p.Name, fmt.Sprint(p.Shape), "")
	}
	add(true, "rate", fmt.Sprintf("%g Hz", 1/d.period.Seconds()), fmt.Sprintf("every %d of the cycle", d.every))
	at := 0
	for i := range d.terms {
		t := &d.terms[i]
		note := ""
		if t.Term == "joint_vel" || t.Term == "base_ang_vel" {
			for _, s := range t.scale {
				if s == 180/math.Pi || s > 10 {
					note = "scale above 10: the robot's values are rad/s"
				}
			}
		}
		add(note == "", "observation "+t.Term, fmt.Sprintf("%d..%d", at, at+len(t.ring)-1), note)
		at += len(t.ring)
	}
	for k, i := range d.joints {
		a := &d.layout.Actuators[i]
		reach, note := "", ""
		if d.mode == hal.PositionMode {
			low, high := d.offset[k]-math.Abs(d.scale[k]), d.offset[k]+math.Abs(d.scale[k])
			reach = fmt.Sprintf("default %.3f, outputs of -1..1: %.3f..%.3f", d.home[k], low, high)
			switch lim := a.Limits; {
			case math.Abs(d.scale[k]) > 2*math.Pi && a.Kind == hal.Hinge:
				note = "scale above a turn: degrees? The robot's goals are rad"
			case !a.Wraps && (low < lim.MinPosition || high > lim.MaxPosition):
				note = fmt.Sprintf("the guard clamps to %.3f..%.3f", lim.MinPosition, lim.MaxPosition)
			}
		} else {
			reach = fmt.Sprintf("outputs of -1..1: ±%.3g %s", math.Abs(d.scale[k]), d.mode.Quantity().Unit())
			if d.mode == hal.TorqueMode && math.Abs(d.scale[k]) > a.Limits.MaxTorque*1.001 {
				note = fmt.Sprintf("above the stall torque, %.3g N·m", a.Limits.MaxTorque)
			}
		}
		add(note == "", "joint "+d.Config.Joints[k], reach, note)
	}
	for _, key := range []string{"joint_stiffness", "joint_damping"} {
		if v := d.Net.Meta[key]; v != "" {
			add(false, "its "+key, short(v), "not compared with the gains of the robot's servos: compare by hand")
		}
	}
	if names := words(d.Net.Meta["observation_names"]); len(names) > 0 && len(names) != len(d.terms) {
		add(false, "its observation_names", short(strings.Join(names, ", ")), "the config has others")
	}
	return list
}

func short(text string) string {
	if len(text) > 60 {
		return text[:60] + "..."
	}
	return text
}
