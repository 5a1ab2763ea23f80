package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/internal/motion"
	"github.com/halyard-robotics/halyard/protocols/odcp"
)

func newPlay(a *app) *cobra.Command {
	var p motion.Player
	c := &cobra.Command{
		Use:   "play FILE|NAME",
		Short: "play a motion and report tracking error",
		Long: "Plays a recorded motion, or the embedded motion wave, and prints the tracking error of each joint: " +
			"measured minus\n" +
			"commanded, after the robot has reached the first pose. Joints without a torque in the recording get a " +
			"torque limit of 0\n" +
			"and are omitted.\n\n" +
			"FILE is text, one sample per line, numbers separated by commas: milliseconds since the start, an angle " +
			"for each joint\n" +
			"(-1..1 over the motor's range, of most from -150 to 150 degrees), and a torque for each (0..1, below 0 " +
			"= none given).",
		Example: "  halyard play wave --model so101\n  halyard play nod.txt --model my-robot.yaml --speed 0.5 " +
			"--address 127.0.0.1:45453",
		Args: arguments("FILE|NAME", "halyard play wave"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p.Note = a.note
			rows, err := p.Run(cmd.Context(), args[0])
			return shown(a, rows, err)
		},
	}
	c.Flags().StringVar(&p.Protocol, "protocol", "odcp", "the protocol to speak")
	c.Flags().StringVar(&p.Address, "address", fmt.Sprintf("127.0.0.1:%d", odcp.DefaultPort), "address of the server")
	c.Flags().Float64Var(&p.Speed, "speed", 1, "times the recorded pace")
	c.Flags().StringVar(&p.Model, "model", "",
		"robot or robot file, for names and ranges (default: the one with as many joints)")
	return c
}
