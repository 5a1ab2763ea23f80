package odrive

import (
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/internal/wire/odrivewire"
	"github.com/halyard-robotics/halyard/servo"
)

// canCases are frames as candump writes them, after the documentation's table of messages.
func canCases() []struct {
	text  string
	frame servo.CANFrame
} {
	return []struct {
		text  string
		frame servo.CANFrame
	}{
		{"001#0000000008000000", odrivewire.HeartbeatMessage{State: odrivewire.ClosedLoop}.Frame(0)},
		{"067#08000000", odrivewire.Words(3, odrivewire.SetState, uint32(odrivewire.ClosedLoop))},
		{"06B#0300000001000000", odrivewire.Words(3, odrivewire.SetControl, uint32(odrivewire.PositionControl),
			odrivewire.Passthrough)},
		{"06C#0000A03F00000000", odrivewire.Position(3, 1.25)},
		{"06D#000020C000000000", odrivewire.Floats(3, odrivewire.InputVel, -2.5, 0)},
		{"06E#0000003F", odrivewire.Floats(3, odrivewire.InputTorque, 0.5)},
		{"06F#000020410000A041", odrivewire.Floats(3, odrivewire.SetLimits, 10, 20)},
		{"069#R", odrivewire.Ask(3, odrivewire.Estimates)},
		{"062#", odrivewire.Frame(3, odrivewire.Estop)},
		{"064#01C800000000003F", odrivewire.SDO{Write: true, Endpoint: 200, Value: math.Float32bits(0.5)}.Frame(3,
			odrivewire.RxSDO)},
		{"7C5#00C9000001000000", odrivewire.SDO{Endpoint: 201, Value: 1}.Frame(62, odrivewire.TxSDO)},
	}
}

func TestCANFrames(t *testing.T) {
	for _, c := range canCases() {
		if got := c.frame.String(); got != c.text {
			t.Errorf("got %s, want %s", got, c.text)
		}
	}
	node, c, ok := odrivewire.Split(&servo.CANFrame{ID: 62<<5 | 0x17})
	if node != 62 || c != odrivewire.GetBus || !ok {
		t.Errorf("split: got %d %d %v", node, c, ok)
	}
	if _, _, ok := odrivewire.Split(&servo.CANFrame{ID: 1, Extended: true}); ok {
		t.Error("extended: got a node")
	}
	f := odrivewire.SDO{Write: true, Endpoint: 0x1234, Value: 0xCAFE}.Frame(1, odrivewire.RxSDO)
	if s, ok := odrivewire.ParseSDO(&f); !ok || s != (odrivewire.SDO{Write: true, Endpoint: 0x1234, Value: 0xCAFE}) {
		t.Errorf("sdo: got %+v %v", s, ok)
	}
	f = odrivewire.HeartbeatMessage{Errors: 0x100, State: odrivewire.Idle}.Frame(9)
	if b, ok := odrivewire.ParseBeat(&f); !ok ||
		b != (odrivewire.HeartbeatMessage{Errors: 0x100, State: odrivewire.Idle}) {
		t.Errorf("beat: got %+v %v", b, ok)
	}
	f.Len = 4
	if _, ok := odrivewire.ParseBeat(&f); ok {
		t.Error("short beat: taken")
	}
}

func FuzzCAN(f *testing.F) {
	for _, c := range canCases() {
		f.Add(servo.AppendCAN(nil, &c.frame))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		var frame servo.CANFrame
		if servo.ParseCAN(p, &frame) != nil {
			return
		}
		b := &canProtocol{devices: make([]device, 1), chain: &servo.GenericChain{Devices: make([]servo.Device, 1)}}
		b.devices[0].cfg = &servo.ServoConfig{ID: byte(frame.ID >> 5)}
		if _, c, ok := odrivewire.Split(&frame); ok && c != odrivewire.Heartbeat {
			b.handleFrame(&frame)
		}
		if v := b.chain.Devices[0].State; math.IsNaN(v.Position+v.Velocity+v.Effort+v.Voltage+v.Temperature) ||
			math.IsInf(v.Position, 0) {
			t.Fatalf("%v: got %+v", &frame, v)
		}
		odrivewire.ParseBeat(&frame)
		odrivewire.ParseSDO(&frame)
	})
}

func TestTable(t *testing.T) {
	for _, m := range Models() {
		if u := m.Units(); ModelByName(m.Name) != m || u.MaxVelocity <= 0 || u.TorqueConstant <= 0 ||
			u.MinTicks >= u.MaxTicks {
			t.Errorf("%s: got %+v", m.Name, u)
		}
		if _, ok := m.BaudCode(115200); ok {
			t.Errorf("%s: got a code of a rate", m.Name)
		}
	}
	if ModelByName("odrive") != nil || servo.FindModel(CANDriver(), "odrive-v3").Setting(watchdogEndpoint) != nil ||
		servo.FindModel(CANDriver(), "odrive-s1").Setting(enableEndpoint) == nil {
		t.Error("found what is not there, or not what is")
	}
}
