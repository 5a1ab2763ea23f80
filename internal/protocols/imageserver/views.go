package imageserver

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/halyard-robotics/halyard/hal"
)

// viewValue is the rig's value that holds the viewpoints; see the package comment.
const viewValue = "/ImageServer/View"

// maxViews bounds the viewpoints that may be set.
const maxViews = 64

// view is a camera of a robot; "" selects the first.
type view struct{ robot, camera string }

// views are the viewpoints by address.
type views struct {
	mu   sync.Mutex
	list []viewpoint
}

// viewpoint is the view of clients at an address. by is the connection that it belongs to, "" for a view of the
// address.
type viewpoint struct {
	client netip.Addr
	view   view
	by     string
}

// declare makes v a value of the rig.
func (v *views) declare(values *hal.Values) {
	values.Declare(viewValue, hal.StringValue, func() hal.Value {
		return hal.Value{Kind: hal.StringValue, Text: v.String()}
	},
		func(x hal.Value) error { return v.set(x.Text) })
}

// set accepts "client robot/camera" or "client robot/camera by"; "client" removes the view, "client - by" that of a
// connection.
func (v *views) set(text string) error {
	words := strings.Fields(text)
	if len(words) == 0 || len(words) > 3 {
		return fmt.Errorf("imageserver: view: got %q, want an address, and a robot/camera or nothing", text)
	}
	client, err := netip.ParseAddr(words[0])
	if err != nil {
		return fmt.Errorf("imageserver: view: %w", err)
	}
	client = client.Unmap()
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(words) == 1 {
		v.list = slices.DeleteFunc(v.list, func(p viewpoint) bool { return p.client == client })
		return nil
	}
	at := viewpoint{client: client}
	at.view.robot, at.view.camera, _ = strings.Cut(words[1], "/")
	if len(words) == 3 {
		at.by = words[2]
	}
	// The newest is last; at the bound the oldest is removed: its connection may have ended long ago.
	v.list = slices.DeleteFunc(v.list, func(p viewpoint) bool { return p.client == client && p.by == at.by })
	if words[1] == "-" {
		return nil
	}
	if len(v.list) == maxViews {
		v.list = slices.Delete(v.list, 0, 1)
	}
	v.list = append(v.list, at)
	return nil
}

// of returns the view of the first of these addresses that has a viewpoint, and its connection: the newest that was set
// for the address, or by the connection bound, "" for any.
func (v *views) of(bound string, clients ...netip.Addr) (view, string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !slices.ContainsFunc(v.list, func(p viewpoint) bool { return p.by == bound }) {
		bound = "" // that connection has ended
	}
	for _, client := range clients {
		for i := len(v.list) - 1; i >= 0; i-- {
			if p := &v.list[i]; p.client == client && (bound == "" || p.by == "" || p.by == bound) {
				return p.view, p.by
			}
		}
	}
	return view{}, ""
}

// String is all viewpoints, one a line.
func (v *views) String() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var b strings.Builder
	for _, p := range v.list {
		fmt.Fprintln(&b, strings.TrimSpace(fmt.Sprintf("%v %s/%s %s", p.client, p.view.robot, p.view.camera, p.by)))
	}
	return b.String()
}
