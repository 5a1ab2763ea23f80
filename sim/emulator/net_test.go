package emulator_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	emucybergear "github.com/halyard-robotics/halyard/internal/emulator/cybergear"
	emuodrive "github.com/halyard-robotics/halyard/internal/emulator/odrive"
	"github.com/halyard-robotics/halyard/internal/wire/cybergearwire"
	"github.com/halyard-robotics/halyard/internal/wire/odrivewire"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/cybergear"
	"github.com/halyard-robotics/halyard/servo/odrive"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// exchange sends frames and returns those received within a millisecond, in candump's format.
func (r *rig) exchange(frames ...servo.CANFrame) string {
	r.Helper()
	var out []byte
	for i := range frames {
		out = servo.AppendCAN(out, &frames[i])
	}
	if _, err := r.line.Write(out); err != nil {
		r.Fatal(err)
	}
	return r.frames(time.Millisecond)
}

// frames are the frames received until the bus has been idle for a while.
func (r *rig) frames(still time.Duration) string {
	r.Helper()
	var got []string
	for {
		var b [16]byte
		n, err := r.line.Read(b[:], still)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return strings.Join(got, " ")
		}
		var f servo.CANFrame
		if err = errors.Join(err, servo.ParseCAN(b[:n], &f)); err != nil {
			r.Fatal(err)
		}
		got = append(got, f.String())
	}
}

func canRig(t testing.TB, rate int, servos ...*emulator.Servo) *rig {
	b := emulator.NewBus(emulator.BusConfig{Name: "can", Baud: rate}, servos...)
	return &rig{t, b, b.Line(), servos}
}

