package hiwonder

import (
	"testing"

	"github.com/halyard-robotics/halyard/internal/wire/hiwonderwire"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// The positions of 20 servos: 160 bytes, 13.9 ms at 115200 baud, the only rate.
func BenchmarkDecode(b *testing.B) {
	var stream []byte
	for id := range byte(20) {
		stream = hiwonderwire.AppendPacket(stream, &hiwonderwire.Packet{ID: id, Command: 28, Params: []byte{0xF4, 1}})
	}
	p, k := hiwonderwire.NewParser(), hiwonderwire.Packet{}
	servotest.Decoding(b, stream, 20, servo.WireTime(len(stream), bitsPerByte, Baud), p.Feed,
		func() bool { return p.Next(&k) })
}
