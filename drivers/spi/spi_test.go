package spi

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"periph.io/x/conn/v3/conntest"
	"periph.io/x/conn/v3/spi/spitest"

	"github.com/halyard-robotics/halyard/drivers/i2c"
	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/hal"
)

// transactions are what goes over the wire for what a driver asks of its chip.
var transactions = []struct {
	name    string
	w       []byte // as on I2C
	n       int    // to be read
	out, in []byte // on the wire
	want    []byte
}{
	{"who am I of an LSM6DSOX", []byte{0x0F}, 1, []byte{0x8F, 0}, []byte{0xFF, 0x6C}, []byte{0x6C}},
	{"its settings", []byte{0x10}, 3, []byte{0x90, 0, 0, 0}, []byte{0, 0x58, 0x54, 0x44}, []byte{0x58, 0x54, 0x44}},
	{"a setting", []byte{0x12, 0x44}, 0, []byte{0x12, 0x44}, []byte{0, 0}, nil},
	{"identity of a BMP280, above 0x7F", []byte{0xD0}, 1, []byte{0xD0, 0}, []byte{0, 0x58}, []byte{0x58}},
	{"its reset", []byte{0xE0, 0xB6}, 0, []byte{0x60, 0xB6}, []byte{0, 0}, nil},
	{"settings of an MPU", []byte{0x19, 4, 3, 8, 8}, 0, []byte{0x19, 4, 3, 8, 8}, make([]byte, 5), nil},
}

