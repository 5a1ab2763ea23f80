package dynamixel

import (
	"testing"

	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// The answers of 20 servos: of 6 bytes each in 1.0, 240 bytes, 0.8 ms at 3 Mbaud; of 10 in 2.0, 420 bytes, 1.05 ms at
// 4.
func BenchmarkDecode(b *testing.B) {
	for _, c := range []struct {
		name           string
		protocol, baud int
		size           int
		append         func(dst []byte, s *Status) []byte
	}{{"1.0", 1, 3_000_000, 6, AppendStatus1}, {"2.0", 2, 4_000_000, 10, AppendStatus2}} {
		b.Run(c.name, func(b *testing.B) {
			var stream []byte
			for id := range byte(20) {
				stream = c.append(stream, &Status{ID: id, Data: make([]byte, c.size)})
			}
			p, k := NewParser(c.protocol, FromServos), Packet{}
			servotest.Decoding(b, stream, 20, servo.WireTime(len(stream), bitsPerByte, c.baud), p.Feed,
				func() bool { return p.Next(&k) })
		})
	}
}
