package cybergear

import (
	"testing"

	"github.com/halyard-robotics/halyard/servo"
)

// A goal to a motor and its feedback, twelve times: 3144 bits of CAN, 3.14 ms at 1 Mbit/s.
func BenchmarkCodec(b *testing.B) {
	spans := &ModelByName("cybergear").Spans
	dst := make([]byte, 0, servo.CANSize)
	var f servo.CANFrame
	var m Message
	var k Feedback
	b.ReportAllocs()
	for b.Loop() {
		for id := range byte(12) {
			goal := Set(id, AngleRef, 0.5)
			f = goal.Frame()
			dst = servo.AppendCAN(dst[:0], &f)
			answer := To(id, Report)
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
