package imageserver

import (
	"errors"
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

// view is what a client looks at: a camera of a robot, both "" for the first.
type view struct{ robot, camera string }

// views are the viewpoints by address.
type views struct {
	mu   sync.Mutex
	list []viewpoint
}

type viewpoint struct {
	client netip.Addr
	view   view
}

// declare makes v a value of the rig.
func (v *views) declare(values *hal.Values) {
	values.Declare(viewValue, hal.StringValue, func() hal.Value { return hal.Value{Kind: hal.StringValue, Text: v.String()} },
		func(x hal.Value) error { return v.set(x.Text) })
}

// set takes "client robot/camera", or "client" to let go.
func (v *views) set(text string) error {
	words := strings.Fields(text)
	if len(words) == 0 || len(words) > 2 {
		return fmt.Errorf("imageserver: view: got %q, want an address, and a robot/camera or nothing", text)
	}
	client, err := netip.ParseAddr(words[0])
	if err != nil {
		return fmt.Errorf("imageserver: view: %w", err)
	}
	client = client.Unmap()
	v.mu.Lock()
	defer v.mu.Unlock()
	i := slices.IndexFunc(v.list, func(p viewpoint) bool { return p.client == client })
	switch {
	case len(words) == 1 && i >= 0:
		v.list = slices.Delete(v.list, i, i+1)
	case len(words) == 1:
	case i < 0 && len(v.list) == maxViews:
		return errors.New("imageserver: view: too many clients have one")
	default:
		at := viewpoint{client: client}
		at.view.robot, at.view.camera, _ = strings.Cut(words[1], "/")
		if i < 0 {
			v.list = append(v.list, at)
		} else {
			v.list[i] = at
		}
	}
	return nil
}

// of is what the first of these addresses that has a viewpoint looks at.
func (v *views) of(clients ...netip.Addr) view {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, client := range clients {
		for i := range v.list {
			if v.list[i].client == client {
				return v.list[i].view
			}
		}
	}
	return view{}
}

// String is all viewpoints, one a line.
func (v *views) String() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var b strings.Builder
	for _, p := range v.list {
		fmt.Fprintf(&b, "%v %s/%s\n", p.client, p.view.robot, p.view.camera)
	}
	return b.String()
}
