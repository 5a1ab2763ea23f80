package cli

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/commission"
	"github.com/halyard-robotics/halyard/internal/commission/calibrate"
)

// newCalibration makes the command that converts calibration files.
func newCalibration(a *app) *cobra.Command {
	var config, agent, dir, format string
	top := &cobra.Command{Use: "calibration", Short: "read and write calibration files of LeRobot and ROS"}
	in := &cobra.Command{Use: "import FILE --config CONFIG --dir DIR",
		Short:   "write DIR/JOINT.yaml from another program's file",
		Example: "  halyard calibration import so101.json --config my-so101.yaml --dir calibration",
		Args:    arguments("FILE", "halyard calibration import so101.json --config so101 --dir calibration"),
		RunE: func(_ *cobra.Command, args []string) error {
			if config == "" {
				return &hal.Error{Kind: hal.Invalid, Op: "calibration import",
					Err: errors.New("got no --config, want the config of the robot"),
					Try: "halyard calibration import so101.json --config so101 --dir calibration"}
			}
			r, err := calibrate.Open(config, agent, configs.Options{}, a.catalog())
			if err != nil {
				return err
			}
			rows, notes, err := calibrate.Import(args[0], r, dir, time.Now())
			return a.noted(notes, err, func() error { return show(a, rows) })
		}}
	in.Flags().StringVar(&config, "config", "", "config of the robot")
	in.Flags().StringVar(&agent, "agent", "", "agent, if the config has several")
	out := &cobra.Command{Use: "export --dir DIR --format lerobot",
		Short:   "print the calibrations of DIR as another program's file",
		Example: "  halyard calibration export --dir calibration --format lerobot > so101.json",
		Args:    arguments("", "halyard calibration export --dir calibration --format lerobot"),
		RunE: func(*cobra.Command, []string) error {
			data, lost, err := calibrate.Export(dir, format)
			return a.noted(lost, err, func() error { _, err := a.out.Write(data); return err })
		}}
	out.Flags().StringVar(&format, "format", "lerobot", "lerobot, joint_limits or urdf")
	for _, c := range []*cobra.Command{in, out} {
		c.Flags().StringVar(&dir, "dir", "", "folder of the calibration files")
	}
	top.AddCommand(in, out)
	return top
}

// noted prints notes and calls then, unless there is an error.
func (a *app) noted(notes []string, err error, then func() error) error {
	if err != nil {
		return err
	}
	for _, n := range notes {
		a.note("%s", n)
	}
	return then()
}

