package cli

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/console"
	"github.com/halyard-robotics/halyard/internal/control"
)

func newTop(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "top [RIG]",
		Short: "show joints, buses and cycle, refreshed in place",
		Long: "Shows a running rig in the terminal, four times a second. Space is the emergency stop, Ctrl-C ends " +
			"the display.",
		Args: arguments("[RIG]", "halyard top"),
		RunE: func(cmd *cobra.Command, args []string) error {
			out := terminalOf(a.out)
			if out == nil {
				return &hal.Error{Kind: hal.Invalid, Op: "top", Err: errors.New("got no terminal"),
					Try: "halyard status"}
			}
			name := strings.Join(args, "")
			ctx, cancel := context.WithCancel(cmd.Context())
			defer cancel()
			// The effect of a stop is shown on the next page.
			end, _ := watchSpace(a, func() { control.StopAll(context.Background(), []string{control.Folder()}) },
				func(byte) {})
			defer end()
			size := func() (int, int) {
				if w, h, err := term.GetSize(int(out.Fd())); err == nil {
					return w, h
				}
				return 80, 24
			}
			tick := time.NewTicker(console.TopInterval)
			defer tick.Stop()
			return console.Top(ctx, out, tick.C, size,
				func() (*control.Answer, error) { return control.Send(ctx, name, control.OrderStatus) })
		},
	}
}
