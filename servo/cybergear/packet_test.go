package cybergear

import (
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/internal/wire/cybergearwire"
	"github.com/halyard-robotics/halyard/servo"
)

// frameCases are the manual's examples and, where it has none, what its code makes, as candump writes them.
func frameCases() []struct {
	text    string
	message cybergearwire.Message
} {
	m := ModelByName("cybergear")
	half := cybergearwire.Motions{Angle: 0, Speed: 30, Torque: -12, Kp: 500, Kd: 0}
	clear := cybergearwire.To(1, cybergearwire.Stop)
	clear.Data[0] = 1
	back := cybergearwire.Feedback{ID: 1, State: cybergearwire.Running, Faults: cybergearwire.OverHeat, Angle: 12.5,
		Speed: -30, Torque: 0, Celsius: 33.3}
	return []struct {
		text    string
		message cybergearwire.Message
	}{
		{"0000FD01#0000000000000000", cybergearwire.To(1, cybergearwire.DeviceID)},
		{"0300FD7F#0000000000000000", cybergearwire.To(127, cybergearwire.Enable)},
		{"0400FD01#0100000000000000", clear},
		{"1200FD01#0570000001000000", cybergearwire.Set(1, cybergearwire.RunMode, cybergearwire.InPosition)},
		{"1200FD01#0A7000000000C03F", cybergearwire.Set(1, cybergearwire.SpeedRef, 1.5)},
		{"1200FD01#0C20000010270000", cybergearwire.Set(1, cybergearwire.CANTimeout, 10000)},
		{"1100FD01#1C70000000000000", cybergearwire.Ask(1, cybergearwire.BusVolts)},
		{"110001FD#1C7000000000C041", cybergearwire.Answer(1, cybergearwire.Host, cybergearwire.BusVolts, 24)},
		{"01000001#8000FFFFFFFF0000", half.Message(1, &m.Spans)},
		{"028401FD#FFFF00008000014D", back.Message(cybergearwire.Host, &m.Spans)},
	}
}

func TestFrames(t *testing.T) {
	for _, c := range frameCases() {
		f := c.message.Frame()
		if got := f.String(); got != c.text {
			t.Errorf("got %s, want %s: %v", got, c.text, &c.message)
		}
		var m cybergearwire.Message
		if !m.Parse(&f) || m != c.message {
			t.Errorf("%s: got %v, want %v", c.text, &m, &c.message)
		}
	}
	var m cybergearwire.Message
	for _, f := range []servo.CANFrame{{ID: 1, Len: 8}, {ID: 1, Extended: true, Len: 7},
		{ID: 1, Extended: true, Len: 8, Remote: true}, {ID: 1, Extended: true, Len: 8, Error: true}} {
		if m.Parse(&f) {
			t.Errorf("%v: got a message", &f)
		}
	}
}

func TestRoundTrips(t *testing.T) {
	s := &ModelByName("cybergear").Spans
	want := cybergearwire.Motions{Angle: -3.2, Speed: 1.5, Torque: 4, Kp: 30, Kd: 1.2}
	m := want.Message(5, s)
	var got cybergearwire.Motions
	got.Parse(&m, s)
	for _, x := range [][3]float64{{got.Angle, want.Angle, 25}, {got.Speed, want.Speed, 60},
		{got.Torque, want.Torque, 24}, {got.Kp, want.Kp, 500}, {got.Kd, want.Kd, 5}} {
		if math.Abs(x[0]-x[1]) > x[2]/65535 {
			t.Errorf("motion: got %+v, want %+v", got, want)
		}
	}
	// Beyond the span is its end, and nothing known is the middle: a motor must not jump by an overflow.
	far := cybergearwire.Motions{Angle: 1e9, Speed: math.Inf(-1), Torque: math.NaN(), Kp: -1, Kd: 1e9}
	m = far.Message(5, s)
	got.Parse(&m, s)
	if got.Angle != 12.5 || got.Speed != -30 || math.Abs(got.Torque) > 12.0/65535 || got.Kp != 0 || got.Kd != 5 {
		t.Errorf("too far: got %+v", got)
	}
	back := cybergearwire.Feedback{ID: 7, State: cybergearwire.Running,
		Faults: cybergearwire.UnderVoltage | cybergearwire.NotCalibrated, Celsius: -12.5}
	m = back.Message(cybergearwire.Host, s)
	var b cybergearwire.Feedback
	b.Parse(&m, s)
	if b.ID != 7 || b.State != cybergearwire.Running || b.Faults != back.Faults || b.Celsius != -12.5 ||
		b.Faults.Alarm() != servo.AlarmVoltage|servo.AlarmEncoder {
		t.Errorf("feedback: got %+v", b)
	}
	if id, ok := m.Sender(); id != 7 || !ok {
		t.Errorf("sender: got %d %v", id, ok)
	}
	m.Target = 3 // feedback to another host
	if _, ok := m.Sender(); ok {
		t.Error("another's feedback: taken")
	}
}

func TestTable(t *testing.T) {
	for _, m := range Models() {
		u := m.Units()
		if ModelByName(m.Name) != m || u.MinTicks != -u.MaxTicks || u.MaxEffort*m.Kt != m.Spans.Torque {
			t.Errorf("%s: got %+v", m.Name, u)
		}
		if r := m.Setting("can_timeout"); r == nil || r.SI(r.Default) != 0.5 || m.Setting("x") != nil ||
			m.Register("x") != nil {
			t.Errorf("%s: can_timeout: got %+v", m.Name, r)
		}
	}
	if ModelByName("cyberdog") != nil || radians(ticks(1)) != 1 {
		t.Error("found what is not there, or lost an angle")
	}
}

// FuzzParse checks any frame: no panic, what decodes encodes to what it came from, and no value that is not finite
// or beyond the model's spans.
func FuzzParse(f *testing.F) {
	for _, c := range frameCases() {
		frame := c.message.Frame()
		f.Add(servo.AppendCAN(nil, &frame))
	}
	s := &ModelByName("cybergear").Spans
	f.Fuzz(func(t *testing.T, p []byte) {
		var frame servo.CANFrame
		var m cybergearwire.Message
		if servo.ParseCAN(p, &frame) != nil || !m.Parse(&frame) {
			return
		}
		if again := m.Frame(); again != frame {
			t.Fatalf("%v: got %v", &frame, &again)
		}
		var b cybergearwire.Feedback
		var g cybergearwire.Motions
		b.Parse(&m, s)
		g.Parse(&m, s)
		for _, x := range [][2]float64{{b.Angle, s.Angle}, {b.Speed, s.Speed}, {b.Torque, s.Torque}, {g.Angle, s.Angle},
			{g.Kp, s.Kp}, {g.Kd, s.Kd}} {
			if !(math.Abs(x[0]) <= x[1]) {
				t.Fatalf("%v: got %+v %+v", &frame, b, g)
			}
		}
		m.Parameter()
		m.Sender()
	})
}
