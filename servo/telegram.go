package servo

import (
	"os"
	"slices"
	"time"
)

// Filed is a Line with a descriptor that another process can hold too.
type Filed interface {
	// File returns a duplicate of the line's descriptor, which the caller closes.
	File() (*os.File, error)
}

// Telegram holds the bytes that stop the devices of a line when they are written to File, regardless of earlier bytes.
type Telegram struct {
	File  *os.File // the receiver closes it
	Bytes []byte
	Piece int // bytes of one write, as of a CAN frame; 0 = all at once
}

// TorqueOffTelegrams returns the bytes that switch off the torque of every servo, for a process that supervises this
// one. It is empty if the line is lost or has no descriptor. It is called between two cycles.
func (r *GenericChain) TorqueOffTelegrams() ([]Telegram, error) {
	r.cut.mu.Lock()
	defer r.cut.mu.Unlock()
	l := r.line
	if e, ok := l.(*EchoFilter); ok {
		l = e.Line
	}
	if _, ok := l.(Filed); !ok {
		return nil, nil
	}
	were := slices.Clone(r.Devices)
	defer copy(r.Devices, were)
	for i := range r.Devices { // a lost servo may be back when they are sent
		r.Devices[i].Lost = false
	}
	tape, seen := &tape{Port: r.x.Port, now: r.x.seen}, r.x.seen
	r.x.Port = tape
	r.stageOff() // no reply is expected
	r.x.Port, r.x.seen = tape.Port, seen
	return Telegrams(l, tape.bytes)
}

// Telegrams are those bytes for line; empty if it has no descriptor.
func Telegrams(line Line, bytes []byte) ([]Telegram, error) {
	f, ok := line.(Filed)
	if !ok {
		return nil, nil
	}
	file, err := f.File()
	if err != nil || file == nil {
		return nil, err
	}
	t := Telegram{File: file, Bytes: bytes}
	if p, ok := line.(interface{ Piece() int }); ok {
		t.Piece = p.Piece()
	}
	return []Telegram{t}, nil
}

// tape records written bytes and does not reply. It leaves the line alone, its clock too: a replay has no supervisor,
// and would find a use of the line that it does not make.
type tape struct {
	Port
	bytes []byte
	now   time.Duration // waiting for answers takes time
}

func (t *tape) Write(p []byte) (int, error) {
	t.bytes = slices.Concat(t.bytes, p)
	return len(p), nil
}

func (t *tape) Read(_ []byte, timeout time.Duration) (int, error) {
	t.now += max(timeout, 0)
	return 0, os.ErrDeadlineExceeded
}

func (t *tape) Now() time.Duration { return t.now }
func (t *tape) Discard() error     { return nil }
