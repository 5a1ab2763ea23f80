package cybergear

import (
	"slices"
	"testing"

	"github.com/halyard-robotics/halyard/internal/wire/cybergearwire"
	"github.com/halyard-robotics/halyard/servo"
)

func TestExplain(t *testing.T) {
	spans := &catalogue[0].Spans
	motion := (&cybergearwire.Motions{Kp: 500, Kd: 5}).Message(1, spans)
	running := (&cybergearwire.Feedback{ID: 1, State: cybergearwire.Running, Faults: cybergearwire.OverHeat,
		Celsius: 25}).Message(cybergearwire.Host, spans)
	for _, c := range []struct {
		message cybergearwire.Message
		host    bool
		want    string
	}{
		{cybergearwire.To(1, cybergearwire.Enable), true, "enable id 1"},
		{cybergearwire.To(1, cybergearwire.Stop), true, "stop id 1"},
		{cybergearwire.Message{Type: cybergearwire.Stop, Extra: cybergearwire.Host, Target: 1, Data: [8]byte{1}}, true,
			"stop id 1, clear its faults"},
		{cybergearwire.Set(1, cybergearwire.SpeedRef, 2.5), true, "write id 1: spd_ref 2.5"},
		{cybergearwire.Ask(1, cybergearwire.BusVolts), true, "read id 1: vbus"},
		{cybergearwire.Ask(1, 0x1234), true, "read id 1: 0x1234"},
		{cybergearwire.Answer(1, cybergearwire.Host, cybergearwire.BusVolts, 24), false, "id 1: vbus 24"},
		{cybergearwire.To(1, cybergearwire.SetID), true, "set id 1 to 0"},
		{cybergearwire.To(1, cybergearwire.ZeroSet), true, "set zero id 1"},
		{motion, true, "motion id 1: 0.0001907 rad, 0.0004578 rad/s, 0.0001831 N·m, kp 500, kd 5"},
		{running, false, "id 1: running, 0.0001907 rad, 0.0004578 rad/s, 0.0001831 N·m, 25 °C, faults 0x04: " +
			"over-temperature (0x4): heat"},
	} {
		f := c.message.Frame()
		if got := explain(nil, servo.AppendCAN(nil, &f), c.host, model); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%v: got %q, want %q", &f, got, c.want)
		}
	}
	short := servo.CANFrame{ID: 1, Extended: true, Len: 2}
	if got := explain(nil, servo.AppendCAN(nil, &short), true, model); len(got) != 0 {
		t.Errorf("a short frame: got %q, want none", got)
	}
}

func model(int) servo.Model { return catalogue[0] }

func FuzzExplain(f *testing.F) {
	frame := (&cybergearwire.Message{Type: cybergearwire.Report, Extra: 1, Target: cybergearwire.Host}).Frame()
	f.Add(servo.AppendCAN(nil, &frame), true)
	f.Add(servo.AppendCAN(nil, &frame), false)
	f.Fuzz(func(_ *testing.T, data []byte, host bool) { explain(nil, data, host, model) })
}
