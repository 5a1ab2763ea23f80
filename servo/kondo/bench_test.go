package kondo

import (
	"testing"

	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// The positions of 20 servos: 60 bytes of 11 bits, 0.53 ms at 1.25 Mbaud.
func BenchmarkDecode(b *testing.B) {
	var stream []byte
	for id := range byte(20) {
		k := At(id, 7500)
		stream = AppendPacket(stream, &k, FromServos)
	}
	p, k := NewParser(FromServos), Packet{}
	servotest.Decoding(b, stream, 20, servo.WireTime(len(stream), bitsPerByte, 1_250_000), p.Feed,
		func() bool { return p.Next(&k) })
}
