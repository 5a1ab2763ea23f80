package wire

import (
	"errors"
	"os"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// Tap is a faulty piece of wire between a host and any line in memory: to servos, a board, a laser. Faults occur byte
// by byte, or on CAN frame by frame, in both directions, so it does not parse telegrams. Power faults are emulated by
// the device itself.
//
// P of a fault is its probability for each byte (Corrupted, Dropped, Duplicated, and Truncated, which loses the rest of
// a telegram) or for each beginning of a telegram (Garbage, Foreign); 0 means always. Delayed, Echo, OpenWire and
// Unplugged are always active until they are cleared.
type Tap struct {
	// Unit is the number of bytes that a fault affects together: 1, or the size of a frame. Set it before use.
	Unit int
	open servo.Opener

	mu     sync.Mutex
	faults Plan
	plug   int // counts losses of the adapter: lines opened before the last one are lost
}

// NewTap returns a tap on the line that open opens. seed is for its random faults.
func NewTap(seed int64, open servo.Opener) *Tap {
	return &Tap{Unit: 1, open: open, faults: newPlan(seed, 0x7A9)}
}

// Fault plants f, in place of another of its kind.
func (t *Tap) Fault(f Fault) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f.Target = All; f.Kind == Unplugged {
		t.plug++
	}
	if old := t.at(f.Kind); old != nil {
		old.Fault = f // its dice go on
		return
	}
	t.faults.Add(f, 0)
}

// ClearFaults ends all faults.
func (t *Tap) ClearFaults() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.faults.planted = nil
}

// Open is a servo.Opener; its error is of kind hal.Absent while the adapter is unplugged.
func (t *Tap) Open() (servo.Line, error) {
	t.mu.Lock()
	plug, gone := t.plug, t.at(Unplugged) != nil
	t.mu.Unlock()
	if gone {
		return nil, &hal.Error{Kind: hal.Absent, Op: "open", Err: servo.ErrDisconnected}
	}
	line, err := t.open()
	if err != nil {
		return nil, err
	}
	return &tapped{Line: line, tap: t, plug: plug}, nil
}

// at is the fault of a kind, occurs is it where it strikes. Under the lock.
func (t *Tap) at(k Kind) *Planted     { return t.faults.Find(k, All, 0) }
func (t *Tap) occurs(k Kind) *Planted { return t.faults.Occurs(k, All, 0) }

// spoil appends to dst what becomes of p. begins reports that a telegram begins; cut is whether its rest is lost.
func (t *Tap) spoil(dst, p []byte, begins bool, cut *bool) []byte {
	if begins {
		*cut = false
		if f := t.occurs(Garbage); f != nil {
			for range 1 + f.Dice.IntN(8) {
				dst = append(dst, byte(f.Dice.Uint32()))
			}
		}
		if f := t.occurs(Foreign); f != nil {
			dst = append(dst, f.Bytes...)
		}
	}
	for ; len(p) > 0; p = p[min(t.Unit, len(p)):] {
		if *cut = *cut || t.occurs(Truncated) != nil; *cut || t.occurs(Dropped) != nil {
			continue
		}
		one := p[:min(t.Unit, len(p))]
		dst = append(dst, one...)
		if f := t.occurs(Corrupted); f != nil {
			dst[len(dst)-1-f.Dice.IntN(len(one))] ^= 1 << f.Dice.IntN(8)
		}
		if t.occurs(Duplicated) != nil {
			dst = append(dst, dst[len(dst)-len(one):]...)
		}
	}
	return dst
}

// tapped is one opening through a Tap.
type tapped struct {
	servo.Line
	tap     *Tap
	plug    int
	coming  []arrival
	last    time.Duration // when the last byte came
	begins  bool          // the next bytes are sent again
	cut     bool
	in      [256]byte
	spoiled []byte
}

// arrival is a byte and when the host has it.
type arrival struct {
	b  byte
	at time.Duration
}

// there reports whether the adapter is there. Under the lock.
func (l *tapped) there() error {
	if l.plug != l.tap.plug {
		return servo.ErrDisconnected
	}
	return nil
}

func (l *tapped) Write(p []byte) (int, error) {
	t := l.tap
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := l.there(); err != nil {
		return 0, err
	}
	if t.at(Echo) != nil {
		l.arrive(p, l.Now())
	}
	cut := false
	l.spoiled, l.begins = t.spoil(l.spoiled[:0], p, true, &cut), true
	if len(l.spoiled) == 0 || t.at(OpenWire) != nil {
		return len(p), nil
	}
	if _, err := l.Line.Write(l.spoiled); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (l *tapped) arrive(p []byte, at time.Duration) {
	for _, b := range p {
		l.coming = append(l.coming, arrival{b, at})
	}
}

func (l *tapped) Read(p []byte, timeout time.Duration) (int, error) {
	t := l.tap
	t.mu.Lock()
	defer t.mu.Unlock()
	for until := l.Now() + max(0, timeout); ; {
		if err := l.there(); err != nil {
			return 0, err
		}
		if n := l.handOn(p); n > 0 {
			return n, nil
		}
		wait := max(0, until-l.Now())
		if len(l.coming) > 0 {
			wait = min(wait, max(0, l.coming[0].at-l.Now()))
		}
		n, err := l.Line.Read(l.in[:], wait)
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return 0, err
		}
		if now := l.Now(); n > 0 && t.at(OpenWire) == nil {
			l.spoilIn(l.in[:n], now)
		} else if n == 0 && now >= until && (len(l.coming) == 0 || l.coming[0].at > now) {
			return 0, os.ErrDeadlineExceeded
		}
	}
}

// spoilIn lets p go wrong on its way in. A pause of a few bytes is where something new begins.
func (l *tapped) spoilIn(p []byte, now time.Duration) {
	begins := l.begins || now-l.last > time.Duration(len(p)+3)*servo.WireTime(1, 10, l.Baud())
	l.begins, l.last = false, now
	l.spoiled = l.tap.spoil(l.spoiled[:0], p, begins, &l.cut)
	if f := l.tap.at(Delayed); f != nil {
		now += f.Delay
	}
	l.arrive(l.spoiled, now)
}

// handOn hands on what has come.
func (l *tapped) handOn(p []byte) (n int) {
	for now := l.Now(); n < len(p) && n < len(l.coming) && l.coming[n].at <= now; n++ {
		p[n] = l.coming[n].b
	}
	l.coming = l.coming[:copy(l.coming, l.coming[n:])]
	return n
}

// Discard is servo.Port's; what is on the wire comes later.
func (l *tapped) Discard() error {
	l.tap.mu.Lock()
	defer l.tap.mu.Unlock()
	if err := l.there(); err != nil {
		return err
	}
	var scrap [64]byte
	for l.handOn(scrap[:]) > 0 {
	}
	return l.Line.Discard()
}

// SetDTR is the line's, where it has one.
func (l *tapped) SetDTR(on bool) error {
	if line, ok := l.Line.(interface{ SetDTR(bool) error }); ok {
		return line.SetDTR(on)
	}
	return nil
}
