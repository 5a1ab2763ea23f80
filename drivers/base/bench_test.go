package base

import (
	"testing"

	"github.com/halyard-robotics/halyard/internal/wire/p2oswire"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// A second of a Pioneer's reports with 16 sonars, ten of them: 780 bytes, 68 ms at 115200 baud.
func BenchmarkDecode(b *testing.B) {
	r := p2oswire.Report{Moving: true, X: 1, Y: 2, Left: 300, Right: 310, Battery: 125, Count: 16}
	var stream []byte
	for range 10 {
		stream = p2oswire.AppendPacket(stream, r.Append(nil))
	}
	p := p2oswire.NewParser()
	servotest.Decoding(b, stream, 10, servo.WireTime(len(stream), 10, 115_200), p.Feed, func() bool {
		data := p.Data()
		return data != nil && r.Decode(data) == nil
	})
}
