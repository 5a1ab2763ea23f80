package gamebots

import (
	"fmt"
	"net/netip"
	"strconv"

	"github.com/halyard-robotics/halyard/hal"
)

// viewValue is the rig's named value with each client's camera; an image server declares it
// (internal/protocols/imageserver). Setting it to "10.0.0.2 R1/Camera" gives the client at 10.0.0.2 the camera called
// Camera of the agent R1; "10.0.0.2" ends that view.
const viewValue = "/ImageServer/View"

const failed = "Failed"

// set handles SET of sensors, effecters and cameras, which is always answered.
func (c *Control) set() error {
	s := c.session
	kind, _ := c.message.Value("Type")
	if c.Has("Client") && equal(kind, cameraType) {
		status, err := "OK", c.view()
		if err != nil {
			status = failed
		}
		s.answer(cameraType, brief(c.Text("Name")), status)
		return err
	}
	if err := s.ready(); err != nil {
		return err
	}
	if equal(kind, viewportsType) {
		return c.setViewports()
	}
	name, _ := c.message.Value("Name")
	status, err := failed, error(errAbsent)
	if it := c.link().find(kind, name); it != nil {
		status, err = c.operate(it)
	}
	s.answer(brief(string(kind)), brief(string(name)), status)
	return err
}

// operate executes one opcode and returns the status of the answer.
func (c *Control) operate(it *item) (status string, err error) {
	r, l := c.robot(), c.link().layout
	opcode, _ := c.message.Value("Opcode")
	switch {
	case it.camera != hal.None:
		if !equal(opcode, "Zoom") || !c.Has("Params") {
			return "-1", fmt.Errorf("opcode %q: %w", opcode, errAbsent)
		}
		return c.zoom(it.camera, c.Number("Params", 0))
	case it.effecter != hal.None:
		return c.release(r.Effecters[it.effecter].Releaser, opcode)
	}
	sensor := &r.Sensors[it.sensor]
	switch kind := l.Sensors[sensor.Index].Kind; {
	case equal(opcode, "SCAN") && kind == "range":
		if !c.link().scan(it.sensor) {
			return failed, errAbsent
		}
		return "OK", nil
	case equal(opcode, "RESET") && (kind == "odometry" || kind == "inertial" || kind == "encoder"):
		if r.Zeroer == nil {
			return failed, fmt.Errorf("reset: %w", errAbsent)
		}
		if err := c.betweenCycles(func() error { return r.Zeroer.Zero(sensor.Index) }); err != nil {
			return failed, err
		}
		return "OK", nil
	}
	return failed, fmt.Errorf("opcode %q: %w", opcode, errAbsent)
}

// release handles the opcodes of an RFID releaser.
func (c *Control) release(r Releaser, opcode []byte) (status string, err error) {
	switch {
	case r == nil:
	case equal(opcode, "Release"):
		if err := c.betweenCycles(r.Release); err != nil {
			return failed, err
		}
		return "OK", nil
	case equal(opcode, "TagsRemaining"):
		n := 0
		err := c.betweenCycles(func() error { n = r.Remaining(); return nil })
		return strconv.Itoa(n), err
	}
	return failed, fmt.Errorf("opcode %q: %w", opcode, errAbsent)
}

// view sets or releases the viewpoint of the image server's client at an address.
func (c *Control) view() error {
	client, err := netip.ParseAddr(c.Text("Client"))
	if err != nil {
		return fmt.Errorf("client: %w", err)
	}
	// the original refuses loopback addresses; this server accepts them
	viewpoint := client.Unmap().String()
	if robot := c.Text("Robot"); robot != "" {
		camera := c.Text("Name")
		if camera == "" {
			camera = c.Text("Camera") // as the manual's explanation has it
		}
		if !proper(robot) || camera != "" && !proper(camera) {
			return fmt.Errorf("robot %q, camera %q: %w", robot, camera, ErrFormat)
		}
		viewpoint += " " + robot + "/" + camera
	}
	return c.session.setView("viewpoint", viewpoint)
}

// setView sets the value of views. Without an image server the error names what.
func (s *session) setView(what, text string) error {
	values := s.server.rig.Values()
	id, ok := values.Lookup(viewValue)
	if !ok {
		return fmt.Errorf("%s: no image server: %w", what, errAbsent)
	}
	return values.Set(id, hal.Value{Kind: hal.StringValue, Text: text})
}
