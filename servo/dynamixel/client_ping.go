package dynamixel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// Found is a servo that answered a ping.
type Found struct {
	ID       byte
	Number   uint16 // model_number
	Firmware byte
	Answers  int // more than one: several servos have this id
}

// Model is the found servo's model, nil if this package does not support it.
func (f *Found) Model(protocol int) *Model { return modelByNumber(f.Number, protocol) }

// Ping reads the identity of one servo. After the reply it waits for the reply time of another servo with the same id.
// Two equal replies at the same time look like one; all others give errTwice or a corrupt reply. A reply to an earlier
// request that the adapter held back looks like a second servo's: what answers twice is asked again on a quiet line.
func (c *Client) Ping(id byte) (Found, error) {
	f, err := c.ping(id)
	if errors.Is(err, errTwice) {
		servo.Settle(c.link.Port, heldBack)
		f, err = c.ping(id)
	}
	return f, err
}

// heldBack is longer than an adapter holds a reply back: its latency timer is 16 ms, and a busy host reads it late.
const heldBack = 50 * time.Millisecond

func (c *Client) ping(id byte) (Found, error) {
	f := Found{ID: id}
	s, err := c.exchange("ping", &Instruction{ID: id, Op: Ping}, 3)
	if err != nil {
		// An error status is a reply too: a servo is there.
		if _, refused := errors.AsType[Refusal](err); !refused {
			return f, c.collision(id, err)
		}
	}
	f.Answers = 1
	if c.link.protocol == 2 && len(s.Data) >= 3 {
		f.Number, f.Firmware = binary.LittleEndian.Uint16(s.Data), s.Data[2]
	}
	if err := c.linger(&f); err != nil {
		return f, err
	}
	if c.link.protocol == 1 {
		// A ping of protocol 1.0 returns only that a servo is there.
		p, err := c.Read(id, 0, 3)
		if hal.KindOf(err) == hal.Timeout {
			return f, c.fault(hal.BusFault, id, "ping", errPingOnly)
		}
		if err != nil {
			return f, c.collision(id, err)
		}
		f.Number, f.Firmware = binary.LittleEndian.Uint16(p), p[2]
	}
	return f, nil
}

// linger receives until the deadline of the last exchange, to detect a second reply.
func (c *Client) linger(f *Found) error {
	l := c.link
	// Only bytes after the first reply count.
	bad := l.parser.BadChecksum
	for {
		s, err := l.status()
		switch {
		case err == nil && s.ID == f.ID:
			f.Answers++
			continue
		case err == nil:
			continue
		case !errors.Is(err, servo.ErrNoReply):
			return c.classify(f.ID, "ping", err)
		case f.Answers > 1:
			e := fmt.Errorf("%w: got %d answers, want 1: %d servos have this id, or the adapter holds replies back for "+
				"longer than its latency_timer", errTwice, f.Answers, f.Answers)
			return c.fault(hal.BusFault, f.ID, "ping", e)
		case l.parser.BadChecksum > bad || l.parser.Buffered() > 0:
			return c.fault(hal.BusFault, f.ID, "ping", fmt.Errorf("%w after the first: two servos with this id?",
				servo.ErrCorrupt))
		}
		return nil
	}
}

// collision adds the usual cause of a corrupt reply to a ping.
func (c *Client) collision(id byte, err error) error {
	if !errors.Is(err, servo.ErrCorrupt) {
		return err
	}
	if e, ok := errors.AsType[*hal.Error](err); ok {
		err = e.Err // without its bus and id twice
	}
	return c.fault(hal.BusFault, id, "ping", fmt.Errorf("%w: two servos with this id, or a wrong baud rate?", err))
}

// broadcastSlot is the time that DynamixelSDK allows each of the 253 ids for its reply to a broadcast ping.
const broadcastSlot = 3 * time.Millisecond

// PingAll pings all servos together and collects their replies for 253 slots of 3 ms (0.76 s): 2.0 only, where they
// reply in the order of their ids. Corrupt replies give a BusFault in addition to the valid ones.
func (c *Client) PingAll() ([]Found, error) {
	l := c.link
	if l.protocol == 1 {
		return nil, c.fault(hal.Invalid, Broadcast, "ping all",
			errors.New("servos of protocol 1.0 answer over each other: scan"))
	}
	l.Out = l.Out[:0]
	l.add(&Instruction{ID: Broadcast, Op: Ping})
	bad := l.parser.BadChecksum
	if err := l.ask(253*statusBytes(2, 3), 253*broadcastSlot); err != nil {
		return nil, c.classify(Broadcast, "ping all", err)
	}
	var all []Found
	for {
		s, err := l.status()
		if errors.Is(err, servo.ErrNoReply) {
			break
		}
		if err != nil {
			return all, c.classify(Broadcast, "ping all", err)
		}
		if len(s.Data) < 3 {
			continue
		}
		// Servos with one id answer in the same slot, one right after the other at best.
		if n := len(all); n > 0 && all[n-1].ID == s.ID {
			all[n-1].Answers++
			continue
		}
		all = append(all, Found{ID: s.ID, Number: binary.LittleEndian.Uint16(s.Data), Firmware: s.Data[2], Answers: 1})
		// Replies are parsed as they arrive, so the bound on raw is for a single one.
		l.Raw = l.Raw[:0]
	}
	if n := l.parser.BadChecksum - bad; n > 0 || l.parser.Buffered() > 0 {
		return all, c.fault(hal.BusFault, Broadcast, "ping all",
			fmt.Errorf("%w: %d bad checksums: servos with the same id?", servo.ErrCorrupt, n))
	}
	return all, nil
}
