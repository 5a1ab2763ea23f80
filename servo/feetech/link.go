package feetech

import (
	"fmt"
	"time"

	"github.com/halyard-robotics/halyard/internal/wire/feetechwire"
	"github.com/halyard-robotics/halyard/servo"
)

// bitsPerByte on the wire: start, eight data, stop.
const bitsPerByte = 10

// maxDelay is the greatest return delay a servo can be set to.
const maxDelay = 254 * 2 * time.Microsecond

// exchangeRoom is the maximum length of one exchange, bytes: all replies to a sync read, or all packets for arming a
// full line at once.
const exchangeRoom = 8 * feetechwire.MaxPacket

// link is the host's end of a line: the requests that client and chain have in common.
type link struct {
	*servo.Exchange
	parser *feetechwire.Parser
}

func newLink(x *servo.Exchange) *link { return &link{x, feetechwire.NewParser(feetechwire.FromServos)} }

// status returns the next whole answer, waiting as long as the deadline allows.
func (l *link) status() (k feetechwire.Packet, err error) {
	err = l.Reply(&l.parser.Framer, func() bool { return l.parser.Next(&k) }, nil)
	return k, err
}

// answer sends Out to servo id and returns its reply with size bytes of data.
func (l *link) answer(id byte, size int, delay time.Duration) (k feetechwire.Packet, err error) {
	if err := l.Ask(&l.parser.Framer, 6+size, delay); err != nil {
		return k, err
	}
	// Another id is a late reply of another servo.
	err = l.Reply(&l.parser.Framer, func() bool { return l.parser.Next(&k) }, func() bool { return k.ID == id })
	if err == nil && len(k.Params) != size {
		err = servo.ErrCorrupt
	}
	return k, err
}

// read returns size bytes from addr of servo id; they are the parser's until the next question.
func (l *link) read(id, addr byte, size int, delay time.Duration) (feetechwire.Packet, error) {
	l.Out = feetechwire.AppendRead(l.Out[:0], id, addr, byte(size))
	return l.answer(id, size, delay)
}

// register reads one register.
func (l *link) register(id byte, r *servo.Register, delay time.Duration) (int64, error) {
	k, err := l.read(id, byte(r.Addr), int(r.Size), delay)
	if err != nil {
		return 0, err
	}
	return r.Decode(k.Params), nil
}

// store writes v to r of servo id and reads it back, at any response level.
func (l *link) store(id byte, r *servo.Register, v int64, delay time.Duration) error {
	var room [4]byte
	l.Out = feetechwire.AppendWrite(l.Out[:0], id, byte(r.Addr), r.Append(room[:0], v))
	// No acknowledgement is not a fault: the read-back decides.
	if _, err := l.answer(id, 0, delay); err != nil && !servo.IsServoError(err) {
		return err
	}
	got, err := l.register(id, r, delay)
	if err == nil && got != v {
		return fmt.Errorf("%s: %w: got %d, want %d", r.Name, servo.ErrDiffers, got, v)
	}
	return err
}
