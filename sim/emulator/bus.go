package emulator

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/internal/emulator/version"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// BusConfig describes one line.
type BusConfig struct {
	Name   string // in errors
	Baud   int    // bit/s: the rate of the servos, and the first rate of a line in memory
	Timing Timing // of servos and adapter; the zero one has no delays
	Seed   int64  // of the faults' dice
	// Mutex is held while the bus accesses servos and actuators: give buses on ptys the one that is held around the
	// scene's Advance. nil = one of its own.
	Mutex *sync.Mutex
	// Paced leaves the line's time with the world's after an exchange longer than a period: the chain waits for its end
	// by itself (servo.ChainConfig.Paced).
	Paced bool
	// Firmware and Quirks are those of the servos, as a bus of a config names them; "" and none are the usual ones.
	Firmware string
	Quirks   []string
}

// byteGap ends an instruction that stopped in the middle (e-Manual, protocol 1.0).
const byteGap = 100 * time.Millisecond

// Bus is all servos of one line and the adapter at its end. It is served in memory (Line) or on a pty (ServePTY), not
// both at a time. It is a hal.World: Advance moves its clock along with the scene's.
type Bus struct {
	wire.Medium
	path   wire.Path
	timing Timing
	paced  bool
	baud   int // of the configuration
	servos []*Servo
	quirks []string

	firmware  [3]int
	versioned bool // the config names it

	overruns uint64
	host     int           // the host's rate, bit/s
	sent     time.Duration // when the host's last byte ends

	protocol Protocol // of the servos
	net      *Net     // the CAN bus, nil on a serial line
	duplex   bool     // a wire each way: requests and replies do not collide
}

// NewBus returns the line of servos. Each is set to the line's baud rate, if its model supports it; Preset afterwards
// for one that is not. The servos belong to the bus from now on.
func NewBus(cfg BusConfig, servos ...*Servo) *Bus {
	baud, t := min(max(cfg.Baud, 1), wire.MaxBaud), cfg.Timing
	b := &Bus{
		baud: baud, host: baud, servos: servos, timing: t, paced: cfg.Paced, quirks: cfg.Quirks,
		path: wire.Path{Adapter: wire.Adapter{Frame: t.Frame, Latency: t.Latency, Batch: t.Batch}, Bits: 10},
	}
	b.firmware, b.versioned = version.Numbers(cfg.Firmware)
	b.Medium = wire.NewMedium(cfg.Name, cfg.Seed, 0, cfg.Mutex, b.Update)
	b.protocol = silent{}
	if len(servos) > 0 {
		b.protocol = servos[0].kind.Protocol(b)
	}
	for _, s := range servos {
		// Servos of a robot are set to the line's rate; their other settings are the factory defaults.
		s.boot = cfg.Timing.Boot
		s.kind.SetBaud(b.baud)
		if b.versioned { // of the vendors that keep it in registers
			s.Preset("firmware", int64(b.firmware[0]))
			s.Preset("firmware_minor", int64(b.firmware[1]))
		}
	}
	return b
}

// Firmware is the version of the servos that the config names, usual where it names none.
func (b *Bus) Firmware(usual [3]int) [3]int {
	if b.versioned {
		return b.firmware
	}
	return usual
}

// Quirk reports whether the config names a quirk of the servos.
func (b *Bus) Quirk(name string) bool { return slices.Contains(b.quirks, name) }

// Name is the bus's, as its config has it.
func (b *Bus) Name() string { return b.Medium.Name }

// Baud is the rate of the config, bit/s.
func (b *Bus) Baud() int { return b.baud }

// Servos returns the servos of NewBus, in that order. The slice belongs to the bus.
func (b *Bus) Servos() []*Servo { return b.servos }

// Overruns counts the periods of Advance in which transfers took longer than the period.
func (b *Bus) Overruns() uint64 { return b.overruns }

// Line opens the bus in memory at its configured rate: transfers return at once and advance the bus's clock by their
// wire time; a write returns when its last byte is sent, like tcdrain(3). It does not allocate after the start.
func (b *Bus) Line() servo.Line {
	b.Lock()
	defer b.Unlock()
	b.host = b.baud // an adapter is opened at the rate of the config
	return wire.NewPort(&b.Medium, busEnd{b})
}

// Open is Line for a bus whose adapter may be unplugged: an error of kind hal.Absent then. It is a servo.Opener.
func (b *Bus) Open() (servo.Line, error) {
	b.Lock()
	defer b.Unlock()
	if _, err := b.Plugged(); err != nil { // no wait here: the caller tries again
		return nil, err
	}
	if b.net != nil {
		b.net.open()
	}
	b.host = b.baud
	return wire.NewPort(&b.Medium, busEnd{b}), nil
}

// ServePTY serves the bus on a pseudo terminal; see wire.ServePTY.
func (b *Bus) ServePTY(ctx context.Context, link string) (path string, wait func() error, err error) {
	return wire.ServePTY(ctx, &b.Medium, busEnd{b}, b.baud, link)
}