// newCalibrate creates the guided calibration, and the commands on its files.
func newCalibrate(a *app) *cobra.Command {
	var f configFlags
	var agent, joint, sensor, pulse string
	var version int
	var table, wheels bool
	g := calibrate.Guide{Catalog: a.catalog(), Now: time.Now, Out: a.err}
	top := &cobra.Command{Use: "calibrate CONFIG", Short: "run a guided calibration; compare and restore its files",
		Long: "Guides through the calibration of a robot, one step a screen: reference pose, direction, range and " +
			"rest pose by hand with\n" +
			"torque off, then torque constants and a check by slow motions that you confirm. An interrupted session " +
			"continues at its step.\n" +
			"Move an emulated robot with \"hand JOINT DEGREES ...\" at any prompt while its torque is off.",
		Example: "  halyard calibrate my-so101.yaml --dir calibration\n  halyard calibrate my-so101.yaml --joint " +
			"elbow_flex\n  halyard calibrate show my-so101.yaml",
		Args: arguments("CONFIG", "halyard calibrate my-so101.yaml"), ValidArgsFunction: completeConfigs,
		RunE: func(c *cobra.Command, args []string) error {
			a.config = args[0]
			g.Config, g.Agent, g.Options = args[0], agent, configs.Options{Body: f.body, Set: f.set}
			g.In, g.Open = commission.NewAsker(a.in), a.guideOptions()
			if terminalOf(a.in) != nil {
				live := time.NewTicker(200 * time.Millisecond)
				defer live.Stop()
				g.Live = live.C
			}
			if sensor != "" {
				return g.Inertial(c.Context(), sensor)
			}
			if pulse != "" {
				return g.Output(c.Context(), pulse)
			}
			if wheels {
				return g.Wheels(c.Context())
			}
			run := g.Run
			if table {
				run = g.Table
			}
			rows, err := run(c.Context())
			return shown(a, rows, err)
		}}
	f.add(top)
	top.Flags().StringVar(&agent, "agent", "", "agent, if the config has several")
	top.Flags().StringArrayVar(&g.Only, "joint", nil, "this joint; may be repeated. Default: all")
	top.Flags().StringVar(&sensor, "sensor", "", "calibrate this inertial sensor instead of joints")
	top.Flags().StringVar(&pulse, "pulse", "", "calibrate this thruster, ESC or hobby servo instead of joints")
	top.Flags().BoolVar(&wheels, "wheels", false,
		"calibrate the odometry of a robot base: a straight metre, and a square in each direction")
	top.Flags().BoolVar(&table, "table", false,
		"compare --joint with angles that you measure, and write a table of them if a line does not fit")
	top.Flags().StringVar(&g.Plots, "plots", "", "folder for the plots as SVG")
	top.Flags().StringVar(&g.Dir, "dir", "",
		"folder of the files (default: from the config, else calibration next to it)")
	sub := func(use, short string, run func(*calibrate.Robot) error) {
		c := &cobra.Command{Use: use + " CONFIG", Short: short,
			Args: arguments("CONFIG", "halyard calibrate "+use+" my-so101.yaml"), ValidArgsFunction: completeConfigs,
			RunE: func(_ *cobra.Command, args []string) error {
				r, err := calibrate.Open(args[0], agent, configs.Options{Body: f.body, Set: f.set}, a.catalog())
				if err != nil {
					return err
				}
				return run(r)
			}}
		f.add(c)
		c.Flags().StringVar(&agent, "agent", "", "agent, if the config has several")
		c.Flags().StringVar(&joint, "joint", "", "one joint; its kept versions too")
		c.Flags().IntVar(&version, "version", 0, "kept version; 0 is the one before")
		top.AddCommand(c)
	}
	sub("show", "list calibrations and their versions", func(r *calibrate.Robot) error {
		rows, err := calibrate.Show(r, joint)
		return shown(a, rows, err)
	})
	sub("diff", "compare calibrations with an older version", func(r *calibrate.Robot) error {
		rows, err := calibrate.Diff(r, joint, version)
		if err = shown(a, rows, err); err == nil && len(rows) > 0 {
			err = &hal.Error{Kind: hal.Differs, Op: "calibrate diff", Err: fmt.Errorf("%d values differ", len(rows))}
		}
		return err
	})
	check := &cobra.Command{Use: "check CONFIG", Short: "compare servos and their rest pose with the calibrations",
		Args: arguments("CONFIG", "halyard calibrate check my-so101.yaml"), ValidArgsFunction: completeConfigs,
		RunE: func(c *cobra.Command, args []string) error {
			d, err := calibrate.Check(c.Context(), args[0], configs.Options{Body: f.body, Set: f.set}, a.catalog())
			if err == nil {
				err = cmp.Or(show(a, d.Found), d.Verdict(true))
			}
			return err
		}}
	f.add(check)
	top.AddCommand(check)
	sub("rollback", "save an older version as the calibration in use", func(r *calibrate.Robot) error {
		row, err := calibrate.Rollback(r, joint, version)
		return shown(a, []calibrate.Row{row}, err)
	})
	return top
}

// guideOptions are those of a robot that a session opens: the session tells what a log would.
func (a *app) guideOptions() []halyard.Option { return a.options(slog.New(slog.DiscardHandler)) }
