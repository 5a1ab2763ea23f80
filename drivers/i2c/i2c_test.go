package i2c

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	conn "periph.io/x/conn/v3/i2c"
	"periph.io/x/conn/v3/i2c/i2ctest"

	"github.com/halyard-robotics/halyard/hal"
)

func TestChip(t *testing.T) {
	bus := &i2ctest.Playback{DontPanic: true, Ops: []i2ctest.IO{
		{Addr: 0x68, W: []byte{0x75}, R: []byte{0x71}},
		{Addr: 0x68, W: []byte{0x75}, R: []byte{0x55}},
		{Addr: 0x68, W: []byte{0x1B, 8, 16}},
		{Addr: 0x68, W: []byte{0x1E}},
		{Addr: 0x68, W: []byte{0x3B}, R: []byte{1, 2, 3, 4}},
	}}
	c := NewChip(bus, 0x68, "mpu")
	if v, err := c.Expect(0x75, 0x68, 0x71); v != 0x71 || err != nil {
		t.Errorf("identity: got %X, %v", v, err)
	}
	_, err := c.Expect(0x75, 0x68, 0x71)
	if hal.KindOf(err) != hal.Absent ||
		!strings.Contains(err.Error(), "mpu at 0x68: identity: got 0x55, want one of 68 71") {
		t.Errorf("a stranger: got %v", err)
	}
	if err := errors.Join(c.Write(0x1B, 8, 16), c.Write(0x1E)); err != nil {
		t.Error(err)
	}
	if p, err := c.Read(0x3B, 4); err != nil || [4]byte(p) != [4]byte{1, 2, 3, 4} {
		t.Errorf("read: got % X, %v", p, err)
	}
	_, err = c.Read(0, 1)
	if e := (*hal.Error)(nil); !errors.As(err, &e) || e.Kind != hal.BusFault || e.ID != 0x68 {
		t.Errorf("no answer: got %v", err)
	}
	if _, err := c.Expect(0, 1); hal.KindOf(err) != hal.Absent {
		t.Errorf("no answer to who it is: got %v", err)
	}
}

// loose is a bus that its adapter may vanish from.
type loose struct {
	i2ctest.Playback
	err    error
	closed int
}

func (l *loose) Tx(uint16, []byte, []byte) error { return l.err }
func (l *loose) Close() error                    { l.closed++; return nil }

// After the loss of the adapter the link to its bus is resolved again, so the bus is found under any new number.
func TestBus(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "rov")
	point := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(link)
		if err := os.Symlink(filepath.Join(dir, name), link); err != nil {
			t.Fatal(err)
		}
	}
	point("i2c-3")
	var opened []int
	now := &loose{}
	b, err := openWith(link, func(n int) (conn.BusCloser, error) { opened = append(opened, n); return now, nil })
	if err != nil || b.String() != link {
		t.Fatal(err)
	}
	now.err = errors.New("sysfs-i2c: remote I/O error") // a chip that does not answer
	if err := b.Tx(1, nil, nil); err != now.err || now.closed != 0 {
		t.Errorf("no acknowledge: got %v", err)
	}
	for text, want := range map[syscall.Errno]error{syscall.EOPNOTSUPP: ErrSMBusOnly, syscall.ETIMEDOUT: ErrHeldLow} {
		now.err = errors.New("sysfs-i2c: " + text.Error())
		if err := b.Tx(1, nil, nil); !errors.Is(err, want) || now.closed != 0 {
			t.Errorf("%v: got %v, want %v", text, err, want)
		}
	}
	now.err = errors.New("sysfs-i2c: " + syscall.ENODEV.Error())
	if err := b.Tx(1, nil, nil); err != now.err || now.closed != 1 {
		t.Errorf("gone: got %v", err)
	}
	point("i2c-7")
	now = &loose{}
	if err := b.Tx(1, nil, nil); err != nil || len(opened) != 2 || opened[1] != 7 {
		t.Errorf("back: got %v, opened %v", err, opened)
	}
	if err := b.SetSpeed(0); hal.KindOf(err) != hal.Invalid {
		t.Errorf("speed: got %v", err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if err := b.Tx(1, nil, nil); !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed: got %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "ttyS0")
	node := filepath.Join(dir, "i2c-1")
	for _, path := range []string{other, node} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, kind := range map[string]hal.Kind{filepath.Join(dir, "i2c-9"): hal.Absent, other: hal.Invalid} {
		if _, err := Open(path); hal.KindOf(err) != kind {
			t.Errorf("%s: got %v", path, err)
		}
	}
	_, err := openWith(node, func(int) (conn.BusCloser, error) { return nil, errors.New("no such bus") })
	if hal.KindOf(err) != hal.Absent {
		t.Errorf("a node without a bus: got %v", err)
	}
}
