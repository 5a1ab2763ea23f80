package pressure

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"periph.io/x/conn/v3/i2c/i2ctest"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/pressurereg"
)

// The datasheet's example (BMP280, section 3.12), with a humidity trim of a real BME280.
var bmxTrim = pressurereg.BMX280Trim{T1: 27504, T2: 26435, T3: -1000, P1: 36477, P2: -10685, P3: 3024, P4: 2855,
	P5: 140, P6: -7,
	P7: 15500, P8: -14600, P9: 6000, H1: 75, H2: 354, H3: 0, H4: 333, H5: -50, H6: 30}

func TestBMX280Vectors(t *testing.T) {
	fine := bmxTrim.Fine(519888)
	if fine != 128422 || pressurereg.Celsius(fine) != 25.08 {
		t.Errorf("temperature: got t_fine %d, %g °C, want 128422 and 25.08", fine, pressurereg.Celsius(fine))
	}
	if p := bmxTrim.Pascals(415148, fine); p*256 != 25767233 {
		t.Errorf("pressure: got %g Pa, want 25767233/256", p)
	}
	if p := (&pressurereg.BMX280Trim{}).Pascals(415148, fine); p != 0 {
		t.Errorf("no trim: got %g Pa", p)
	}
	// Against the datasheet's other form of the same mathematics, in floating point (BME280 appendix A): Bosch's own
	// check.
	for raw := int32(20000); raw < 45000; raw += 1000 {
		h := float64(fine) - 76800
		h = (float64(raw) - (float64(bmxTrim.H4)*64 + float64(bmxTrim.H5)/16384*h)) *
			(float64(bmxTrim.H2) / 65536 * (1 + float64(bmxTrim.H6)/67108864*h*(1+float64(bmxTrim.H3)/67108864*h)))
		h = math.Max(0, math.Min(100, h*(1-float64(bmxTrim.H1)*h/524288)))
		if got := bmxTrim.Humidity(raw, fine) * 100; math.Abs(got-h) > 0.01 {
			t.Errorf("humidity of %d: got %g %%, want %g", raw, got, h)
		}
	}
}

// bmxBlocks are the registers of a trim.
func bmxBlocks(c pressurereg.BMX280Trim) (block []byte, hum []byte) {
	for _, v := range [...]uint16{c.T1, uint16(c.T2), uint16(c.T3), c.P1, uint16(c.P2), uint16(c.P3), uint16(c.P4),
		uint16(c.P5),
		uint16(c.P6), uint16(c.P7), uint16(c.P8), uint16(c.P9)} {
		block = binary.LittleEndian.AppendUint16(block, v)
	}
	hum = []byte{byte(c.H2), byte(c.H2 >> 8), c.H3, byte(c.H4 >> 4), byte(c.H4&0xF) | byte(c.H5&0xF)<<4,
		byte(c.H5 >> 4), byte(c.H6)}
	return block, hum
}

func TestBMX280Trim(t *testing.T) {
	block, hum := bmxBlocks(bmxTrim)
	if got := pressurereg.DecodeBMX280(block, bmxTrim.H1, hum); got != bmxTrim {
		t.Errorf("got %+v", got)
	}
}

// bmxSession is the session of Open of a BME280, then rest.
func bmxSession(rest ...i2ctest.IO) *i2ctest.Playback {
	block, hum := bmxBlocks(bmxTrim)
	return &i2ctest.Playback{DontPanic: true, Ops: append([]i2ctest.IO{
		{Addr: 0x77, W: []byte{0xD0}, R: []byte{0x60}},
		{Addr: 0x77, W: []byte{0xE0, 0xB6}},
		{Addr: 0x77, W: []byte{0xF3}, R: []byte{0}},
		{Addr: 0x77, W: []byte{0x88}, R: append(block, 0, 75)},
		{Addr: 0x77, W: []byte{0xE1}, R: hum},
		{Addr: 0x77, W: []byte{0x88}, R: append(block, 0, 75)}, // twice
		{Addr: 0x77, W: []byte{0xE1}, R: hum},
		{Addr: 0x77, W: []byte{0xF2, 0x01}},
		{Addr: 0x77, W: []byte{0xF5, 0x00}},
		{Addr: 0x77, W: []byte{0xF4, 0x2F}},
	}, rest...)}
}

