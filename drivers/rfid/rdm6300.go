package rfid

import (
	"errors"
	"os"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// The RDM6300's telegram.
const (
	RDM6300Baud = 9600
	rdmLength   = 14 // bytes
	rdmStart    = 0x02
	rdmEnd      = 0x03
)

// present is for how long a tag that was read counts as being in reach: longer than two pauses between telegrams.
const present = 250 * time.Millisecond

// apart is the idle time before and after a single telegram that is accepted without a repetition. An RDM6300 repeats a
// telegram after 50 ms; an RDM630 sends one per tag, and no more while the tag stays.
const apart = 60 * time.Millisecond

// AppendRDM6300 appends the telegram of a tag.
func AppendRDM6300(dst []byte, tag [5]byte) []byte {
	const digits = "0123456789ABCDEF"
	sum := byte(0)
	dst = append(dst, rdmStart)
	for _, b := range tag {
		dst = append(dst, digits[b>>4], digits[b&15])
		sum ^= b
	}
	return append(dst, digits[sum>>4], digits[sum&15], rdmEnd)
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
	var all [6]byte // and the sum
	for i := 1; i < len(p) && i < rdmLength; i++ {
		if i == rdmLength-1 {
			sum := byte(0)
			for _, b := range all {
				sum ^= b // over the sum too: 0
			}
			if p[i] != rdmEnd || sum != 0 {
				return tag, 1, false
			}
			return [5]byte(all[:5]), rdmLength, true
		}
		digit, known := hex(p[i])
		if !known {
			return tag, 1, false // a false start, or a byte is missing: the next start may be a true one
		}
		all[(i-1)/2] = all[(i-1)/2]<<4 | digit
	}
	return tag, 0, false
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
// none, or the nearest. Eight bits of XOR check a telegram, and do not detect two wrong bits in one column. So a tag counts
// as present when two telegrams agree, of which an RDM6300 sends fifteen a second, or after a single one, as of an RDM630.
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
	came             time.Duration

	onTag func(tag int) // heed, made once: a reading does not allocate
}

// NewRDM6300 returns the reader at the end of a line that open opens, at 9600 baud. It does no I/O.
func NewRDM6300(name string, open servo.Opener) *RDM6300 {
	r := &RDM6300{port: servo.PointToPoint{Bus: name, Device: "rdm6300", Opener: open}, seen: map[int]time.Duration{}}
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
	if r.bytes == rdmLength && r.telegrams == 1 && now-r.came >= apart {
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
	return nil
}

// parse parses received bytes and passes on the tag of each telegram. At most a telegram less a byte is kept for the next
// call.
func (r *RDM6300) parse(p []byte, onTag func(tag int)) {
	r.kept = append(r.kept, p...)
	for len(r.kept) > 0 {
		tag, used, ok := parseRDM6300(r.kept)
		if used == 0 {
			return
		}
		if r.kept = r.kept[:copy(r.kept, r.kept[used:])]; ok {
			onTag(number(tag[1:])) // which is printed on a card: the lower 32 bits
		}
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
