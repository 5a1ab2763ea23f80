package adc

import (
	"encoding/hex"
	"errors"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"periph.io/x/conn/v3/i2c/i2ctest"
	"periph.io/x/conn/v3/physic"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/adcreg"
)

// fakeClock lets no time pass but what is slept.
type fakeClock struct{ now time.Duration }

func (c *fakeClock) Now() time.Duration         { return c.now }
func (c *fakeClock) SleepUntil(t time.Duration) { c.now = max(c.now, t) }

func io(addr uint16, w, r string) i2ctest.IO {
	b := func(text string) []byte {
		p, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
		if err != nil {
			panic(err)
		}
		return p
	}
	x := i2ctest.IO{Addr: addr, W: b(w)}
	if r != "" {
		x.R = b(r)
	}
	return x
}

// hardware.md section 6: a single shot of AIN0 at ±4.096 V and 128 samples a second is C383.
func TestADS1115Word(t *testing.T) {
	for _, c := range []struct {
		input, rate int
		volts       float64
		word        uint16
	}{{0, 128, 4.096, 0xC383}, {3, 860, 2.048, 0xF5E3}, {1, 8, 0.256, 0xDB03}, {2, 475, 6.144, 0xE1C3}} {
		for _, g := range ADS1115Gains() {
			if got := ads1115Word(c.input, g, c.rate); g.Volts == c.volts && got != c.word {
				t.Errorf("AIN%d ±%g V %d/s: got %04X, want %04X", c.input, c.volts, c.rate, got, c.word)
			}
		}
	}
}

