package cybergear

import (
	"testing"

	"github.com/halyard-robotics/halyard/internal/wire/cybergearwire"
	"github.com/halyard-robotics/halyard/servo"
)

// A goal to a motor and its feedback, twelve times: 3144 bits of CAN, 3.14 ms at 1 Mbit/s.
func BenchmarkCodec(b *testing.B) {
	spans := &ModelByName("cybergear").Spans
	dst := make([]byte, 0, servo.CANSize)
	var f servo.CANFrame
	var m cybergearwire.Message
	var k cybergearwire.Feedback
	b.ReportAllocs()
	for b.Loop() {
		for id := range byte(12) {
			goal := cybergearwire.Set(id, cybergearwire.AngleRef, 0.5)
			f = goal.Frame()
			dst = servo.AppendCAN(dst[:0], &f)
			answer := cybergearwire.To(id, cybergearwire.Report)
			f = answer.Frame()
			dst = servo.AppendCAN(dst[:0], &f)
			if err := servo.ParseCAN(dst, &f); err != nil || !m.Parse(&f) {
				b.Fatalf("got %v, %v", f, err)
			}
			k.Parse(&m, spans)
		}
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(servo.WireTime(12, 2*131, 1_000_000)), "ratio")
}
