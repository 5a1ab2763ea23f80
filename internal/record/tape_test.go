package record

import (
	"bytes"
	"errors"
	"io"
	"math"
	"testing"
	"time"
)

// TestTape: each recorded use of a line is decoded unchanged, after any other use.
func TestTape(t *testing.T) {
	uses := []struct {
		op
		data []byte
	}{
		{op: op{kind: opOpen, err: io.EOF}},
		{op: op{kind: opNow, at: 5 * time.Microsecond}},
		{op: op{kind: opNow, at: 5 * time.Microsecond}},
		{op: op{kind: opNow, at: 68 * time.Microsecond}},
		{op: op{kind: opNow, at: 132 * time.Microsecond}},
		{op: op{kind: opNow, at: 132*time.Microsecond + 1}},
		{op: op{kind: opNow, at: 3}}, // a line that was opened again
		{op: op{kind: opNow, at: math.MaxInt64}},
		{op: op{kind: opWrite}, data: bytes.Repeat([]byte{0xff, 0x80, 0}, 100)},
		{op: op{kind: opRead}, data: []byte{7}},
		{op: op{kind: opRead, err: errors.New("timeout")}, data: []byte{}},
		{op: op{kind: opBaud, n: 1_000_000}},
		{op: op{kind: opSet, n: -1}},
		{op: op{kind: opDiscard}},
		{op: op{kind: opClose, err: io.ErrClosedPipe}},
	}
	var taps Taps
	taps.Listen()
	ear := tap{of: &taps}
	cycle := uint64(0)
	var copied tape
	for range 3 { // the third time in used memory
		for _, u := range uses {
			ear.keep(u.kind, u.at, u.n, u.data, u.err)
		}
		cycle++
		ear.take(cycle, &copied)
		i := 0
		copied.each(func(o op, data []byte) {
			if want := uses[i]; o != want.op || !bytes.Equal(data, want.data) {
				t.Errorf("use %d: got %+v % x, want %+v % x", i, o, data, want.op, want.data)
			}
			i++
		})
		if i != len(uses) {
			t.Errorf("got %d uses, want %d", i, len(uses))
		}
	}
	if n := testing.AllocsPerRun(10, func() {
		for _, u := range uses {
			ear.keep(u.kind, u.at, u.n, u.data, u.err)
		}
		cycle++
		ear.take(cycle, &copied)
	}); n != 0 {
		t.Errorf("got %g allocations, want 0", n)
	}
	var kept tape
	for _, u := range uses {
		kept.keep(u.kind, u.at, u.n, u.data, nil) // the text of an error is made
	}
	text := kept.append(nil, 1)
	if n := testing.AllocsPerRun(10, func() { text = kept.append(text[:0], 1) }); n != 0 {
		t.Errorf("written: got %g allocations, want 0", n)
	}
	for range maxTape {
		kept.keep(opRead, 0, 0, []byte{1, 2}, nil)
	}
	if len(kept.data) > maxTape+8 || kept.lost == 0 {
		t.Errorf("got %d bytes, %d lost, want at most %d", len(kept.data), kept.lost, maxTape)
	}
}
