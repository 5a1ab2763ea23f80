package reader

import (
	"bytes"
	"encoding/binary"
	"errors"
	"time"

	"github.com/halyard-robotics/halyard/drivers/rfid"
	"github.com/halyard-robotics/halyard/internal/wire/rfidwire"
)

// PN532 is an emulated reader, on I2C and at the end of a serial line: a chip.Device and a chip.Endpoint. Its tags have
// four bytes of UID, the highest first.
type PN532 struct {
	Tags  []uint32      // in its field
	Sleep time.Duration // on I2C it acknowledges nothing for so long from the first attempt on
	Stale bool          // it still has the answer to a command of another program

	awake   bool // its serial line receives from the wake-up on
	ready   bool // SAMConfiguration was received; without it the chip reads no tags
	limited bool // it gives up without a tag; else it would search on, without a reply
	woken   time.Duration
	out     []pendingFrame
	data    []byte
}

// pendingFrame is a frame that waits to be fetched over I2C.
type pendingFrame struct {
	frame []byte
	from  time.Duration
}

const (
	acknowledging = time.Millisecond
	looking       = 8 * time.Millisecond
)

var errNoAcknowledge = errors.New("no acknowledge")

func (c *PN532) Address() uint16 { return rfid.PN532Address }

// Power implements chip.Device and chip.Endpoint.
func (c *PN532) Power(bool, time.Duration) { *c = PN532{Tags: c.Tags, Sleep: c.Sleep, Stale: c.Stale} }

// AnswerTime is from the end of a command to its answer on the serial line, as captures of real chips show it: 1.7 ms
// and more.
func (c *PN532) AnswerTime() time.Duration { return 2 * time.Millisecond }

func (c *PN532) Receive(p []byte, _ time.Duration, answer []byte) []byte {
	if !c.awake {
		if len(p) == 0 || p[0] != 0x55 {
			return answer
		}
		c.awake = true
	}
	for len(p) > 0 {
		data, used, ok := rfidwire.ParsePN532(p)
		if used == 0 {
			break
		}
		if p = p[used:]; ok && len(data) > 0 {
			answer = append(answer, rfidwire.PN532Ack()...)
			answer = append(answer, c.execute(data)...)
		}
	}
	return answer
}

// Transfer implements chip.Device: a write is a command, a read returns a ready byte and the due frame.
func (c *PN532) Transfer(w, r []byte, now time.Duration) error {
	if c.woken == 0 {
		c.woken = now + c.Sleep
	}
	if now < c.woken {
		return errNoAcknowledge
	}
	if len(w) > 0 {
		data, _, ok := rfidwire.ParsePN532(w)
		if !ok {
			return errNoAcknowledge
		}
		if c.out = nil; len(data) > 0 { // an acknowledgement from the host ends its last command
			if c.out = c.left(now); len(c.out) > 0 {
				c.Stale = false
			}
			c.out = append(c.out, pendingFrame{rfidwire.PN532Ack(), now + acknowledging})
			if frame := c.execute(data); frame != nil {
				c.out = append(c.out, pendingFrame{frame, now + looking})
			}
		}
	}
	if len(r) == 0 {
		return nil
	}
	clear(r)
	if len(c.out) == 0 || now < c.out[0].from {
		return nil
	}
	r[0] = rfidwire.PN532Ready
	// A read of only the ready byte keeps the frame; a longer read removes it, even if it read only a part.
	if len(r) > 1 {
		copy(r[1:], c.out[0].frame)
		c.out = c.out[1:]
	}
	return nil
}

// left is the frame that another program did not fetch.
func (c *PN532) left(now time.Duration) []pendingFrame {
	if !c.Stale {
		return nil
	}
	return []pendingFrame{{rfidwire.AppendPN532(nil, rfidwire.PN532Chip, rfidwire.PN532Firmware+1, rfidwire.PN532IC, 1,
		6, 7), now}}
}

// execute executes a command and returns the reply's frame; nil without a reply.
func (c *PN532) execute(data []byte) []byte {
	if len(data) < 2 || data[0] != rfidwire.PN532Host {
		return rfidwire.AppendPN532(nil, 0x7F) // a syntax error
	}
	c.data = append(c.data[:0], rfidwire.PN532Chip, data[1]+1)
	switch args := data[2:]; data[1] {
	case rfidwire.PN532Firmware:
		c.data = append(c.data, rfidwire.PN532IC, 0x01, 0x06, 0x07)
	case rfidwire.PN532SAM:
		c.ready = bytes.HasPrefix(args, []byte{1})
	case rfidwire.PN532RFConfig:
		if len(args) == 4 && args[0] == rfidwire.PN532Retries {
			c.limited = args[3] != 0xFF
		}
	case rfidwire.PN532List:
		if len(args) != 2 || args[0] == 0 || args[0] > rfidwire.PN532Targets || args[1] != rfidwire.PN532ListTypeA {
			return rfidwire.AppendPN532(nil, 0x7F)
		}
		n := min(int(args[0]), len(c.Tags))
		if !c.ready || n == 0 && !c.limited {
			return nil
		}
		c.data = append(c.data, byte(n))
		for i, tag := range c.Tags[:n] {
			c.data = rfidwire.AppendPN532Target(c.data, byte(i+1), binary.BigEndian.AppendUint32(nil, tag))
		}
	default:
		return rfidwire.AppendPN532(nil, 0x7F)
	}
	return rfidwire.AppendPN532(nil, c.data...)
}
