package cybergear

import (
	"fmt"
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/wire/cybergearwire"
	"github.com/halyard-robotics/halyard/servo"
)

// Frames of two drives that speak the CyberGear's protocol: commands are ours byte for byte, and feedback says what
// they were.
func TestCapturedFrames(t *testing.T) {
	spans := catalogue[0].Spans
	feedbacks := 0
	for _, line := range haltest.Capture(t, "cybergear_robstride_candump.txt") {
		var seconds float64
		var id uint32
		var data []byte
		if _, err := fmt.Sscanf(line, "%f %08X#%X", &seconds, &id, &data); err != nil || len(data) != 8 {
			t.Fatalf("%s: %v", line, err)
		}
		f := servo.CANFrame{ID: id, Extended: true, Len: 8, Data: [8]byte(data)}
		var m cybergearwire.Message
		if !m.Parse(&f) || m.Frame() != f {
			t.Fatalf("%s: got %+v", line, m)
		}
		switch m.Type {
		case cybergearwire.Report:
			var b cybergearwire.Feedback
			b.Parse(&m, &spans)
			feedbacks++
			if b.ID < 1 || b.ID > 2 || b.Faults != 0 || b.State != 0 && b.State != 2 || b.Celsius != 23 &&
				b.Celsius != 24 || math.Abs(b.Angle) > 0.03 {
				t.Errorf("%s: got %+v", line, b)
			}
		case cybergearwire.Enable:
			if want := cybergearwire.To(m.Target, cybergearwire.Enable); m != want {
				t.Errorf("%s: want %+v", line, want)
			}
		case cybergearwire.Read:
			if i, v := m.Parameter(); m.Target == cybergearwire.Host &&
				(i != cybergearwire.MechAngle || math.Abs(v) > 0.01) {
				t.Errorf("%s: got %X %g", line, i, v)
			}
		}
	}
	if feedbacks < 8 {
		t.Errorf("got %d feedbacks", feedbacks)
	}
}
