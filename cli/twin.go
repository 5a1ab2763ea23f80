package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/commission"
	"github.com/halyard-robotics/halyard/internal/commission/calibrate"
	"github.com/halyard-robotics/halyard/internal/control"
	"github.com/halyard-robotics/halyard/internal/sim/identify"
	"github.com/halyard-robotics/halyard/internal/sim/twin"
)

func newTwin(a *app) *cobra.Command {
	var f configFlags
	var data []string
	var servo string
	g := calibrate.Guide{Catalog: a.catalog(), Now: time.Now, Out: a.err}
	c := &cobra.Command{
		Use:   "twin ([RIG] | CONFIG | --servo MODEL --data FILES)",
		Short: "report why a robot differs from its simulated twin",
		Long: "Compares a robot with its simulated twin, and names the cause of a difference: zero, direction, " +
			"gear, play, load, friction, supply,\n" +
			"torque, resistance, latency, a stuck sensor, a loose horn, two of them, or none. The exit code is 8 if " +
			"a joint differs.\n\n" +
			"  with RIG       shows the residual of each joint of a running rig with shadow: true, its trend and " +
			"its cause; nothing moves\n" +
			"  without it     the same of the only running rig\n" +
			"  with CONFIG    moves each joint for some seconds within a range that you confirm, and its twin " +
			"likewise\n" +
			"  with --data    judges recordings of halyard identify",
		Example: "  halyard twin so101\n  halyard twin my-so101.yaml --joint elbow_flex\n  halyard twin --servo " +
			"xl330.yaml --data recordings -o jsonl",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			var rows []calibrate.TwinRow
			switch name := strings.Join(args, ""); {
			case len(args) < 2 && servo == "" && len(data) == 0 && len(g.Only) == 0 && f.body == "" &&
				(name == "" || control.Runs(name)):
				return liveTwin(cmd.Context(), a, name)
			case len(args) == 1 && servo == "" && len(data) == 0:
				g.Config, g.Options = args[0], configs.Options{Body: f.body, Set: f.set}
				g.In, g.Open = commission.NewAsker(a.in), a.options(slog.New(slog.DiscardHandler))
				rows, err = g.Twin(cmd.Context())
			case len(args) == 0 && servo != "" && len(data) > 0:
				var s *identify.Servo
				var runs []*identify.Run
				if s, err = calibrate.ServoNamed(servo, true); err == nil {
					runs, err = identify.Load(data)
				}
				if err == nil {
					rows, err = calibrate.TwinOf(runs, s)
				}
			default:
				return &hal.Error{Kind: hal.Invalid, Op: "twin",
					Err: fmt.Errorf("got %d arguments, --servo %q and %d --data, want CONFIG, or --servo and --data",
						len(args), servo, len(data)), Try: "halyard twin --help"}
			}
			if err == nil {
				err = show(a, rows)
			}
			for _, r := range rows {
				if err == nil && r.Cause != twin.None {
					err = &hal.Error{Kind: hal.Differs, Op: "twin", Joint: r.Joint, Err: fmt.Errorf("%s", r.Found)}
				}
			}
			return err
		},
	}
	f.add(c)
	c.Flags().StringVar(&g.Agent, "agent", "", "agent, if the config has several")
	c.Flags().StringArrayVar(&g.Only, "joint", nil, "this joint; may be repeated. Default: all")
	c.Flags().StringVar(&g.Plots, "plots", "", "folder for the plots as SVG")
	c.Flags().StringVar(&servo, "servo", "", "servo file, or model, of the recordings")
	c.Flags().StringArrayVar(&data, "data", nil, "a recording, or a folder of recordings; may be repeated")
	return c
}

// liveTwin shows what the running rig called name knows of its joints and their twins.
func liveTwin(ctx context.Context, a *app, name string) error {
	ans, err := control.Send(ctx, name, control.OrderTwin)
	if err != nil {
		return err
	}
	var rows []calibrate.ResidualRow
	if err := json.Unmarshal(ans.Twin, &rows); err != nil {
		return &hal.Error{Kind: hal.Unexpected, Op: "twin " + ans.Rig.Name, Err: err}
	}
	if err := show(a, rows); err != nil {
		return err
	}
	for _, r := range rows {
		if r.Cause != twin.None {
			return &hal.Error{Kind: hal.Differs, Op: "twin", Joint: r.Joint, Err: errors.New(r.Found)}
		}
	}
	return nil
}
