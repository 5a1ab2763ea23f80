package chip_test

import (
	"bytes"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/imureg"
	"github.com/halyard-robotics/halyard/internal/wire/pwmreg"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// What a Maestro sends and does, byte for byte; rows seed the fuzzer.
var maestroTalk = []struct {
	name  string
	crc   bool
	sent  []byte
	reply []byte
	pulse time.Duration // channel 0 afterwards
}{
	{"compact", false, []byte{0x84, 0, 0x70, 0x2E}, nil, 1500 * time.Microsecond},
	{"compact, with its CRC", true, []byte{0x84, 0, 0x70, 0x2E, 0x2B}, nil, 1500 * time.Microsecond},
	{"to device 12, with its CRC", true, []byte{0xAA, 0x0C, 0x04, 0, 0x70, 0x2E, 0x22}, nil, 1500 * time.Microsecond},
	{"to device 13", false, []byte{0xAA, 0x0D, 0x04, 0, 0x70, 0x2E}, nil, 0},
	{"a wrong CRC", true, []byte{0x84, 0, 0x70, 0x2E, 0x2A, 0xA1, 0x00}, []byte{}, 0},
	{"position", false, []byte{0x84, 0, 0x70, 0x2E, 0x90, 0}, []byte{0x70, 0x17}, 1500 * time.Microsecond},
	{"no such channel", false, []byte{0x84, 9, 0x70, 0x2E, 0xA1}, []byte{0x10, 0x00}, 0},
	{"no such command", false, []byte{0xB7, 0xA1}, []byte{0x10, 0x00}, 0},
	{"half a command", false, []byte{0x84, 0, 0xA1}, []byte{0x10, 0x00}, 0},
	{"a byte of nothing", false, []byte{0x12, 0xA1}, []byte{0x10, 0x00}, 0},
	{"a first AA", false, []byte{0xAA, 0xA1}, []byte{0, 0}, 0},
	{"home", false, []byte{0x84, 0, 0x70, 0x2E, 0xA2, 0x93}, []byte{0}, 0},
	{"many targets, of a Micro", false, []byte{0x9F, 1, 0, 0x70, 0x2E}, nil, 0},
}

func TestMaestroTalk(t *testing.T) {
	for _, c := range maestroTalk {
		m := chip.NewMaestro(6, 12, c.crc)
		reply := m.Receive(c.sent, 0, nil)
		if c.reply != nil && c.name != "a wrong CRC" && !bytes.Equal(reply, c.reply) || m.Pulse(0) != c.pulse {
			t.Errorf("%s: got reply % X and got %v, want % X and %v", c.name, reply, m.Pulse(0), c.reply, c.pulse)
		}
	}
	// The error of a wrong CRC, asked for with a right one.
	m := chip.NewMaestro(6, 12, true)
	m.Receive([]byte{0x84, 0, 0x70, 0x2E, 0x2A}, 0, nil)
	ask := pwmreg.AppendMaestro(nil, -1, true, pwmreg.MaestroErrors)
	if got := m.Receive(ask, 0, nil); !bytes.Equal(got, []byte{0x08, 0}) {
		t.Errorf("a wrong CRC: got errors % X", got)
	}
	if got := m.Receive(ask, 0, nil); !bytes.Equal(got, []byte{0, 0}) {
		t.Errorf("asked again: got errors % X", got)
	}
}

// Many targets at once are for the boards of more channels than six.
func TestMaestroTargets(t *testing.T) {
	sent := []byte{0x9F, 2, 3, 0x70, 0x2E, 0x70, 0x2E, 0xA1}
	for n, want := range map[int]struct {
		reply byte
		pulse time.Duration
	}{6: {0x10, 0}, 12: {0, 1500 * time.Microsecond}} {
		m := chip.NewMaestro(n, 12, false)
		var reply []byte
		for _, b := range sent { // however it comes
			reply = m.Receive([]byte{b}, 0, reply)
		}
		if !bytes.Equal(reply, []byte{want.reply, 0}) || m.Pulse(4) != want.pulse || m.Pulse(2) != 0 {
			t.Errorf("%d channels: got reply % X and got %v, want %02X 00 and %v", n, reply, m.Pulse(4), want.reply,
				want.pulse)
		}
		// Channels that it does not have.
		if got := m.Receive([]byte{0x9F, 2, 11, 0, 0, 0, 0, 0xA1}, 0, nil); !bytes.Equal(got, []byte{0x10, 0}) {
			t.Errorf("%d channels: got reply % X", n, got)
		}
	}
}

func FuzzEndpoints(f *testing.F) {
	for _, c := range maestroTalk {
		f.Add(c.sent)
	}
	f.Add([]byte{0xAA, 0x01, 0x00, 0x01, 0xAA, 0x00, 0x3D, 0x01, 0x0C, 0xAA, 0x01, 0x08, 0x20})
	f.Fuzz(func(t *testing.T, p []byte) {
		board, sensor := chip.NewMaestro(6, 12, false), chip.NewBNO055(imu.BNO055Address)
		sensor.Power(true, -time.Hour)
		whole := [2][]byte{board.Receive(p, 0, nil), sensor.Receive(p, 0, nil)}
		// A byte at a time makes no difference.
		board, sensor = chip.NewMaestro(6, 12, false), chip.NewBNO055(imu.BNO055Address)
		sensor.Power(true, -time.Hour)
		var parts [2][]byte
		for _, b := range p {
			parts[0] = board.Receive([]byte{b}, 0, parts[0])
			parts[1] = sensor.Receive([]byte{b}, 0, parts[1])
		}
		for i := range whole {
			if !bytes.Equal(whole[i], parts[i]) {
				t.Errorf("endpoint %d: % X at once, % X byte by byte", i, whole[i], parts[i])
			}
		}
	})
}

// Any transaction at all leaves a chip alive.
func FuzzTransfer(f *testing.F) {
	f.Add([]byte{0x1E}, 0)
	f.Add([]byte{0x06, 0, 0, 0x33, 0x01}, 4)
	f.Add([]byte{0x01, 0xC3, 0x83}, 2)
	f.Fuzz(func(t *testing.T, w []byte, n int) {
		m := chip.NewMPU("mpu-9250", imu.MPUAddress)
		devices := []chip.Device{chip.NewBNO055(0x28), m, m.Compass([3]byte{}), chip.NewLSM6(0x6A),
			chip.NewADS1115(0x48),
			chip.NewINA219(0x41, 0.1), chip.NewPCA9685(0x40, 25e6), chip.NewBMX280(0x77, true)}
		host := chip.NewBus("i2c", 400_000, 1, devices...).Host()
		for _, d := range devices {
			r := make([]byte, min(max(n, 0), 300))
			for range 2 {
				_ = host.Tx(d.Address(), w[:min(len(w), 70)], r) // errors are answers too
			}
		}
	})
}

// A line's bytes take their time, waiting costs the host's own alone, and an adapter that was unplugged is another one.
func TestSerial(t *testing.T) {
	line := chip.NewSerial("uart", 115200, 1, chip.NewBNO055(imu.BNO055Address))
	p, err := line.Open()
	must(t, err)
	must(t, func() error { _, err := p.Write([]byte{0xAA, 1, 0, 1}); return err }())
	if p.Now() != 0 {
		t.Errorf("four bytes: writing took %v", p.Now())
	}
	got := make([]byte, 8)
	n, err := p.Read(got, time.Millisecond)
	must(t, err)
	for n < 3 {
		k, err := p.Read(got[n:], time.Millisecond)
		must(t, err)
		n += k
	}
	if n != 3 || got[2] != imureg.BNO055ID || p.Now() < 607*time.Microsecond || line.Edge() != 0 {
		t.Errorf("got % X at %v, edge %v", got[:n], p.Now(), line.Edge())
	}
	if _, err := p.Read(got, 5*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("nothing more: got %v", err)
	}
	line.Fault(wire.Fault{Kind: wire.Unplugged, For: 10 * time.Millisecond})
	if _, err := p.Write(got); !errors.Is(err, servo.ErrDisconnected) {
		t.Errorf("unplugged: got %v", err)
	}
	if _, err := line.Open(); hal.KindOf(err) != hal.Absent {
		t.Errorf("unplugged: opened, %v", err)
	}
	must(t, line.Advance(time.Second))
	if err := p.Discard(); !errors.Is(err, servo.ErrDisconnected) {
		t.Errorf("the old opening: got %v", err)
	}
	p, err = line.Open()
	must(t, err)
	must(t, p.Discard())
	must(t, p.Close())
	if _, err := p.Write(got); err == nil {
		t.Error("closed: written to")
	}
}

// What a transaction takes on the wire, and what happens when it takes too long.
func TestBusTime(t *testing.T) {
	bus := chip.NewBus("i2c", 100_000, 1, chip.NewBNO055(0x28))
	host := bus.Host()
	must(t, host.Tx(0x28, []byte{8}, make([]byte, 32)))
	// Start, address, register, repeated start, address, 32 bytes, stop: 35 bytes of 9 bits and 3.
	if want := (35*9 + 3) * 10 * time.Microsecond; host.Now() != want {
		t.Errorf("took %v, want %v", host.Now(), want)
	}
	must(t, bus.Advance(time.Millisecond))
	if bus.Overruns() != 1 {
		t.Errorf("overruns: got %d of 3 ms in 1 ms", bus.Overruns())
	}
	other := bus.Host()
	if other.Now() != time.Millisecond {
		t.Errorf("another host: at %v, want the edge", other.Now())
	}
	if err := host.Tx(0x29, []byte{0}, nil); !errors.Is(err, chip.ErrNoAcknowledge) {
		t.Errorf("no device: got %v", err)
	}
	bus.Fault(wire.Fault{Kind: wire.HeldLow})
	before := other.Now()
	if err := other.Tx(0x28, []byte{0}, nil); !errors.Is(err, chip.ErrHangs) || other.Now()-before < time.Second {
		t.Errorf("hanging: got %v after %v", err, other.Now()-before)
	}
}
