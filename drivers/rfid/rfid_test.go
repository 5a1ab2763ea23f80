package rfid

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"periph.io/x/conn/v3/i2c/i2ctest"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/wire/rfidwire"
	"github.com/halyard-robotics/halyard/servo"
)

// The tag of the data sheet's example: 62 00 83 4C E7.
const example = "\x026200834CE74A\x03"

// lines are what comes from an RDM6300, and the tags in it.
var lines = []struct {
	name, bytes string
	tags        []int
}{
	{"the example", example, []int{0x00834CE7}},
	{"twice", example + example, []int{0x00834CE7, 0x00834CE7}},
	{"another", "\x020000000001" + "01\x03", []int{1}},
	{"noise around it", "\x00\xFFxyz" + example + "9\x03", []int{0x00834CE7}},
	{"a start too many", "\x02" + example, []int{0x00834CE7}},
	{"cut off, then whole", example[:9] + example, []int{0x00834CE7}},
	{"a byte missing", example[:4] + example[5:], nil},
	{"a byte doubled", example[:4] + example[3:], nil},
	{"a bit wrong", strings.Replace(example, "834C", "834D", 1), nil},
	{"a wrong sum", strings.Replace(example, "4A", "4B", 1), nil},
	{"no digit", strings.Replace(example, "C", "G", 1), nil},
	{"small digits", strings.Replace(example, "E", "e", 1), nil},
	{"no end", strings.Replace(example, "\x03", "\x04", 1), nil},
	{"nothing", "", nil},
}

// feed gives p to a reader in pieces of n bytes and returns the tags that it tells.
func feed(p []byte, n int) (tags []int, kept int) {
	r := NewRDM6300("", nil)
	for len(p) > 0 {
		k := min(n, len(p))
		r.parse(p[:k], func(tag int) { tags = append(tags, tag) })
		p = p[k:]
	}
	return tags, len(r.kept)
}

func TestRDM6300Telegrams(t *testing.T) {
	if got := string(AppendRDM6300(nil, [5]byte{0x62, 0x00, 0x83, 0x4C, 0xE7}, RDM6300Digits)); got != example {
		t.Errorf("got %q, want %q", got, example)
	}
	for _, c := range lines {
		for _, n := range []int{1, 5, 100} {
			if got, kept := feed([]byte(c.bytes), n); !slices.Equal(got, c.tags) || kept >= 14 {
				t.Errorf("%s, %d at a time: got %X and %d bytes kept, want %X", c.name, n, got, kept, c.tags)
			}
		}
	}
}

// However bytes are cut, the same tags come of them, and no more is kept than a telegram.
func FuzzRDM6300(f *testing.F) {
	for _, c := range lines {
		f.Add([]byte(c.bytes), uint8(3))
	}
	f.Fuzz(func(t *testing.T, p []byte, n uint8) {
		whole, kept := feed(p, len(p)+1)
		pieces, _ := feed(p, int(n)+1)
		if !slices.Equal(whole, pieces) || kept >= 14 {
			t.Errorf("got %X whole and %X in pieces of %d, %d bytes kept", whole, pieces, int(n)+1, kept)
		}
	})
}

// frames are the PN532's, as the manual and those who use it have them.
var pn532Frames = []struct {
	name  string
	bytes []byte
	data  []byte // nil: no frame
	used  int
}{
	{"firmware?", []byte{0, 0, 0xFF, 2, 0xFE, 0xD4, 2, 0x2A, 0}, []byte{0xD4, 2}, 9},
	{"SAM", []byte{0, 0, 0xFF, 5, 0xFB, 0xD4, 0x14, 1, 0x14, 1, 2, 0}, []byte{0xD4, 0x14, 1, 0x14, 1}, 12},
	{"list", []byte{0, 0, 0xFF, 4, 0xFC, 0xD4, 0x4A, 1, 0, 0xE1, 0}, []byte{0xD4, 0x4A, 1, 0}, 11},
	{"firmware", []byte{0, 0, 0xFF, 6, 0xFA, 0xD5, 3, 0x32, 1, 6, 7, 0xE8, 0}, []byte{0xD5, 3, 0x32, 1, 6, 7}, 13},
	{"acknowledgement", []byte{0, 0, 0xFF, 0, 0xFF, 0}, []byte{}, 5},
	{"after noise", []byte{0x55, 1, 0, 0xFF, 0, 0xFF, 0}, []byte{}, 6},
	{"not acknowledged", []byte{0, 0, 0xFF, 0xFF, 0, 0}, nil, 2},
	{"of nothing", []byte{0, 0, 0xFF, 0, 0, 0, 0}, nil, 2},
	{"extended", []byte{0, 0, 0xFF, 0xFF, 0xFF, 1, 4, 0xFB}, nil, 2},
	{"too long", append([]byte{0, 0, 0xFF, 200, 56}, make([]byte, 210)...), nil, 2},
	{"wrong length", []byte{0, 0, 0xFF, 2, 0xFD, 0xD4, 2, 0x2A, 0}, nil, 2},
	{"wrong sum", []byte{0, 0, 0xFF, 2, 0xFE, 0xD4, 2, 0x2B, 0}, nil, 2},
	{"a 0 lost", []byte{0, 0, 0xFF, 4, 0xFC, 0xD4, 0x4A, 1, 0xE1, 0, 9}, nil, 2},
	{"not all of it", []byte{0, 0, 0xFF, 2, 0xFE, 0xD4}, nil, 1},
	{"its start", []byte{0, 0xFF}, nil, 0},
	{"half its start", []byte{9, 0}, nil, 1},
	{"noise", []byte{1, 2, 3}, nil, 3},
	{"nothing", nil, nil, 0},
}

