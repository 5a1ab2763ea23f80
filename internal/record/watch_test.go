package record

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// TestFrames: the newest frames of a line are kept whole, from the first call of Frames until the calls cease.
func TestFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var taps Taps
		l := &tap{bus: "upper", of: &taps}
		taps.list = []*tap{l}
		time.Sleep(time.Second)
		l.frames.keep(true, []byte{1})
		if got := taps.Frames("upper"); got != nil {
			t.Errorf("first call: got %v", got)
		}
		for i := range 2 * watchFrames {
			l.frames.keep(true, []byte{0xff, byte(i)})
			l.frames.keep(false, []byte{0xff})
			l.frames.keep(false, make([]byte, 600))
		}
		got := taps.Frames("upper")
		last := 2*watchFrames - 1
		if len(got) != watchFrames || fmt.Sprint(got[watchFrames-2]) != fmt.Sprint(Frame{true, 2,
			[]byte{0xff, byte(last)}}) {
			t.Fatalf("got %d frames, the last but one %v", len(got), got[len(got)-2])
		}
		if end := got[watchFrames-1]; end.Out || end.Size != 601 || len(end.Data) != watchBytes || end.Data[0] != 0xff {
			t.Errorf("the last: got %v, want 601 bytes in", end)
		}
		if n := testing.AllocsPerRun(10, func() {
			l.frames.keep(true, got[0].Data)
			l.frames.keep(false, got[0].Data)
		}); n != 0 {
			t.Errorf("got %g allocations, want 0", n)
		}
		time.Sleep(2 * watchTime)
		l.frames.keep(true, []byte{7})
		if got := taps.Frames("upper"); len(got) != 0 {
			t.Errorf("no call for %v: got %v", 2*watchTime, got)
		}
		if taps.Frames("lower") != nil {
			t.Error("an unknown line: got frames")
		}
	})
}
