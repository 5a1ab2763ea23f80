package configs

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

//go:embed *.yaml
var embedded embed.FS

// Names lists the embedded configs, sorted.
func Names() []string {
	files, _ := fs.Glob(embedded, "*.yaml") // the pattern is ours and right
	for i, f := range files {
		files[i] = strings.TrimSuffix(f, ".yaml")
	}
	return files
}

// Embedded returns the YAML of an embedded config, a copy that the caller owns.
func Embedded(name string) ([]byte, bool) {
	data, err := embedded.ReadFile(name + ".yaml")
	return data, err == nil
}

// Load reads the config that nameOrPath means: the name of an embedded one, or else the path of a file; "./demo" is
// always a file. The error is of kind hal.Invalid, hal.Busy where the file may not be read, and Faults where the
// config is wrong.
func Load(nameOrPath string, o Options) (*Config, error) {
	return faultless(Draft(nameOrPath, o))
}

// faultless returns the config of a draft, nil if it has faults.
func faultless(c *Config, err error) (*Config, error) {
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Draft is Load for callers that check for further faults: if the error is Faults it also returns the readable part of
// the config, with defaults in place of faulty values, or nil. Never run a draft with faults.
func Draft(nameOrPath string, o Options) (*Config, error) {
	if data, ok := Embedded(nameOrPath); ok {
		return draft(data, nameOrPath, o)
	}
	data, err := yaml.ReadFile(nameOrPath)
	if err != nil {
		e := &hal.Error{Kind: hal.Invalid, Op: fmt.Sprintf("config %q", nameOrPath), Err: err, Try: "halyard configs"}
		var inner *fs.PathError
		if errors.As(err, &inner) {
			e.Err = inner.Err // the path is in Op
		}
		if errors.Is(err, fs.ErrPermission) {
			e.Kind, e.Try = hal.Busy, "ls -l "+nameOrPath
		} else if fix := yaml.Meant(nameOrPath, Names()); fix != "" {
			e.Err = fmt.Errorf("%w; %s", e.Err, fix)
		}
		return nil, e
	}
	c, err := draft(data, nameOrPath, o)
	if c != nil {
		c.Dir = filepath.Dir(nameOrPath)
	}
	return c, err
}

// Parse reads a config from data. source is its name in faults. The error is nil or Faults; the config is nil after
// faults. It does not retain data.
func Parse(data []byte, source string, o Options) (*Config, error) {
	return faultless(draft(data, source, o))
}

// WithBody is c, read again, with kind as the body of every agent and class, and no parts. The error is Faults, or
// hal.Invalid where c was not read by this package.
func (c *Config) WithBody(kind BodyKind) (*Config, error) {
	if c.data == nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "body", Err: errMadeByHand}
	}
	o := c.options
	o.Body = string(kind)
	n, err := draft(c.data, c.Source, o)
	if n != nil {
		n.Dir = c.Dir
	}
	return faultless(n, err)
}

func draft(data []byte, source string, o Options) (*Config, error) {
	// 1. The document as a tree; without a tree the later steps cannot run.
	d := yaml.Read(data, source)
	switch root := d.Root; {
	case root == nil:
		return nil, d.Err()
	case root.Kind != yaml.Table:
		d.Refuse(root.At, root.String(), "a config with the keys name, agents and servers",
			"halyard configs demo prints one to start from")
		return nil, d.Err()
	}
	// 2. The command line's changes, 3. the structs, 4. the relations between keys. No step stops at a fault.
	override(d.Root, o, d)
	c := &Config{Source: source, document: d, data: data, options: o}
	d.Decode(c, forms)
	c.complete()
	(&checker{c, d}).check()
	return c, d.Err()
}

var errMadeByHand = errors.New("got a config made by hand, want a config from Load or Parse")
