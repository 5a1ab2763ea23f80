package vesc

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/internal/emulator/reg"
	"github.com/halyard-robotics/halyard/internal/wire/vescwire"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// protocol is the protocol of VESC controllers.
type protocol struct {
	bus     *emulator.Bus
	servos  []*device
	out     []byte // scratch of a reply
	parser  *vescwire.Parser
	payload []byte
	answer  []byte
	free    time.Duration // when the CAN bus behind the first falls idle
}

// viaCAN is when n bytes of payload that are wanted at now have gone over the CAN bus: in one frame behind two bytes of
// address, or in frames of seven, behind the 256th byte of six, and one of six that ends them (bldc,
// comm_can_send_buffer). Nothing is stuffed.
func (t *protocol) viaCAN(n int, now time.Duration) time.Duration {
	const rate, bare = 500_000, 67 // bit/s; bits of an extended frame without data, and the gap
	bits := bare + 8*(2+n)
	if n > 6 {
		bits = bare + 8*6
		for at := 0; at < n; {
			size, head := min(7, n-at), 1
			if at > 255 {
				size, head = min(6, n-at), 2
			}
			bits += bare + 8*(head+size)
			at += size
		}
	}
	t.free = max(t.free, now) + time.Duration(bits)*time.Second/rate
	return t.free
}

func newProtocol(b *emulator.Bus) *protocol {
	b.SetDuplex()
	return &protocol{bus: b, servos: emulator.Kinds[*device](b), out: make([]byte, 0, 2048),
		parser: vescwire.NewParser(), answer: make([]byte, 0, vescwire.MaxPayload)}
}

func (t *protocol) Reset() { t.parser.Reset() }

func (t *protocol) Parse(p []byte, start time.Duration) {
	next := func() bool { t.payload = t.parser.Next(); return t.payload != nil }
	t.bus.Feed(&t.parser.Framer, p, start, next, t.handle)
}

// handle executes the current payload, whose last byte ended at now, on the addressed controller.
func (t *protocol) handle(now time.Duration) {
	b, p := t.bus, t.payload
	b.Update(now)
	if len(t.servos) == 0 || len(p) == 0 || !b.CanReceive(t.servos[0].Servo, now) {
		return
	}
	if vescwire.Command(p[0]) != vescwire.ForwardCAN {
		t.single(t.servos[0], p, now)
		return
	}
	for _, s := range t.servos[1:] {
		if len(p) > 2 && int64(p[1]) == s.Get(reg.ID) && b.CanReceive(s.Servo, now) {
			t.single(s, p[2:], t.viaCAN(len(p)-2, now))
		}
	}
}

// atLeast reports whether firmware n is of a version or later.
func atLeast(n [3]int, major, minor int) bool { return n[0] > major || n[0] == major && n[1] >= minor }

// knows reports whether firmware n answers a request.
func knows(n [3]int, c vescwire.Command) bool {
	switch c {
	case vescwire.Selective, vescwire.PingCAN:
		return atLeast(n, 3, 57)
	case vescwire.GetMcConfTemp:
		return atLeast(n, 3, 60)
	}
	return true
}

// fieldsOf is the mask of the values that a firmware sends unasked.
func fieldsOf(n [3]int) uint32 {
	switch {
	case !atLeast(n, 3, 39):
		return 1<<vescwire.PosNow - 1
	case !atLeast(n, 5, 0):
		return 1<<(vescwire.ControllerID+1) - 1
	}
	return math.MaxUint32
}

// single lets s execute p.
func (t *protocol) single(s *device, p []byte, now time.Duration) {
	a := append(t.answer[:0], p[0])
	n := t.bus.Firmware([3]int{6, 5})
	if !knows(n, vescwire.Command(p[0])) {
		return
	}
	be := binary.BigEndian
	switch c := vescwire.Command(p[0]); c {
	case vescwire.FWVersion:
		// Major, minor, hardware, a number of 12 bytes; paired, no test version, a VESC, no settings of its own, no
		// phase filters, no pages of its own (twice), no flags of a radio, no name, no sum.
		a = append(append(append(a, byte(n[0]), byte(n[1])), "60_MK6\x00HALYARD-VES"...), byte(s.Get(reg.ID)))
		a = append(a, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	case vescwire.GetValues:
		v := s.values()
		a = v.Append(a, fieldsOf(n))
	case vescwire.Selective:
		if len(p) != 5 {
			return
		}
		v, mask := s.values(), be.Uint32(p[1:])
		a = v.Append(be.AppendUint32(a, mask), mask)
	case vescwire.GetMcConfTemp:
		for range 10 { // limits, which are the actuator's
			a = be.AppendUint32(a, math.Float32bits(1))
		}
		a = append(a, byte(2*s.m.PolePairs))
		a = be.AppendUint32(be.AppendUint32(a, math.Float32bits(1)), math.Float32bits(0.1))
	case vescwire.GetAppConf:
		a = append(be.AppendUint32(a, 0x1F2E3D4C), byte(s.Get(reg.ID)))
		a = append(be.AppendUint32(a, uint32(s.Get(reg.Timeout))), make([]byte, 300)...)
	case vescwire.PingCAN:
		for _, other := range t.servos[1:] {
			if t.bus.CanReceive(other.Servo, now) {
				a = append(a, byte(other.Get(reg.ID)))
			}
		}
	case vescwire.Alive:
		s.Received = s.Now
		return
	default:
		s.setGoalOf(p)
		return
	}
	t.send(s, a, now)
}

// send sends an answer of s, by way of the first where it is another.
func (t *protocol) send(s *device, payload []byte, now time.Duration) {
	b := t.bus
	if s != t.servos[0] {
		now = t.viaCAN(len(payload), now)
	}
	b.Answer(s.Servo, payload[1:], max(now, b.Busy()), t.servos[0].Baud(), func() []byte { // one after the other
		t.out = vescwire.AppendPacket(t.out[:0], payload)
		return t.out
	})
}
