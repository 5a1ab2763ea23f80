package configs

import "github.com/halyard-robotics/halyard/internal/yaml"

// Faults are all that is wrong with a config, in the order of the file, after those of options. As an error its text is
// one line a fault, and its kind (hal.KindOf) that of the faults.
type Faults = yaml.Faults

// Fault is one thing that is wrong in a config, with its path and its place.
type Fault = yaml.Fault

// Path names one key of a config: agents[0].hardware.joints.left_elbow.id. A key with other characters than letters,
// digits, - and _ is in quotes: classes["USARBot.P2AT"].body. The empty Path is the whole document.
type Path = yaml.Path

// Meant is the fix of a mistyped name: `did you mean "body"?`, or "" if no word of among is similar.
func Meant(name string, among []string) string { return yaml.Meant(name, among) }

// Fault returns a fault at path with the place of path in the file; a key that is not in the file has the place of the
// nearest key above it. The caller may set its Kind before it adds it to its Faults.
func (c *Config) Fault(path Path, got, rule, fix string) Fault {
	f := Fault{Source: c.Source, Path: path, Got: got, Rule: rule, Fix: fix}
	if c.document != nil {
		at := c.document.Place(path)
		f.Source, f.Line, f.Column = at.Source, at.Line, at.Column
	}
	return f
}
