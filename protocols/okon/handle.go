package okon

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

var (
	errReal   = errors.New("the robot is real: it is not put anywhere")
	errAbsent = errors.New("nothing here can do that")
	errAsked  = errors.New("too many pictures asked for")
)

// handle executes p and answers it, with the flag of the request where the original did (its WAPIClient.cs). It may
// wait for the end of a cycle, never for a picture: p.Data is valid only during this call.
func (c *session) handle(p *Packet) {
	switch p.Type {
	case GetDepth, GetDepthBytes, GetVideo, GetVideoBytes, GetDetections:
		c.sendPicture(p) // echoes after the picture
		return
	}
	var err error
	switch s := c.server; p.Type {
	case GetSensors: // the most frequent request: it needs neither the rig's lock nor an allocation
		c.measured = s.robot.Agent.Measured(c.measured)
		e := s.robot.Pilot.Estimate(c.measured)
		c.sensors = sensorsOf(&e)
		c.out.put(p.Type, p.Flag, c.text)
	case Ping:
		c.out.putBytes(p.Type, p.Flag, p.Data)
	case Ack:
		c.out.putBytes(Ack, p.Flag|test, []byte(`{"info":"ack ack"}`))
	case ArmMotors:
		err = c.arm()
	case DisarmMotors: // any client may disarm, not only the commander
		s.command.disarm()
	case SetMotors, SetControlMode, SetAcro, SetStable, SetPID, SetSim, SetOrientation:
		if len(p.Data) == 0 {
			err = c.replySettings(p)
		} else {
			err = c.set(p)
		}
	case ResetSim:
		err = c.reset()
	case GetCheckpoints:
		c.checkpoints(p)
	case CheckAction:
		c.action(p)
	case torpedo:
		// The original launches one and answers nothing; here no robot has a launcher.
		c.log.Debug("okon: torpedo: no launcher")
	default:
		// also types that only a server sends, and those of older originals (0xC2, 0xD0..0xD3)
		s.traffic.Drop(protocols.Unknown)
		c.out.put(failure, 0, func(dst []byte) []byte {
			return appendFault(dst, "Unknown dataframe type "+p.Type.String(), p.Data)
		})
	}
	if err != nil {
		c.fault(err, p.Data)
	}
	c.echo(p.Flag, p.Data)
}

// arm makes the client the commander, then arms the motors. The order matters: the next cycle disengages an autopilot
// that is armed while the guard has no commanding client. It fails with hal.Unsafe while the emergency stop is latched,
// where an operator must arm first or where a sensor has a fault without which the autopilot cannot fly, and with
// hal.Busy where another protocol holds the agent.
func (c *session) arm() error {
	if err := c.server.robot.Pilot.Check(c.server.robot.Agent); err != nil {
		return err
	}
	if err := c.server.robot.Agent.RequestArm(c.name); err != nil {
		return err
	}
	if err := c.server.command.acquire(c); err != nil {
		return err
	}
	c.server.command.arm()
	return nil
}

// reset puts a simulated robot into a start zone; a real one moves nowhere. As in the original it neither disarms a
// simulated robot nor touches mode, targets and PIDs, and every client is notified of it at once, the sender too.
func (c *session) reset() error {
	s := c.server
	if err := s.command.foreign(); err != nil {
		return err
	}
	var err error
	s.rig.BetweenCycles(func() {
		switch course := s.robot.Course; {
		case s.robot.real():
			s.command.disarm()
			c.measured = s.robot.Agent.Measured(c.measured)
			s.robot.Pilot.Zero(c.measured)
			if course != nil {
				course.Clear()
			}
		case course != nil:
			err = course.Restart()
		default:
			err = errAbsent
		}
	})
	if err == nil {
		s.broadcast(ResetSim, nil)
	}
	return err
}

// checkpoints answers with all of them, [] if absent.
func (c *session) checkpoints(p *Packet) {
	list := []Checkpoint{}
	if course := c.server.robot.Course; course != nil {
		c.server.rig.BetweenCycles(func() { list = course.Checkpoints(list) })
	}
	c.json(p, list)
}

// action answers whether the robot is in an action point, or which there are. The answer's flag is 0, as the
// original's.
func (c *session) action(p *Packet) {
	var points []ActionPoint
	if course := c.server.robot.Course; course != nil {
		c.server.rig.BetweenCycles(func() { points = course.ActionPoints(nil) })
	}
	if len(p.Data) > 0 {
		id := word(p.Data, "id")
		active := slices.ContainsFunc(points, func(a ActionPoint) bool { return a.Active && a.ID == id })
		c.out.putBytes(p.Type, 0, fmt.Appendf(nil, "%t", active))
		return
	}
	c.out.put(p.Type, 0, func(dst []byte) []byte {
		dst = append(dst, '[')
		for i, a := range points {
			if i > 0 {
				dst = append(dst, ',')
			}
			if c.server.options.BareIDs {
				dst = append(dst, a.ID...)
			} else {
				dst = appendText(dst, []byte(a.ID))
			}
		}
		return append(dst, ']')
	})
}