func TestPN532Frames(t *testing.T) {
	for _, c := range pn532Frames {
		data, used, ok := rfidwire.ParsePN532(c.bytes)
		if ok != (c.data != nil) || !bytes.Equal(data, c.data) || used != c.used {
			t.Errorf("%s: got % X, %d bytes, %v", c.name, data, used, ok)
		}
		if len(c.data) > 0 && !bytes.Equal(rfidwire.AppendPN532(nil, c.data...), c.bytes) {
			t.Errorf("%s: got % X, want % X", c.name, rfidwire.AppendPN532(nil, c.data...), c.bytes)
		}
	}
}

// Any input: the number of used bytes is within the input, and a found frame encodes to the same bytes.
func FuzzPN532(f *testing.F) {
	for _, c := range pn532Frames {
		f.Add(c.bytes)
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		data, used, ok := rfidwire.ParsePN532(p)
		if used < 0 || used > len(p) || ok && used == 0 || len(data) > rfidwire.PnMaxFrame {
			t.Fatalf("got % X, %d of %d bytes, %v", data, used, len(p), ok)
		}
		if ok && len(data) > 0 {
			again, _, ok := rfidwire.ParsePN532(rfidwire.AppendPN532(nil, data...))
			if !ok || !bytes.Equal(again, data) {
				t.Errorf("got % X, want % X", again, data)
			}
		}
		n := 0
		rfidwire.ParseTargets(p, func(uid []byte) {
			if n++; len(uid) < 4 || len(uid) > 10 {
				t.Errorf("got a number of %d bytes", len(uid))
			}
		})
		if n > rfidwire.PN532Targets {
			t.Errorf("got %d tags", n)
		}
	})
}

// Answers to "list": which tags there are, or that it is no whole answer.
func TestPN532Targets(t *testing.T) {
	for _, c := range []struct {
		name string
		data []byte
		tags []int
		ok   bool
	}{
		{"none", []byte{0}, nil, true},
		{"one of four bytes", []byte{1, 1, 0, 4, 8, 4, 0xDE, 0xAD, 0xBE, 0xEF},
			[]int{number([]byte{0xDE, 0xAD, 0xBE, 0xEF})}, true},
		{"one of seven bytes", []byte{1, 1, 0, 0x44, 0, 7, 4, 1, 2, 3, 4, 5, 6},
			[]int{number([]byte{4, 1, 2, 3, 4, 5, 6})}, true},
		{"one with its parameters (ATS)", []byte{1, 1, 0, 4, 0x20, 4, 1, 2, 3, 4, 2, 0x75}, []int{0x01020304}, true},
		{"two", rfidwire.AppendPN532Target(rfidwire.AppendPN532Target([]byte{2}, 1, []byte{0, 0, 0, 7}), 2,
			[]byte{0, 0, 0, 8}),
			[]int{7, 8}, true},
		{"nothing at all", nil, nil, false},
		{"three", []byte{3}, nil, false},
		{"one that is missing", []byte{1}, nil, false},
		{"one that is cut off", []byte{1, 1, 0, 4, 8, 4, 1, 2}, nil, false},
		{"one of three bytes", []byte{1, 1, 0, 4, 8, 3, 1, 2, 3}, nil, false},
		{"one of eleven", append([]byte{1, 1, 0, 4, 8, 11}, make([]byte, 11)...), nil, false},
		{"too much", []byte{0, 1}, nil, false},
	} {
		var tags []int
		if ok := rfidwire.ParseTargets(c.data, func(uid []byte) { tags = append(tags, number(uid)) }); ok != c.ok ||
			ok && !slices.Equal(tags, c.tags) {
			t.Errorf("%s: got %X, %v, want %X, %v", c.name, tags, ok, c.tags, c.ok)
		}
	}
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		id   []byte
		want int
	}{{nil, 0}, {[]byte{1, 2}, 0x102}, {[]byte{0, 0x83, 0x4C, 0xE7}, 8604903}} {
		if got := number(c.id); got != c.want {
			t.Errorf("% X: got %d, want %d", c.id, got, c.want)
		}
	}
	if number(bytes.Repeat([]byte{0xFF}, 10)) < 0 {
		t.Error("got a number below 0")
	}
}

