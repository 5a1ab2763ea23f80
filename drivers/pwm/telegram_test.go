package pwm

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	conn "periph.io/x/conn/v3/i2c"

	"github.com/halyard-robotics/halyard/servo"
)

// filedLine is a line with a descriptor, which keeps what is written.
type filedLine struct {
	servo.Line
	t *testing.T
}

func (l *filedLine) File() (*os.File, error) { return os.Create(filepath.Join(l.t.TempDir(), "line")) }
func (l *filedLine) Write([]byte) (int, error) {
	l.t.Error("a telegram is asked for: got a write")
	return 0, nil
}

// filedBus is an I2C bus with a descriptor for each device.
type filedBus struct {
	conn.Bus
	addr uint16
}

func (b *filedBus) File(addr uint16) (*os.File, error) {
	b.addr = addr
	return os.Open(os.DevNull)
}

// TestSafety18Telegrams: what a supervisor writes ends the pulses of every channel of a board; asking for it writes
// nothing.
func TestSafety18Telegrams(t *testing.T) {
	m, err := NewMaestro(nil, MaestroConfig{Channels: 2, Device: -1})
	if err != nil {
		t.Fatal(err)
	}
	if list, err := m.TorqueOffTelegrams(); list != nil || err != nil {
		t.Errorf("maestro without a line: got %v, %v", list, err)
	}
	m.port.Line = &filedLine{t: t}
	list, err := m.TorqueOffTelegrams()
	if err != nil || len(list) != 1 || !bytes.Equal(list[0].Bytes, []byte{0x84, 0, 0, 0, 0x84, 1, 0, 0}) {
		t.Errorf("maestro: got %v, %v", list, err)
	}
	closeAll(list)

	bus := &filedBus{}
	d, err := NewPCA9685(bus, PCA9685Config{Address: 0x41})
	if err != nil {
		t.Fatal(err)
	}
	list, err = d.TorqueOffTelegrams()
	// ALL_LED_OFF_H, full off
	if err != nil || bus.addr != 0x41 || len(list) != 1 || !bytes.Equal(list[0].Bytes, []byte{0xFD, 0x10}) {
		t.Errorf("pca9685: got %v at %#x, %v", list, bus.addr, err)
	}
	closeAll(list)

	root := sysfs(t, "pwm0", "pwm1")
	k, err := NewKernel(KernelConfig{Root: root, Channels: []KernelChannel{{0, 0}, {0, 1}}})
	if err == nil {
		err = k.Open()
	}
	if err == nil {
		err = k.Write([]time.Duration{time.Millisecond, time.Millisecond})
	}
	if err != nil {
		t.Fatal(err)
	}
	list, err = k.TorqueOffTelegrams()
	if err != nil || len(list) != 2 || get(t, root, "pwmchip0", "pwm1", "enable") != "1" {
		t.Fatalf("kernel: got %v, %v", list, err)
	}
	for _, l := range list {
		l.File.Write(l.Bytes)
	}
	closeAll(list)
	for _, channel := range []string{"pwm0", "pwm1"} {
		if got := get(t, root, "pwmchip0", channel, "enable"); got != "0" {
			t.Errorf("%s: got %q, want 0", channel, got)
		}
	}
}

func closeAll(list []servo.Telegram) {
	for _, l := range list {
		l.File.Close()
	}
}
