package feetech

import (
	"testing"

	"github.com/halyard-robotics/halyard/internal/wire/feetechwire"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// The answers of 20 servos to a sync read of 8 bytes: 280 bytes, 2.8 ms at 1 Mbaud.
func BenchmarkDecode(b *testing.B) {
	var stream []byte
	for id := range byte(20) {
		stream = feetechwire.AppendPacket(stream,
			&feetechwire.Packet{ID: id, Params: []byte{0, 8, 1, 0, 2, 0, 120, 30}})
	}
	p, k := feetechwire.NewParser(feetechwire.FromServos), feetechwire.Packet{}
	servotest.Decoding(b, stream, 20, servo.WireTime(len(stream), 10, 1_000_000), p.Feed,
		func() bool { return p.Next(&k) })
}

// A sync write of 7 bytes to 20 servos: 168 bytes, 1.68 ms at 1 Mbaud.
func BenchmarkEncode(b *testing.B) {
	dst, goal := make([]byte, 0, 256), []byte{50, 0, 8, 0, 0, 0xE8, 3}
	b.ReportAllocs()
	for b.Loop() {
		g := feetechwire.BeginGroup(dst[:0], feetechwire.SyncWrite, 41, 7)
		for id := range byte(20) {
			g.Add(id, goal)
		}
		dst = g.End()
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(servo.WireTime(len(dst), 10, 1_000_000)), "ratio")
}