// Paced reports whether the line's time stays with the world's. That of a CAN bus does not: its devices send by
// themselves, and a host that reads ahead of them would miss what they send.
func (b *Bus) Paced() bool { return b.paced && b.net == nil }

// Advance lets a period of dt pass: the clock moves to its end. Transfers that took longer count as an overrun, and
// the next period begins when they end, unless the bus is paced.
func (b *Bus) Advance(dt time.Duration) error {
	b.Lock()
	defer b.Unlock()
	if b.Period(dt); b.net != nil {
		b.net.run(b.EdgeTime(), false)
	}
	if b.Paced() {
		if b.Time() > b.EdgeTime() {
			b.overruns++
		}
	} else if b.Catch() {
		b.overruns++
	}
	b.Pass(b.EdgeTime())
	b.updateServos(b.Time())
	return nil
}

// Fault plants f, whose time begins now. Its target is the present id of a servo, and stays with that servo when its id
// changes; an unknown id is an error.
func (b *Bus) Fault(f wire.Fault) error {
	b.Lock()
	defer b.Unlock()
	if f.Target != wire.All {
		i := slices.IndexFunc(b.servos, func(s *Servo) bool { return s.id() == f.Target })
		if i < 0 {
			return fmt.Errorf("fault %q: servo: got %d, want the ID of a servo of bus %q", f, f.Target, b.Name())
		}
		f.Target = i
	}
	b.Plant(f)
	return nil
}

// Restart is a power-on without a boot of the servos that an alarm has stopped: their world was reset.
func (b *Bus) Restart() {
	b.Lock()
	defer b.Unlock()
	for _, s := range b.servos {
		if s.restarts = s.Act.Restarts; s.Alarm != 0 {
			s.PowerOn(b.Time())
			s.Booted = b.Time()
		}
	}
}

// FaultOccurs draws whether the fault of a kind occurs on s now; s is nil for the whole bus.
func (b *Bus) FaultOccurs(kind wire.Kind, s *Servo, now time.Duration) *wire.Planted {
	if len(b.Planted()) == 0 {
		return nil
	}
	return b.Occurs(kind, slices.Index(b.servos, s), now) // -1 is All
}

// Update applies the active faults to the bus and its servos.
func (b *Bus) Update(now time.Duration) {
	// An unplugged servo is without power; an unplugged bus is without a host, and its servos keep their power.
	if b.IsGone() {
		b.path.Clear()
		if b.net != nil {
			b.net.unplug()
		}
	}
	b.updateServos(now)
}

// updateServos updates the time-dependent state of the servos: faults, watchdogs.
func (b *Bus) updateServos(now time.Duration) {
	for i, s := range b.servos {
		b.view(i, s, now)
		s.update(now)
		s.remember()
	}
}

// view applies the active faults to s, servo i, and switches its power.
func (b *Bus) view(i int, s *Servo, now time.Duration) {
	if len(b.Planted()) == 0 && !s.Dark && s.faults == (faultView{}) {
		return
	}
	slipped := s.faults.slip
	s.faults = faultView{}
	dark := false
	for _, p := range b.Planted() {
		if p.Target != wire.All && p.Target != i || !p.Active(now) {
			continue
		}
		switch p.Kind {
		case wire.PowerLoss:
			dark = true
		case wire.Unplugged:
			dark = dark || p.Target != wire.All
		case wire.Stuck:
			s.faults.stuck = true
		case wire.Garbage:
			s.faults.garbage = p.Dice
		case wire.Wrong:
			s.faults.wrong = p.Offset
		case wire.Stale:
			s.faults.age = p.Delay
		case wire.Slipped:
			s.faults.slip += p.Slip(now)
		}
	}
	if s.faults.slip != slipped { // the goal in ticks is another angle of the joint
		s.Drive()
	}
	if dark && !s.Dark {
		s.powerOff()
	} else if !dark && s.Dark {
		s.PowerOn(now)
	}
}

// busEnd is the host adapter's side of a Bus: a wire.End.
type busEnd struct{ *Bus }

// Send receives bytes that the host sends from now on, or after its previous ones, and returns the time when the last
// one ends. Complete instructions are executed and answered.
func (b busEnd) Send(p []byte, now time.Duration) time.Duration {
	start := max(now, b.sent)
	if b.net != nil {
		return b.net.receive(p, start)
	}
	end := start + b.path.Time(len(p), b.host)
	if b.IsGone() {
		return end
	}
	if start-b.sent > byteGap { // a packet interrupted that long is never continued
		b.protocol.Reset()
	}
	if start < b.path.Busy() && !b.duplex {
		// The host transmits during a reply: both are lost.
		b.path.TalkOver(start)
		b.protocol.Reset()
		k := min(len(p), int((b.path.Busy()-start)/b.path.Time(1, b.host))+1)
		start += b.path.Time(k, b.host)
		p = p[k:]
	}
	// The adapter's echo is on the wire while the host transmits, before any reply.
	b.sent = end
	if b.timing.Echo {
		b.path.Put(p, start, b.host)
	}
	b.protocol.Parse(p, start)
	return end
}