// json answers p with v, which is one of this package's shapes.
func (c *session) json(p *Packet, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		c.fault(err, p.Data)
		return
	}
	c.out.putBytes(p.Type, p.Flag, b)
}

// sendPicture answers with a picture or its detections, once rendered.
func (c *session) sendPicture(p *Packet) {
	w := pictureRequest{p.Type, p.Flag, append([]byte(nil), p.Data[:min(len(p.Data), maxEcho)]...)}
	c.mu.Lock()
	place := c.asked < maxAsked
	later := !place && len(c.waiting) < maxWaiting
	switch {
	case place:
		c.asked++
	case later:
		c.waiting = append(c.waiting, w)
	}
	c.mu.Unlock()
	switch {
	case place:
		if !c.askPicture(w) {
			c.nextPicture()
		}
	case !later: // a client that requests without reading would hold pictures without a bound
		c.answerPicture(&w, nil, errAsked)
	}
}

// nextPicture gives the place of a picture that is answered to the next request.
func (c *session) nextPicture() {
	for {
		c.mu.Lock()
		if len(c.waiting) == 0 {
			c.asked--
			c.mu.Unlock()
			return
		}
		w := c.waiting[0]
		c.waiting = c.waiting[1:]
		c.mu.Unlock()
		if c.askPicture(w) {
			return
		}
		c.out.signal()
	}
}

// maxEcho bounds the data of a picture's request that is kept for its echo, bytes; the request itself needs no data.
const maxEcho = 256

// askPicture requests a picture, for which the caller has a place. It reports false if the request is answered already:
// there is no such camera.
func (c *session) askPicture(w pictureRequest) bool {
	pictures, camera := c.server.robot.Pictures, hal.None
	if pictures != nil {
		camera = pictures.views.of(w.kind)
	}
	if camera == hal.None {
		c.answerPicture(&w, nil, errNoPicture)
		return false
	}
	c.mu.Lock()
	after := c.seen[camera]
	c.mu.Unlock()
	pictures.ask(camera, imageRequest{after: after, image: w.kind != GetDetections, deliver: func(s *shot, err error) {
		c.answerPicture(&w, s, err)
		if s != nil {
			c.mu.Lock()
			c.seen[camera] = max(c.seen[camera], s.sequence)
			c.mu.Unlock()
		}
		c.out.signal()
		c.nextPicture()
	}})
	return true
}

// answerPicture answers a request, in the reader's goroutine or one of pictures. The original had no failure: without a
// picture it sent an empty list of detections.
func (c *session) answerPicture(w *pictureRequest, s *shot, err error) {
	switch t, flag := w.kind, w.flag; {
	case t == GetDetections && err == nil:
		if b, err := json.Marshal(detections(s.sights)); err == nil {
			c.out.putBytes(t, flag, b)
		}
	case t == GetDetections && err != errAsked:
		c.out.putBytes(t, flag, []byte("[]"))
	case err != nil:
		c.fault(fmt.Errorf("%v: %w", t, err), w.data)
	case t == GetVideo || t == GetDepth:
		c.out.put(t, flag, func(dst []byte) []byte { return base64.StdEncoding.AppendEncode(dst, s.jpeg) })
	default:
		c.out.putBytes(t, flag, s.jpeg)
	}
	c.echo(w.flag, w.data)
}

// detections converts sights to the protocol: boxes count from the bottom. An object outside the picture has no box;
// the original sent the whole picture with its corners swapped.
func detections(sights []hal.Detection) []Detection {
	list := make([]Detection, len(sights))
	for i := range sights {
		s := &sights[i]
		about := vector(s.Distance, s.Colour, s.Fill)
		list[i] = Detection{ClassName: s.Class, Distance: about.X, ColorPercentVisible: about.Y, Fill: about.Z}
		if d := &list[i]; s.Visible > 0 {
			low, high := vector(s.Box[0], 1-s.Box[3], 0), vector(s.Box[2], 1-s.Box[1], 0)
			d.VisibleInFrame, d.Min, d.Max = true, Point{low.X, low.Y}, Point{high.X, high.Y}
		}
	}
	return list
}
