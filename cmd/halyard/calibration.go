package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/commission/calibrate"
)

func newCalibration(a *app) *cobra.Command {
	c := &cobra.Command{Use: "calibration", Short: "read or write calibration files of other programs"}
	var config, dir, format string
	in := &cobra.Command{
		Use:     "import FILE --config CONFIG --dir DIR",
		Short:   "write calibration files from another program's file",
		Long:    "Reads LeRobot's calibration JSON, or the limits of a URDF or of ROS's joint_limits.yaml, and writes DIR/JOINT.yaml for the\njoints of CONFIG. What is there is kept as a version. A file with any fault writes nothing.",
		Example: "  halyard calibration import ~/.cache/huggingface/lerobot/calibration/robots/so101_follower/arm.json --config so101 --dir calibration",
		Args:    arguments("FILE", "halyard calibration import arm.json --config so101 --dir calibration"),
		RunE: func(_ *cobra.Command, args []string) error {
			if config == "" || dir == "" {
				return &hal.Error{Kind: hal.Invalid, Op: "calibration import", Err: errors.New("got no --config or no --dir, want both"), Try: "halyard calibration import --help"}
			}
			text, err := os.ReadFile(args[0])
			if err != nil {
				return &hal.Error{Kind: hal.Invalid, Op: "calibration import", Err: err}
			}
			joints, err := calibrate.Load(config)
			if err != nil {
				return err
			}
			found, err := calibrate.Import(args[0], text, joints, time.Now())
			if err != nil {
				return err
			}
			for _, w := range found.Warnings {
				a.note("note: %s", w)
			}
			written, err := found.Write(dir)
			return errors.Join(show(a, written), err)
		},
	}
	in.Flags().StringVar(&config, "config", "", "the config whose joints the file is of")
	in.Flags().StringVar(&dir, "dir", "", "folder to write to")
	out := &cobra.Command{
		Use:   "export --dir DIR --format lerobot",
		Short: "print calibration files as another program's",
		Args:  arguments("", "halyard calibration export --dir calibration --format lerobot"),
		RunE: func(*cobra.Command, []string) error {
			if dir == "" || format != "lerobot" {
				return &hal.Error{Kind: hal.Invalid, Op: "calibration export", Err: fmt.Errorf("got --dir %q --format %q, want a folder and lerobot", dir, format), Try: "halyard calibration export --dir calibration --format lerobot"}
			}
			joints, err := calibrate.Folder(dir)
			if err != nil {
				return err
			}
			text, lost, err := calibration.ExportLeRobot(joints)
			if err != nil {
				return &hal.Error{Kind: hal.Invalid, Op: "calibration export " + dir, Err: err}
			}
			for _, l := range lost {
				a.note("not in the file: %s", l)
			}
			_, err = a.out.Write(text)
			return err
		},
	}
	out.Flags().StringVar(&dir, "dir", "", "folder of calibration files")
	out.Flags().StringVar(&format, "format", "", "lerobot")
	c.AddCommand(in, out)
	return c
}
