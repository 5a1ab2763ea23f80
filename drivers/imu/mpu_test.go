package imu

import (
	"errors"
	"math"
	"strings"
	"testing"

	"periph.io/x/conn/v3/i2c/i2ctest"

	"github.com/halyard-robotics/halyard/hal"
)

// An MPU-6050 at ±500 °/s and ±4 g: (0.5, -1, 0.25) g, 36.53 °C, (1, -2, 250) °/s of 8192 and 65.5 counts.
func TestMPUSession(t *testing.T) {
	clock := &fakeClock{}
	bus := &i2ctest.Playback{DontPanic: true, Ops: []i2ctest.IO{
		io(0x69, "75", "68"),
		io(0x69, "6B 80", ""), io(0x69, "6B 01", ""),
		io(0x69, "19 04 03 08 08", ""), // 200 Hz, 44 Hz, ranges
		io(0x69, "3B", "1000 E000 0800 0000 0042 FF7D 3FF7"), io(0x69, "19", "04 03 08 08"),
		io(0x69, "3B", "0000 0000 0000 0000 0000 0000 0000"), io(0x69, "19", "00 00 00 00"),
		io(0x69, "6B 40", ""),
	}}
	s, err := NewMPU(bus, MPUConfig{Address: MPUAddressAlt, Model: "mpu-6050", Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Open(); err != nil {
		t.Fatal(err)
	}
	v := make([]float64, 10)
	if err := s.Read(v); err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{66 / 65.5 * degree, -131 / 65.5 * degree, 16375 / 65.5 * degree, 0.5 * gravity,
		-gravity, 0.25 * gravity} {
		if math.Abs(v[i]-want) > 1e-9 {
			t.Errorf("value %d: got %v, want %v", i, v[i], want)
		}
	}
	if !math.IsNaN(v[6]) || v[9] != 36.53 {
		t.Errorf("field and °C: got %v", v[6:])
	}
	if err := s.Read(v); hal.KindOf(err) != hal.Absent ||
		!strings.Contains(err.Error(), "got 00 00 00 00, want 04 03 08 08") {
		t.Errorf("reset: got %v", err)
	}
	if err := errors.Join(s.Close(), bus.Close()); err != nil {
		t.Error(err)
	}
}

// The magnetometer of an MPU-9250: its own axes, its adjustment, its overflow.
func TestMPUCompass(t *testing.T) {
	mode := func(v string) i2ctest.IO { return io(0x0C, "0A"+v, "") }
	sample := func(field string) []i2ctest.IO {
		return []i2ctest.IO{io(0x68, "3B", "0000 0000 0800 0000 0000 0000 0000"), io(0x68, "19", "04 03 08 08"),
			io(0x0C, "03", field)}
	}
	ops := []i2ctest.IO{io(0x68, "75", "71"), io(0x68, "6B 80", ""), io(0x68, "6B 01", ""),
		io(0x68, "19 04 03 08 08", ""), io(0x68, "1D 03", ""),
		io(0x68, "6A 00", ""), io(0x68, "37 02", ""), io(0x0C, "00", "48"),
		mode("00"), mode("1F"), io(0x0C, "10", "80 80 C0"), mode("00"), mode("1F"), io(0x0C, "10", "80 80 C0"),
		mode("00"), mode("16")}
	ops = append(ops, sample("64 00 38 FF E8 03 10")...)
	ops = append(ops, sample("64 00 38 FF E8 03 18")...)
	ops = append(ops, sample("64 00 38 FF E8 03 00")...)
	s, err := NewMPU(&i2ctest.Playback{DontPanic: true, Ops: ops}, MPUConfig{Clock: &fakeClock{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Open(); err != nil {
		t.Fatal(err)
	}
	v := make([]float64, 10)
	if err := s.Read(v); err != nil {
		t.Fatal(err)
	}
	// Raw (100, -200, 1000) of 0.15 µT; the third is adjusted by (192-128)/256 + 1; x and y are swapped, z turned.
	for i, want := range []float64{-200 * 0.15e-6, 100 * 0.15e-6, -1000 * 0.15e-6 * 1.25} {
		if math.Abs(v[6+i]-want) > 1e-12 {
			t.Errorf("field %d: got %v, want %v", i, v[6+i], want)
		}
	}
	if math.Abs(v[9]-21) > 1e-9 {
		t.Errorf("°C: got %v", v[9])
	}
	if err := s.Read(v); hal.KindOf(err) != hal.BusFault {
		t.Errorf("overflow: got %v", err)
	}
	if err := s.Read(v); hal.KindOf(err) != hal.Absent {
		t.Errorf("the magnetometer alone was reset: got %v", err)
	}
	ops[13] = io(0x0C, "10", "80 81 C0")
	s, _ = NewMPU(&i2ctest.Playback{DontPanic: true, Ops: ops}, MPUConfig{Clock: &fakeClock{}})
	if err := s.Open(); hal.KindOf(err) != hal.BusFault {
		t.Errorf("an adjustment read wrong: got %v", err)
	}
}

// The units of the datasheets: hardware.md, section 6.
func TestMPUUnits(t *testing.T) {
	for i, want := range []float64{131, 65.5, 32.8, 16.4} {
		if got := 1 / MPUGyroRanges()[i].PerLSB; math.Abs(got-want) > 1e-9 {
			t.Errorf("gyro %d: got %g counts, want %g", i, got, want)
		}
	}
	for i, want := range []float64{16384, 8192, 4096, 2048} {
		if got := 1 / MPUAccRanges()[i].PerLSB; got != want {
			t.Errorf("accelerometer %d: got %g counts, want %g", i, got, want)
		}
	}
	for _, c := range []struct {
		name    string
		id      byte
		raw     float64
		celsius float64
	}{{"mpu-6050", 0x68, 340, 37.53}, {"mpu-9250", 0x71, 333.87, 22}, {"mpu-9255", 0x73, 0, 21}} {
		for _, m := range MPUModels() {
			if m.Name == c.name && (m.WhoAmI != c.id || math.Abs(c.raw/m.PerCelsius+m.ZeroCelsius-c.celsius) > 1e-9) {
				t.Errorf("%s: got %+v", c.name, m)
			}
		}
	}
}

func TestMPURefuses(t *testing.T) {
	for _, c := range []MPUConfig{{GyroRange: 300}, {AccRange: 3}, {Rate: 3}, {Rate: 2000}, {Model: "mpu-1"}} {
		if _, err := NewMPU(&i2ctest.Playback{}, c); hal.KindOf(err) != hal.Invalid {
			t.Errorf("%+v: got %v", c, err)
		}
	}
	s, _ := NewMPU(&i2ctest.Playback{DontPanic: true, Ops: []i2ctest.IO{io(0x68, "75", "71")}},
		MPUConfig{Model: "mpu-6050", Clock: &fakeClock{}})
	if err := s.Open(); hal.KindOf(err) != hal.Absent {
		t.Errorf("a 9250 for a 6050: got %v", err)
	}
}

func TestLSM6Session(t *testing.T) {
	clock := &fakeClock{}
	bus := &i2ctest.Playback{DontPanic: true, Ops: []i2ctest.IO{
		io(0x6A, "0F", "6C"), io(0x6A, "12 01", ""),
		io(0x6A, "10 58", ""), io(0x6A, "11 54", ""), io(0x6A, "12 44", ""), // 208 Hz, 4 g, 500 °/s
		io(0x6A, "10", "58 54 44"), io(0x6A, "20", "0001 E803 18FC 0000 0020 00E0 0010"),
		io(0x6A, "10", "00 00 04"),
		io(0x6A, "10 00 00", ""),
	}}
	s, err := NewLSM6(bus, LSM6Config{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Open(); err != nil {
		t.Fatal(err)
	}
	v := make([]float64, 10)
	if err := s.Read(v); err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{17.5 * degree, -17.5 * degree, 0, 8192 * 0.000122 * gravity,
		-8192 * 0.000122 * gravity, 4096 * 0.000122 * gravity} {
		if math.Abs(v[i]-want) > 1e-9 {
			t.Errorf("value %d: got %v, want %v", i, v[i], want)
		}
	}
	if v[9] != 26 || !math.IsNaN(v[8]) {
		t.Errorf("field and °C: got %v", v[6:])
	}
	if err := s.Read(v); hal.KindOf(err) != hal.Absent {
		t.Errorf("reset: got %v", err)
	}
	if err := errors.Join(s.Close(), bus.Close()); err != nil {
		t.Error(err)
	}
}

// fixed is a bus whose chip says one thing to every read of a length.
type fixed struct {
	i2ctest.Playback
	answers map[int][]byte
}

func (f *fixed) Tx(_ uint16, _, r []byte) error { copy(r, f.answers[len(r)]); return nil }

// Any register contents give finite values or an error.
func FuzzSamples(f *testing.F) {
	f.Add(wire(bnoSample), wire("1000 E000 0800 0000 0042 FF7D 3FF7"), wire("64 00 38 FF E8 03 10"))
	f.Fuzz(func(t *testing.T, bno, mpu, field []byte) {
		bus := &fixed{answers: map[int][]byte{32: bno, 14: mpu, 7: field, 4: {4, 3, 8, 8}, 3: {0x58, 0x54, 0x44}}}
		c := &fakeClock{}
		m, _ := NewMPU(bus, MPUConfig{Clock: c})
		m.model, m.adjust = MPUModels()[2], [3]float64{1e-7, 1e-7, 1e-7}
		l, _ := NewLSM6(bus, LSM6Config{Clock: c})
		for _, s := range []interface{ Read([]float64) error }{NewBNO055(bus, BNO055Config{Clock: c}), m, l} {
			v := make([]float64, 10)
			if s.Read(v) != nil {
				continue
			}
			for i, x := range v {
				if math.IsInf(x, 0) || math.IsNaN(x) && s != l {
					t.Errorf("%T: value %d: got %v", s, i, x)
				}
			}
		}
	})
}
