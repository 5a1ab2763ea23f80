package vesc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/internal/wire/vescwire"
	"github.com/halyard-robotics/halyard/servo"
)

// bitsPerByte on the wire: start, eight data, stop.
const bitsPerByte = 10

// replyDelay is the time of a controller before a reply, with the forwarding over its CAN bus: for the chain's cyclic
// request 2 frames there and 6 back at 500 kbit/s take 2.1 ms.
const replyDelay = 2500 * time.Microsecond

// canByte is the time of a byte on the controllers' CAN bus: 7 bytes share a frame of at most 160 bits.
const canByte = 160 * time.Second / 500_000 / 7

// via is the time that controller id may need before a reply of about size bytes appears on the line. A controller
// behind the first sends its whole reply to the first one before that.
func (l *link) via(id, size int) time.Duration {
	const around = 20 // bytes of the request and of the end of the reply
	if id == l.first || l.first == unknownID {
		return replyDelay
	}
	return max(replyDelay, time.Duration(size+around)*canByte)
}

// unknownID means the first controller until its id is known.
const unknownID = -1

// link is the host's end of a line: the requests that client and chain have in common.
type link struct {
	*servo.Exchange
	parser *vescwire.Parser
	first  int // id of the controller at the line's end, or unknownID
	room   []byte
	values vescwire.Values
}

func newLink(x *servo.Exchange) *link {
	return &link{Exchange: x, parser: vescwire.NewParser(), first: unknownID, room: make([]byte, 0, 16)}
}

// put adds payload for controller id. One that is not the first is reached through it.
func (l *link) put(id int, payload []byte) {
	if id == l.first || l.first == unknownID {
		l.Out = vescwire.AppendPacket(l.Out, payload)
		return
	}
	l.forward(id, payload)
}

// forward adds payload for controller id, which the first one sends over its CAN bus.
func (l *link) forward(id int, payload []byte) {
	var room [vescwire.MaxPayload]byte
	l.Out = vescwire.AppendPacket(l.Out, append(append(room[:0], byte(vescwire.ForwardCAN), byte(id)), payload...))
}

// set adds command c with the value v.
func (l *link) set(id int, c vescwire.Command, v float64) {
	l.put(id, vescwire.AppendSet(l.room[:0], c, v))
}

// setOff adds torque off for controller id: a current of 0 A. While the first is not known, id may be it or one behind
// it, and the packet goes both ways.
func (l *link) setOff(id int) {
	l.set(id, vescwire.SetCurrent, 0)
	if l.first == unknownID {
		l.forward(id, vescwire.AppendSet(l.room[:0], vescwire.SetCurrent, 0))
	}
}

// ask sends Out and waits for id's reply to c of about size bytes. It belongs to the parser until the next request. An
// echo of a request is ignored: all replies but PingCAN's are longer.
func (l *link) ask(id int, c vescwire.Command, size int) ([]byte, error) {
	return l.await(c, size, 6, l.via(id, size))
}

// askPing is ask for PingCAN. The reply is the list of ids, which may be empty.
func (l *link) askPing() ([]byte, error) {
	p, err := l.await(vescwire.PingCAN, 256, 1, replyDelay)
	if err != nil {
		return nil, err
	}
	return p[1:], nil
}

func (l *link) await(c vescwire.Command, size, least int, delay time.Duration) ([]byte, error) {
	if err := l.Ask(&l.parser.Framer, size+6, delay); err != nil {
		return nil, err
	}
	return l.next(c, least)
}

// next waits for the next answer to c.
func (l *link) next(c vescwire.Command, least int) (p []byte, err error) {
	next := func() bool { p = l.parser.Next(); return p != nil }
	err = l.Reply(&l.parser.Framer, next, func() bool { return vescwire.Command(p[0]) == c && len(p) >= least })
	return p, err
}

// measure reads the fields of mask, which must include ControllerID, from controller id. It ignores replies of others.
func (l *link) measure(id int, mask uint32) (*vescwire.Values, error) {
	l.put(id, vescwire.AppendSelective(l.room[:0], mask))
	p, err := l.ask(id, vescwire.Selective, 5+vescwire.Size(mask))
	if err != nil {
		return nil, err
	}
	got, err := l.values.Parse(p)
	switch {
	case err != nil || got&mask != mask:
		return nil, servo.ErrCorrupt
	case l.first != unknownID && int(l.values[vescwire.ControllerID]) != id: // another's late answer
		return nil, servo.ErrCorrupt
	}
	return &l.values, nil
}

