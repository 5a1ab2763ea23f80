package servo

import (
	"bytes"
	"testing"
)

// framer finds packets of the twin framing whose last byte is the checksum.
func framer() *Framer {
	f := NewFramer(32, Rules{
		First: IsByte(0xFF),
		Frame: func(h []byte) (int, bool) { return FrameTwin(h, 253, 2, 20, 4) },
		Check: func(p []byte) bool { return Complement(p[2:len(p)-1]) == p[len(p)-1] },
	})
	return &f
}

// However a stream is cut, the same packets come out of it, and every byte is accounted for.
func TestFramerDoesNotDependOnPieces(t *testing.T) {
	ping := []byte{0xFF, 0xFF, 1, 2, 1, 0xFB}
	for _, c := range []struct {
		name    string
		stream  []byte
		packets int
		garbage uint64
		bad     uint64
	}{
		{"packets", bytes.Repeat(ping, 3), 3, 0, 0},
		{"noise between", append(append([]byte{1, 2, 3}, ping...), append([]byte{0, 0xFF}, ping...)...), 2, 5, 0},
		{"a bad checksum", append([]byte{0xFF, 0xFF, 1, 2, 1, 0xFA}, ping...), 1, 6, 1},
		{"a false header hides nothing", append([]byte{0xFF, 0xFF, 7, 3}, ping...), 1, 4, 1},
		{"id and length out of range", append([]byte{0xFF, 0xFF, 254, 0xFF, 0xFF, 1, 21}, ping...), 1, 7, 0},
	} {
		for size := 1; size <= len(c.stream); size++ {
			f, n := framer(), 0
			for at := 0; at < len(c.stream); {
				at += f.Feed(c.stream[at:min(at+size, len(c.stream))])
				for p := f.Frame(); p != nil; p = f.Frame() {
					if !bytes.Equal(p, ping) {
						t.Errorf("%s: got % X, want % X", c.name, p, ping)
					}
					n++
				}
			}
			if n != c.packets || f.Garbage != c.garbage || f.BadChecksum != c.bad || f.Buffered() != 0 {
				t.Errorf("%s, %d at a time: got %d packets, %d garbage, %d bad, %d left; want %d, %d, %d, 0",
					c.name, size, n, f.Garbage, f.BadChecksum, f.Buffered(), c.packets, c.garbage, c.bad)
			}
		}
	}
}

func TestFramerKeepsItsBound(t *testing.T) {
	f := framer()
	if n := f.Feed(make([]byte, 1000)); n != 64 {
		t.Errorf("feed: got %d bytes taken, want 64", n)
	}
	f.Reset()
	if f.Buffered() != 0 {
		t.Errorf("reset: got %d bytes left", f.Buffered())
	}
}
