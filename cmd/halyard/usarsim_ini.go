package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/configs/usarini"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/model"
)

// read takes over one of USARSim's own files: robots become classes of the config, which --set may still change, and
// what it says of the server counts unless the command line says otherwise.
func (f *usarsimFlags) read(file, config string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return &hal.Error{Kind: hal.Invalid, Op: "--ini", Err: err}
	}
	bots, err := usarini.ParseBots(file, text)
	api := &usarini.API{}
	if err == nil && len(bots.Robots) == 0 {
		if api, err = usarini.ParseAPI(file, text); err == nil && !api.Found {
			err = fmt.Errorf("%s: got neither a robot nor [BotAPI.BotServer]", file)
		}
	}
	if err != nil {
		return &hal.Error{Kind: hal.Invalid, Op: "ini", Err: err}
	}
	if file, err = filepath.Abs(file); err != nil {
		return err
	}
	var sets, listens []string
	for i := range bots.Robots {
		sets = append(sets, fmt.Sprintf("%s=%q", configs.Path("classes").Key(bots.Robots[i].Class).Key("model"), file))
	}
	if api.Found {
		// The config says which of its servers is meant; a config that cannot be read is told of later.
		if c, _ := configs.Draft(config, configs.Options{}); c != nil {
			for i := range c.Servers {
				if c.Servers[i].Protocol == "gamebots" {
					sets = append(sets, fmt.Sprintf("servers[%d].max_clients=%d", i, api.MaxConnections))
				}
			}
		}
		listens = append(listens, fmt.Sprintf("gamebots=127.0.0.1:%d", api.ListenPort))
	}
	// Before what the user typed: the last word counts.
	f.flags.set, f.flags.listen = append(sets, f.flags.set...), append(listens, f.flags.listen...)
	return nil
}

// ini makes a robot of a class's section in one of USARSim's own files. Its faults are told with the file's own lines: the
// robot is nil then, the error too.
func (r *resolver) ini(path configs.Path, c *configs.Agent) (*model.Robot, error) {
	file := r.config.Resolve(c.Model)
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
			r.blame(err)
		}
	}
	// Several classes may be of one file, which is told of once.
	if bots == nil {
		return nil, nil
	}
	base, err := builtin(c.Name)
	if err != nil {
		return nil, err
	}
	twin, err := bots.Twin(c.Name, base)
	if err != nil {
		r.blame(err)
		return nil, nil
	}
	robot, err := model.Parse(twin.YAML)
	if err != nil {
		var e *hal.Error
		errors.As(err, &e)
		r.blame(twin.Blame(e.Err.Error()))
		return nil, nil
	}
	for _, n := range twin.Notes {
		r.config.Notes.Add(configs.Fault{Source: n.File, Line: n.Line, Column: 1, Path: configs.Path(n.Key), Got: n.Got, Rule: n.Want})
	}
	return robot, nil
}

// blame tells of the faults of an INI.
func (r *resolver) blame(err error) {
	var faults usarini.Faults
	if !errors.As(err, &faults) {
		return
	}
	for _, f := range faults {
		r.faults.Add(configs.Fault{Source: f.File, Line: f.Line, Column: 1, Path: configs.Path(f.Key), Got: f.Got, Rule: f.Want})
	}
}

// builtin is the built-in robot of a class, as a file to begin with; nil where there is none.
func builtin(class string) (*usarini.Base, error) {
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
			id := strings.ToLower(wireName(j.Path, j.Name))
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
