package foxglove

import (
	"bytes"
	"encoding/hex"
	"reflect"
	"strings"
	"testing"
	"time"
)

func fromHex(text string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

// calls are service calls as the specification's tables lay them out: they drive both directions and the fuzz seeds.
var calls = []struct {
	wire string
	call call
}{
	{"02 01000000 07000000 04000000 6a736f6e 7b7d", call{1, 7, "json", []byte("{}")}},
	{"02 ffffffff 00000000 00000000", call{math32, 0, "", []byte{}}},
	{"02 03000000 04030201 04000000 726f7331", call{3, 0x01020304, "ros1", []byte{}}},
}

const math32 = 1<<32 - 1

func TestCalls(t *testing.T) {
	for _, c := range calls {
		if got := c.call.append(nil, opServiceCallRequest); !bytes.Equal(got, fromHex(c.wire)) {
			t.Errorf("%+v: got %x, want %s", c.call, got, c.wire)
		}
		m, err := decodeClient(fromHex(c.wire))
		if err != nil || !reflect.DeepEqual(*m.call, c.call) {
			t.Errorf("%s: got %+v, %v, want %+v", c.wire, m.call, err, c.call)
		}
	}
}

func TestMessageData(t *testing.T) {
	if got, want := appendMessageData(nil, 5, 1500*time.Millisecond, []byte("{}")),
		fromHex("01 05000000 002f685900000000 7b7d"); !bytes.Equal(got, want) {
		t.Errorf("message data: got %x, want %x", got, want)
	}
	if got, want := appendTime(nil, time.Nanosecond), fromHex("02 0100000000000000"); !bytes.Equal(got, want) {
		t.Errorf("time: got %x, want %x", got, want)
	}
	if m, err := decodeClient(fromHex("01 09000000 7b7d")); err != nil || m.channel != 9 || string(m.data) != "{}" ||
		m.call != nil {
		t.Errorf("a client's message: got %+v, %v", m, err)
	}
}

func TestRefuses(t *testing.T) {
	for _, wire := range []string{"", "01", "01 000000", "02 00000000 00000000",
		"02 01000000 07000000 05000000 6a736f6e", "02 01000000 07000000 ffffffff 6a736f6e", "03 00000000",
		"00 00000000"} {
		if m, err := decodeClient(fromHex(wire)); err == nil {
			t.Errorf("%s: got %+v, want it refused", wire, m)
		}
	}
}

// FuzzDecodeClient reads anything; a call that is read is written the same.
func FuzzDecodeClient(f *testing.F) {
	for _, c := range calls {
		f.Add(fromHex(c.wire))
	}
	f.Add(fromHex("01 09000000 7b7d"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decodeClient(b)
		if err == nil && m.call != nil && !bytes.Equal(m.call.append(nil, opServiceCallRequest), b) {
			t.Fatalf("%x: got %+v", b, m.call)
		}
	})
}

// TestSchema is a schema as Foxglove publishes it, without its descriptions.
func TestSchema(t *testing.T) {
	const want = `{"type":"object","title":"foxglove.JointStates","properties":{"timestamp":{"type":"object","title":"time","properties":{"sec":{"type":"integer","minimum":0},"nsec":{"type":"integer","minimum":0,"maximum":999999999}}},` +
		`"joints":{"type":"array","items":{"type":"object","title":"foxglove.JointState","properties":{"name":{"type":"string"},"position":{"type":"number"},"velocity":{"type":"number"},"effort":{"type":"number"}},"required":["name"]}}},"required":["timestamp","joints"]}`
	if got := Schema(jointStates{}); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := Schema(compressedImage{}); !strings.Contains(got, `"data":{"type":"string","contentEncoding":"base64"}`) {
		t.Errorf("got %s", got)
	}
}
