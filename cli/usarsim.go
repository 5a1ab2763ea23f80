package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/protocols/gamebots"
	"github.com/halyard-robotics/halyard/sim/model"
)

// usarsimFlags are the flags of "halyard usarsim": short forms of --set and --listen.
type usarsimFlags struct {
	arena   string
	ini     []string
	dialect string
	port    int
	lenient bool
	portSet bool // of port, where 0 is any free one
	flags   configFlags
}

func newUSARSim(a *app) *cobra.Command {
	var f usarsimFlags
	c := &cobra.Command{
		Use:   "usarsim [CONFIG]",
		Short: "run a USARSim-compatible arena",
		Long: `Starts like "ucc server MAP": an empty arena, with the Gamebots server at port 3000 and the image server at port 5003.
Controllers spawn their robots with INIT. CONFIG replaces the embedded config usarsim.`,
		Args:              arguments("[CONFIG]", "halyard usarsim"),
		ValidArgsFunction: completeConfigs,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.portSet = cmd.Flags().Changed("port")
			c, err := f.config(a, args)
			if err != nil {
				return err
			}
			return a.serve(cmd.Context(), c)
		},
	}
	c.Flags().StringVar(&f.arena, "map", "", "the arena: "+strings.Join(model.ArenaNames(), ", ")+
		", also as DM-USAR_yellow, or a scene file (yellow)")
	c.Flags().StringArrayVar(&f.ini, "ini", nil, "a USARBot.ini (robots, as classes), a BotAPI.ini (addresses of "+
		"the servers), or UDK's DefaultUSAR.ini (both)")
	c.Flags().BoolVar(&f.lenient, "lenient", false, "with --ini: ignore sensors of unknown classes, with a warning")
	c.Flags().StringVar(&f.dialect, "dialect", "",
		"document, later (2007 to 2010) or udk (2010 to 2015); by default recognised from a client's first commands")
	c.Flags().IntVarP(&f.port, "port", "p", 0,
		"port of the Gamebots server (3000); 0 is any free port; --listen also sets the host")
	f.flags.add(c)
	f.flags.addListen(c)
	a.addDashboard(c)
	return c
}

// config is the config with the arena and the port of the command line.
func (f *usarsimFlags) config(a *app, args []string) (*halyard.Config, error) {
	if len(args) == 0 {
		args = []string{"usarsim"}
	}
	if f.arena != "" {
		f.flags.set = append(f.flags.set, "world.scene="+arenaOf(f.arena))
	}
	if f.dialect != "" {
		if _, err := gamebots.ParseDialect(f.dialect); err != nil {
			return nil, err
		}
		for _, i := range gamebotsServers(args[0]) {
			f.flags.set = append(f.flags.set, fmt.Sprintf("servers[%d].dialect=%s", i, f.dialect))
		}
	}
	for _, file := range f.ini {
		if err := f.Read(a, file, args[0]); err != nil {
			return nil, err
		}
	}
	if f.portSet || f.port > 0 {
		f.flags.listen = append(f.flags.listen, fmt.Sprintf("gamebots=127.0.0.1:%d", f.port))
	}
	return f.flags.load(a, args)
}

// gamebotsServers are the indexes of a config's gamebots servers; a config that cannot be read is reported later.
func gamebotsServers(config string) (at []int) {
	c, _ := configs.Draft(config, configs.Options{})
	if c == nil {
		return nil
	}
	for i := range c.Servers {
		if c.Servers[i].Protocol == "gamebots" {
			at = append(at, i)
		}
	}
	return at
}

// arenaOf is the scene that a map of the original is here: DM-USAR_yellow, DM_USAR_yellow_scaled.
func arenaOf(name string) string {
	short := strings.ToLower(name)
	for _, prefix := range []string{"dm-usar_", "dm_usar_", "dm-", "usar_"} {
		short = strings.TrimPrefix(short, prefix)
	}
	short = strings.TrimSuffix(short, "_scaled")
	if slices.Contains(model.ArenaNames(), short) {
		return short
	}
	return name
}
