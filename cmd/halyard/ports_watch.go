package main

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// What happened to an adapter.
const (
	portThere   = "there" // since before the watching began
	portAdded   = "added"
	portRemoved = "removed"
	portChanged = "changed" // its access, its names or who holds it
)

// portEvent is what happened to one adapter.
type portEvent struct {
	Event string    `json:"event"`
	Time  time.Time `json:"time"`
	portRow
}

// watchPulse is how often the kernel's list is read: faster than a hand, and nothing to a machine. The kernel tells of
// changes in /sys to netlink sockets alone, which containers mostly do not have.
const watchPulse = 250 * time.Millisecond

// watchPorts tells of each adapter that is plugged in, pulled out or changes, at every tick until ctx ends. It opens no
// port. The rows of the first look are told as well, so that a program knows what it starts from.
func (a *app) watchPorts(ctx context.Context, root string, ticks <-chan time.Time) error {
	known := map[string]portRow{}
	first := true
	for now := time.Now(); ; {
		rows, err := listPorts(root)
		if err != nil {
			return err
		}
		events := changes(known, rows)
		for _, e := range events {
			if e.Time = now; first {
				e.Event = portThere
			}
			if err := a.tell(&e); err != nil {
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

// changes compares rows with what is known, by device, and brings known up to date. What has gone comes first: an adapter
// that comes back under its old name was another one in between.
func changes(known map[string]portRow, rows []portRow) (events []portEvent) {
	here := map[string]portRow{}
	for _, r := range rows {
		here[r.Device] = r
	}
	for _, device := range sortedKeys(known) {
		was := known[device]
		now, still := here[device]
		if still && now.Chip == was.Chip && now.Serial == was.Serial {
			continue
		}
		delete(known, device)
		events = append(events, portEvent{Event: portRemoved, portRow: was})
	}
	for _, r := range rows {
		was, there := known[r.Device]
		known[r.Device] = r
		switch {
		case !there:
			events = append(events, portEvent{Event: portAdded, portRow: r})
		case !same(was, r):
			events = append(events, portEvent{Event: portChanged, portRow: r})
		}
	}
	return events
}

// same tells whether nothing that a person would be told has changed.
func same(a, b portRow) bool {
	a.Latency, b.Latency = 0, 0 // NaN, where there is none, is not itself; opening a port sets it
	a.Notes, b.Notes = nil, nil
	return reflect.DeepEqual(a, b)
}

// tell prints one event: a line for people, a JSON line for programs.
func (a *app) tell(e *portEvent) error {
	if a.format != "table" {
		return a.line(e)
	}
	var b strings.Builder
	sign := map[string]string{portThere: " ", portAdded: "+", portRemoved: "-", portChanged: "~"}[e.Event]
	fmt.Fprintf(&b, "%s %s %s  %s", sign, e.Time.Format(time.TimeOnly), e.Port, e.Chip)
	if e.Port != e.Device {
		fmt.Fprintf(&b, " (%s)", e.Device)
	}
	if e.Likely != "" {
		b.WriteString("  " + e.Likely)
	}
	if e.Event != portRemoved {
		b.WriteString("  access " + e.Access)
		if e.Held != "" {
			b.WriteString(", held by " + e.Held)
		}
	}
	if _, err := fmt.Fprintln(a.out, b.String()); err != nil {
		return err
	}
	if e.Event == portAdded || e.Event == portChanged {
		for _, n := range e.Notes {
			a.note("! %s: %s.  Fix: %s", e.Device, n.Found, n.Fix)
		}
	}
	return nil
}
