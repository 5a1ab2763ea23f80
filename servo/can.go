package servo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
)

// CANFrame is one frame of a CAN bus, classic CAN with at most 8 bytes.
type CANFrame struct {
	ID       uint32 // 11 bits, 29 where Extended; the error's class where Error
	Extended bool   // its id has 29 bits
	Remote   bool   // it requests the frame of this id; Data is empty
	Error    bool   // the controller itself reports an error; it was never on the bus
	Len      byte   // bytes of Data, 0..8
	Data     [8]byte
}

// CANSize is the size of a frame on a line, bytes.
const CANSize = 16

// The parts of a frame's first word (linux/can.h), and the greatest ids.
const (
	canExtended = 1 << 31
	canRemote   = 1 << 30
	canError    = 1 << 29

	MaxCAN         = 1<<11 - 1
	maxExtendedCAN = 1<<29 - 1
)

// A CAN line is a Port that carries whole frames of CANSize bytes, like a raw socket of Linux (struct can_frame), so
// that code for serial lines also works on it:
//
//	0..3   id, with bit 31 extended, bit 30 remote, bit 29 error, in the machine's byte order (little-endian here)
//	4      length, 0..8
//	5..7   unused
//	8..15  data

// AppendCAN appends f as a line carries it.
func AppendCAN(dst []byte, f *CANFrame) []byte {
	word := f.ID
	if f.Extended {
		word |= canExtended
	}
	if f.Remote {
		word |= canRemote
	}
	if f.Error {
		word |= canError
	}
	dst = binary.LittleEndian.AppendUint32(dst, word)
	dst = append(dst, f.Len, 0, 0, 0)
	return append(dst, f.Data[:]...)
}

// ParseCAN reads the frame of p into f. Wrong lengths, and ids that their format cannot hold, are errors.
func ParseCAN(p []byte, f *CANFrame) error {
	if len(p) != CANSize {
		return fmt.Errorf("can: frame: got %d bytes, want %d", len(p), CANSize)
	}
	word := binary.LittleEndian.Uint32(p)
	*f = CANFrame{
		ID: word & maxExtendedCAN, Extended: word&canExtended != 0, Remote: word&canRemote != 0,
		Error: word&canError != 0, Len: p[4], Data: [8]byte(p[8:]),
	}
	switch {
	case f.Len > 8:
		return fmt.Errorf("can: frame: length: got %d, want 0..8", f.Len)
	case !f.Extended && !f.Error && f.ID > MaxCAN:
		return fmt.Errorf("can: frame: id: got %#x, want 0..%#x", f.ID, MaxCAN)
	}
	return nil
}

// String is a frame as candump writes it: "123#0102", "1200FD01#0570", "123#R".
func (f *CANFrame) String() string {
	text := fmt.Sprintf("%03X#", f.ID)
	if f.Extended {
		text = fmt.Sprintf("%08X#", f.ID)
	}
	if f.Remote {
		return text + "R"
	}
	return text + fmt.Sprintf("%X", f.Data[:min(f.Len, 8)])
}

// Float is the 32-bit float at data byte at, NaN where the frame is too short for it.
func (f *CANFrame) Float(at int) float64 {
	if int(f.Len) < at+4 {
		return math.NaN()
	}
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(f.Data[at:])))
}

// SetFloat puts v at data byte at, which the frame then is long enough for.
func (f *CANFrame) SetFloat(at int, v float64) { f.SetWord(at, math.Float32bits(float32(v))) }

// Word is the 32-bit word at data byte at, 0 where the frame is too short for it.
func (f *CANFrame) Word(at int) uint32 {
	if int(f.Len) < at+4 {
		return 0
	}
	return binary.LittleEndian.Uint32(f.Data[at:])
}

// SetWord puts v at data byte at, which the frame then is long enough for.
func (f *CANFrame) SetWord(at int, v uint32) {
	binary.LittleEndian.PutUint32(f.Data[at:], v)
	f.Len = max(f.Len, byte(at+4))
}

// CANExchange is one end of a CAN line: an Exchange that may receive frames from any node at any time.
// Nothing in it allocates after its making.
type CANExchange struct {
	*Exchange
	Bad uint64 // malformed frames, and errors that the controller reported

	take  func(*CANFrame) bool
	frame CANFrame // the one at hand
	room  [32 * CANSize]byte
}

// NewCANExchange returns an exchange that gives every frame to take, which reports whether it was one that is waited
// for.
func NewCANExchange(x *Exchange, take func(*CANFrame) bool) *CANExchange {
	return &CANExchange{Exchange: x, take: take}
}

// maxDrained bounds the frames that are read before a request: a bus that is never idle must not delay the cycle.
const maxDrained = 64

// Drain takes the frames that have come since the last question, unasked or late, without waiting.
func (x *CANExchange) Drain() error {
	for range maxDrained {
		n, err := x.Port.Read(x.room[:], 0)
		x.Received += uint64(n)
		x.each(x.room[:n])
		if errors.Is(err, ErrDisconnected) {
			return err
		}
		if n == 0 || err != nil {
			return nil // a timeout is not an error here
		}
	}
	return nil
}

// each takes the frames of p and returns how many of them were waited for.
func (x *CANExchange) each(p []byte) (hits int) {
	for ; len(p) >= CANSize; p = p[CANSize:] {
		switch err := ParseCAN(p[:CANSize], &x.frame); {
		case err != nil || x.frame.Error:
			x.Bad++
		case x.take(&x.frame):
			hits++
		}
	}
	return hits
}

// Put adds f to Out.
func (x *CANExchange) Put(f *CANFrame) { x.Out = AppendCAN(x.Out, f) }

// Collect sends Out and waits for want frames for which take returns true. A reply may begin delay later than its turn.
// It returns ErrNoReply if some are missing.
func (x *CANExchange) Collect(want int, delay time.Duration) error {
	if err := x.Await(want*CANSize, delay); err != nil {
		return err
	}
	// Pieces lie one behind the other in Raw: a frame in two of them is whole when the second has come.
	for at := 0; want > 0; {
		if _, err := x.More(); err != nil {
			return err
		}
		whole := (len(x.Raw) - at) / CANSize * CANSize
		want -= x.each(x.Raw[at : at+whole])
		at += whole
	}
	return nil
}

// ForeignCAN is a sound frame of a device that was not asked, as a line carries it.
func ForeignCAN(id byte) []byte {
	return AppendCAN(nil, &CANFrame{ID: uint32(id) << 5, Len: 8, Data: [8]byte{1, 2, 3, 4, 5, 6, 7, 8}})
}
