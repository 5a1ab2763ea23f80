package servo

import "testing"

// Twenty packets with a byte of noise before each: 300 bytes, 0.75 ms at 4 Mbaud. ratio is the part of it that finding
// them takes.
func BenchmarkFramer(b *testing.B) {
	f := NewFramer(64, Rules{
		First: IsByte(0xFF),
		Frame: func(h []byte) (int, bool) { return FrameTwin(h, 253, 2, 60, 4) },
		Check: func(p []byte) bool { return Complement(p[2:len(p)-1]) == p[len(p)-1] },
	})
	var stream []byte
	for id := range byte(20) {
		at := len(stream) + 1
		stream = append(stream, 0x12, 0xFF, 0xFF, id, 10, 0, 0, 8, 1, 0, 2, 0, 120, 30)
		stream = append(stream, Complement(stream[at+2:]))
	}
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		got := 0
		for p := stream; len(p) > 0; {
			p = p[f.Feed(p):]
			for f.Frame() != nil {
				got++
			}
		}
		if got != 20 {
			b.Fatalf("got %d packets, want 20", got)
		}
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(WireTime(len(stream), 10, 4_000_000)), "ratio")
}