func TestBMX280Session(t *testing.T) {
	// 415148, 519888, 30000
	data := []byte{0x01, 0x08, 0x2F, 0x00, 0x00, 0x65, 0x5A, 0xC0, 0x7E, 0xED, 0x00, 0x75, 0x30}
	reset := append([]byte{1, 0, 0}, data[3:]...)
	other := append([]byte{0}, data[1:]...) // humidity is switched off
	none := append([]byte{1, 0, 0x2F, 0, 0}, 0x80, 0, 0, 0x80, 0, 0, 0x80, 0)
	clock := &fakeClock{}
	bus := bmxSession(i2ctest.IO{Addr: 0x77, W: []byte{0xF2}, R: data},
		i2ctest.IO{Addr: 0x77, W: []byte{0xF2}, R: reset},
		i2ctest.IO{Addr: 0x77, W: []byte{0xF2}, R: other}, i2ctest.IO{Addr: 0x77, W: []byte{0xF2}, R: none},
		i2ctest.IO{Addr: 0x77, W: []byte{0xF4, 0}})
	s := NewBMX280(bus, BMX280Config{Address: 0x77, Humidity: true, Air: 100000, Clock: clock})
	if err := s.Open(); err != nil {
		t.Fatal(err)
	}
	if want := pressurereg.BMX280Boot + pressurereg.BMX280Measure; clock.now != want {
		t.Errorf("waited %v, want %v", clock.now, want)
	}
	values := make([]float64, 3)
	if err := s.Read(values); err != nil || values[0] != 653.25390625 || values[1] != 25.08 ||
		!(values[2] > 0.4 && values[2] < 0.8) {
		t.Errorf("got %v, %v", values, err)
	}
	for _, what := range []string{"reset", "without humidity"} {
		if err := s.Read(values); hal.KindOf(err) != hal.Absent {
			t.Errorf("%s: got %v", what, err)
		}
	}
	if err := s.Read(values); hal.KindOf(err) != hal.BusFault {
		t.Errorf("nothing measured: got %v", err)
	}
	if err := errors.Join(s.Close(), bus.Close()); err != nil {
		t.Error(err)
	}
	for _, level := range []byte{0, 0xFF} {
		trim := bytes.Repeat([]byte{level}, 26)
		dead := NewBMX280(&i2ctest.Playback{DontPanic: true,
			Ops: []i2ctest.IO{{Addr: 0x76, W: []byte{0xD0}, R: []byte{0x60}},
				{Addr: 0x76, W: []byte{0xE0, 0xB6}}, {Addr: 0x76, W: []byte{0xF3}, R: []byte{level}},
				{Addr: 0x76, W: []byte{0x88}, R: trim}, {Addr: 0x76, W: []byte{0xE1}, R: trim[:7]}}},
			BMX280Config{Clock: clock})
		if err := dead.Open(); !errors.Is(err, errNoTrim) {
			t.Errorf("a line that rests at 0x%02X: got %v", level, err)
		}
	}
	bmp := NewBMX280(&i2ctest.Playback{DontPanic: true,
		Ops: []i2ctest.IO{{Addr: 0x76, W: []byte{0xD0}, R: []byte{0x58}}}},
		BMX280Config{Humidity: true, Clock: clock})
	if err := bmp.Open(); hal.KindOf(err) != hal.Absent {
		t.Errorf("a BMP280 where humidity is wanted: got %v", err)
	}
}

func FuzzBMX280(f *testing.F) {
	block, hum := bmxBlocks(bmxTrim)
	f.Add(block, byte(75), hum, int32(415148), int32(519888), int32(30000))
	f.Fuzz(func(t *testing.T, block []byte, h1 byte, hum []byte, p, c, h int32) {
		if len(block) < 24 {
			return
		}
		trim := pressurereg.DecodeBMX280(block, h1, hum)
		fine := trim.Fine(c & 0xFFFFF)
		if p, h := trim.Pascals(p&0xFFFFF, fine), trim.Humidity(h&0xFFFF, fine); !finite(p) || !(h >= 0 && h <= 1) {
			t.Errorf("got %g Pa, humidity %g", p, h)
		}
	})
}
