package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/internal/commission/host"
)

// watchPorts prints each adapter that is plugged in, unplugged or changed, at every tick until ctx ends. It opens no
// port. It also prints the rows at the start, so that a program has the initial state.
func (a *app) watchPorts(ctx context.Context, root string, ticks <-chan time.Time) error {
	known := map[string]host.PortRow{}
	first := true
	for now := time.Now(); ; {
		rows, err := host.ListPorts(root)
		if err != nil {
			return err
		}
		events := host.Changes(known, rows)
		for _, e := range events {
			if e.Time = now; first {
				e.Event = host.PortThere
			}
			if err := a.printEvent(&e); err != nil {
				return err
			}
		}
		if first {
			a.note("%d adapters. Plug one in or pull it out; Ctrl-C ends it.", len(rows))
		}
		first = false
		select {
		case <-ctx.Done():
			return ctx.Err()
		case now = <-ticks:
		}
	}
}

// printEvent prints one event: a line for people, a JSON line for programs.
func (a *app) printEvent(e *host.PortEvent) error {
	if a.format != "table" {
		return a.Line(e)
	}
	var b strings.Builder
	sign := map[string]string{host.PortThere: " ", host.PortAdded: "+", host.PortRemoved: "-",
		host.PortChanged: "~"}[e.Event]
	fmt.Fprintf(&b, "%s %s %s  %s", sign, e.Time.Format(time.TimeOnly), e.Port, e.Chip)
	if e.Port != e.Device {
		fmt.Fprintf(&b, " (%s)", e.Device)
	}
	if e.Likely != "" {
		b.WriteString("  " + e.Likely)
	}
	if e.Event != host.PortRemoved {
		b.WriteString("  access " + e.Access)
		if e.Held != "" {
			b.WriteString(", held by " + e.Held)
		}
	}
	if _, err := fmt.Fprintln(a.out, b.String()); err != nil {
		return err
	}
	if e.Event == host.PortAdded || e.Event == host.PortChanged {
		for _, n := range e.Notes {
			a.note("! %s: %s.  Fix: %s", e.Device, n.Found, n.Fix)
		}
	}
	return nil
}
