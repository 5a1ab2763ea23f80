package odrive

import (
	"slices"
	"testing"

	"github.com/halyard-robotics/halyard/internal/wire/odrivewire"
	"github.com/halyard-robotics/halyard/servo"
)

func TestExplain(t *testing.T) {
	for _, c := range []struct {
		data string
		want []string
	}{
		{"p 0 1.5 0 0\n", []string{"p 0 1.5 0 0"}},
		{"r vbus_voltage*85\nf 0*118\n", []string{"f 0"}}, // the first checksum is wrong
		{"1.500000 0.000000\r\n", []string{"1.500000 0.000000"}},
		{"p 0", nil},
	} {
		if got := explain(nil, []byte(c.data), true, nil); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.data, got, c.want)
		}
	}
	for _, c := range []struct {
		frame servo.CANFrame
		want  []string
	}{
		{odrivewire.Ask(3, odrivewire.Estimates), []string{"read node 3: estimates"}},
		{odrivewire.Floats(3, odrivewire.Estimates, 1.5, -0.25),
			[]string{"node 3: estimates 1.5 turns, -0.25 turns/s"}},
		{odrivewire.HeartbeatMessage{Errors: 0x40, State: odrivewire.ClosedLoop}.Frame(3),
			[]string{"node 3: heartbeat errors 0x40, state 8"}},
		{odrivewire.Words(3, odrivewire.SetState, uint32(odrivewire.Idle)), []string{"node 3: set_state state 0x1"}},
		{odrivewire.Position(3, 2), []string{"node 3: input_pos 2 turns"}},
		{odrivewire.Frame(3, odrivewire.Estop), []string{"node 3: estop"}},
		{odrivewire.SDO{Endpoint: 9, Value: 7}.Frame(3, odrivewire.TxSDO),
			[]string{"node 3: sdo from the axis 00 09 00 00 07 00 00 00"}},
		{servo.CANFrame{ID: 3<<5 | 0x1F, Len: 1, Data: [8]byte{9}}, []string{"node 3: command 0x1f: 09"}},
		{servo.CANFrame{ID: 3, Extended: true}, nil},
	} {
		if got := explainCAN(nil, servo.AppendCAN(nil, &c.frame), false, nil); !slices.Equal(got, c.want) {
			t.Errorf("%v: got %q, want %q", &c.frame, got, c.want)
		}
	}
}

func FuzzExplain(f *testing.F) {
	frame := odrivewire.Floats(3, odrivewire.Estimates, 1.5, -0.25)
	f.Add([]byte("p 0 1.5 0 0\n"), false)
	f.Add(servo.AppendCAN(nil, &frame), true)
	f.Fuzz(func(_ *testing.T, data []byte, can bool) {
		if can {
			explainCAN(nil, data, false, nil)
			return
		}
		explain(nil, data, false, nil)
	})
}
