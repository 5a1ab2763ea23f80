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

// NewChain returns a chain of all servos of one line; nothing is sent until Open, which also reports faults of cfg.
//
// A cycle is one sync write of 7 bytes each (acceleration, position, time, speed; for HLS a current in place of the
// time). For STS and SMS one sync read of 8 bytes follows (position, speed, load, voltage, temperature), for HLS of 15,
// up to the current. SCS get 6 bytes and are read one by one. Alarms are in every reply. The health read of one servo
// in turn also reads its mode, torque switch, limit and lock.
//
// The operating mode is an EEPROM register. It is changed with torque off, read back, and written with the lock closed,
// which changes only its copy in RAM. EEPROM settings are written the same way.
func NewChain(cfg servo.ChainConfig) *servo.GenericChain {
	n := len(cfg.Servos)
	b := &protocol{devices: make([]device, n), queue: make([]write, 0, 16*n)}
	for i := range cfg.Servos {
		b.devices[i].init(&cfg.Servos[i])
	}
	b.chain = servo.NewGenericChain(cfg, servo.ChainSpec{
		LastID: feetechwire.LastID, Bits: bitsPerByte, Out: exchangeRoom, In: exchangeRoom,
		Known: func(i int) bool { return b.devices[i].m != nil },
		Base: func(i int) servo.Level {
			if m := b.devices[i].m; m != nil && m.Series != SCS {
				return servo.SyncReads
			}
			return servo.SingleReads
		},
		Faults: func(i int) []error {
			if i == maxServos {
				return []error{fmt.Errorf("got %d servos, want %d at most: they do not fit into one packet", n,
					maxServos)}
			}
			return nil
		},
	}, b)
	return b.chain
}

// maxServos fit into one sync write of goals.
const maxServos = (feetechwire.MaxLength - 4) / (1 + goalBlock)
