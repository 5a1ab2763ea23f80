package dynamixel

import (
	"time"

	"github.com/halyard-robotics/halyard/internal/emulator/reg"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

func (s *device) Protocol(b *emulator.Bus) emulator.Protocol { return newProtocol(b) }

func (s *device) Baud() int { return s.model.Rate(byte(s.Get(reg.Baud))) }

func (s *device) SetBaud(baud int) {
	if code, ok := s.model.BaudCode(baud); ok {
		s.Set(reg.Baud, int64(code))
	}
}

// protocol receives both protocols: servos of both may be connected to one line, and each ignores the other's packets.
type protocol struct {
	bus     *emulator.Bus
	servos  []*device
	out     []byte             // scratch of a reply
	parts   []dynamixel.Status // of a fast reply
	data    []byte             // of the parts
	bad     []int              // bytes of a fast reply that arrive wrong
	parsers [2]*dynamixel.Parser
	in      dynamixel.Instruction
}

func newProtocol(b *emulator.Bus) *protocol {
	t := &protocol{bus: b, servos: emulator.Kinds[*device](b), out: make([]byte, 0, 2048),
		parts: make([]dynamixel.Status, 0, 256)}
	for i := range t.parsers {
		t.parsers[i] = dynamixel.NewParser(i+1, dynamixel.FromHost)
	}
	return t
}

func (t *protocol) Reset() {
	for _, p := range t.parsers {
		p.Reset()
	}
}

func (t *protocol) Parse(p []byte, start time.Duration) {
	for i, parser := range t.parsers {
		var k dynamixel.Packet
		t.bus.Feed(&parser.Framer, p, start, func() bool { return parser.Next(&k) }, func(end time.Duration) {
			var err error
			if i == 0 {
				err = k.Instruction1(&t.in)
			} else {
				err = k.Instruction2(&t.in)
			}
			t.execute(i+1, &t.in, err != nil, end)
		})
	}
}
