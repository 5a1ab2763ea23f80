package host

import (
	"reflect"
	"time"

	"github.com/halyard-robotics/halyard/internal/report"
)

// What happened to an adapter.
const (
	PortThere   = "there" // since before the watching began
	PortAdded   = "added"
	PortRemoved = "removed"
	PortChanged = "changed" // its access, its names or who holds it
)

// PortEvent is what happened to one adapter.
type PortEvent struct {
	Event string    `json:"event"`
	Time  time.Time `json:"time"`
	PortRow
}

// WatchPulse is how often the kernel's list is read: faster than a hand, and nothing to a machine. The kernel tells of
// changes in /sys to netlink sockets alone, which containers mostly do not have.
const WatchPulse = 250 * time.Millisecond

// Changes compares rows with what is known, by device, and brings known up to date. What has gone comes first: an
// adapter that comes back under its old name was another one in between.
func Changes(known map[string]PortRow, rows []PortRow) (events []PortEvent) {
	here := map[string]PortRow{}
	for _, r := range rows {
		here[r.Device] = r
	}
	for _, device := range report.SortedKeys(known) {
		was := known[device]
		now, still := here[device]
		if still && now.Chip == was.Chip && now.Serial == was.Serial {
			continue
		}
		delete(known, device)
		events = append(events, PortEvent{Event: PortRemoved, PortRow: was})
	}
	for _, r := range rows {
		was, there := known[r.Device]
		known[r.Device] = r
		switch {
		case !there:
			events = append(events, PortEvent{Event: PortAdded, PortRow: r})
		case !same(was, r):
			events = append(events, PortEvent{Event: PortChanged, PortRow: r})
		}
	}
	return events
}

// same reports whether nothing that is printed has changed.
func same(a, b PortRow) bool {
	a.Latency, b.Latency = 0, 0 // NaN, if absent, is not itself; opening a port sets it
	a.Notes, b.Notes = nil, nil
	return reflect.DeepEqual(a, b)
}
