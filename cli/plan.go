package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/internal/budget"
	"github.com/halyard-robotics/halyard/internal/plan"
)

func newPlan(a *app) *cobra.Command {
	var f configFlags
	var o budget.Options
	c := &cobra.Command{
		Use:   "plan CONFIG",
		Short: "predict the cycle rate of each bus of a config",
		Long: "Predicts the cycle time of each bus by running the config's drivers on emulated servos in virtual " +
			"time. It opens no device.\n" +
			"If less than a fifth of a period is free, it lists the changes that would free it. A config whose " +
			"cycles are so slow that a hang of the\n" +
			"process would be found after the command deadline is refused.",
		Example: "  halyard plan so101\n  halyard plan so101 --adapter ftdi-full-speed --set " +
			"clock.period=5ms -o jsonl",
		Args:              arguments("CONFIG", "halyard plan so101"),
		ValidArgsFunction: completeConfigs,
		RunE: func(_ *cobra.Command, args []string) error {
			rows, refused, _, err := f.budget(a, args, o)
			return errors.Join(shown(a, rows, err), refused)
		},
	}
	f.add(c)
	c.Flags().StringVar(&o.Adapter, "adapter", "config",
		"adapter of all buses: config, ideal, high-speed, full-speed, ftdi-high-speed or ftdi-full-speed")
	c.Flags().StringVar(&o.Read, "read", "auto", "how servos are read: auto, sync or single")
	c.RegisterFlagCompletionFunc("adapter", words(budget.Adapters()...))
	c.RegisterFlagCompletionFunc("read", words(budget.Reads()...))
	return c
}

// budget predicts the buses of a config. refused: a hang of the process would be found too late; a warning where
// nothing is real yet.
func (f *configFlags) budget(a *app, args []string, o budget.Options) (rows []budget.Bus, refused error, warning bool,
	err error) {
	c, err := f.load(a, args)
	if err != nil {
		return nil, nil, false, err
	}
	p, err := plan.Resolve(c, a.catalog())
	if err != nil {
		return nil, nil, false, err
	}
	if rows, err = budget.Of(p, o); err != nil {
		return nil, nil, false, err
	}
	refused, warning = budget.Refused(p.Config, rows)
	return rows, refused, warning, nil
}
