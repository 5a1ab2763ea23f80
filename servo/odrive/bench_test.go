package odrive

import (
	"testing"

	"github.com/halyard-robotics/halyard/internal/wire/odrivewire"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// Twenty answers of a serial line: 500 bytes, 5.4 ms at 921600 baud.
func BenchmarkDecode(b *testing.B) {
	var stream []byte
	for range 20 {
		stream = odrivewire.AppendAnswer(stream, []byte("12.345678 -1.234567"), true)
	}
	var l odrivewire.Lines
	var v [2]float64
	fresh := false
	feed := func(p []byte) int {
		n := l.Feed(p)
		fresh = l.Line() != nil
		return n
	}
	servotest.Decoding(b, stream, 20, servo.WireTime(len(stream), bitsPerByte, 921_600), feed, func() bool {
		was := fresh
		fresh = false
		return was && odrivewire.Numbers(l.Line(), v[:])
	})
}

// The goals of 12 axes as frames: 1332 bits of CAN, 1.33 ms at 1 Mbit/s.
func BenchmarkEncode(b *testing.B) {
	dst := make([]byte, 0, 12*servo.CANSize)
	b.ReportAllocs()
	for b.Loop() {
		dst = dst[:0]
		for node := range byte(12) {
			f := odrivewire.Position(node, 12.5)
			dst = servo.AppendCAN(dst, &f)
		}
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(servo.WireTime(12, 111, 1_000_000)), "ratio")
}
