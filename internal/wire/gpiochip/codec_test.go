package gpiochip

import (
	"bytes"
	"encoding/hex"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

// The numbers of include/uapi/linux/gpio.h, as a C compiler prints them: requests with their sizes, and where the
// fields are.
func TestInterface(t *testing.T) {
	// _IOR(0xB4, nr, size) is 2<<30 | size<<16 | 0xB4<<8 | nr, _IOWR has 3<<30.
	number := func(dir, size, nr uint32) uint32 { return dir<<30 | size<<16 | 0xB4<<8 | nr }
	for _, c := range []struct {
		name      string
		got, want uint32
	}{
		{"GPIO_GET_CHIPINFO_IOCTL", GetChipInfo, number(2, 68, 1)},
		{"GPIO_V2_GET_LINEINFO_IOCTL", GetLineInfo, number(3, 256, 5)},
		{"GPIO_V2_GET_LINE_IOCTL", GetLine, number(3, 592, 7)},
		{"GPIO_V2_LINE_GET_VALUES_IOCTL", GetValues, number(3, 16, 14)},
		{"GPIO_V2_LINE_SET_VALUES_IOCTL", SetValues, number(3, 16, 15)},
		{"sizeof gpiochip_info", chipInfoSize, 68}, {"label", atLabel, 32}, {"lines", AtLines, 64},
		{"sizeof gpio_v2_line_info", lineInfoSize, 256}, {"consumer", atConsumer, 32}, {"offset", atOffset, 64},
		{"num_attrs", atInfoAttrs, 68}, {"flags", atInfoFlags, 72},
		{"sizeof gpio_v2_line_request", requestSize, 592}, {"consumer", atReqConsumer, 256},
		{"config.flags", atReqFlags, 288},
		{"config.num_attrs", atReqAttrs, 296}, {"config.attrs", atReqAttr, 320}, {"num_lines", atReqLines, 560},
		{"event_buffer_size", atReqBuffer, 564}, {"fd", atReqFD, 588},
		{"sizeof gpio_v2_line_config_attribute", attrSize, 24}, {"attr.flags", atAttrValue, 8},
		{"mask", atAttrMask, 16},
		{"sizeof gpio_v2_line_values", ValuesSize, 16}, {"mask", atMask, 8},
		{"sizeof gpio_v2_line_event", EventSize, 48}, {"id", atEventID, 8}, {"offset", atEventLine, 12},
		{"seqno", atEventSeq, 16}, {"line_seqno", atLineSeq, 20},
		{"FLAG_USED", uint32(Used), 1}, {"FLAG_ACTIVE_LOW", uint32(ActiveLow), 2}, {"FLAG_INPUT", uint32(Input), 4},
		{"FLAG_OUTPUT", uint32(Output), 8},
		{"FLAG_EDGE_RISING", uint32(EdgeRising), 0x10}, {"FLAG_EDGE_FALLING", uint32(EdgeFalling), 0x20},
		{"FLAG_OPEN_DRAIN", uint32(OpenDrain), 0x40},
		{"FLAG_BIAS_PULL_UP", uint32(PullUp), 0x100}, {"FLAG_BIAS_PULL_DOWN", uint32(PullDown), 0x200},
		{"FLAG_BIAS_DISABLED", uint32(BiasDisabled), 0x400},
		{"FLAG_EVENT_CLOCK_REALTIME", uint32(ClockWall), 0x800},
		{"ATTR_ID_FLAGS", attrFlags, 1}, {"ATTR_ID_OUTPUT_VALUES", attrValues, 2},
		{"ATTR_ID_DEBOUNCE", attrDebounce, 3},
		{"EVENT_RISING_EDGE", edgeRising, 1}, {"EVENT_FALLING_EDGE", edgeFalling, 2},
	} {
		if c.got != c.want {
			t.Errorf("%s: got 0x%X, want 0x%X", c.name, c.got, c.want)
		}
	}
}

// little reports whether the machine's byte order is the one that the bytes below are written in.
func little() bool { return Order.Uint16([]byte{1, 0}) == 1 }

// eventCases are events and their bytes, in the order of a little-endian machine.
var eventCases = []struct {
	name, bytes string
	event       Event
}{
	{"press", "00ca9a3b00000000" + "01000000" + "11000000" + "01000000" + "01000000",
		Event{time.Second, 17, true, 1, 1}},
	{"release", "15cd5b0700000000" + "02000000" + "3f000000" + "ffffffff" + "07000000",
		Event{123456789, 63, false, math.MaxUint32, 7}},
	{"late", "ffffffffffffff7f" + "02000000" + "00000000" + "00000000" + "00000000",
		Event{math.MaxInt64, 0, false, 0, 0}},
}

var badEvents = []struct{ name, bytes, text string }{
	{"no edge", strings.Repeat("00", EventSize), "edge: got 0"},
	{"both edges", "00000000000000000300000011000000", "got 16 bytes, want 48"},
	{"third edge", "000000000000000003" + strings.Repeat("00", 39), "edge: got 3"},
	{"before time", "00000000000000800100000" + strings.Repeat("0", 2*EventSize-23),
		"time: got 9223372036854775808 ns"},
	{"short", "01", "got 1 bytes"},
}

func bytesOf(t testing.TB, text string) []byte {
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestEvents(t *testing.T) {
	if !little() {
		t.Skip("the bytes are those of a little-endian machine")
	}
	var e Event // reused, so that what one leaves behind is seen
	for _, c := range eventCases {
		b := append(bytesOf(t, c.bytes), make([]byte, 24)...)
		if err := e.Parse(b); err != nil || e != c.event {
			t.Errorf("%s: got %+v, %v; want %+v", c.name, e, err, c.event)
		}
		if got := c.event.AppendTo([]byte{0xAA}); !bytes.Equal(got[1:], b) {
			t.Errorf("%s: got % X, want % X", c.name, got[1:], b)
		}
	}
	for _, c := range badEvents {
		before := e
		if err := e.Parse(bytesOf(t, c.bytes)); err == nil || !strings.Contains(err.Error(), c.text) || e != before {
			t.Errorf("%s: got %v and %+v, want %q and nothing taken", c.name, err, e, c.text)
		}
	}
}

func FuzzEvent(f *testing.F) {
	for _, c := range eventCases {
		f.Add(append(bytesOf(f, c.bytes), make([]byte, 24)...))
	}
	for _, c := range badEvents {
		f.Add(bytesOf(f, c.bytes))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var e, again Event
		if e.Parse(b) != nil {
			return
		}
		if err := again.Parse(e.AppendTo(nil)); err != nil || again != e {
			t.Errorf("got %+v, %v after %+v", again, err, e)
		}
	})
}

func requests() map[string]Request {
	out, bits, trailing := Output|ActiveLow, uint64(0b10), Input|EdgeRising|EdgeFalling|PullUp
	many := Request{Consumer: strings.Repeat("x", nameSize-1), Flags: Input}
	for i := range MaxLines {
		many.Offsets = append(many.Offsets, uint32(i))
	}
	return map[string]Request{
		"encoder": {Offsets: []uint32{5, 6}, Consumer: "halyard left", Flags: trailing, Buffer: MaxEvents},
		"sonar": {Offsets: []uint32{23, 24}, Consumer: "halyard", Flags: trailing, Attributes: []Attribute{
			{Flags: &out, Mask: 1}, {Values: &bits, Mask: 3}, {Debounce: 5 * time.Millisecond, Mask: 2}}},
		"many": many,
	}
}

func TestRequests(t *testing.T) {
	var got Request
	for name, r := range requests() {
		b, err := r.AppendTo(nil)
		if err != nil || len(b) != requestSize {
			t.Fatalf("%s: %v, %d bytes", name, err, len(b))
		}
		if err := got.Parse(b); err != nil || !reflect.DeepEqual(got, r) {
			t.Errorf("%s: got %+v, %v; want %+v", name, got, err, r)
		}
		PutLines(b, 42)
		if LinesOf(b) != 42 || LinesOf(b[:]) != int32(Order.Uint32(b[588:])) {
			t.Errorf("%s: descriptor: got %d", name, LinesOf(b))
		}
	}
	sonar := requests()["sonar"]
	b, _ := sonar.AppendTo(nil)
	if little() {
		// One attribute as the kernel reads it: id, padding, flags, mask; the debounce in µs in the low half.
		for at, want := range map[int]string{
			320: "01000000" + "00000000" + "0a00000000000000" + "0100000000000000",
			344: "02000000" + "00000000" + "0200000000000000" + "0300000000000000",
			368: "03000000" + "00000000" + "8813000000000000" + "0200000000000000"} {
			if got := hex.EncodeToString(b[at:][:attrSize]); got != want {
				t.Errorf("attribute at %d: got %s, want %s", at, got, want)
			}
		}
	}
	for name, r := range map[string]Request{"no line": {}, "65 lines": {Offsets: make([]uint32, 65)},
		"11 attributes": {Offsets: []uint32{1}, Attributes: make([]Attribute, 11)}} {
		if _, err := r.AppendTo(nil); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
	for name, spoil := range map[string]func(b []byte) []byte{
		"short":        func(b []byte) []byte { return b[1:] },
		"no line":      func(b []byte) []byte { Order.PutUint32(b[atReqLines:], 0); return b },
		"65 lines":     func(b []byte) []byte { Order.PutUint32(b[atReqLines:], 65); return b },
		"attributes":   func(b []byte) []byte { Order.PutUint32(b[atReqAttrs:], 11); return b },
		"attribute id": func(b []byte) []byte { Order.PutUint32(b[atReqAttr:], 9); return b },
	} {
		b, _ := sonar.AppendTo(nil)
		if err := got.Parse(spoil(b)); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}

func FuzzRequest(f *testing.F) {
	for _, r := range requests() {
		b, _ := r.AppendTo(nil)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var r, again Request
		if r.Parse(b) != nil {
			return
		}
		c, err := r.AppendTo(nil)
		if err == nil {
			err = again.Parse(c)
		}
		if err != nil || !reflect.DeepEqual(r, again) {
			t.Errorf("got %+v, %v after %+v", again, err, r)
		}
	})
}

func TestInfo(t *testing.T) {
	var c, cAgain ChipInfo
	var l, lAgain LineInfo
	for _, name := range []string{"", "gpiochip0", strings.Repeat("n", nameSize-1)} {
		c = ChipInfo{name, "pinctrl-bcm2711", 58}
		if err := cAgain.Parse(c.AppendTo(nil)); err != nil || c != cAgain {
			t.Errorf("got %+v, %v; want %+v", cAgain, err, c)
		}
		l = LineInfo{17, name, "halyard", Used | Output}
		if err := lAgain.Parse(l.AppendTo(nil)); err != nil || l != lAgain {
			t.Errorf("got %+v, %v; want %+v", lAgain, err, l)
		}
	}
	// A name that is too long is cut before its final zero.
	c.Name = strings.Repeat("n", 40)
	if cAgain.Parse(c.AppendTo(nil)) != nil || len(cAgain.Name) != nameSize-1 || cAgain.Label != c.Label {
		t.Errorf("got %+v", cAgain)
	}
	b := l.AppendTo(nil)
	Order.PutUint32(b[atInfoAttrs:], 11)
	if lAgain.Parse(b) == nil || lAgain.Parse(b[:9]) == nil || cAgain.Parse(nil) == nil {
		t.Error("bytes that no kernel sends were accepted")
	}
}
