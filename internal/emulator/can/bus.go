package can

import (
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/servo"
)

// Length of a controller's transmit queue, frames; more are lost, as with ENOBUFS on Linux (where txqueuelen 10 is
// usually raised for motors).
const maxQueue = 256

// The limits of an error counter (ISO 11898-1), and the bits that a station is off the bus before it may come back.
const (
	passive  = 128
	busOff   = 256
	recovery = 128 * 11
)

// Bus is one pair of wires. It is not safe for several goroutines.
type Bus struct {
	bitrate  int
	stations []*Station
	idle     time.Duration  // when it falls idle
	busy     uint64         // bits so far
	frame    servo.CANFrame // the one at hand
}

// New returns a bus of bitrate bit/s without stations.
func New(bitrate int) *Bus { return &Bus{bitrate: max(bitrate, 1)} }

// Station is one controller on a bus. The zero counters are of one that is at work.
type Station struct {
	// Receive is called with a frame of another station, which ended at end. It may Send.
	Receive func(f *servo.CANFrame, end time.Duration)
	// Spoils reports whether the next frame of this station is corrupted; nil = never.
	Spoils func(now time.Duration) bool
	// Deaf stations have no power, or another bit rate: they neither send, receive nor acknowledge.
	Deaf bool
	// Returns lets it come back by itself after having been off the bus.
	Returns bool

	TEC, REC int // error counters
	Off      bool
	Errors   uint64 // frames of it that were disturbed or not acknowledged
	Lost     uint64 // frames that found no room

	bus   *Bus
	queue []pending
	back  time.Duration // when it may come back
}

type pending struct {
	frame servo.CANFrame
	ready time.Duration
}

// Attach adds a station.
func (b *Bus) Attach() *Station {
	s := &Station{bus: b, queue: make([]pending, 0, maxQueue)}
	b.stations = append(b.stations, s)
	return s
}

// Send lets s send f from ready on. Frames of one station go out in the order they were sent.
func (s *Station) Send(f *servo.CANFrame, ready time.Duration) {
	if s.Off || s.Deaf || len(s.queue) == cap(s.queue) {
		s.Lost++
		return
	}
	s.queue = append(s.queue, pending{*f, ready})
}

// Waiting is how many frames of s have not gone out.
func (s *Station) Waiting() int { return len(s.queue) }

// Restart clears errors and the queue, like a start of the controller.
func (s *Station) Restart() { s.TEC, s.REC, s.Off, s.queue = 0, 0, false, s.queue[:0] }

// time is the duration of n bits.
func (b *Bus) time(n int) time.Duration {
	return time.Duration(n) * time.Second / time.Duration(b.bitrate)
}

// Rate is the bus's, bit/s.
func (b *Bus) Rate() int { return b.bitrate }

// Busy is the time that the bus has carried bits, since it was made.
func (b *Bus) Busy() time.Duration { return b.time(int(b.busy)) }

// Step sends the next frame, if it starts before until; ok is false if none does. It returns its end time.
func (b *Bus) Step(until time.Duration) (end time.Duration, ok bool) {
	start := b.start()
	if start < 0 || start >= until {
		return 0, false
	}
	// Arbitration: bit by bit the lower identifier stays. Two equal ones go on together and disturb each other, unless
	// they are the same to the last bit.
	var winner *Station
	spoiled := false
	for _, s := range b.stations {
		if !s.ready(start) {
			continue
		}
		switch {
		case winner == nil || rank(&s.queue[0].frame) < rank(&winner.queue[0].frame):
			winner, spoiled = s, false
		case rank(&s.queue[0].frame) == rank(&winner.queue[0].frame) && s.queue[0].frame != winner.queue[0].frame:
			spoiled = true
		}
	}
	b.frame = winner.queue[0].frame
	bits, whole := Bits(&b.frame), false
	spoiled = spoiled || winner.Spoils != nil && winner.Spoils(start)
	switch {
	case spoiled:
		bits = b.fail(winner, bits/2+disturbed, 8)
	case !b.acknowledged(winner):
		// No acknowledge: an error, which does not increase the counter of an error-passive transmitter.
		add := 8
		if winner.TEC >= passive {
			add = 0
		}
		bits = b.fail(winner, bits-gap+disturbed, add)
	default:
		whole = true
	}
	b.busy += uint64(bits)
	b.idle = start + b.time(bits)
	if whole {
		b.deliver(winner, &b.frame)
	}
	return b.idle, true
}

// Next is the earliest start of the next frame; false if none waits.
func (b *Bus) Next() (at time.Duration, ok bool) {
	at = b.start()
	return at, at >= 0
}

// start is the earliest start of the next frame, below 0 if none waits.
func (b *Bus) start() time.Duration {
	first := time.Duration(-1)
	for _, s := range b.stations {
		s.revive(b.idle)
		if s.Off || s.Deaf || len(s.queue) == 0 {
			continue
		}
		if at := max(b.idle, s.queue[0].ready); first < 0 || at < first {
			first = at
		}
	}
	return first
}

// ready reports whether s has a frame to send at now.
func (s *Station) ready(now time.Duration) bool {
	return !s.Off && !s.Deaf && len(s.queue) > 0 && s.queue[0].ready <= now
}

// revive restarts a bus-off station that recovers by itself.
func (s *Station) revive(now time.Duration) {
	if s.Off && s.Returns && now >= s.back {
		s.Restart()
	}
}

// fail counts an error of s; the frame stays. It returns the bits that it took.
func (b *Bus) fail(s *Station, bits, add int) int {
	s.Errors++
	for _, other := range b.stations {
		if other != s && !other.Deaf && !other.Off && other.REC < passive {
			other.REC++
		}
	}
	if s.TEC += add; s.TEC >= busOff {
		s.Off, s.back, s.queue = true, b.idle+b.time(bits+recovery), s.queue[:0]
	}
	return bits
}

// acknowledged reports whether a station other than s acknowledges.
func (b *Bus) acknowledged(s *Station) bool {
	return slices.ContainsFunc(b.stations, func(other *Station) bool { return other != s && !other.Deaf && !other.Off })
}

// deliver takes f from its sender's queue and gives it to all others.
func (b *Bus) deliver(from *Station, f *servo.CANFrame) {
	for _, s := range b.stations {
		// Who sent the very same frame at the same time is done with it too.
		if s == from || s.ready(b.idle-b.time(Bits(f))) && s.queue[0].frame == *f {
			s.queue = s.queue[:copy(s.queue, s.queue[1:])]
			s.TEC = max(0, s.TEC-1)
			continue
		}
		if s.Off || s.Deaf {
			continue
		}
		s.REC = max(0, s.REC-1)
		if s.Receive != nil {
			s.Receive(f, b.idle)
		}
	}
}
