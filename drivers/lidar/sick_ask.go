package lidar

import (
	"cmp"
	"fmt"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// mode changes the mode and sees that it was done.
func (d *SICK) mode(timeout time.Duration, mode ...byte) error {
	p, err := d.ask(timeout, SICKModeReply, append([]byte{byte(SICKMode)}, mode...)...)
	if err == nil && (len(p) < 2 || p[1] != 0) {
		err = d.faultf(hal.BusFault, "mode %02X: got % X, want 00", mode[0], p)
	}
	return err
}

// ask sends a telegram of body and waits for its reply, which is valid until the next use of the parser. reply 0 means the
// command with bit 7. The reply may come after a scan on the wire; without any bytes the timeout is short.
func (d *SICK) ask(timeout time.Duration, reply byte, body ...byte) ([]byte, error) {
	reply = cmp.Or(reply, body[0]|SICKReplyBit)
	d.out = AppendSICK(d.out[:0], d.s.Address, body)
	d.parser.Reset() // bytes like the header of a long telegram would swallow the reply
	if err := d.write(d.out); err != nil {
		return nil, err
	}
	now := d.port.Line.Now()
	silence := now + timeout + d.wire(len(d.out)) + sickSlack
	// A scan on the wire comes first; at another rate only a stream that was started before can be on the line.
	whole := silence + d.wire(sickScan+SICKStatusLen)
	if d.tuned() && d.port.Line.Baud() != d.s.Baud {
		whole = silence + sickForeign + d.wire(SICKStatusLen)
	}
	for deadline := silence; ; {
		piece, err := d.read(deadline)
		if err != nil {
			return nil, d.fault(hal.BusFault, fmt.Errorf("answer to %02X: %w", body[0], err))
		}
		deadline = whole
		for len(piece) > 0 {
			piece = piece[d.parser.Feed(piece):]
			for p := d.parser.Body(); p != nil; p = d.parser.Body() {
				if p[0] == reply {
					return p, nil
				}
			}
		}
	}
}
