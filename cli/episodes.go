package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/lerobot"
	"github.com/halyard-robotics/halyard/internal/report"
)

func newEpisodes(a *app) *cobra.Command {
	c := &cobra.Command{Use: "episodes", Short: "list episodes; export them as a LeRobot data set",
		Long: "Lists the episodes of recordings, and makes a LeRobot data set of them (docs/teleop.md)."}
	c.AddCommand(newEpisodesList(a), newEpisodesExport(a))
	return c
}

func atLeast(n int, want, example string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < n {
			return &hal.Error{Kind: hal.Invalid, Op: "episodes " + c.Name(),
				Err: fmt.Errorf("got %d arguments, want %s", len(args), want), Try: example}
		}
		return nil
	}
}

// episodeRow is an episode of a recording.
type episodeRow struct {
	Recording string `json:"recording"`
	Episode   int    `json:"episode"`
	Task      string `json:"task"`
	Outcome   string `json:"outcome"`
	Cycles    uint64 `json:"cycles"`
}

func (e episodeRow) Cells() report.Cells {
	return report.Cells{{"recording", e.Recording}, {"episode", e.Episode}, {"task", e.Task}, {"outcome", e.Outcome},
		{"cycles", e.Cycles}}
}

func newEpisodesList(a *app) *cobra.Command {
	return &cobra.Command{Use: "list FILE...", Short: "list the episodes of recordings",
		Args: atLeast(1, "FILE...", "halyard episodes list episodes.mcap"),
		RunE: func(_ *cobra.Command, args []string) error {
			rows := []episodeRow{}
			for _, file := range args {
				r, err := lerobot.Open(file)
				if err != nil {
					return err
				}
				for i, e := range r.Episodes {
					rows = append(rows, episodeRow{file, i + 1, e.Task, e.Outcome, e.To - e.From})
				}
			}
			return show(a, rows)
		}}
}

func newEpisodesExport(a *app) *cobra.Command {
	var o lerobot.Options
	units := ""
	c := &cobra.Command{Use: "export DIR FILE...", Short: "write a LeRobotDataset v3.0 of recordings",
		Long: "Makes DIR, a new folder, a LeRobotDataset v3.0 of the episodes of recordings. An episode with a gap " +
			"is left out, and why\nis listed.",
		Example: "  halyard episodes export cubes episodes-*.mcap\n  halyard episodes export cubes a.mcap --fps 50 " +
			"--units range",
		Args: atLeast(2, "DIR FILE...", "halyard episodes export cubes episodes.mcap"),
		RunE: func(_ *cobra.Command, args []string) error {
			switch o.Units = lerobot.Units(units); o.Units {
			case lerobot.Degrees, lerobot.Range, lerobot.Radians:
			default:
				return &hal.Error{Kind: hal.Invalid, Op: "--units",
					Err: fmt.Errorf("got %q, want degrees, range or rad", units)}
			}
			rows, err := lerobot.Export(args[0], args[1:], o)
			if len(rows) > 0 {
				if e := show(a, rows); err == nil {
					err = e
				}
			}
			if err == nil {
				a.note("%s: LeRobotDataset(\"any/name\", root=%q)", args[0], args[0])
			}
			return err
		}}
	c.Flags().Float64Var(&o.Rate, "fps", 30, "frames a second")
	c.Flags().StringVar(&units, "units", "degrees",
		"of joints: degrees, range (-100..100) or rad; a gripper has 0..100 of "+
			"its range, but with rad")
	c.RegisterFlagCompletionFunc("units", words("degrees", "range", "rad"))
	c.Flags().StringVar(&o.RobotType, "robot-type", "", "robot_type of the data set (default the robots' names)")
	c.Flags().StringArrayVar(&o.Agents, "agent", nil,
		"robot in it, may be repeated (default those that were commanded)")
	c.Flags().BoolVar(&o.SuccessOnly, "success", false, "only episodes that ended as a success")
	return c
}
