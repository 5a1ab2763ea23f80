package emulator

import (
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/internal/emulator/can"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// CANKind is a vendor's servo on a CAN bus.
type CANKind interface {
	Kind
	// Execute executes the command of a frame, which ended at now, and sends replies with Net.Send.
	Execute(n *Net, f *servo.CANFrame, now time.Duration)
	// TransmitUnasked sends the servo's cyclic frame and returns the time of the next.
	TransmitUnasked(n *Net, now time.Duration) (next time.Duration)
}

// UseCAN makes b a CAN bus: for a Protocol in its making.
func (b *Bus) UseCAN() Protocol {
	b.net = newNet(b)
	return silent{}
}

// maxKept bounds the frames that wait for a host that does not read, as in a socket's buffer.
const maxKept = 512

// arrival is one frame received by the host.
type arrival struct {
	frame servo.CANFrame
	end   time.Duration
}

// Net is a bus that is CAN: the host's controller and one for each servo.
type Net struct {
	bus   *Bus
	wires *can.Bus
	host  *can.Station
	nodes []*can.Station // of the bus's servos
	inbox []arrival      // in the order of time
	lost  bool           // the host's controller is off the bus, and its line gone
	bytes [can16]byte
}

const can16 = servo.CANSize

// newNet makes b's servos stations of a CAN bus.
func newNet(b *Bus) *Net {
	n := &Net{bus: b, wires: can.New(b.baud), inbox: make([]arrival, 0, maxKept)}
	n.host = n.wires.Attach()
	n.host.Receive = func(f *servo.CANFrame, end time.Duration) {
		if !b.IsGone() && len(n.inbox) < cap(n.inbox) {
			n.inbox = append(n.inbox, arrival{*f, end})
		}
	}
	n.host.Spoils = func(now time.Duration) bool {
		return b.FaultOccurs(wire.CRC, nil, now) != nil
	}
	for _, s := range b.servos {
		node := n.wires.Attach()
		node.Returns = true
		node.Receive = func(f *servo.CANFrame, end time.Duration) { n.deliver(s, f, end) }
		// On this bus a checksum that is wrong, an end in the middle and a second one of the same id are the same
		// thing: an error frame, and the frame once more.
		node.Spoils = func(now time.Duration) bool {
			return b.FaultOccurs(wire.CRC, s, now) != nil || b.FaultOccurs(wire.Truncated, s, now) != nil ||
				b.FaultOccurs(wire.DuplicateID, s, now) != nil
		}
		n.nodes = append(n.nodes, node)
	}
	return n
}

// deliver hands a frame to s, unless it does not receive it.
func (n *Net) deliver(s *Servo, f *servo.CANFrame, end time.Duration) {
	n.bus.view(slices.Index(n.bus.servos, s), s, end)
	s.update(end)
	if n.bus.CanReceive(s, end) {
		s.kind.(CANKind).Execute(n, f, end)
	}
}

// Send sends f from s, after its processing time.
func (n *Net) Send(s *Servo, f servo.CANFrame, now time.Duration) {
	now += n.bus.timing.Reply
	if p := n.bus.FaultOccurs(wire.Delayed, s, now); p != nil {
		now += p.Delay
	}
	n.nodes[slices.Index(n.bus.servos, s)].Send(&f, now)
}

// run simulates the bus until a time, or with stop until the host has received a frame.
func (n *Net) run(until time.Duration, stop bool) {
	for {
		// Cyclic frames are sent in order of time.
		next, sender := until, -1
		for i, s := range n.bus.servos {
			n.bus.view(i, s, min(s.Beat, until))
			n.nodes[i].Deaf = s.Dark || !wire.SameBaud(s.baud(), n.wires.Rate())
			if !s.Dark && s.Beat < next {
				next, sender = s.Beat, i
			}
		}
		for {
			if stop && len(n.inbox) > 0 {
				return
			}
			if _, ok := n.wires.Step(next); !ok {
				break
			}
		}
		if sender < 0 {
			return
		}
		s := n.bus.servos[sender]
		s.update(next)
		s.Beat = s.kind.(CANKind).TransmitUnasked(n, next)
	}
}

// receive queues the frames of p, which the host sends from start on, and returns the time at which the last was sent.
// A frame that no node acknowledges stays queued.
func (n *Net) receive(p []byte, start time.Duration) time.Duration {
	const timeout = 100 * time.Millisecond
	if n.bus.IsGone() {
		return start
	}
	var f servo.CANFrame
	for ; len(p) >= can16; p = p[can16:] {
		if servo.ParseCAN(p[:can16], &f) == nil && !f.Error {
			n.host.Send(&f, start)
		}
	}
	// Step sends frame by frame, until the queue is empty.
	now := start
	for n.host.Waiting() > 0 && !n.host.Off && now < start+timeout {
		for i, s := range n.bus.servos {
			n.nodes[i].Deaf = s.Dark || !wire.SameBaud(s.baud(), n.wires.Rate())
		}
		end, ok := n.wires.Step(start + timeout)
		if !ok {
			break
		}
		now = max(now, end)
	}
	n.offBus()
	if n.host.Waiting() > 0 { // a socket does not wait for them
		return start
	}
	return now
}

// due is the time at which the next frame for the host is complete, or else the next one starts; Never if none waits.
func (n *Net) due() time.Duration {
	if len(n.inbox) == 0 {
		if at, ok := n.wires.Next(); ok {
			return at
		}
		return wire.Never
	}
	return n.inbox[0].end
}

// read reads whole frames into p that have come by now.
func (n *Net) read(p []byte, now time.Duration) int {
	used, at := 0, 0
	for ; used < len(n.inbox) && n.inbox[used].end <= now && len(p)-at >= can16; used++ {
		at += copy(p[at:], servo.AppendCAN(n.bytes[:0], &n.inbox[used].frame))
	}
	n.inbox = n.inbox[:copy(n.inbox, n.inbox[used:])]
	return at
}

// discard drops the frames received by now.
func (n *Net) discard(now time.Duration) {
	n.inbox = slices.DeleteFunc(n.inbox, func(a arrival) bool { return a.end <= now })
}

// unplug drops the frames for the host; open restarts its controller, like setting the link up.
func (n *Net) unplug() { n.inbox = n.inbox[:0]; n.host.Deaf = true }
func (n *Net) open()   { n.host.Restart(); n.host.Deaf, n.lost = false, false; n.inbox = n.inbox[:0] }

// offBus makes open lines lost when the host's controller is bus-off; opening again restarts it.
func (n *Net) offBus() {
	if n.host.Off && !n.lost {
		n.bus.Lose()
		n.lost = true
	}
}

// silent is the protocol of a bus without bytes: net receives whole frames.
type silent struct{}

func (silent) Reset()                      {}
func (silent) Parse([]byte, time.Duration) {}
