package cli

import (
	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard"
)

func newList(a *app) *cobra.Command {
	var f configFlags
	c := &cobra.Command{
		Use:               "list CONFIG",
		Short:             "list actuators, sensors and servers of a config",
		Args:              arguments("CONFIG", "halyard configs"),
		ValidArgsFunction: completeConfigs,
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := f.load(a, args)
			if err != nil {
				return err
			}
			rows, err := halyard.List(c, halyard.WithCatalog(a.more))
			return shown(a, rows, err)
		},
	}
	f.add(c)
	f.addListen(c)
	return c
}