func TestADS1115Session(t *testing.T) {
	clock := &fakeClock{}
	bus := &i2ctest.Playback{DontPanic: true, Ops: []i2ctest.IO{
		io(0x48, "01", "85 83"),
		io(0x48, "01 C3 83", ""), io(0x48, "01", "C3 83"), io(0x48, "00", "40 00"),
		io(0x48, "01 D5 83", ""), io(0x48, "01", "D5 83"), io(0x48, "00", "80 00"),
		io(0x48, "01 C3 83", ""), io(0x48, "01", "43 83"), // still converting
		io(0x48, "01 C3 83", ""), io(0x48, "01", "85 83"), // reset
	}}
	s, err := NewADS1115(bus, ADS1115Config{Rate: 128, Clock: clock,
		Inputs: []ADS1115In{{}, {Input: 1, Volts: 2.048, Scale: 2, Offset: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Open(); err != nil {
		t.Fatal(err)
	}
	v := make([]float64, 2)
	if err := s.Read(v); err != nil || v[0] != 2.048 || !math.IsNaN(v[1]) { // the second is at the end of its scale
		t.Errorf("got %v, %v", v, err)
	}
	if want := 2 * adcreg.ADS1115Time(128); clock.now != want || want < 2*time.Second/128 {
		t.Errorf("waited %v, want %v", clock.now, want)
	}
	if err := s.Read(v); hal.KindOf(err) != hal.BusFault {
		t.Errorf("not done: got %v", err)
	}
	if err := s.Read(v); hal.KindOf(err) != hal.Absent {
		t.Errorf("reset: got %v", err)
	}
	if err := errors.Join(s.Close(), bus.Close()); err != nil {
		t.Error(err)
	}
	for _, c := range []ADS1115Config{{}, {Rate: 100, Inputs: []ADS1115In{{}}}, {Inputs: []ADS1115In{{Input: 4}}},
		{Inputs: []ADS1115In{{Volts: 3}}}} {
		if _, err := NewADS1115(bus, c); hal.KindOf(err) != hal.Invalid {
			t.Errorf("%+v: got %v", c, err)
		}
	}
	gone, _ := NewADS1115(&i2ctest.Playback{DontPanic: true}, ADS1115Config{Inputs: []ADS1115In{{}}})
	if err := gone.Open(); hal.KindOf(err) != hal.Absent {
		t.Errorf("nothing there: got %v", err)
	}
}

// 0.1 Ω: 97.66 µA a count, calibration 1062 (4194).
// yielding is a clock whose waits let others run.
type yielding struct{}

func (yielding) Now() time.Duration       { return 0 }
func (yielding) SleepUntil(time.Duration) { runtime.Gosched() }

// converter is an ADS1115 that has converted at once: input k reads 1000·(k + 1).
type converter struct {
	sync.Mutex
	word uint16
}

func (c *converter) String() string                  { return "converter" }
func (c *converter) SetSpeed(physic.Frequency) error { return nil }

func (c *converter) Tx(_ uint16, w, r []byte) error {
	c.Lock()
	defer c.Unlock()
	runtime.Gosched()
	if len(w) == 3 {
		c.word = uint16(w[1])<<8 | uint16(w[2])
	}
	value := c.word
	if w[0] == adcreg.ADS1115Conversion {
		value = 1000 * (c.word>>12&3 + 1)
	}
	for i := range r {
		r[i] = byte(value >> (8 - 8*i))
	}
	return nil
}

// Four who read the inputs of one chip at the same time: none has another's volts.
func TestADS1115Turns(t *testing.T) {
	bus, turn := &converter{word: adcreg.ADS1115Default}, &sync.Mutex{}
	var readers sync.WaitGroup
	for k := range 4 {
		s, err := NewADS1115(bus, ADS1115Config{Clock: yielding{}, Turn: turn, Inputs: []ADS1115In{{Input: k}}})
		if err != nil {
			t.Fatal(err)
		}
		readers.Go(func() {
			for range 200 {
				var v [1]float64
				if err := s.Read(v[:]); err != nil || math.Abs(v[0]-float64(1000*(k+1))*4.096/32768) > 1e-9 {
					t.Errorf("input %d: got %v, %v", k, v, err)
					return
				}
			}
		})
	}
	readers.Wait()
}

func TestINA219Session(t *testing.T) {
	clock := &fakeClock{}
	read := func(cal, bus, current string) []i2ctest.IO {
		return []i2ctest.IO{io(0x41, "05", cal), io(0x41, "02", bus), io(0x41, "04", current)}
	}
	ops := []i2ctest.IO{io(0x41, "00 80 00", ""), io(0x41, "00", "39 9F"), io(0x41, "00 39 EF", ""),
		io(0x41, "05 10 62", "")}
	ops = append(ops, read("10 62", "5D C2", "27 10")...) // 3000 · 4 mV, 10000 counts
	ops = append(ops, read("10 62", "5D C3", "27 10")...)
	ops = append(ops, read("00 00", "5D C2", "00 00")...)
	bus := &i2ctest.Playback{DontPanic: true, Ops: ops}
	s, err := NewINA219(bus, INA219Config{Address: 0x41, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Open(); err != nil {
		t.Fatal(err)
	}
	v := make([]float64, 3)
	if err := s.Read(v); err != nil {
		t.Fatal(err)
	}
	amps := 10000 * 0.04096 / (4194 * 0.1)
	if v[0] != 12 || math.Abs(v[1]-amps) > 1e-12 || math.Abs(v[2]-12*amps) > 1e-9 {
		t.Errorf("got %v", v)
	}
	if err := s.Read(v); err != nil || !(v[0] > 0) || !math.IsNaN(v[1]) || !math.IsNaN(v[2]) {
		t.Errorf("overflow: got %v, %v, want the volts, and no current", v, err)
	}
	if err := s.Read(v); hal.KindOf(err) != hal.Absent {
		t.Errorf("reset: got %v", err)
	}
	if err := errors.Join(s.Close(), bus.Close()); err != nil {
		t.Error(err)
	}
	if _, err := NewINA219(bus, INA219Config{Shunt: 100}); hal.KindOf(err) != hal.Invalid {
		t.Errorf("100 Ω: got %v", err)
	}
	pca, _ := NewINA219(&i2ctest.Playback{DontPanic: true,
		Ops: []i2ctest.IO{io(0x40, "00 80 00", ""), io(0x40, "00", "11 04")}}, INA219Config{Clock: clock})
	if err := pca.Open(); hal.KindOf(err) != hal.Absent {
		t.Errorf("another chip: got %v", err)
	}
}

// Any register contents give finite values or an error.
func FuzzINA219(f *testing.F) {
	f.Add(uint16(0x5DC2), uint16(0x2710), 0.1)
	f.Fuzz(func(t *testing.T, bus, current uint16, shunt float64) {
		s, err := NewINA219(&i2ctest.Playback{}, INA219Config{Shunt: shunt})
		if err != nil {
			return
		}
		volts, amps := float64(bus>>3)*adcreg.INA219BusLSB, float64(int16(current))*s.perLSB
		if math.IsNaN(volts*amps) || math.IsInf(amps, 0) || math.Abs(amps*s.config.Shunt) > 0.33 {
			t.Errorf("shunt %g: got %g A, want at most 0.32 V at the shunt", s.config.Shunt, amps)
		}
	})
}