// wire is a line that answers each write with the next of its replies, at once. Waiting moves its clock.
type wire struct {
	now     time.Duration
	replies [][]byte
	coming  []byte
	wrote   [][]byte
	fail    error
	closed  int
}

func (w *wire) Now() time.Duration { return w.now }
func (w *wire) Baud() int          { return PN532Baud }
func (w *wire) SetBaud(int) error  { return nil }
func (w *wire) Close() error       { w.closed++; return nil }
func (w *wire) Discard() error     { w.coming = nil; return w.fail }

func (w *wire) Write(p []byte) (int, error) {
	w.wrote = append(w.wrote, bytes.Clone(p))
	if len(w.replies) > 0 {
		w.coming = append(w.coming, w.replies[0]...)
		w.replies = w.replies[1:]
	}
	return len(p), w.fail
}

func (w *wire) Read(p []byte, timeout time.Duration) (int, error) {
	if w.fail != nil {
		return 0, w.fail
	}
	if len(w.coming) == 0 {
		w.now += timeout
		return 0, os.ErrDeadlineExceeded
	}
	n := copy(p, w.coming[:min(len(w.coming), 5)])
	w.coming = w.coming[n:]
	return n, nil
}

// answer is what a PN532 sends in reply to a command.
func answer(data ...byte) []byte {
	return append(rfidwire.PN532Ack(), rfidwire.AppendPN532(nil, data...)...)
}

// session is what a chip sends while it is opened.
func session(more ...[]byte) [][]byte {
	return append([][]byte{answer(0xD5, 0x15), answer(0xD5, 3, 0x32, 1, 6, 7), answer(0xD5, 0x33)}, more...)
}

// The session of a chip, byte by byte, and what becomes of answers that are wrong.
func TestPN532Session(t *testing.T) {
	tag := answer(rfidwire.AppendPN532Target([]byte{0xD5, 0x4B, 1}, 1, []byte{0x12, 0x34, 0x56, 0x78})...)
	w := &wire{replies: session(tag, answer(0xD5, 0x4B, 0))}
	r := NewPN532("nfc", func() (servo.Line, error) { return w, nil })
	var tags []int
	r.Listen(func(tag int) { tags = append(tags, tag) })
	if err := r.Open(); err != nil {
		t.Fatal(err)
	}
	var n [1]float64
	if err := r.Read(n[:]); err != nil || n[0] != 1 || !slices.Equal(tags, []int{0x12345678}) {
		t.Errorf("a tag: got %v, %X, %v", n, tags, err)
	}
	if err := r.Read(n[:]); err != nil || n[0] != 0 || len(tags) != 1 {
		t.Errorf("none: got %v, %X, %v", n, tags, err)
	}
	for i, want := range []string{
		"5555" + strings.Repeat("00", 14) + "0000FF05FBD41401140102" + "00", "0000FF02FED4022A00",
		"0000FF06FAD43205FF0103F200",
		"0000FF04FCD44A0200E000", "0000FF04FCD44A0200E000",
	} {
		if got := fmt.Sprintf("%X", w.wrote[i]); got != want {
			t.Errorf("request %d: got %s, want %s", i, got, want)
		}
	}
	r.Listen(nil)
	if err := errors.Join(r.Close(), r.Close()); err != nil || w.closed != 1 {
		t.Errorf("closed %d times, %v", w.closed, err)
	}
	if err := r.Read(n[:]); err == nil {
		t.Error("read from a closed line")
	}
	for _, c := range []struct {
		name    string
		replies [][]byte
		fail    error
		kind    hal.Kind
	}{
		{"silent", nil, nil, hal.Absent},
		{"acknowledges and no more", [][]byte{rfidwire.PN532Ack()}, nil, hal.Absent},
		{"answers without acknowledging", [][]byte{rfidwire.AppendPN532(nil, 0xD5, 0x15)}, nil, hal.Absent},
		{"another chip", [][]byte{answer(0xD5, 0x15), answer(0xD5, 3, 7, 1, 6, 7)}, nil, hal.Absent},
		{"to another command", [][]byte{answer(0xD5, 0x17)}, nil, hal.Absent},
		{"a syntax error", [][]byte{answer(0x7F)}, nil, hal.Absent},
		{"gone", nil, servo.ErrDisconnected, hal.Absent},
		{"no retries", session()[:2], nil, hal.Timeout},
	} {
		w := &wire{replies: c.replies, fail: c.fail}
		if err := NewPN532("nfc", func() (servo.Line, error) { return w, nil }).Open(); hal.KindOf(err) != c.kind {
			t.Errorf("%s: got %v, want kind %v", c.name, err, c.kind)
		}
	}
	// Tags that are half there are not reported.
	w = &wire{replies: session(answer(0xD5, 0x4B, 2, 1, 0, 4, 8, 4, 1, 2, 3, 4))}
	r = NewPN532("nfc", func() (servo.Line, error) { return w, nil })
	r.Listen(func(tag int) { t.Errorf("got tag %X", tag) })
	if err := errors.Join(r.Open(), r.Read(n[:])); hal.KindOf(err) != hal.BusFault {
		t.Errorf("half an answer: got %v", err)
	}
}

