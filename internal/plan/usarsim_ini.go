package plan

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/configs/usarini"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/model"
)

// ini makes a robot of a class's section in one of USARSim's own files. Its faults are told with the file's own lines: the
// robot is nil then, the error too.
func (r *Resolver) ini(path configs.Path, c *configs.Agent) (*model.Robot, error) {
	file := r.Config.Resolve(c.Model)
	bots, ok := r.inis[file]
	if !ok {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("the path of a USARBot.ini: %w", err)
		}
		bots, err = usarini.ParseBots(c.Model, text)
		if r.inis == nil {
			r.inis = map[string]*usarini.Bots{}
		}
		if r.inis[file] = bots; err != nil {
			r.inis[file], bots = nil, nil
			r.ownFaults(err)
		}
	}
	// Several classes may be of one file, which is notified of once.
	if bots == nil {
		return nil, nil
	}
	base, err := Builtin(c.Name)
	if err != nil {
		return nil, err
	}
	twin, err := bots.Twin(c.Name, base)
	if err != nil {
		r.ownFaults(err)
		return nil, nil
	}
	robot, err := model.Parse(twin.YAML, c.Name)
	var faults configs.Faults
	if errors.As(err, &faults) {
		r.ownFaults(twin.Blame(faults))
		return nil, nil
	}
	for _, n := range twin.Notes {
		r.Config.Notes.Add(n)
	}
	return robot, nil
}

// Builtin is the built-in robot of a class, as a file to begin with; nil where there is none.
func Builtin(class string) (*usarini.Base, error) {
	for _, name := range model.RescueNames() {
		m, err := model.Load(name)
		if err != nil {
			return nil, err
		}
		if m.Rescue == nil || !strings.EqualFold(m.Rescue.Class, class) {
			continue
		}
		text, err := model.Source(name)
		if err != nil {
			return nil, err
		}
		b := &usarini.Base{YAML: text, Chassis: m.Bodies[0].Name, Joints: map[string][2]string{}, Package: map[string]string{}, Poses: map[string]hal.Pose{}}
		for i := range m.Joints {
			j := &m.Joints[i]
			id := strings.ToLower(WireName(j.Path, j.Name))
			b.Joints[id] = [2]string{j.Name, m.Bodies[j.Child].Name}
			b.Poses[id] = m.Bodies[0].Pose.Inverse().Times(m.Bodies[j.Child].Pose)
			for _, p := range m.Rescue.Packages {
				for _, k := range p.Joints {
					if k == i {
						b.Package[id] = p.Name
					}
				}
			}
		}
		return b, nil
	}
	return nil, nil
}

// WireName is what USARSim calls a joint or a sensor: its path without the slash.
func WireName(path, name string) string {
	if path == "" {
		return name
	}
	return strings.TrimPrefix(path, "/")
}
