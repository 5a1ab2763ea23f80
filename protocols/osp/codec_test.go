package osp

import (
	"encoding/hex"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

// cases are every datagram of the document, as bytes and as a value. They drive decoding, encoding and the fuzz seeds.
var cases = []struct {
	name  string
	bytes string // hex, blanks ignored; a server's with its terminator
	value Datagram
}{
	{"init with ints", "05 01000000 01000000",
		Datagram{Command: initCommunication, Version: versionNumber{1, 1, false}}},
	{"init with bytes", "05 01 01", Datagram{Command: initCommunication, Version: versionNumber{1, 1, true}}},
	{"init ack with ints", "06 01000000 01000000 78",
		Datagram{Command: initCommunicationAck, Version: versionNumber{1, 1, false}}},
	{"init ack with bytes", "06 01 01 78", Datagram{Command: initCommunicationAck, Version: versionNumber{1, 1, true}}},
	{"end", "07", Datagram{Command: endCommunication}},
	{"end ack", "08 78", Datagram{Command: endCommunicationAck}},
	{"reset communication", "0a", Datagram{Command: resetCommunication}},
	{"reset communication ack", "0b 78", Datagram{Command: resetCommunicationAck}},
	{"register event", "14 2f4100", Datagram{Command: registerForEvent, Name: "/A"}},
	{"register event ack", "15 07000000 78", Datagram{Command: registerForEventAck, ID: 7}},
	{"deregister event", "1e 07000000", Datagram{Command: deregisterFromEvent, ID: 7}},
	{"deregister event ack", "1f 07000000 78", Datagram{Command: deregisterFromEventAck, ID: 7}},
	{"get value ids", "28 2e2a00", Datagram{Command: getValueIDs, Name: ".*"}},
	{"value ids", "29 02000000 78", Datagram{Command: valueIDs, Count: 2}},
	{"value info ack", "2a", Datagram{Command: valueInfoAck}},
	{"value info", "2b 01000000 05000000 496e7400 2f4200 78",
		Datagram{Command: valueInfo, Index: 1, ID: 5, Type: "Int", Name: "/B"}},
	{"get value", "32 05000000", Datagram{Command: getValue, ID: 5}},
	{"value", "33 05000000 31322e3500 78", Datagram{Command: value, ID: 5, Content: []byte("12.5")}},
	{"unknown value", "33 ffffffff 00 78", Datagram{Command: value, ID: -1, Content: []byte{}}},
	{"set value", "34 05000000 5400", Datagram{Command: setValue, ID: 5, Content: []byte("T")}},
	{"set value ack", "35 05000000 01 78", Datagram{Command: setValueAck, ID: 5, Status: 1}},
	{"register value", "36 02000000 05000000 09000000", Datagram{Command: registerForValue, IDs: []int32{5, 9}}},
	{"register value ack", "37 02000000 05000000 00000000 78",
		Datagram{Command: registerForValueAck, IDs: []int32{5, 0}}},
	{"deregister value", "38 01000000 05000000", Datagram{Command: deregisterFromValue, IDs: []int32{5}}},
	{"deregister value ack", "39 01000000 05000000 78", Datagram{Command: deregisterFromValueAck, IDs: []int32{5}}},
	{"reset", "46 2a000000", Datagram{Command: resetSimulation, Seed: 42}},
	{"numbered reset", "46 2a000000 78 09", Datagram{Command: resetSimulation, Seed: 42, Numbered: true, Number: 9}},
	{"reset ack", "47 78", Datagram{Command: resetSimulationAck}},
	{"reset completed", "4b 78", Datagram{Command: resetSimulationCompleted}},
	{"reset completed ack", "4c", Datagram{Command: resetSimulationCompletedAck}},
	{"step", "50 01000000 02000000 0000803f 000000bf", Datagram{Command: NextStep, ID: 1, Inputs: []float32{1, -0.5}}},
	{"numbered step", "50 01000000 01000000 0000803f 78 ff", Datagram{Command: NextStep, ID: 1, Inputs: []float32{1},
		Numbered: true, Number: 255}},
	{"step without inputs", "50 01000000 00000000", Datagram{Command: NextStep, ID: 1}},
	{"step ack", "51 01000000 78", Datagram{Command: NextStepAck, ID: 1}},
	{"step completed", "55 01000000 01000000 02000000 01000000 03000000 0000803e 0000803f 00000040 04000000 78",
		Datagram{Command: StepCompleted, ID: 1, NumValues: 3, Outputs: []float32{0.25}, Infos: []float32{1, 2},
			IDs: []int32{4}}},
	{"step completed ack", "56 01000000", Datagram{Command: StepCompletedAck, ID: 1}},
	{"get overview", "5a", Datagram{Command: getAgentOverview}},
	{"overview", "5b 01000000 78", Datagram{Command: agentOverview, Count: 1}},
	{"overview next", "5c 00000000 01000000 4167656e7400 01 6800 78",
		Datagram{Command: agentOverviewNext, Index: 0, ID: 1, Type: "Agent", Status: 1, Name: "h"}},
	{"overview ack", "5d", Datagram{Command: agentOverviewAck}},
	{"get info", "5f 01000000", Datagram{Command: getAgentInfo, ID: 1}},
	{"info", "60 01000000 02000000 03000000 04000000 6800 78",
		Datagram{Command: agentInfo, ID: 1, NumInputs: 2, NumOutputs: 3, NumInfos: 4, Name: "h"}},
	{"info ack", "61", Datagram{Command: agentInfoAck}},
	{"info next", "62 03000000 000080bf 0000803f 2f4a00 78",
		Datagram{Command: agentInfoNext, Index: 3, Min: -1, Max: 1, Name: "/J"}},
	{"register agent", "64 01000000", Datagram{Command: registerForAgent, ID: 1}},
	{"register agent ack", "65 01000000 01 78", Datagram{Command: registerForAgentAck, ID: 1, Status: 1}},
	{"deregister agent", "69 01000000", Datagram{Command: deregisterFromAgent, ID: 1}},
	{"deregister agent ack", "6a 01000000 02 78", Datagram{Command: deregisterFromAgentAck, ID: 1, Status: 2}},
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// bare returns d with empty slices as nil, so that a decoded datagram compares equal to a literal.
func bare(d Datagram) Datagram {
	for _, s := range []*[]float32{&d.Inputs, &d.Outputs, &d.Infos} {
		if len(*s) == 0 {
			*s = nil
		}
	}
	if len(d.IDs) == 0 {
		d.IDs = nil
	}
	if len(d.Content) == 0 {
		d.Content = nil
	}
	return d
}

func TestDecode(t *testing.T) {
	var d Datagram // the same for all, so that a stale field would be seen
	for _, c := range cases {
		b := unhex(t, c.bytes)
		for _, in := range [][]byte{b, tolerated(b, &c.value)} {
			if err := decode(in, &d); err != nil {
				t.Errorf("%s: decode %x: %v", c.name, in, err)
			} else if got, want := bare(d), bare(c.value); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: decode %x:\n got %+v\nwant %+v", c.name, in, got, want)
			}
		}
	}
}

// tolerated returns b with the terminator toggled: added if absent, removed if present.
func tolerated(b []byte, d *Datagram) []byte {
	switch {
	case d.Numbered:
		return b
	case d.Command.server():
		return b[:len(b)-1]
	}
	return append(append([]byte(nil), b...), datagramEnd)
}

func TestEncode(t *testing.T) {
	for _, c := range cases {
		want := unhex(t, c.bytes)
		if got := Append([]byte{0xee}, &c.value); !reflect.DeepEqual(got[1:], want) || got[0] != 0xee {
			t.Errorf("%s: encode: got %x, want ee%x", c.name, got, want)
		}
	}
}

// TestTruncated cuts every datagram at every place: each cut is refused, or is a whole datagram of its own.
func TestTruncated(t *testing.T) {
	var d Datagram
	for _, c := range cases {
		b := unhex(t, c.bytes)
		whole := len(b)
		if c.value.Command.server() || c.value.Numbered {
			whole--
		}
		if c.value.Numbered {
			whole--
		}
		for n := range whole {
			err := decode(b[:n], &d)
			shorter := err == nil && (d.Command == initCommunication || d.Command == initCommunicationAck ||
				d.Command == registerForValueAck)
			if !errors.Is(err, ErrTruncated) && !shorter {
				t.Errorf("%s: first %d of %d bytes: got %v, want %v", c.name, n, len(b), err, ErrTruncated)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name, bytes string
		want        error
	}{
		{"nothing", "", ErrTruncated},
		{"no such command", "00", ErrUnknown},
		{"the terminator alone", "78", ErrUnknown},
		{"version of five bytes", "05 0100000001", ErrTruncated},
		{"more inputs than bytes", "50 01000000 ffffff7f 00000000", ErrTruncated},
		{"a negative number of inputs", "50 01000000 ffffffff 00000000", ErrTruncated},
		{"more ids than bytes", "36 00000040 01000000", ErrTruncated},
		{"outputs and infos that overflow together", "55 01000000 ffffff7f ffffff7f 01000000 00000000 00000000",
			ErrTruncated},
		{"a string without an end", "14 2f4141414141", ErrTruncated},
	} {
		var d Datagram
		if err := decode(unhex(t, c.bytes), &d); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
	var d Datagram
	if err := decode(append([]byte{byte(getAgentOverview)}, make([]byte, MaxDatagram)...), &d); !errors.Is(err,
		ErrOversized) {
		t.Errorf("oversized: got %v, want %v", err, ErrOversized)
	}
}

// TestRegisterForValueAckWithoutCount is the document's own form of 55.
func TestRegisterForValueAckWithoutCount(t *testing.T) {
	var d Datagram
	if err := decode(unhex(t, "37 05000000 00000000 09000000 78"), &d); err != nil ||
		!reflect.DeepEqual(d.IDs, []int32{5, 0, 9}) {
		t.Errorf("got %v, %v, want [5 0 9]", d.IDs, err)
	}
}

func TestStringEndsAtNUL(t *testing.T) {
	got := Append(nil, &Datagram{Command: registerForEvent, Name: "/A\x00/B"})
	if want := unhex(t, "14 2f4100"); !reflect.DeepEqual(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

func TestCodecDoesNotAllocate(t *testing.T) {
	step := Datagram{Command: NextStep, ID: 1, Inputs: make([]float32, 42), Numbered: true}
	done := Datagram{Command: StepCompleted, ID: 1, Outputs: make([]float32, 21), Infos: make([]float32, 84),
		IDs: []int32{1}}
	var b []byte
	var d Datagram
	if n := testing.AllocsPerRun(100, func() {
		for _, s := range []*Datagram{&step, &done} {
			b = Append(b[:0], s)
			if err := decode(b, &d); err != nil {
				t.Fatal(err)
			}
		}
	}); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

// FuzzDecode: for any input, decode reads only within the datagram; a decoded datagram survives encode and decode.
func FuzzDecode(f *testing.F) {
	for _, c := range cases {
		f.Add(unhex(f, c.bytes))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var d, again Datagram
		if decode(b, &d) != nil {
			return
		}
		if len(d.Inputs)+len(d.Outputs)+len(d.Infos)+len(d.IDs) > len(b)/4 {
			t.Fatalf("more values than %d bytes hold: %+v", len(b), d)
		}
		out := Append(nil, &d)
		if err := decode(out, &again); err != nil {
			t.Fatalf("decode %x: %v", out, err)
		}
		if twice := Append(nil, &again); !reflect.DeepEqual(twice, out) && !ambiguous(&d) {
			t.Fatalf("encode: got %x, then %x", out, twice)
		}
	})
}

// ambiguous reports whether a datagram's form depends on its contents: a version that bytes cannot hold, NaNs that lose
// bits.
func ambiguous(d *Datagram) bool {
	nan := func(list []float32) bool {
		for _, v := range list {
			if math.IsNaN(float64(v)) {
				return true
			}
		}
		return false
	}
	return nan(d.Inputs) || nan(d.Outputs) || nan(d.Infos) || nan([]float32{d.Min, d.Max})
}