// Run, Due, Receive and Discard are End's: of the path, or of the frames of a CAN bus.
func (b busEnd) Run(to time.Duration, stop bool) time.Duration {
	if b.net != nil {
		b.net.run(to, stop && !b.IsGone())
		b.net.offBus()
	}
	if stop {
		to = min(to, b.Due())
	}
	return max(to, b.Time())
}

func (b busEnd) Due() time.Duration {
	if b.net != nil {
		return b.net.due()
	}
	return b.path.Arrival()
}

func (b busEnd) Receive(p []byte, now time.Duration) int {
	if b.net != nil {
		return b.net.read(p, now)
	}
	return b.path.Take(p, now, b.host)
}

func (b busEnd) Discard(now time.Duration) {
	if b.net != nil {
		b.net.discard(now)
		return
	}
	b.path.Discard(now)
}

// Baud is the host's rate.
func (b busEnd) Baud() int { return b.host }

// Tune changes the host's rate; a packet half sent at the old one is lost. It ignores an impossible rate.
func (b busEnd) Tune(baud int) {
	if baud != b.host && baud > 0 && baud <= wire.MaxBaud {
		b.host = baud
		b.protocol.Reset()
	}
}

// Rest lets watchdogs trip.
func (b busEnd) Rest(now time.Duration) { b.updateServos(now) }

// Feed feeds p, whose first byte begins at start, to a parser. It calls next for every possible packet. If next reports
// one, it calls handle with the end time of its last byte.
func (b *Bus) Feed(f *servo.Framer, p []byte, start time.Duration, next func() bool, handle func(end time.Duration)) {
	for fed := 0; fed < len(p); {
		fed += f.Feed(p[fed:])
		for next() {
			// Bytes still buffered are after the packet.
			handle(start + b.path.Time(max(0, fed-f.Buffered()), b.host))
		}
	}
}

// CanReceive reports whether s receives the host's bytes now.
func (b *Bus) CanReceive(s *Servo, now time.Duration) bool {
	return !s.Dark && now >= s.Booted && s.Act.Volts() >= s.Act.Spec.BrownOut && wire.SameBaud(s.baud(), b.host) &&
		b.FaultOccurs(wire.Dropped, s, now) == nil
}

// Sent is the result of Transmit.
type sent struct {
	Start, End time.Duration // of its bytes
	Whole      bool          // not truncated
	Doubled    bool          // a servo with the same ID replies at the same time; the vendor's protocol makes its reply
}

// Transmit puts a whole reply of s, ready to send at start, on the wire, with the effects of its faults.
func (b *Bus) Transmit(s *Servo, packet []byte, start time.Duration, baud int) sent {
	// The order is fixed for the random numbers: each fault draws its own, once per reply.
	start += b.timing.Reply
	if p := b.FaultOccurs(wire.Delayed, s, b.Time()); p != nil {
		start += p.Delay
	}
	n, whole := len(packet), true
	// The last byte of a packet is of its checksum, where it has one.
	if b.FaultOccurs(wire.CRC, s, b.Time()) != nil {
		packet[n-1] ^= 0xFF
	}
	// At least one byte is sent, and never all.
	if p := b.FaultOccurs(wire.Truncated, s, b.Time()); p != nil {
		n, whole = 1+p.Dice.IntN(n-1), false
	}
	end := b.Put(packet[:n], start, baud)
	return sent{start, end, whole, b.FaultOccurs(wire.DuplicateID, s, b.Time()) != nil}
}

// Answer transmits the reply that encode makes of values. A second servo with the same ID replies at the same time with
// other values: here the same ones with all bits inverted.
func (b *Bus) Answer(s *Servo, values []byte, start time.Duration, baud int, encode func() []byte) sent {
	sent := b.Transmit(s, encode(), start, baud)
	if sent.Doubled {
		for i := range values {
			values[i] = ^values[i]
		}
		b.Put(encode(), sent.Start, baud)
	}
	return sent
}

// Put sends p from start on at a rate and returns the time when its last byte ends. WireTime is the time of n bytes,
// Busy the time when the line becomes idle.
func (b *Bus) Put(p []byte, start time.Duration, baud int) time.Duration {
	return b.path.Put(p, start, baud)
}
func (b *Bus) WireTime(n, baud int) time.Duration { return b.path.Time(n, baud) }
func (b *Bus) Busy() time.Duration                { return b.path.Busy() }

// Host is the host's rate in bit/s, Timing the config's.
func (b *Bus) Host() int      { return b.host }
func (b *Bus) Timing() Timing { return b.timing }

// SetDuplex declares that the line has a wire each way, SetBits that a byte has n bits: for the constructor of a
// Protocol.
func (b *Bus) SetDuplex()    { b.duplex = true }
func (b *Bus) SetBits(n int) { b.path.Bits = n }