// repeated is a PN532 that sees one tag for ever.
type repeated struct {
	wire
	answer []byte
}

func (r *repeated) Write(p []byte) (int, error) { r.coming = r.answer; return len(p), nil }

// A look costs no memory.
func TestPN532Allocates(t *testing.T) {
	r := NewPN532("nfc", nil)
	line := &repeated{answer: answer(rfidwire.AppendPN532Target([]byte{0xD5, 0x4B, 1}, 1,
		[]byte{0x12, 0x34, 0x56, 0x78})...)}
	r.link.(*pnSerial).port.Line = line
	var n [1]float64
	if allocs := testing.AllocsPerRun(50, func() { _ = r.Read(n[:]) }); allocs != 0 || n[0] != 1 {
		t.Errorf("got %g allocations and %g tags, want none and 1", allocs, n[0])
	}
}

// On I2C each frame is awaited by its ready byte, and read whole.
func TestPN532I2C(t *testing.T) {
	padded := func(frame []byte) []byte {
		p := make([]byte, 1+5+rfidwire.PnMaxFrame+2)
		p[0] = rfidwire.PN532Ready
		copy(p[1:], frame)
		return p
	}
	const at = PN532Address
	var ops []i2ctest.IO
	talk := func(w string, data ...byte) {
		ops = append(ops, i2ctest.IO{Addr: at, W: []byte(w)},
			i2ctest.IO{Addr: at, R: []byte{0}}, i2ctest.IO{Addr: at, R: []byte{1}},
			i2ctest.IO{Addr: at, R: padded(rfidwire.PN532Ack())},
			i2ctest.IO{Addr: at, R: []byte{1}}, i2ctest.IO{Addr: at, R: padded(rfidwire.AppendPN532(nil, data...))})
	}
	talk("\x00\x00\xFF\x05\xFB\xD4\x14\x01\x14\x01\x02\x00", 0xD5, 0x15)
	talk("\x00\x00\xFF\x02\xFE\xD4\x02\x2A\x00", 0xD5, 3, 0x32, 1, 6, 7)
	talk("\x00\x00\xFF\x06\xFA\xD4\x32\x05\xFF\x01\x03\xF2\x00", 0xD5, 0x33)
	talk("\x00\x00\xFF\x04\xFC\xD4\x4A\x02\x00\xE0\x00",
		rfidwire.AppendPN532Target([]byte{0xD5, 0x4B, 1}, 1, []byte{0, 0, 0, 42})...)
	bus := &i2ctest.Playback{DontPanic: true, Ops: ops}
	r := NewPN532I2C(bus, nil)
	var tags []int
	r.Listen(func(tag int) { tags = append(tags, tag) })
	var n [1]float64
	if err := errors.Join(r.Open(), r.Read(n[:]), bus.Close()); err != nil || n[0] != 1 ||
		!slices.Equal(tags, []int{42}) {
		t.Errorf("got %v, %v, %v", n, tags, err)
	}
	if err := NewPN532I2C(&i2ctest.Playback{DontPanic: true}, nil).Open(); hal.KindOf(err) != hal.Absent {
		t.Errorf("no chip: got %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// Telegrams that real readers sent: each tag is reported, of readers that repeat and of those that do not.
func TestCapturedTags(t *testing.T) {
	read := func(bytes []byte) (tags []int) {
		w := &wire{coming: bytes}
		r := NewRDM6300("tags", func() (servo.Line, error) { return w, nil })
		if err := r.Open(); err != nil {
			t.Fatal(err)
		}
		r.Listen(func(tag int) { tags = append(tags, tag) })
		for range 10 {
			if err := r.Read(nil); err != nil {
				t.Fatal(err)
			}
			w.now += 20 * time.Millisecond
		}
		return tags
	}
	for _, line := range haltest.Capture(t, "rdm630_sigrok.txt") {
		f := strings.Split(line, " | ")
		tag := haltest.Bytes(t, f[0])
		if got := read(haltest.Bytes(t, f[1])); !slices.Equal(got, []int{number(tag[1:])}) {
			t.Errorf("%s: got %X", line, got)
		}
	}
	for _, line := range haltest.Capture(t, "rdm6300_odd.txt") {
		f := strings.Split(line, " | ")
		// other forms, which are read since
		for source, tag := range map[string]string{"/3610": "0114AE3BBC", "/13753": "0500207B32"} {
			if strings.Contains(f[0], source) {
				f[2] = tag
			}
		}
		got := read(haltest.Bytes(t, f[1]))
		if refused := f[2] == "refused"; refused != (len(got) == 0) ||
			!refused && got[0] != number(haltest.Bytes(t, f[2])[1:]) {
			t.Errorf("%s: got %X", line, got)
		}
	}
}

// An RDM6300 counts the tags that it has read of late, each twice in a row; a lost line is an error.
func TestRDM6300(t *testing.T) {
	w := &wire{}
	r := NewRDM6300("tags", func() (servo.Line, error) { return w, nil })
	var n [1]float64
	if err := r.Read(n[:]); hal.KindOf(err) != hal.Absent {
		t.Errorf("before it is open: got %v", err)
	}
	if err := r.Open(); err != nil {
		t.Fatal(err)
	}
	var notified []int
	r.Listen(func(tag int) { notified = append(notified, tag) })
	other := "\x02000000000101\x03"
	w.coming = []byte(example + other + example) // no telegram comes twice: two wrong bits make a valid one
	if err := r.Read(n[:]); err != nil || n[0] != 0 || notified != nil {
		t.Errorf("each sent once: got %v and tags %X, %v", n[0], notified, err)
	}
	w.coming = []byte(example + other + other + example)
	for _, c := range []struct {
		after time.Duration
		want  float64
	}{{0, 2}, {present, 2}, {time.Millisecond, 0}} {
		w.now += c.after
		if err := r.Read(n[:]); err != nil || n[0] != c.want {
			t.Errorf("after %v: got %v, %v, want %v", c.after, n[0], err, c.want)
		}
	}
	if want := []int{0x834CE7, 1, 0x834CE7}; !slices.Equal(notified, want) {
		t.Errorf("got tags %X, want %X", notified, want)
	}
	w.coming = []byte(example) // of long after the last
	if err := r.Read(n[:]); err != nil || n[0] != 0 {
		t.Errorf("sent once again: got %v, %v", n[0], err)
	}
	// Alone between two pauses it is believed, once.
	notified = nil
	for _, c := range []struct {
		coming string
		after  time.Duration
		want   float64
	}{{"", apart, 1}, {"", present + 1, 0}, {example[:9], apart, 0}, {example[9:], 1, 0}, {"", apart, 1},
		{example + "x", present + 1, 0}, {"", apart, 0},
		{other + example, apart, 0}, {"", apart, 0}} {
		w.now, w.coming = w.now+c.after, []byte(c.coming)
		if err := r.Read(n[:]); err != nil || n[0] != c.want {
			t.Errorf("%q after %v: got %v, %v, want %v", c.coming, c.after, n[0], err, c.want)
		}
	}
	if want := []int{0x834CE7, 0x834CE7}; !slices.Equal(notified, want) {
		t.Errorf("alone: got tags %X, want %X", notified, want)
	}
	w.fail = servo.ErrDisconnected
	if err := r.Read(n[:]); hal.KindOf(err) != hal.Absent {
		t.Errorf("gone: got %v", err)
	}
	if err := r.Open(); err != nil || w.closed != 1 {
		t.Errorf("opened again: %v, closed %d times", err, w.closed)
	}
	if err := NewRDM6300("tags", func() (servo.Line, error) { return nil, servo.ErrDisconnected }).Open(); err == nil {
		t.Error("opened what is not there")
	}
	if n := testing.AllocsPerRun(20, func() { w.fail = nil; _ = r.Read(nil) }); n != 0 {
		t.Errorf("got %g allocations, want 0", n)
	}
}
