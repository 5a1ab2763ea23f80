package chip_test

import (
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/drivers/adc"
	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/drivers/pressure"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// Over the whole range of each model the driver reads what the chip feels, within a count.
func TestMS5837(t *testing.T) {
	for _, c := range []struct {
		model  *pressure.MS5837Model
		most   float64
		within float64
	}{{pressure.MS5837_30BA(), 30e5, 100}, {pressure.MS5837_02BA(), 2e5, 10}} {
		d := chip.NewMS5837(c.model)
		bus := chip.NewBus("i2c", 400_000, 1, d)
		host := bus.Host()
		s, err := pressure.NewMS5837(host, pressure.MS5837Config{Model: c.model, Clock: host})
		must(t, err)
		must(t, s.Open())
		for k := range 50 {
			d.Water.Pascals = 10e3 + (c.most-10e3)*float64(k)/49
			d.Water.Celsius = -5 + 45*float64(k)/49
			values := []float64{0, 0}
			begin := host.Now()
			must(t, s.Read(values))
			near(t, "Pa", values[0], d.Water.Pascals, c.within)
			near(t, "°C", values[1], d.Water.Celsius, 0.011)
			if took := host.Now() - begin; took < 18*time.Millisecond || took > 19*time.Millisecond {
				t.Errorf("a read took %v", took)
			}
		}
	}
}

// A chip that is asked too early has no answer; one that is asked twice has none either.
func TestMS5837Early(t *testing.T) {
	d := chip.NewMS5837(pressure.MS5837_30BA())
	host := chip.NewBus("i2c", 400_000, 1, d).Host()
	r := make([]byte, 3)
	must(t, host.Tx(0x76, []byte{0x48}, nil))
	must(t, host.Tx(0x76, []byte{0}, r))
	if [3]byte(r) != [3]byte{} {
		t.Errorf("at once: got % X", r)
	}
	host.SleepUntil(host.Now() + 10*time.Millisecond)
	must(t, host.Tx(0x76, []byte{0}, r))
	if [3]byte(r) == [3]byte{} {
		t.Error("after 10 ms: got nothing")
	}
	must(t, host.Tx(0x76, []byte{0}, r))
	if [3]byte(r) != [3]byte{} {
		t.Errorf("a second time: got % X", r)
	}
}

func TestBMX280(t *testing.T) {
	for _, moist := range []bool{false, true} {
		d := chip.NewBMX280(pressure.BMX280AddressAlt, moist)
		bus := chip.NewBus("i2c", 400_000, 1, d)
		host := bus.Host()
		s := pressure.NewBMX280(host, pressure.BMX280Config{Address: pressure.BMX280AddressAlt, Clock: host})
		must(t, s.Open())
		for k := range 20 {
			d.Air = chip.Fluid{Pascals: 30e3 + 80e3*float64(k)/19, Celsius: -20 + 80*float64(k)/19,
				Humidity: 0.1 + 0.8*float64(k)/19}
			values := []float64{0, 0, 0}
			must(t, s.Read(values))
			near(t, "Pa", values[0], d.Air.Pascals, 0.5)
			near(t, "°C", values[1], d.Air.Celsius, 0.011)
			if moist {
				near(t, "humidity", values[2], d.Air.Humidity, 0.002)
			} else if !math.IsNaN(values[2]) {
				t.Errorf("humidity of a BMP280: got %v", values[2])
			}
		}
		resets(t, bus, host, s)
	}
}

// resets takes the power of the chips on bus away and back: the driver must notice before it hands on a value.
func resets(t *testing.T, bus *chip.Bus, host *chip.Host, s sensor) {
	t.Helper()
	values := make([]float64, 10)
	bus.Fault(wire.Fault{Kind: wire.PowerLoss, For: time.Millisecond})
	must(t, bus.Advance(host.Now()+2*time.Millisecond))
	must(t, bus.Advance(time.Second))
	if err := s.Read(values); hal.KindOf(err) != hal.Absent {
		t.Errorf("after a reset: got %v, %v", values, err)
	}
	must(t, s.Open())
	must(t, s.Read(values))
	must(t, s.Close())
}

func TestLSM6(t *testing.T) {
	d := chip.NewLSM6(imu.LSM6Address)
	d.Motion = tilted()
	bus := chip.NewBus("i2c", 400_000, 1, d)
	host := bus.Host()
	for _, r := range imu.LSM6GyroRanges() {
		for _, a := range imu.LSM6AccRanges(false) {
			s, err := imu.NewLSM6(host, imu.LSM6Config{GyroRange: r.Full, AccRange: a.Full, Clock: host})
			must(t, err)
			must(t, s.Open())
			values := make([]float64, 10)
			must(t, s.Read(values))
			for i := range 3 {
				if limit := r.PerLSB * 32767 * math.Pi / 180; math.Abs(d.Motion.Rates[i]) < limit {
					near(t, "rate", values[i], d.Motion.Rates[i], r.PerLSB*math.Pi/180*0.51)
				}
				near(t, "acceleration", values[3+i], d.Motion.Acceleration[i], a.PerLSB*9.80665*0.51)
			}
			near(t, "°C", values[9], 31, 0.01)
			resets(t, bus, host, s)
		}
	}
	for _, c := range []imu.LSM6Config{{GyroRange: 300}, {AccRange: 3}} {
		if _, err := imu.NewLSM6(host, c); hal.KindOf(err) != hal.Invalid {
			t.Errorf("%+v: got %v", c, err)
		}
	}
}

func TestADS1115(t *testing.T) {
	d := chip.NewADS1115(adc.ADS1115Address)
	d.Volts = [4]float64{1.5, -0.25, 3.3, 0.125}
	bus := chip.NewBus("i2c", 400_000, 1, d)
	host := bus.Host()
	s, err := adc.NewADS1115(host, adc.ADS1115Config{Clock: host, Inputs: []adc.ADS1115In{
		{Input: 2}, {Input: 0, Volts: 2.048}, {Input: 1, Volts: 0.256}, {Input: 2, Volts: 1.024},
		{Input: 3, Scale: 10, Offset: -1}}})
	must(t, err)
	must(t, s.Open())
	values := make([]float64, 5)
	must(t, s.Read(values))
	for i, want := range []float64{3.3, 1.5, -0.25, math.NaN(), 0.25} { // the fourth is beyond its range
		if math.IsNaN(want) {
			if !math.IsNaN(values[i]) {
				t.Errorf("beyond its range: got %v, want NaN", values[i])
			}
			continue
		}
		near(t, "input", values[i], want, 4.096/32768*5.1)
	}
	// A chip that is reset in the middle of a conversion: the configuration is the factory's.
	host.SleepUntil(host.Now())
	must(t, bus.Advance(host.Now()))
	bus.Fault(wire.Fault{Kind: wire.Garbage, P: 1, For: time.Hour})
	if err := s.Read(values); err == nil {
		t.Error("garbage: got values")
	}
	bus.ClearFaults()
	must(t, s.Read(values[:2]))
	must(t, s.Close())
}

func TestINA219(t *testing.T) {
	d := chip.NewINA219(adc.INA219Address, 0.1)
	bus := chip.NewBus("i2c", 400_000, 1, d)
	host := bus.Host()
	s, err := adc.NewINA219(host, adc.INA219Config{Clock: host})
	must(t, err)
	must(t, s.Open())
	values := make([]float64, 3)
	for _, c := range [][2]float64{{12, 1.5}, {24.6, -2}, {5, 0}, {0, 3.1}} {
		d.Volts, d.Amps = c[0], c[1]
		must(t, s.Read(values))
		near(t, "V", values[0], c[0], 0.0021)
		near(t, "A", values[1], c[1], 0.0003)
		near(t, "W", values[2], c[0]*c[1], 0.01)
	}
	d.Amps = 5
	if err := s.Read(values); err != nil || values[0] != 0 || !math.IsNaN(values[1]) {
		t.Errorf("5 A through a shunt for 3.2: got %v, %v", values, err)
	}
	d.Amps = 1
	resets(t, bus, host, s)
}
