package cli

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/commission"
	"github.com/halyard-robotics/halyard/internal/commission/calibrate"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

func newIdentify(a *app) *cobra.Command {
	var f configFlags
	var o calibrate.Offline
	var record, convert, plan string
	var judge bool
	g := calibrate.Guide{Catalog: a.catalog(), Out: a.err, Now: time.Now}
	c := &cobra.Command{
		Use: "identify (CONFIG --joint J --out FILE | --servo MODEL --out FILE --data FILES | --check FILE --data " +
			"FILES)",
		Short: "find a servo's parameters from recordings",
		Long: "Finds motor and friction parameters of a servo from recordings of a pendulum of known mass, and " +
			"writes a servo file that\n" +
			"a joint under hardware.joints of a config can name as its model. docs/identify.md explains recordings " +
			"and parameters.\n\n" +
			"  with --data     fits to recordings (BAM's raw JSON), files or folders\n" +
			"  with --joint    moves that joint of CONFIG within a range that you confirm, records it, and fits to " +
			"that\n" +
			"  with --check    simulates recordings with a servo file, and prints the error of each\n" +
			"  with --plan     lists the motions that would tell more than the recordings of a servo file\n" +
			"  with --judge    prints the errors on recordings that fits had not seen",
		Example: "  halyard identify my-so101.yaml --joint elbow_flex --out elbow.yaml\n" +
			"  halyard identify --servo xl330-m288 --data recordings --out xl330.yaml\n" +
			"  halyard identify --check xl330.yaml --data recordings/kp200-sin_sin.json -o jsonl",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case convert != "" && o.Out == "":
				return calibrate.Refuse("no --out", "the file to write")
			case convert != "":
				lost, err := calibrate.ConvertServo(convert, o.Servo, o.Out, time.Now())
				return a.noted(lost, err, func() error { a.note("%s", o.Out); return nil })
			case plan != "":
				rows, err := calibrate.PlanRows(plan)
				return shown(a, rows, err)
			case judge:
				o.Data = append(o.Data, args...)
				rows, err := o.Judge(a.note)
				return shown(a, rows, err)
			case len(g.Only) > 0 && (len(args) != 1 || o.Out == ""):
				return calibrate.Refuse(fmt.Sprintf("%d arguments, --out %q", len(args), o.Out),
					"CONFIG, and the servo file to write")
			case len(g.Only) > 0:
				g.Config, g.Options = args[0], configs.Options{Body: f.body, Set: f.set}
				g.In, g.Open = commission.NewAsker(a.in), a.options(slog.New(slog.DiscardHandler))
				s, err := g.Identify(cmd.Context(), o.Out, record)
				return a.noted(nil, err, func() error { return show(a, calibrate.PlayedRows(s.Recordings)) })
			}
			o.Data = append(o.Data, args...) // a shell expands --data *.json to one flag and the rest as arguments
			rows, err := o.Run(time.Now, a.note)
			return shown(a, rows, err)
		},
	}
	c.Flags().StringVar(&o.Servo, "servo", "", "model of the recorded servo, as xl330-m288")
	c.Flags().StringArrayVar(&o.Data, "data", nil, "a recording, or a folder of recordings; may be repeated")
	c.Flags().StringVar(&o.Out, "out", "", "servo file to write")
	c.Flags().StringVar(&o.Check, "check", "", "servo file, or model, to compare with the recordings")
	f.add(c)
	c.Flags().StringVar(&g.Agent, "agent", "", "agent, if the config has several")
	c.Flags().StringArrayVar(&g.Only, "joint", nil, "joint of CONFIG to move and identify")
	c.Flags().StringVar(&g.Plots, "plots", "", "folder for the plots as SVG")
	c.Flags().StringVar(&convert, "convert", "",
		"parameter file of BAM (JSON) to write as servo file, or servo file to write as BAM's")
	c.Flags().StringVar(&plan, "plan", "",
		"servo file: list the motions that would separate what its recordings leave unseparated")
	c.Flags().BoolVar(&judge, "judge", false,
		"with --servo and --data: fit without each gain and each motion in turn, and judge on those; takes long")
	c.Flags().StringVar(&record, "record", "", "folder for the recordings of --joint")
	c.RegisterFlagCompletionFunc("servo", words(actuator.Names()...))
	return c
}
