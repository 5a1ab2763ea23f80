package kondo

import (
	"testing"

	"github.com/halyard-robotics/halyard/internal/wire/kondowire"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// The positions of 20 servos: 60 bytes of 11 bits, 0.53 ms at 1.25 Mbaud.
func BenchmarkDecode(b *testing.B) {
	var stream []byte
	for id := range byte(20) {
		k := kondowire.At(id, 7500)
		stream = kondowire.AppendPacket(stream, &k, kondowire.FromServos)
	}
	p, k := kondowire.NewParser(kondowire.FromServos), kondowire.Packet{}
	servotest.Decoding(b, stream, 20, servo.WireTime(len(stream), bitsPerByte, 1_250_000), p.Feed,
		func() bool { return p.Next(&k) })
}
