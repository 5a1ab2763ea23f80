package reader

import (
	"encoding/binary"
	"time"

	"github.com/halyard-robotics/halyard/drivers/rfid"
	"github.com/halyard-robotics/halyard/sim/emulator/uart"
)

// repeat is the pause from one telegram to the next of a tag that stays.
const repeat = 65 * time.Millisecond

// RDM6300 is an emulated reader: a uart.Board.
type RDM6300 struct {
	Version byte // the first byte of tags' numbers

	tags    []uint32 // the nearest first; of several it reads that one
	powered bool
	next    time.Duration // when it may speak again
}

// Field says at now which tags are in its field, the nearest first.
func (r *RDM6300) Field(now time.Duration, tags ...uint32) {
	if r.tags = append(r.tags[:0], tags...); r.next < now {
		r.next = now
	}
}

// Baud is uart.Board's.
func (r *RDM6300) Baud() int { return rfid.RDM6300Baud }

// Hear is uart.Board's: it does not listen.
func (r *RDM6300) Hear([]byte, time.Duration) {}

// Power is uart.Board's.
func (r *RDM6300) Power(on bool, now time.Duration) { r.powered, r.next = on, now }

// Next is uart.Board's.
func (r *RDM6300) Next() time.Duration {
	if !r.powered || len(r.tags) == 0 {
		return uart.Never
	}
	return r.next
}

// Speak is uart.Board's.
func (r *RDM6300) Speak(dst []byte, now time.Duration) []byte {
	r.next = now + repeat
	tag := [5]byte{r.Version}
	binary.BigEndian.PutUint32(tag[1:], r.tags[0])
	return rfid.AppendRDM6300(dst, tag)
}
