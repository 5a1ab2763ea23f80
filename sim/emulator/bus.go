package emulator

import (
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
)

// BusConfig says what one line is.
type BusConfig struct {
	Name   string // in errors
	Baud   int    // bit/s of the line: what its servos are set to, and what a line in memory opens with
	Timing Timing // of servos and adapter; the zero one adds nothing
	Seed   int64  // of the faults' dice
	// Mutex, when not nil, is held while the bus touches servos and actuators: give buses on ptys the one that is
	// held around the scene's Advance. A nil one is made.
	Mutex *sync.Mutex
}

// byteGap ends an instruction that stopped in the middle (e-Manual, protocol 1.0).
const byteGap = 100 * time.Millisecond

// Bus is all servos of one line and the adapter at its end. It is served in memory (Line) or on a pty (ServePTY), not
// both at a time. It is a hal.World: Advance moves its clock along with the scene's.
type Bus struct {
	name    string
	mu      *sync.Mutex
	baud    int // of the configuration
	servos  []*Servo
	seed    int64
	faults  []*planted
	planted int

	wire
	now      time.Duration // the bus's clock; the host's too
	edge     time.Duration // the end of the last period that has passed
	overruns uint64
	host     int           // the host's rate, bit/s
	sent     time.Duration // when the host's last byte ends
	plugged  bool
	plug     int // counts pluggings; a line of an earlier one is gone

	protocol protocol // what is spoken on the line
	net      *net     // the bus where it is CAN, else nil
	duplex   bool     // a wire each way: nobody talks over an answer

	// Scratch.
	packet []byte             // an answer
	parts  []dynamixel.Status // of a fast answer
	data   []byte             // of the parts
	bad    []int              // bytes of a fast answer that arrive wrong
}

// NewBus returns the line of servos. Each is set to the line's baud rate, if its model knows it; Preset afterwards
// for one that is not. The servos belong to the bus from now on.
func NewBus(cfg BusConfig, servos ...*Servo) *Bus {
	baud := min(max(cfg.Baud, 1), maxBaud)
	b := &Bus{
		name: cfg.Name, mu: cfg.Mutex, baud: baud, host: baud, servos: servos, seed: cfg.Seed, plugged: true,
		wire:   wire{timing: cfg.Timing, bytes: make([]onWire, 0, 2048)},
		packet: make([]byte, 0, 2048), parts: make([]dynamixel.Status, 0, 256),
	}
	if b.mu == nil {
		b.mu = new(sync.Mutex)
	}
	b.bits = 10
	b.protocol = newRobotisProtocol(b)
	if len(servos) > 0 {
		b.protocol = servos[0].kind.protocol(b)
	}
	for _, s := range servos {
		// Who sets up a robot sets its servos to the line's rate; other settings are the factory's.
		s.boot = cfg.Timing.Boot
		s.kind.tune(s, b.baud)
	}
	return b
}

// Name is the bus's, as its config has it.
func (b *Bus) Name() string { return b.name }

// Baud is the rate of the config, bit/s.
func (b *Bus) Baud() int { return b.baud }

// Servos are those that the bus was made of, in their order. The slice is the bus's.
func (b *Bus) Servos() []*Servo { return b.servos }

// Overruns counts the periods of Advance in which transfers took longer than the period.
func (b *Bus) Overruns() uint64 { return b.overruns }

// Advance lets a period of dt pass: the clock moves to its end. Transfers that took longer count as an overrun, and
// the next period begins when they end.
func (b *Bus) Advance(dt time.Duration) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.edge += dt
	if b.net != nil {
		b.net.run(b.edge, false)
	}
	if b.now > b.edge {
		b.overruns++
		b.edge = b.now
	}
	b.update(b.edge)
	return nil
}

// update moves the clock to now and lets everything notice.
func (b *Bus) update(now time.Duration) {
	b.now = max(b.now, now)
	// An unplugged servo is without power; an unplugged bus is without a host.
	if b.faultAt(Unplug, nil, b.now) != nil {
		b.unplug()
	} else {
		b.plugged = true
	}
	for _, s := range b.servos {
		b.view(s, b.now)
		s.update(b.now)
		s.remember()
	}
}

// unplug loses what was on its way to the host and counts, so that a line opened before stays gone when the adapter is
// back: a device file does not come back to life either. The servos keep their power.
func (b *Bus) unplug() {
	if b.plugged {
		b.plugged = false
		b.plug++
		b.wire.clear()
		if b.net != nil {
			b.net.unplug()
		}
	}
}

// view sets what the faults at work make of s, and takes or gives its power.
func (b *Bus) view(s *Servo, now time.Duration) {
	if len(b.faults) == 0 && !s.dark && s.faults == (faultView{}) {
		return
	}
	s.faults = faultView{}
	dark := false
	for _, p := range b.faults {
		if p.servo != nil && p.servo != s || !p.on(now) {
			continue
		}
		switch p.Kind {
		case Off, Brownout:
			dark = true
		case Unplug:
			dark = dark || p.servo != nil
		case Stuck:
			s.faults.stuck = true
		case Garbage:
			s.faults.garbage = p.dice
		case Wrong:
			s.faults.wrong = p.Offset
		case Delayed:
			s.faults.age = p.Delay
		}
	}
	if dark && !s.dark {
		s.powerOff()
	} else if !dark && s.dark {
		s.powerOn(now)
	}
}

// receive takes bytes that the host sends from start on, and returns when the last one ends. Whole instructions among
// them are obeyed and answered.
func (b *Bus) receive(p []byte, start time.Duration) time.Duration {
	if b.net != nil {
		return b.net.receive(p, start)
	}
	end := start + b.time(len(p), b.host)
	if !b.plugged {
		return end
	}
	if start-b.sent > byteGap { // whatever stopped there will not go on
		b.resetParsers()
	}
	if start < b.busy() && !b.duplex {
		// The host talks over an answer: neither is understood.
		b.corrupt(start)
		b.resetParsers()
		k := min(len(p), int((b.busy()-start)/b.time(1, b.host))+1)
		start += b.time(k, b.host)
		p = p[k:]
	}
	// The adapter's own echo is on the wire while the host talks, before any answer.
	b.sent = end
	if b.timing.Echo {
		b.put(p, start, b.host)
	}
	b.protocol.parse(p, start)
	return end
}

// resetParsers forgets what was half heard.
func (b *Bus) resetParsers() { b.protocol.reset() }

// feed lets a parser have p, whose first byte begins at start. It calls next for every packet that may be there, and
// where it reports that one was, obey with the time at which its last byte ended.
func (b *Bus) feed(f *servo.Framer, p []byte, start time.Duration, next func() bool, obey func(end time.Duration)) {
	for fed := 0; fed < len(p); {
		fed += f.Feed(p[fed:])
		for next() {
			// What is still buffered has come after the packet.
			obey(start + b.time(max(0, fed-f.Buffered()), b.host))
		}
	}
}

// canReceive reports whether s hears what is said now.
func (b *Bus) canReceive(s *Servo, now time.Duration) bool {
	return !s.dark && now >= s.booted && sameBaud(s.baud(), b.host) && b.faultOccurs(Intermittent, s, now) == nil
}
