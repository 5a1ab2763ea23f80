package calibrate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/servo"
)

// Joint is one joint of a config that has a servo: what its calibration file must be of.
type Joint struct {
	Agent, Name string
	Bus, Port   string
	ID          int
	Model       string
	Units       servo.Units
	Low, High   float64 // rad, the soft limits of the robot's model
	File        string  // of its calibration, resolved; "" = none is named
}

// JointsOf are the joints with servos of all agents of a plan, in the order of the robots' files.
func JointsOf(p *plan.Plan) (list []Joint) {
	for i := range p.Agents {
		a := &p.Agents[i]
		for k := range a.Joints {
			j := &a.Joints[k]
			if j.Servo == nil || j.Hardware == nil {
				continue
			}
			act := &a.Layout.Actuators[k]
			row := Joint{Agent: a.Config.Name, Name: act.Name, Bus: j.Hardware.Bus, Port: p.Config.Buses[j.Hardware.Bus].Port, ID: j.Hardware.ID,
				Model: j.Hardware.Model, Units: j.Servo.Units(), Low: act.Limits.MinPosition, High: act.Limits.MaxPosition}
			if j.Hardware.Calibration != "" {
				row.File = p.Config.Resolve(j.Hardware.Calibration)
			}
			list = append(list, row)
		}
	}
	return list
}

// find is the joint called name, which may be AGENT/JOINT.
func find(joints []Joint, name string) (*Joint, error) {
	var have []string
	for i := range joints {
		if j := &joints[i]; j.Name == name || j.Agent+"/"+j.Name == name {
			return j, nil
		}
		have = append(have, joints[i].Name)
	}
	return nil, &hal.Error{Kind: hal.Invalid, Op: "calibration", Joint: name, Err: fmt.Errorf("got a joint that the config does not have, want one of %s", strings.Join(have, ", "))}
}

// nominal is the joint's calibration of which nothing was measured.
func (j *Joint) nominal() *calibration.Joint {
	return calibration.Nominal(j.Name, calibration.Servo{Model: j.Model, ID: j.ID, Adapter: j.Port}, calibration.Model{
		TicksPerTurn: j.Units.TicksPerTurn, CentreTicks: j.Units.CentreTicks, MinTicks: j.Units.MinTicks, MaxTicks: j.Units.MaxTicks,
		StallTorque: j.Units.StallTorque, MaxEffort: j.Units.MaxEffort})
}

// fileIn is the path of a joint's file in a folder.
func fileIn(dir, joint string) string { return filepath.Join(dir, joint+".yaml") }

// Folder reads all calibration files of joints in a folder, without the kept versions, by their servos' ids. All faults come
// together.
func Folder(dir string) ([]*calibration.Joint, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var joints []*calibration.Joint
	var faults []error
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err == nil && (calibration.IsVersion(name) || !slices.ContainsFunc(strings.Split(string(text), "\n"), func(line string) bool { return strings.HasPrefix(line, "joint:") })) {
			continue // an older version, or the file of an output or a sensor
		}
		j, err := calibration.Load(name)
		if faults = append(faults, err); err == nil {
			joints = append(joints, j)
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	if len(joints) == 0 {
		return nil, &hal.Error{Kind: hal.Uncalibrated, Op: "calibration " + dir, Err: fmt.Errorf("got no calibration file of a joint"), Try: "halyard calibrate CONFIG"}
	}
	slices.SortFunc(joints, func(a, b *calibration.Joint) int { return a.Servo.ID - b.Servo.ID })
	return joints, nil
}

// Load reads a config, a file or the name of an embedded one, and lists its joints.
func Load(config string) ([]Joint, error) {
	p, err := plan.Load(config, configs.Options{Body: string(configs.Sim)}, builtin.Catalog())
	if err != nil {
		return nil, err
	}
	return JointsOf(p), nil
}
