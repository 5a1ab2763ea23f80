package plan

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/usarini"
	"github.com/halyard-robotics/halyard/sim/model"
)

// ini builds a robot from a class's section in a file of USARSim. Its faults are reported with the file's own lines;
// then both the robot and the error are nil.
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
	robot, notes, err := iniRobot(bots, c.Name, base, c.Lenient)
	if r.ownFaults(err) {
		return nil, nil
	}
	for _, n := range notes {
		r.Config.Notes.Add(n)
	}
	return robot, err
}

// iniRobot is the robot of a class of an INI; the error is configs.Faults, with the file's own lines.
func iniRobot(bots *usarini.Bots, class string, base *usarini.Base, lenient bool) (*model.Robot, configs.Faults,
	error) {
	twin, err := bots.Twin(class, base, lenient)
	if err != nil {
		return nil, nil, err
	}
	robot, err := model.Parse(twin.YAML, class)
	var faults configs.Faults
	if errors.As(err, &faults) {
		err = twin.Blame(faults)
	}
	return robot, twin.Notes, err
}

// INI is the contents of a file of USARSim.
type INI struct {
	Classes []string     // of robots that can be built
	API     *usarini.API // settings of the server; nil without any
	UDK     bool
	Notes   configs.Faults // robots that cannot be made, with the reasons
}

// ReadINI reads a USARBot.ini, a BotAPI.ini, the DefaultUSAR.ini of UDK, or a file with only sensor settings. A section
// without parts and items is the base of several classes, not a robot; a bad robot does not refuse the others. The
// error means that no part of the file can be used.
func ReadINI(file string, text []byte, lenient bool) (*INI, error) {
	bots, err := usarini.ParseBots(file, text)
	if err != nil {
		return nil, err
	}
	ini := &INI{UDK: bots.UDK}
	var bad configs.Faults
	for i := range bots.Robots {
		k := &bots.Robots[i]
		base, err := Builtin(k.Class)
		if err != nil {
			return nil, err
		}
		if base == nil && k.Bare() {
			continue
		}
		_, _, err = iniRobot(bots, k.Class, base, lenient)
		var faults configs.Faults
		switch {
		case err == nil:
			ini.Classes = append(ini.Classes, k.Class)
		case errors.As(err, &faults):
			bad = append(bad, faults...)
		default:
			return nil, err
		}
	}
	if ini.API, err = usarini.ParseAPI(file, text); err != nil {
		return nil, err
	}
	if !ini.API.Found {
		ini.API = nil
	}
	switch {
	case ini.API != nil || len(ini.Classes) > 0 || len(bots.Devices) > 0 && len(bad) == 0:
		ini.Notes = bad
	case len(bad) > 0:
		return nil, bad
	default:
		return nil, fmt.Errorf("%s: got no robot that carries something, no settings of sensors, and no "+
			"[BotAPI.BotServer]", file)
	}
	return ini, nil
}

// Builtin is the built-in robot of a class, as a file to begin with; nil if absent.
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
		b := &usarini.Base{YAML: text, Chassis: m.Bodies[0].Name, Joints: map[string][2]string{},
			Package: map[string]string{}, Poses: map[string]hal.Pose{}}
		for i := range m.Joints {
			j := &m.Joints[i]
			id := strings.ToLower(WireName(j.Path, j.Name))
			b.Joints[id] = [2]string{j.Name, m.Bodies[j.Child].Name}
			b.Poses[id] = m.Bodies[0].Pose.Inverse().Times(m.Bodies[j.Child].Pose)
			for _, p := range m.Rescue.Packages {
				for n, k := range p.Joints {
					if k != i {
						continue
					}
					// Files of 2007 and after call the parts of a package by its name and their number.
					link := strings.ToLower(fmt.Sprintf("%s_Link%d", p.Name, n+1))
					b.Joints[link], b.Poses[link], b.Package[link], b.Package[id] = b.Joints[id], b.Poses[id], p.Name,
						p.Name
				}
			}
		}
		return b, nil
	}
	return nil, nil
}

// WireName returns USARSim's name of a joint or a sensor: its path without the slash.
func WireName(path, name string) string {
	if path == "" {
		return name
	}
	return strings.TrimPrefix(path, "/")
}
