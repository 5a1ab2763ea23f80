package calibrate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// adopt writes the files of joints into the config's own file, where it does not name them yet, and lists the changed
// lines. Comments and all else stay. The lines are nil where the config is no file, or has a form that is not changed
// without a person.
func (g *Guide) adopt(joints map[string]string) (lines []string, err error) {
	path, c := g.robot.Config.Source, g.robot.Config
	if c.Dir == "" || len(joints) == 0 {
		return nil, nil
	}
	data, err := yaml.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d := yaml.Read(data, path)
	if d.Root == nil {
		return nil, d.Err()
	}
	text := strings.SplitAfter(string(data), "\n")
	type insert struct {
		line, column int // from 0
		text         string
	}
	var all []insert
	for name, file := range joints {
		at := d.Place(g.robot.Path.Key("hardware").Key("joints").Key(name).Key("bus"))
		if at.Line < 1 || at.Line > len(text) {
			return nil, nil
		}
		if rel, err := filepath.Rel(c.Dir, file); err == nil {
			file = filepath.ToSlash(rel)
		}
		entry := "calibration: " + file
		line := text[at.Line-1]
		key := strings.LastIndex(line[:min(len(line), at.Column)], "bus")
		switch before := strings.TrimSpace(line[:max(key, 0)]); {
		case key < 0:
			return nil, nil
		case before == "": // a line of its own
			all = append(all, insert{at.Line - 1, 0, line[:key] + entry + "\n"})
		case strings.HasSuffix(before, "{"):
			all = append(all, insert{at.Line - 1, key, entry + ", "})
		default:
			return nil, nil
		}
	}
	slices.SortFunc(all, func(a, b insert) int { return b.line - a.line })
	for _, i := range all {
		text[i.line] = text[i.line][:i.column] + i.text + text[i.line][i.column:]
		lines = append([]string{fmt.Sprintf("%s:%d: %s", path, i.line+1, strings.TrimSpace(text[i.line]))}, lines...)
	}
	changed := []byte(strings.Join(text, ""))
	if !g.names(changed, joints) {
		return nil, nil
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o200 == 0 {
		return nil, err
	}
	return lines, yaml.WriteFile(path, changed)
}

// names reports whether data is the config as it was, with joints that name their files.
func (g *Guide) names(data []byte, joints map[string]string) bool {
	c, err := configs.Parse(data, g.robot.Config.Source, configs.Options{})
	if err != nil {
		return false
	}
	c.Dir = g.robot.Config.Dir
	for i := range c.Agents {
		a := &c.Agents[i]
		if a.Name != g.robot.Name {
			continue
		}
		for name, file := range joints {
			if absolute(c.Resolve(a.Hardware.Joints[name].Calibration)) != absolute(file) {
				return false
			}
		}
		return true
	}
	return false
}