// find reads the id of the controller at the line's end, once for each line.
func (l *link) find() error {
	if l.first != unknownID {
		return nil
	}
	v, err := l.measure(unknownID, vescwire.Mask(vescwire.ControllerID, vescwire.FaultCode, vescwire.Volts))
	if err == nil {
		l.first = int(v[vescwire.ControllerID])
		return nil
	}
	if !errors.Is(err, servo.ErrNoReply) {
		return err
	}
	// Firmware before 3.57 has no selective values, and none of the requests that follow; every one tells its version.
	l.put(unknownID, []byte{byte(vescwire.FWVersion)})
	p, again := l.await(vescwire.FWVersion, 80, 3, replyDelay)
	switch {
	case again != nil && !servo.IsServoError(again):
		return again
	case again != nil:
		return err
	}
	if found := (identity{major: p[1], minor: p[2]}); found.old() {
		return oldFirmware{found.major, found.minor}
	}
	return err
}

// updateFirmware is what to do about an old firmware.
const updateFirmware = "update it: VESC Tool, Firmware"

// oldFirmware is the error of a controller whose firmware the chain does not support.
type oldFirmware struct{ major, minor byte }

func (o oldFirmware) Error() string {
	return fmt.Sprintf("firmware: got %d.%02d, want %d.%02d or later", o.major, o.minor,
		minMajor, minMinor)
}

// findAgain is find after a missing reply: the controller at the line's end may have another id now. While none
// replies, the known id stays: a packet for another controller must not reach that one.
func (l *link) findAgain() error {
	was := l.first
	l.first = unknownID
	err := l.find()
	if err != nil {
		l.first = was
	}
	return err
}

// identity is the identity and the settings that a controller reports.
type identity struct {
	major, minor byte
	hardware     string
	poles        int           // of its motor
	timeout      time.Duration // without a command, after which it stops the motor; 0 = never
}

// old reports whether its firmware is older than the chain supports.
func (found *identity) old() bool {
	return found.major < minMajor || found.major == minMajor && found.minor < minMinor
}

// identify reads the firmware, the motor's poles and the timeout of controller id.
func (l *link) identify(id int) (found identity, err error) {
	l.put(id, []byte{byte(vescwire.FWVersion)})
	p, err := l.ask(id, vescwire.FWVersion, 80)
	if err != nil {
		return found, err
	}
	found.major, found.minor = p[1], p[2]
	for _, b := range p[3:] { // ends with a zero
		if b < ' ' || b > '~' {
			break
		}
		found.hardware += string(b)
	}
	if found.old() { // it does not support the next request
		return found, nil
	}
	l.put(id, []byte{byte(vescwire.GetMcConfTemp)})
	if p, err = l.ask(id, vescwire.GetMcConfTemp, 50); err != nil {
		return found, err
	}
	const polesAt, timeoutAt = 1 + 10*4, 1 + 4 + 1
	if len(p) <= polesAt {
		return found, servo.ErrCorrupt
	}
	found.poles = int(p[polesAt])
	l.put(id, []byte{byte(vescwire.GetAppConf)})
	if p, err = l.ask(id, vescwire.GetAppConf, vescwire.MaxPayload); err != nil {
		return found, err
	}
	if len(p) < timeoutAt+4 || int(p[timeoutAt-1]) != id {
		return found, servo.ErrCorrupt
	}
	found.timeout = time.Duration(min(binary.BigEndian.Uint32(p[timeoutAt:]), math.MaxInt32)) * time.Millisecond
	return found, nil
}

// NewChain returns a chain of all controllers of one line, at its end or on the CAN bus behind it; nothing is sent
// until Open, which also reports faults of cfg.
//
// A cycle is one command of 10 bytes to each controller, repeated even if unchanged, one request of 10 bytes and a
// reply of 32; for one behind the first there are 4 bytes more. At 115200 Bd that is 4.5 ms for each. All requests are
// sent together, so that the line is in use while the CAN bus behind the first handles the next: 1.75 ms each, which
// from 250000 Bd on is more than the line needs.
//
// A controller has no readable torque switch: it has torque while it is commanded, and for its timeout after that. So a
// lost controller, and one whose tachometer restarted, is assumed to have lost its power; torque stays off until Enable
// has been false once. Only the torque mode can be limited in the cycle; a limit of zero releases the motor in all
// modes. There are no health values in addition to the state.
func NewChain(cfg servo.ChainConfig) *servo.GenericChain { return newProtocol(cfg).chain }

func newProtocol(cfg servo.ChainConfig) *protocol {
	n := len(cfg.Servos)
	b := &protocol{devices: make([]device, n)}
	for i := range cfg.Servos {
		m, _ := cfg.Servos[i].Model.(*Model)
		b.devices[i] = device{m: m, pairs: 1}
	}
	cfg.Health = -1
	b.chain = servo.NewGenericChain(cfg, servo.ChainSpec{
		LastID: vescwire.LastID, Bits: bitsPerByte, Out: max(1, n) * 3 * 16, In: 2*vescwire.MaxPacket + 64*n,
		NoLimit: true, Known: func(i int) bool { return b.devices[i].m != nil },
		Base: func(int) servo.Level { return servo.SyncReads },
	}, b)
	return b
}