// Frames by the documents, requested from emulated axes of both firmwares.
func TestODriveFrames(t *testing.T) {
	r := canRig(t, 250000, emuodrive.NewCAN(odrive.ModelByName("odrive-s1"), 3, motorActuator(t, "odrive-s1"),
		emulator.GroundTruth{}),
		emuodrive.NewCAN(odrive.ModelByName("odrive-v3"), 4, motorActuator(t, "odrive-v3"), emulator.GroundTruth{}))
	r.frames(time.Millisecond) // the first heartbeats
	for _, c := range []struct {
		name  string
		frame servo.CANFrame
		want  string
	}{
		{"version", odrivewire.Ask(3, odrivewire.GetVersion), "060#0205020000060A00"},
		{"version of 0.5", odrivewire.Ask(4, odrivewire.GetVersion), ""},
		{"estimates", odrivewire.Ask(3, odrivewire.Estimates), "069#0000000000000000"},
		{"estimates of 0.5", odrivewire.Ask(4, odrivewire.Estimates), "089#0000000000000000"},
		{"volts", odrivewire.Ask(3, odrivewire.GetBus), "077#0000404200000000"},
		{"another node", odrivewire.Ask(5, odrivewire.Estimates), ""},
		{"watchdog, as it is", odrivewire.SDO{Endpoint: emuodrive.WatchdogEndpoint}.Frame(3, odrivewire.RxSDO),
			"065#00C800000000003F"},
		{"watchdog on", odrivewire.SDO{Write: true, Endpoint: emuodrive.EnableEndpoint, Value: 1}.Frame(3,
			odrivewire.RxSDO),
			""},
		{"is it", odrivewire.SDO{Endpoint: emuodrive.EnableEndpoint}.Frame(3, odrivewire.RxSDO),
			"065#00C9000001000000"},
		{"an unknown endpoint", odrivewire.SDO{Endpoint: 7}.Frame(3, odrivewire.RxSDO), ""},
		{"0.5 has none", odrivewire.SDO{Endpoint: emuodrive.EnableEndpoint}.Frame(4, odrivewire.RxSDO), ""},
		{"closed loop", odrivewire.Words(3, odrivewire.SetState, 8), ""},
	} {
		if got := r.exchange(c.frame); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	// Every 100 ms each sends a heartbeat with its state: the lower node first.
	if got := r.frames(95 * time.Millisecond); got != "061#0000000008000000 081#0000000001000000" {
		t.Errorf("heartbeats: got %q", got)
	}
	// An emergency stop takes the torque until the errors are cleared.
	r.exchange(odrivewire.Frame(3, odrivewire.Estop), odrivewire.Words(3, odrivewire.SetState, 8))
	if got := r.exchange(odrivewire.Ask(3, odrivewire.GetErrors)); got != "063#0000000200000002" ||
		r.servos[0].Actuator().Enable {
		t.Errorf("stopped: got %q, driven %v", got, r.servos[0].Actuator().Enable)
	}
	r.exchange(odrivewire.Frame(3, odrivewire.ClearErrors), odrivewire.Words(3, odrivewire.SetState, 8))
	if !r.servos[0].Actuator().Enable {
		t.Error("cleared: not driven")
	}
}

func TestCyberGearFrames(t *testing.T) {
	r := canRig(t, 1000000, emucybergear.New(cybergear.ModelByName("cybergear"), 1, motorActuator(t, "cybergear"),
		emulator.GroundTruth{}))
	spans := &cybergear.ModelByName("cybergear").Spans
	push := (&cybergearwire.Motions{Torque: 2}).Message(1, spans)
	current := cybergearwire.Set(1, cybergearwire.RunMode, cybergearwire.InCurrent)
	for _, c := range []struct {
		name    string
		message cybergearwire.Message
		want    string
	}{
		{"who", cybergearwire.To(1, cybergearwire.DeviceID), "000001FE#68616C7961726401"},
		{"stop", cybergearwire.To(1, cybergearwire.Stop), "020001FD#80008000800000FA"},
		{"another motor", cybergearwire.To(2, cybergearwire.Stop), ""},
		{"volts", cybergearwire.Ask(1, cybergearwire.BusVolts), "110001FD#1C7000000000C041"},
		{"no such parameter", cybergearwire.Ask(1, 0x7777), ""},
		{"current mode", current, "020001FD#80008000800000FA"},
		{"it reads back", cybergearwire.Ask(1, cybergearwire.RunMode), "110001FD#0570000003000000"},
		{"enable", cybergearwire.To(1, cybergearwire.Enable), "028001FD#80008000800000FA"},
		{"no mode while it runs", cybergearwire.Set(1, cybergearwire.RunMode, 0), "028001FD#80008000800000FA"},
		{"it stays", cybergearwire.Ask(1, cybergearwire.RunMode), "110001FD#0570000003000000"},
		{"a motion in another mode", push, "028001FD#80008000800000FA"},
	} {
		if got := r.exchange(c.message.Frame()); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	// A motion command is a spring, a damper and a torque.
	stop, operate, enable := cybergearwire.To(1, cybergearwire.Stop),
		cybergearwire.Set(1, cybergearwire.RunMode, cybergearwire.Operating),
		cybergearwire.To(1, cybergearwire.Enable)
	hold := (&cybergearwire.Motions{Angle: 0.5, Kp: 20, Kd: 1}).Message(1, spans)
	r.exchange(stop.Frame(), operate.Frame(), enable.Frame(), hold.Frame())
	r.pass(2 * time.Second)
	if p := r.servos[0].Actuator().Position; p < 0.48 || p > 0.52 {
		t.Errorf("spring: got %.3f rad, want 0.5", p)
	}
}

// A bus that corrupts every frame makes the host's controller bus-off: the line is lost, and is back within a second of
// the end of the cause. No motor moves without a new command then.
func TestCANBusOff(t *testing.T) {
	for _, model := range []string{"odrive-s1", "cybergear"} {
		synctest.Test(t, func(t *testing.T) { busOff(t, model) })
	}
}

func busOff(t *testing.T, model string) {
	d := motorBus(t, model, 3, 1000000, true)
	d.cycles(100, to(1000))
	d.follows("before", 1000, 40)
	d.plant("crc bus for=200ms")
	send, receive := d.cycles(3, to(1000))
	if err := errors.Join(send, receive); !errors.Is(err, servo.ErrDisconnected) || hal.KindOf(err) != hal.Absent {
		t.Errorf("%s: got %v, want the line lost", model, err)
	}
	began := d.line.Now()
	for range 130 {
		d.cycles(1, to(1000))
		synctest.Wait() // the line is opened in its own goroutine
		if d.line.Now() > began+250*time.Millisecond && d.State(0).Err == nil {
			break
		}
	}
	if well := d.line.Now() - began; well > 1200*time.Millisecond || d.stats().Reopened == 0 {
		t.Errorf("%s: well after %v, opened %d times", model, well, d.stats().Reopened)
	}
	d.cycles(20, to(1000))
	for i := range d.servos {
		if !errors.Is(d.fault(i), servo.ErrRegained) {
			t.Errorf("%s: motor %d: got %v", model, i, d.fault(i))
		}
	}
	d.cycles(20, servo.Goal{})
	d.cycles(100, to(1000))
	d.follows("after", 1000, 40)
}

// A motor at another bit rate receives nothing and is missing; an empty bus takes only the time of the requests.
func TestCANStrangers(t *testing.T) {
	m := cybergear.ModelByName("cybergear")
	one := emucybergear.New(m, 1, motorActuator(t, "cybergear"), emulator.GroundTruth{})
	two := emucybergear.New(m, 2, motorActuator(t, "cybergear"), emulator.GroundTruth{})
	r := canRig(t, 1000000, one, two)
	two.Preset("baud_rate", 500000)
	c := cybergear.NewChain(servo.ChainConfig{Name: "can", Line: r.line,
		Servos: []servo.ServoConfig{{ID: 1, Model: m}, {ID: 2, Model: m}}})
	err := c.Open()
	if hal.KindOf(err) != hal.Absent || !strings.Contains(err.Error(), "id 2") ||
		strings.Contains(err.Error(), "id 1:") {
		t.Errorf("got %v, want id 2 missing", err)
	}
	r = canRig(t, 1000000)
	c = cybergear.NewChain(servo.ChainConfig{Name: "can", Line: r.line, Servos: []servo.ServoConfig{{ID: 1, Model: m}}})
	if err := c.Open(); hal.KindOf(err) != hal.Absent {
		t.Errorf("empty bus: got %v", err)
	}
	if took := r.line.Now(); took > 20*time.Millisecond {
		t.Errorf("empty bus: it took %v", took)
	}
}

// FuzzMotors sends any bytes to emulated motor controllers: no panic, and no torque beyond what the motor has.
func FuzzMotors(f *testing.F) {
	f.Add([]byte("p 0 1.5*16\nw axis0.requested_state 8*118\n"), uint8(3))
	f.Add(unhex(f, "02 05 06 00 00 00 00 CD 85 03"), uint8(0))
	frame := odrivewire.Words(1, odrivewire.SetState, 8)
	f.Add(servo.AppendCAN(nil, &frame), uint8(15))
	set := cybergearwire.Set(1, cybergearwire.LimitTorque, 1e30)
	frame = set.Frame()
	f.Add(servo.AppendCAN(nil, &frame), uint8(15))
	f.Fuzz(func(t *testing.T, stream []byte, piece uint8) {
		for _, c := range []struct {
			model string
			can   bool
		}{{"vesc-6", false}, {"odrive-v3", false}, {"odrive-s1", true}, {"cybergear", true}} {
			d := motorBus(t, c.model, 2, 1000000, c.can)
			for at, n := 0, int(piece)%32+1; at < len(stream); at += n {
				d.line.Write(stream[at:min(at+n, len(stream))])
				d.pass(time.Millisecond)
				d.line.Discard()
			}
			for i, s := range d.servos {
				a := s.Actuator()
				if !(a.Current <= a.Spec.MaxCurrent*1.01 && a.Current >= -a.Spec.MaxCurrent*1.01) &&
					a.Mode != hal.DutyMode && a.Enable {
					t.Errorf("%s %d: %v A", c.model, i, a.Current)
				}
				if fmt.Sprint(a.Position) == "NaN" {
					t.Errorf("%s %d: no position", c.model, i)
				}
			}
		}
	})
}
