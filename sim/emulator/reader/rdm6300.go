package reader

import (
	"encoding/binary"
	"time"

	"github.com/halyard-robotics/halyard/drivers/rfid"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// repeat is the interval at which it checks its field, and so that of the telegrams of a tag that stays.
const repeat = 65 * time.Millisecond

// RDM6300 is an emulated reader: a wire.Board.
type RDM6300 struct {
	Tags    []uint32 // in its field, the nearest first; of several it reads that one
	Version byte     // the first byte of their numbers
	Form    rfid.RDM6300Form
	Once    bool // an RDM630, which sends one telegram a tag, however long that stays (captures of sigrok's)

	powered bool
	next    time.Duration // when it looks again
	sent    uint32        // the tag that was sent last
	there   bool          // and is there still
}

func (r *RDM6300) Baud() int { return rfid.RDM6300Baud }

// Receive is wire.Board's: it does not listen.
func (r *RDM6300) Receive([]byte, time.Duration) {}

func (r *RDM6300) Power(on bool, now time.Duration) { r.powered, r.next = on, max(0, now) }

func (r *RDM6300) Next() time.Duration {
	if !r.powered {
		return wire.Never
	}
	return r.next
}

func (r *RDM6300) Transmit(dst []byte, now time.Duration) []byte {
	if r.next = now + repeat; len(r.Tags) == 0 {
		r.there = false
		return dst
	}
	if r.Once && r.there && r.sent == r.Tags[0] {
		return dst
	}
	r.sent, r.there = r.Tags[0], true
	tag := [5]byte{r.Version}
	binary.BigEndian.PutUint32(tag[1:], r.Tags[0])
	return rfid.AppendRDM6300(dst, tag, r.Form)
}
