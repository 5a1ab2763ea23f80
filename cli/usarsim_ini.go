package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/plan"
)

// Read reads a file of USARSim: robots become classes of the config, which --set may still change, and its server
// settings apply unless the command line overrides them.
func (f *usarsimFlags) Read(a *app, file, config string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return &hal.Error{Kind: hal.Invalid, Op: "--ini", Err: err}
	}
	ini, err := plan.ReadINI(file, text, f.lenient)
	if err != nil {
		return &hal.Error{Kind: hal.Invalid, Op: "ini", Err: err}
	}
	for _, n := range ini.Notes {
		a.note("%s", n)
	}
	if file, err = filepath.Abs(file); err != nil {
		return err
	}
	var sets, listens []string
	for _, class := range ini.Classes {
		at := configs.Path("classes").Key(class)
		sets = append(sets, fmt.Sprintf("%s=%q", at.Key("model"), file),
			fmt.Sprintf("%s=%v", at.Key("lenient"), f.lenient))
	}
	for _, i := range gamebotsServers(config) {
		if ini.API != nil {
			sets = append(sets, fmt.Sprintf("servers[%d].max_clients=%d", i, ini.API.MaxConnections))
		}
		if ini.UDK {
			sets = append(sets, fmt.Sprintf("servers[%d].dialect=udk", i))
		}
	}
	if ini.API != nil {
		listens = append(listens, fmt.Sprintf("gamebots=127.0.0.1:%d", ini.API.ListenPort))
	}
	// Before the user's flags: the last value applies.
	f.flags.set, f.flags.listen = append(sets, f.flags.set...), append(listens, f.flags.listen...)
	return nil
}
