package gamebots

import (
	"fmt"
	"strings"

	"github.com/halyard-robotics/halyard/protocols"
)

// The viewports of 2007 and after: what the pictures of the image server show of this connection's robot, one camera or
// four side by side.
//
//	SET {Type Viewports} {Config SingleView|QuadView} {Viewport1 CAMERA|Disable} .. {Viewport4 ..}
//	RES {Time t} {Type Viewports} {Config ..} {Status OK|Failed} {Viewport1 ..} {Status ..} .. {Viewport4 ..} {Status ..}
//
// A viewport that is not named stays. A viewport is a camera's name, None or Disabled.
const viewportsType = "Viewports"

// viewports are a session's.
type viewports struct {
	quad    bool
	cameras [4]string // names on the wire; "" = None
	off     [4]bool   // Disabled
	set     bool
}

// setViewports handles SET {Type Viewports}.
func (c *Control) setViewports() error {
	s, k := c.session, c.link()
	v := &s.viewports
	if !v.set && len(k.robot.Cameras) > 0 {
		v.cameras[0] = k.robot.Cameras[0].Name
	}
	v.set = true
	var status [5]string
	var faults []error
	report := func(i int, ok bool, format string, args ...any) {
		if status[i] = "OK"; !ok {
			status[i] = failed
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	word := c.Text("Config")
	known := true
	switch strings.ToLower(word) {
	case "":
	case "singleview", "0":
		v.quad = false
	case "quadview", "1":
		v.quad = true
	default:
		known = false
	}
	report(0, known, "config: got %q, want SingleView or QuadView", word)
	for i := range v.cameras {
		name := c.Text(fmt.Sprintf("Viewport%d", i+1))
		status[i+1] = "OK"
		switch strings.ToLower(name) {
		case "":
		case "disable", "disabled":
			v.off[i] = true
		case "none":
			v.off[i], v.cameras[i] = false, ""
		default:
			found := k.find([]byte(cameraType), []byte(name))
			if found != nil {
				v.off[i], v.cameras[i] = false, found.name
			}
			report(i+1, found != nil, "viewport %d: camera %q: %w", i+1, name, errAbsent)
		}
	}
	if err := s.show(v); err != nil {
		faults = append(faults, err)
		status[0] = failed
	}
	s.reply(func(t *text) { v.append(t, s, status) })
	if len(faults) > 0 {
		return faults[0]
	}
	return nil
}

// append is the answer.
func (v *viewports) append(t *text, s *session, status [5]string) {
	t.begin("RES")
	t.numberSegment("Time", s.now().Seconds(), s.decimals())
	t.segment("Type", viewportsType)
	t.segment("Config", map[bool]string{false: "SingleView", true: "QuadView"}[v.quad])
	t.segment("Status", status[0])
	for i, name := range v.cameras {
		switch {
		case v.off[i]:
			name = "Disabled"
		case name == "":
			name = "None"
		}
		t.segment(fmt.Sprintf("Viewport%d", i+1), name)
		t.segment("Status", status[i+1])
	}
	t.end()
}

// show lets the image server show the viewports to the clients at this connection's address, as this connection's: two
// programs of one machine have two views.
func (s *session) show(v *viewports) error {
	names := v.cameras
	for i := range names {
		if v.off[i] {
			names[i] = ""
		}
	}
	what := names[0]
	if v.quad {
		what = strings.Join(names[:], ",")
	}
	return s.setView("viewports", fmt.Sprintf("%v %s/%s %v", protocols.TCPAddr(s.conn.RemoteAddr()), s.name, what,
		s.conn.RemoteAddr()))
}

// hide ends what show began. It is of no concern where there is no image server any more.
func (s *session) hide() {
	if s.viewports.set {
		_ = s.setView("", fmt.Sprintf("%v - %v", protocols.TCPAddr(s.conn.RemoteAddr()), s.conn.RemoteAddr()))
	}
}
