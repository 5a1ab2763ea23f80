package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/configs/usarini"
	"github.com/halyard-robotics/halyard/hal"
)

// Read takes over one of USARSim's own files: robots become classes of the config, which --set may still change, and
// what it says of the server counts unless the command line says otherwise.
func (f *usarsimFlags) Read(file, config string) error {
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
		for _, i := range gamebotsServers(config) {
			sets = append(sets, fmt.Sprintf("servers[%d].max_clients=%d", i, api.MaxConnections))
		}
		listens = append(listens, fmt.Sprintf("gamebots=127.0.0.1:%d", api.ListenPort))
	}
	// Before what the user typed: the last word counts.
	f.flags.set, f.flags.listen = append(sets, f.flags.set...), append(listens, f.flags.listen...)
	return nil
}
