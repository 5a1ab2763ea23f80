package hiwonder

import (
	"time"

	"github.com/halyard-robotics/halyard/internal/wire/hiwonderwire"
	"github.com/halyard-robotics/halyard/servo"
)

// bitsPerByte on the wire: start, eight data, stop.
const bitsPerByte = 10

// replyDelay is the time of a servo before a reply: about half a millisecond, measured by others.
const replyDelay = 500 * time.Microsecond

// exchangeRoom is the maximum length of one Write, bytes: four packets to each of 254 servos.
const exchangeRoom = 4 * 254 * hiwonderwire.MaxPacket

// link is the host's end of a line: the requests that client and chain have in common.
type link struct {
	*servo.Exchange
	parser *hiwonderwire.Parser
}

func newLink(x *servo.Exchange) *link { return &link{x, hiwonderwire.NewParser()} }

// write adds c with params for id; the servo does not answer.
func (l *link) write(id byte, c byte, params []byte) {
	l.Out = hiwonderwire.AppendPacket(l.Out, &hiwonderwire.Packet{ID: id, Command: c, Params: params})
}

// read reads the values of c from servo id. Out must be empty. The bytes belong to the parser until the next request.
func (l *link) read(id byte, c *Command) (k hiwonderwire.Packet, err error) {
	l.Out = hiwonderwire.AppendPacket(l.Out[:0], &hiwonderwire.Packet{ID: id, Command: c.Read})
	if err := l.Ask(&l.parser.Framer, 6+int(c.Size), replyDelay); err != nil {
		return k, err
	}
	err = l.Reply(&l.parser.Framer, func() bool { return l.parser.Next(&k) }, func() bool {
		// An echoed request has no parameters; a late reply of another servo has another id.
		return (k.ID == id || id == hiwonderwire.Broadcast) && k.Command == c.Read && len(k.Params) == int(c.Size)
	})
	return k, err
}

// register reads one register.
func (l *link) register(id byte, r *servo.Register) (int64, error) {
	c := commandOf(r)
	k, err := l.read(id, c)
	if err != nil {
		return 0, err
	}
	return r.Decode(k.Params[r.Addr-c.Addr:]), nil
}

// NewChain returns a chain of all servos of one line; nothing is sent until Open, which also reports faults of cfg.
//
// A cycle is one write of 10 bytes to each servo with a changed goal, and one request of 6 and reply of 8 bytes for
// each servo. The bus is slow: 6 servos take 12.5 ms of wire time. An unchanged goal is repeated in every tenth cycle,
// which repairs a lost packet. The health read of one servo in turn reads its torque switch and its temperature or
// voltage.
//
// The servo reports no alarms: the chain compares temperature and voltage with the servo's own limits. It measures
// neither speed nor effort, and cannot limit its torque: a limit of zero switches torque off.
func NewChain(cfg servo.ChainConfig) *servo.GenericChain {
	b := &protocol{devices: make([]device, len(cfg.Servos))}
	for i := range cfg.Servos {
		b.devices[i].init(&cfg.Servos[i])
	}
	b.chain = servo.NewGenericChain(cfg, servo.ChainSpec{
		LastID: hiwonderwire.LastID, Bits: bitsPerByte, Out: exchangeRoom, In: 16 * hiwonderwire.MaxPacket,
		NoLimit: true, Known: func(i int) bool { return b.devices[i].m != nil },
	}, b)
	return b.chain
}
