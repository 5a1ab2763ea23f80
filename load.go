package halyard

import (
	"fmt"

	"github.com/halyard-robotics/halyard/configs"
)

// Config is a config as described in docs/config.md. Load and Parse check it; change it by settings, not its fields.
type Config = configs.Config

// Setting changes a config while it is read, under the rules of the file.
type Setting func(*configs.Options)

// Set sets one key, as --set does: Set("agents[0].body", "emulated"). The value is YAML; other types are formatted by
// %v.
func Set(path string, value any) Setting {
	return func(o *configs.Options) { o.Set = append(o.Set, fmt.Sprintf("%s=%v", path, value)) }
}

// Listen moves a server of the config, or adds one: Listen("osp", "127.0.0.1:0"), Listen("odcp@arm", "127.0.0.1:0").
func Listen(protocol, address string) Setting {
	return func(o *configs.Options) { o.Listen = append(o.Listen, protocol+"="+address) }
}

// Load reads a config: the name of an embedded one ("so101"), or the path of a file. All faults are returned together.
func Load(nameOrPath string, settings ...Setting) (*Config, error) {
	return configs.Load(nameOrPath, optionsOf(settings))
}

// Parse reads a config from YAML; faults call it source. Relative paths in it are relative to the working directory.
func Parse(source string, yaml []byte, settings ...Setting) (*Config, error) {
	return configs.Parse(yaml, source, optionsOf(settings))
}

func optionsOf(settings []Setting) (o configs.Options) {
	for _, s := range settings {
		s(&o)
	}
	return o
}
