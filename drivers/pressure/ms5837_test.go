package pressure

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"
	"time"

	"periph.io/x/conn/v3/i2c/i2ctest"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/pressurereg"
)

// The datasheets' own examples, each step.
var ms5837Vectors = []struct {
	model           *MS5837Model
	prom            [pressurereg.MS5837Words]uint16
	d1, d2          uint32
	dT, temp        int64
	off, sens       int64 // 0: the datasheet does not say
	pascals, degree float64
}{
	// MS5837-30BA rev. C2. Its OFF is a misprint (2381326464); its own formula makes 2381323464.
	{MS5837_30BA(), [7]uint16{0x2000, 34982, 36352, 20328, 22354, 26646, 26146}, 4958179, 6815414,
		-5962, 1981, 2381323464, 1145816755, 399980, 19.81},
	{MS5837_02BA(), [7]uint16{0, 46372, 43981, 29059, 27842, 31553, 28165}, 6465444, 8077636,
		68, 2000, 0, 0, 110002, 20.00},
}

func TestMS5837Vectors(t *testing.T) {
	for _, v := range ms5837Vectors {
		dT, temp, off, sens := v.model.First(&v.prom, v.d2)
		if dT != v.dT || temp != v.temp || v.off != 0 && (off != v.off || sens != v.sens) {
			t.Errorf("%s: got dT %d TEMP %d OFF %d SENS %d, want %d %d %d %d", v.model.Name, dT, temp, off, sens, v.dT,
				v.temp, v.off, v.sens)
		}
		if p, c := v.model.Compensate(&v.prom, v.d1, v.d2); p != v.pascals || c != v.degree {
			t.Errorf("%s: got %g Pa %g °C, want %g and %g", v.model.Name, p, c, v.pascals, v.degree)
		}
	}
	// "2nd order here: Ti 0, OFFi 541, SENSi 225" (computed, hardware.md section 6).
	if ti, offi, sensi := second30(-5962, 1981); ti != 0 || offi != 541 || sensi != 225 {
		t.Errorf("second order: got %d %d %d", ti, offi, sensi)
	}
	// Deep frost adds the two further terms.
	if _, offi, sensi := second30(0, -1600); offi != 3*3600*3600/2+7*100*100 || sensi != 5*3600*3600/8+4*100*100 {
		t.Errorf("below -15 °C: got %d %d", offi, sensi)
	}
}

// Every oversampling has its command and its wait (hardware.md, section 6).
func TestMS5837Oversampling(t *testing.T) {
	for i, us := range []int{600, 1170, 2280, 4540, 9040, 18080} {
		d1, d2 := byte(0x40+2*i), byte(0x50+2*i)
		clock := &fakeClock{}
		bus := transcript(ms5837Vectors[0].prom, i2ctest.IO{Addr: 0x76, W: []byte{d1}},
			i2ctest.IO{Addr: 0x76, W: []byte{0}, R: []byte{0x4B, 0xA7, 0xE3}},
			i2ctest.IO{Addr: 0x76, W: []byte{d2}}, i2ctest.IO{Addr: 0x76, W: []byte{0}, R: []byte{0x67, 0xFE, 0xB6}})
		s, err := NewMS5837(bus, MS5837Config{Samples: 256 << i, Clock: clock})
		if err != nil {
			t.Fatal(err)
		}
		v := make([]float64, 2)
		if err := errors.Join(s.Open(), s.Read(v), bus.Close()); err != nil || v[0] != 399980 {
			t.Errorf("%d samples: got %v, %v", 256<<i, v, err)
		}
		if want := 10*time.Millisecond + 2*time.Duration(us)*time.Microsecond; clock.now != want {
			t.Errorf("%d samples: waited %v, want %v", 256<<i, clock.now, want)
		}
	}
}

func TestMS5837CRC(t *testing.T) {
	// AN520's own example, of eight words.
	if got := pressurereg.Crc4([8]uint16{0x3132, 0x3334, 0x3536, 0x3738, 0x3940, 0x4142, 0x4344, 0x4500}); got != 0xB {
		t.Errorf("AN520: got %X, want B", got)
	}
	prom := ms5837Vectors[0].prom
	if got := pressurereg.MS5837CRC(prom); got != 2 {
		t.Errorf("datasheet's PROM: got %X, want 2", got)
	}
	// Every single bit of the coefficients counts.
	for i := 16; i < 16*pressurereg.MS5837Words; i++ {
		bad := prom
		bad[i/16] ^= 1 << (i % 16)
		if pressurereg.MS5837CRC(bad) == 2 {
			t.Errorf("bit %d: not noticed", i)
		}
	}
}

// fakeClock lets no time pass but what is slept.
type fakeClock struct{ now time.Duration }

func (c *fakeClock) Now() time.Duration         { return c.now }
func (c *fakeClock) SleepUntil(t time.Duration) { c.now = max(c.now, t) }

