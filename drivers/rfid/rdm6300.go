package rfid

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// The RDM6300's telegram: ten digits and their XOR.
const (
	RDM6300Baud = 9600
	rdmDigits   = 10
	rdmStart    = 0x02
	rdmEnd      = 0x03
)

// present is for how long a tag that was read counts as being in reach: longer than two pauses between telegrams.
const present = 250 * time.Millisecond

// maxStrange is for how long bytes that are no telegram count: three telegrams' worth are another reader, fewer are
// noise.
const maxStrange = 2 * time.Second

// apart is the idle time before and after a single telegram that is accepted without a repetition. An RDM6300 repeats a
// telegram after 50 ms; an RDM630 sends one per tag, and no more while the tag stays.
const apart = 60 * time.Millisecond

// RDM6300Form is how a reader ends its telegram.
type RDM6300Form uint8

// The forms. All begin with 02 and ten digits.
const (
	RDM6300Digits RDM6300Form = iota // two digits of the XOR, 03: RDM6300, RDM630
	RDM6300Binary                    // the XOR as one byte, 03: 13 bytes (esphome/issues#3610)
	RDM6300Lines                     // two digits of the XOR, CR, LF, 03: ID-12LA, ID-20LA (esphome/esphome#13753)
)

// AppendRDM6300 appends the telegram of a tag.
func AppendRDM6300(dst []byte, tag [5]byte, form RDM6300Form) []byte {
	const digits = "0123456789ABCDEF"
	sum := byte(0)
	dst = append(dst, rdmStart)
	for _, b := range tag {
		dst = append(dst, digits[b>>4], digits[b&15])
		sum ^= b
	}
	return rdmTail(dst, sum, form)
}

// rdmTail appends the end of a telegram with a sum.
func rdmTail(dst []byte, sum byte, form RDM6300Form) []byte {
	if form == RDM6300Binary {
		return append(dst, sum, rdmEnd)
	}
	const digits = "0123456789ABCDEF"
	if dst = append(dst, digits[sum>>4], digits[sum&15]); form == RDM6300Lines {
		dst = append(dst, '\r', '\n')
	}
	return append(dst, rdmEnd)
}

// parseRDM6300 finds the first telegram in p: of which tag it is, and how many bytes it and what is in front of it
// take. used 0: the telegram is not complete yet. ok false: the used bytes are not a telegram.
func parseRDM6300(p []byte) (tag [5]byte, used int, ok bool) {
	// Bytes before a start byte are noise.
	from := 0
	for from < len(p) && p[from] != rdmStart {
		from++
	}
	if from > 0 {
		return tag, from, false
	}
	sum := byte(0)
	for i := 1; i <= rdmDigits; i++ {
		if i >= len(p) {
			return tag, 0, false
		}
		digit, known := hex(p[i])
		if !known {
			return tag, 1, false // a false start, or a byte is missing: the next start may be a true one
		}
		tag[(i-1)/2] = tag[(i-1)/2]<<4 | digit
	}
	for _, b := range tag {
		sum ^= b
	}
	tail := p[1+rdmDigits:]
	for form := RDM6300Digits; form <= RDM6300Lines; form++ {
		var room [5]byte
		want := rdmTail(room[:0], sum, form)
		n := min(len(want), len(tail))
		if !bytes.Equal(want[:n], tail[:n]) {
			continue
		}
		if n < len(want) {
			return tag, 0, false
		}
		return tag, 1 + rdmDigits + n, true
	}
	return tag, 1, false
}

