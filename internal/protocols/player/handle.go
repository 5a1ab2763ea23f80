package player

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

// handle executes one message. Its error ends the session.
func (s *session) handle(ctx context.Context, h *Header, in []byte) error {
	switch {
	case h.Type == Cmd:
		return s.command(h, in)
	case h.Type != Req:
		s.refuse(h, errUnknown)
		return nil
	case h.Device == (Device{Player, 0}):
		return s.meta(ctx, h, in)
	}
	unit := s.server.find(h.Device)
	if unit == nil {
		return s.reply(h, nil, errAbsent)
	}
	p, err := unit.request(&s.control, h.Subtype, in)
	return s.reply(h, p, err)
}

// command executes a command. It is not answered.
func (s *session) command(h *Header, in []byte) error {
	k := &s.control
	unit := s.server.find(h.Device)
	before := k.goal
	k.goalSet = false
	err := errAbsent
	if unit != nil {
		err = unit.command(k, h.Subtype, in)
	}
	if err == nil && k.staged {
		err = s.hold()
	}
	if err != nil {
		k.staged, k.goal = false, before
		hal.FillNaN(k.inputs)
		s.refuse(h, err)
		return nil
	}
	if k.staged { // the guard drops it, and the protocol has no answer to a command
		if why := s.server.robot.Agent.Ready(); why != nil {
			s.server.traffic.Drop(protocols.Refused)
			if key := s.server.robot.Agent.State().String(); !s.refused[key] {
				s.refused[key] = true
				s.log.Warn("player: commands move nothing", "device", h.Device, "why", why)
			}
		}
	}
	return s.commit()
}

// refuse counts a message that is not executed; the log has it once a kind and session.
func (s *session) refuse(h *Header, err error) {
	switch {
	case h.Type != Cmd && h.Type != Req:
		s.server.traffic.Drop(protocols.Unknown)
	case errors.Is(err, ErrFormat):
		s.server.traffic.Drop(protocols.Truncated)
	default:
		s.server.traffic.Drop(protocols.Refused)
	}
	if key := fmt.Sprint(h.Device, h.Type, h.Subtype); !s.refused[key] && len(s.refused) < maxQueue {
		s.refused[key] = true
		s.log.Warn("player: message refused", "device", h.Device, "type", h.Type, "subtype", h.Subtype, "fault", err)
	}
}

// reply answers a request: ACK with p, or NACK.
func (s *session) reply(h *Header, p payload, err error) error {
	if err != nil {
		s.refuse(h, err)
		return s.answer(h, Nack, nil)
	}
	return s.answer(h, Ack, p)
}

func (s *session) answer(h *Header, t Type, p payload) error {
	return s.queue.answer(s.message(Header{Device: h.Device, Type: t, Subtype: h.Subtype, Seq: h.Seq,
		Time: s.now().time.Seconds()}, p))
}

// meta answers a request to player:0.
func (s *session) meta(ctx context.Context, h *Header, in []byte) error {
	switch h.Subtype {
	case reqDeviceList:
		list := &deviceList{}
		for _, e := range s.server.entries {
			list.Devices = append(list.Devices, s.server.address(e.device))
		}
		return s.reply(h, list, nil)
	case reqDriverInfo:
		var p address
		err := decodeFirst(in, &p)
		if err == nil && s.server.find(p.Device) == nil {
			err = errAbsent
		}
		return s.reply(h, &driverInfo{s.server.address(p.Device), s.server.driver()}, err)
	case reqDevice:
		return s.access(ctx, h, in)
	case reqData:
		if err := s.reply(h, nil, nil); err != nil {
			return err
		}
		s.queue.ask(h.Seq)
		return nil
	case reqDataMode:
		p, err := decode[number](in)
		if err == nil && p.Value != modePush && p.Value != modePull {
			err = errValue
		}
		if err == nil {
			s.queue.mode(p.Value == modePull)
		}
		return s.reply(h, nil, err)
	case reqAuth:
		return s.reply(h, nil, nil) // no key is required
	case reqReplaceRule:
		p, err := decode[replaceRule](in)
		if err == nil && !s.queue.addRule(p) {
			err = errValue
		}
		return s.reply(h, nil, err)
	}
	return s.reply(h, nil, errUnknown)
}

// decodeFirst reads p from the beginning of b: clients send further fields without a meaning.
func decodeFirst(b []byte, p payload) error {
	c := coder{decoding: true, buf: b}
	p.update(&c)
	return c.err
}

// access opens or closes a device.
func (s *session) access(ctx context.Context, h *Header, in []byte) error {
	p, err := decode[deviceRequest](in)
	if err != nil {
		return s.reply(h, nil, err)
	}
	unit := s.server.find(p.Address.Device)
	granted := p.Access
	switch {
	case unit == nil:
		granted = accessError
	case p.Access == accessOpen:
		s.mu.Lock()
		if !slices.ContainsFunc(s.open, func(e entry) bool { return e.device == p.Address.Device }) {
			s.open = append(s.open, entry{p.Address.Device, unit})
			if c, ok := unit.(*camera); ok {
				s.stream(ctx, p.Address.Device, c.index)
			}
		}
		s.mu.Unlock()
		s.due.Store(true) // send its first data at once
	case p.Access == accessClose:
		s.mu.Lock()
		s.open = slices.DeleteFunc(s.open, func(e entry) bool { return e.device == p.Address.Device })
		if c, ok := unit.(*camera); ok && s.streams[c.index] != nil {
			s.streams[c.index]()
			delete(s.streams, c.index)
			delete(s.latest, c.index)
		}
		s.mu.Unlock()
	default:
		granted = accessError
	}
	answer := &deviceRequest{s.server.address(p.Address.Device), granted, []byte(s.server.driver() + "\x00")}
	if granted != accessError {
		return s.reply(h, answer, nil)
	}
	// this NACK has a payload, as Player's
	s.refuse(h, errAbsent)
	answer.Driver = nil
	return s.answer(h, Nack, answer)
}

// stream begins to watch a camera. Under mu.
func (s *session) stream(ctx context.Context, d Device, index int) {
	watch, err := s.server.robot.Cameras.Watch(index)
	if err != nil {
		s.log.Warn("player: camera", "device", d, "fault", err)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	s.streams[index] = cancel
	s.running.Go(func() {
		defer s.server.rig.Contain("player camera")
		defer watch.Close()
		for last := uint64(0); ; {
			picture, err := watch.Next(ctx, last)
			if err != nil {
				return
			}
			last = picture.Sequence
			at, data := picture.Time, pictureOf(picture)
			picture.Release()
			if data != nil {
				s.mu.Lock()
				s.latest[index] = data
				s.mu.Unlock()
				s.publish(d, 1, at, data)
			}
			select {
			case <-time.After(2 * interval):
			case <-ctx.Done():
				return
			}
		}
	})
}

// picture is the last one of a camera that the client has opened, or nil.
func (s *session) picture(index int) *cameraData {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.latest[index]
}