// transcript is a session, byte for byte: reset, PROM, then conversions.
func transcript(prom [pressurereg.MS5837Words]uint16, rest ...i2ctest.IO) *i2ctest.Playback {
	ops := []i2ctest.IO{{Addr: 0x76, W: []byte{0x1E}}}
	for i, w := range prom {
		ops = append(ops, i2ctest.IO{Addr: 0x76, W: []byte{0xA0 + byte(2*i)}, R: binary.BigEndian.AppendUint16(nil, w)})
	}
	return &i2ctest.Playback{Ops: append(ops, rest...), DontPanic: true}
}

func TestMS5837Session(t *testing.T) {
	clock := &fakeClock{}
	bus := transcript(ms5837Vectors[0].prom,
		i2ctest.IO{Addr: 0x76, W: []byte{0x48}}, // D1, 4096 samples
		i2ctest.IO{Addr: 0x76, W: []byte{0x00}, R: []byte{0x4B, 0xA7, 0xE3}},
		i2ctest.IO{Addr: 0x76, W: []byte{0x58}}, // D2
		i2ctest.IO{Addr: 0x76, W: []byte{0x00}, R: []byte{0x67, 0xFE, 0xB6}},
	)
	s, err := NewMS5837(bus, MS5837Config{Air: SeaLevel, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Open(); err != nil {
		t.Fatal(err)
	}
	values := []float64{0, 0, math.Inf(1)}
	if err := s.Read(values); err != nil {
		t.Fatal(err)
	}
	if values[0] != 399980-SeaLevel || values[1] != 19.81 || !math.IsInf(values[2], 1) {
		t.Errorf("got %v", values)
	}
	if want := 10*time.Millisecond + 2*9040*time.Microsecond; clock.now != want {
		t.Errorf("waited %v, want %v", clock.now, want)
	}
	if err := errors.Join(bus.Close(), s.Close()); err != nil {
		t.Error(err)
	}
}

// What is wrong is refused, by what it means.
func TestMS5837Refuses(t *testing.T) {
	good, other := ms5837Vectors[0].prom, ms5837Vectors[0].prom
	other[0] = 0x15 << 5 // a 02BA by its version
	other[0] |= pressurereg.MS5837CRC(other) << 12
	flipped := good
	flipped[3] ^= 1
	for _, c := range []struct {
		name string
		prom [pressurereg.MS5837Words]uint16
		rest []i2ctest.IO
		kind hal.Kind
	}{
		{"a bit of the PROM", flipped, nil, hal.BusFault},
		{"a PROM of zeros", [pressurereg.MS5837Words]uint16{}, nil, hal.BusFault},
		{"the other model", other, nil, hal.Absent},
		{"no conversion", good, []i2ctest.IO{{Addr: 0x76, W: []byte{0x48}},
			{Addr: 0x76, W: []byte{0}, R: []byte{0, 0, 0}}}, hal.Absent},
		{"out of range", good, []i2ctest.IO{{Addr: 0x76, W: []byte{0x48}},
			{Addr: 0x76, W: []byte{0}, R: []byte{0xF0, 0, 0}},
			{Addr: 0x76, W: []byte{0x58}}, {Addr: 0x76, W: []byte{0}, R: []byte{0x67, 0xFE, 0xB6}}}, hal.BusFault},
	} {
		s, err := NewMS5837(transcript(c.prom, c.rest...), MS5837Config{Clock: &fakeClock{}})
		if err != nil {
			t.Fatal(err)
		}
		err = s.Open()
		if err == nil {
			err = s.Read(make([]float64, 2))
		}
		if hal.KindOf(err) != c.kind {
			t.Errorf("%s: got %v, want %v", c.name, err, c.kind)
		}
	}
	if _, err := NewMS5837(&i2ctest.Playback{}, MS5837Config{Samples: 100}); err == nil {
		t.Error("100 samples: taken")
	}
	// No chip: the playback has nothing left to say.
	s, _ := NewMS5837(&i2ctest.Playback{DontPanic: true}, MS5837Config{Clock: &fakeClock{}})
	if err := s.Open(); hal.KindOf(err) != hal.Absent {
		t.Errorf("no chip: got %v", err)
	}
}

// Any PROM and ADC values: the compensation neither panics nor returns NaN or an infinity.
func FuzzMS5837(f *testing.F) {
	for _, v := range ms5837Vectors {
		f.Add(v.prom[1], v.prom[2], v.prom[3], v.prom[4], v.prom[5], v.prom[6], v.d1, v.d2)
	}
	f.Fuzz(func(t *testing.T, c1, c2, c3, c4, c5, c6 uint16, d1, d2 uint32) {
		prom := [pressurereg.MS5837Words]uint16{0, c1, c2, c3, c4, c5, c6}
		for _, m := range [...]*MS5837Model{MS5837_30BA(), MS5837_02BA()} {
			if p, c := m.Compensate(&prom, d1&0xFFFFFF, d2&0xFFFFFF); !finite(p) || !finite(c) {
				t.Errorf("%s: got %g Pa %g °C", m.Name, p, c)
			}
		}
	})
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