func hex(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// RDM6300 is one reader: a drivers.Sensor of one value. Tags are read one at a time; of several in its field it reads
// none, or the nearest. Eight bits of XOR check a telegram, and do not detect two wrong bits in one column. So a tag
// counts as present when two telegrams agree, of which an RDM6300 sends fifteen a second, or after a single one, as of
// an RDM630.
type RDM6300 struct {
	tagListener
	port     servo.PointToPoint
	raw      [256]byte
	kept     []byte
	seen     map[int]time.Duration // when each tag was read last, by the line's clock
	last     int                   // the tag of the last telegram, and when that came
	reported time.Duration
	// Since a pause of apart: the number of bytes and valid telegrams, and the time of the last byte.
	bytes, telegrams int
	length           int // of the last telegram
	came             time.Duration
	strange          []byte        // what came since the last telegram that is none, its first bytes
	stranger         time.Duration // when its last byte came

	onTag func(tag int) // heed, made once: a reading does not allocate
}

// NewRDM6300 returns the reader at the end of a line that open opens, at 9600 baud. It does no I/O.
func NewRDM6300(name string, open servo.Opener) *RDM6300 {
	r := &RDM6300{port: servo.PointToPoint{Bus: name, Device: "rdm6300", Opener: open}, seen: map[int]time.Duration{},
		strange: make([]byte, 0, 3*16)}
	r.onTag = r.heed
	return r
}

// Open opens the line. Whether a reader is at its end shows when it reads a tag.
func (r *RDM6300) Open() error {
	r.kept, r.reported, r.came, r.telegrams = r.kept[:0], -2*present, -2*present, 0
	clear(r.seen)
	return r.port.Open()
}

// Close gives the line back.
func (r *RDM6300) Close() error { return r.port.Close() }

// Read handles the received bytes and counts the tags in reach. It does not wait.
func (r *RDM6300) Read(values []float64) error {
	if r.port.Line == nil {
		return r.port.Fault(hal.Absent, os.ErrClosed)
	}
	for range 16 { // a line that never falls silent is not ours to empty
		n, err := r.port.Line.Read(r.raw[:], 0)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err != nil {
			return r.port.Fault(hal.BusFault, err)
		}
		now := r.port.Line.Now()
		if len(r.kept) == 0 && now-r.came >= apart {
			r.bytes, r.telegrams = 0, 0
		}
		r.bytes, r.came = r.bytes+n, now
		r.parse(r.raw[:n], r.onTag)
	}
	now := r.port.Line.Now()
	if r.bytes == r.length && r.telegrams == 1 && now-r.came >= apart {
		r.telegrams = 0
		if _, there := r.seen[r.last]; !there {
			r.believe(r.last, now)
		}
	}
	for tag, at := range r.seen {
		if now-at > present {
			delete(r.seen, tag)
		}
	}
	if len(values) > 0 {
		values[0] = float64(len(r.seen))
	}
	if now-r.stranger > maxStrange {
		r.strange = r.strange[:0]
	}
	if len(r.strange) == cap(r.strange) {
		return r.port.Fault(hal.BusFault, fmt.Errorf("telegram: want 02, ten digits, their XOR and 03: %w",
			servo.Foreign(r.strange)))
	}
	return nil
}

// parse parses received bytes and passes on the tag of each telegram. At most a telegram less a byte is kept for the
// next call.
func (r *RDM6300) parse(p []byte, onTag func(tag int)) {
	r.kept = append(r.kept, p...)
	for len(r.kept) > 0 {
		tag, used, ok := parseRDM6300(r.kept)
		if used == 0 {
			return
		}
		if ok {
			r.length, r.strange = used, r.strange[:0]
			onTag(number(tag[1:])) // which is printed on a card: the lower 32 bits
		} else {
			r.strange = append(r.strange, r.kept[:min(used, cap(r.strange)-len(r.strange))]...)
			r.stranger = r.came
		}
		r.kept = r.kept[:copy(r.kept, r.kept[used:])]
	}
}

// heed accepts a telegram of a present tag, or one received twice in a row.
func (r *RDM6300) heed(tag int) {
	now := r.port.Line.Now()
	at, there := r.seen[tag]
	there = there && now-at <= present
	again := tag == r.last && now-r.reported <= present
	r.telegrams++
	if r.last, r.reported = tag, now; there || again {
		r.believe(tag, now)
	}
}

// believe counts a tag as being in reach, and reports it.
func (r *RDM6300) believe(tag int, now time.Duration) {
	r.seen[tag] = now
	r.notify(tag)
}