func TestTransactions(t *testing.T) {
	for _, c := range transactions {
		play := &spitest.Playback{Playback: conntest.Playback{Ops: []conntest.IO{{W: c.out, R: c.in}}, DontPanic: true}}
		wire, err := play.Connect(0, 3, 8)
		if err != nil {
			t.Fatal(err)
		}
		r := make([]byte, c.n)
		if err := NewPort("/dev/spidev0.0", wire).Tx(0x68, c.w, r); err != nil || !bytes.Equal(r, c.want) {
			t.Errorf("%s: got % X, %v; want % X", c.name, r, err, c.want)
		}
		if err := play.Close(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// An LSM6DSOX is opened, measures and is lost, byte by byte: the data sheet's registers, and a line that rests high.
func TestLSM6(t *testing.T) {
	play := &spitest.Playback{Playback: conntest.Playback{DontPanic: true, Ops: []conntest.IO{
		{W: []byte{0x8F, 0}, R: []byte{0, 0x6C}},
		{W: []byte{0x12, 0x01}, R: make([]byte, 2)},
		{W: []byte{0x10, 0x58}, R: make([]byte, 2)},
		{W: []byte{0x11, 0x54}, R: make([]byte, 2)},
		{W: []byte{0x12, 0x44}, R: make([]byte, 2)},
		{W: []byte{0x90, 0, 0, 0}, R: []byte{0, 0x58, 0x54, 0x44}},
		{W: append([]byte{0xA0}, make([]byte, 14)...), R: []byte{0, 0, 1, 0x9C, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0x09,
			0x20}},
		{W: []byte{0x90, 0, 0, 0}, R: []byte{0xFF, 0xFF, 0xFF, 0xFF}},
	}}}
	wire, err := play.Connect(0, 3, 8)
	if err != nil {
		t.Fatal(err)
	}
	s, err := imu.NewLSM6(NewPort("/dev/spidev0.0", wire), imu.LSM6Config{AccRange: 4})
	if err == nil {
		err = s.Open()
	}
	if err != nil {
		t.Fatal(err)
	}
	v := make([]float64, 10)
	if err := s.Read(v); err != nil {
		t.Fatal(err)
	}
	// -100 counts of 17.5 mdps, 0x2009 counts of 0.122 mg, 256 counts above 25 °C
	for i, want := range map[int]float64{0: -0.030543, 5: 9.81177, 9: 26} {
		if d := v[i] - want; d > 1e-4 || d < -1e-4 {
			t.Errorf("value %d: got %v, want %v", i, v[i], want)
		}
	}
	err = s.Read(v)
	if hal.KindOf(err) != hal.Absent ||
		!strings.Contains(err.Error(), `bus "/dev/spidev0.0": lsm6dsox: settings: got FF FF FF`) {
		t.Errorf("without power: got %v", err)
	}
	if err := play.Close(); err != nil {
		t.Error(err)
	}
}

// broken is a wire that fails.
type broken struct{ err error }

func (b *broken) Tx(_, r []byte) error { clear(r); return b.err }

// A wire that failed is given back and opened again by the next transaction; what is no transaction is refused.
func TestPort(t *testing.T) {
	wire, opened, shut := &broken{}, 0, 0
	p := &Port{path: "spi", open: func() (Wire, func() error, error) {
		opened++
		return wire, func() error { shut++; return nil }, nil
	}}
	if !i2c.OnSPI(p) || p.SetSpeed(0) == nil || p.String() != "spi" {
		t.Error("it does not say what it is")
	}
	for _, c := range []struct{ w, n int }{{0, 1}, {1, 0}, {2, 1}, {1, 65}, {66, 0}} {
		if err := p.Tx(0, make([]byte, c.w), make([]byte, c.n)); err == nil {
			t.Errorf("%d bytes to write, %d to read: got no error", c.w, c.n)
		}
	}
	ask := func() error { return p.Tx(0, []byte{1}, make([]byte, 64)) }
	if err := ask(); err != nil || opened != 1 {
		t.Errorf("got %v, opened %d times", err, opened)
	}
	wire.err = errors.New("input/output error")
	if err := ask(); !errors.Is(err, wire.err) || shut != 1 {
		t.Errorf("broken: got %v, given back %d times", err, shut)
	}
	wire.err = nil
	if err := ask(); err != nil || opened != 2 {
		t.Errorf("again: got %v, opened %d times", err, opened)
	}
	w, r := []byte{1}, make([]byte, 14)
	if n := testing.AllocsPerRun(100, func() { _ = p.Tx(0, w, r) }); n != 0 {
		t.Errorf("a transaction: got %g allocations, want 0", n)
	}
	if err := errors.Join(p.Close(), p.Close()); err != nil || shut != 2 {
		t.Errorf("close: got %v, given back %d times", err, shut)
	}
	if err := ask(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed: got %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	node := func(name string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		path  string
		hertz int
		kind  hal.Kind
		want  string
	}{
		{filepath.Join(dir, "spidev0.1"), DefaultClock, hal.Absent, "is SPI switched on"},
		{node("ttyS0", 0o600), DefaultClock, hal.Invalid, "want a path such as /dev/spidev0.0"},
		{node("spidev77.0", 0o600), DefaultClock, hal.Absent, "spidev77.0"},
		{node("spidev0.0", 0o600), 1, hal.Invalid, "got 1, want 10000..10000000 Hz"},
	} {
		_, err := Open(c.path, c.hertz)
		if hal.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s at %d Hz: got %v, want %v: %s", filepath.Base(c.path), c.hertz, err, c.kind, c.want)
		}
	}
}

// paths drives TestParse and seeds FuzzParse.
var paths = []struct {
	path      string
	bus, chip int
	ok        bool
}{
	{"/dev/spidev0.0", 0, 0, true}, {"spidev10.3", 10, 3, true}, {"/dev/spidev0", 0, 0, false},
	{"/dev/spidev0.0x", 0, 0, false},
	{"/dev/spidev-1.0", 0, 0, false}, {"/dev/spidev0.01", 0, 0, false}, {"/dev/i2c-1", 0, 0, false}, {"", 0, 0, false},
}

func TestParse(t *testing.T) {
	for _, c := range paths {
		if bus, chip, ok := Parse(c.path); ok != c.ok || ok && (bus != c.bus || chip != c.chip) {
			t.Errorf("%s: got %d, %d, %v", c.path, bus, chip, ok)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range paths {
		f.Add(c.path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if bus, chip, ok := Parse(path); ok && (bus < 0 || chip < 0) {
			t.Errorf("%q: got %d, %d", path, bus, chip)
		}
	})
}
