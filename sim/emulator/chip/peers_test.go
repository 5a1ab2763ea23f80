package chip_test

import (
	"testing"
	"time"

	"periph.io/x/conn/v3/analog"
	"periph.io/x/conn/v3/gpio"
	"periph.io/x/conn/v3/physic"
	"periph.io/x/devices/v3/ads1x15"
	"periph.io/x/devices/v3/bmxx80"
	"periph.io/x/devices/v3/ina219"
	"periph.io/x/devices/v3/pca9685"

	"github.com/halyard-robotics/halyard/drivers/adc"
	"github.com/halyard-robotics/halyard/drivers/pressure"
	"github.com/halyard-robotics/halyard/drivers/pwm"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
)

// Drivers that others wrote, against the emulated chips: what they read is what the chips feel. So our own drivers and
// our own chips cannot agree on a mistake alone.

// slow lets 50 ms of virtual time pass before each transaction: periph's drivers wait by the wall's clock.
type slow struct{ *chip.Host }

func (s slow) Tx(addr uint16, w, r []byte) error {
	s.SleepUntil(s.Now() + 50*time.Millisecond)
	return s.Host.Tx(addr, w, r)
}

func peerBus(devices ...chip.Device) slow {
	return slow{chip.NewBus("i2c", 400_000, 1, devices...).Host()}
}

// The emulated trim's H5 is positive: periph loses the sign of a negative one, Bosch's own code does not.
func TestPeerBMXX80(t *testing.T) {
	for _, moist := range []bool{false, true} {
		d := chip.NewBMX280(pressure.BMX280Address, moist)
		peer, err := bmxx80.NewI2C(peerBus(d), pressure.BMX280Address, &bmxx80.DefaultOpts)
		must(t, err)
		for k := range 5 {
			d.Air = chip.Fluid{Pascals: 40e3 + 15e3*float64(k), Celsius: -10 + 15*float64(k),
				Humidity: 0.2 + 0.15*float64(k)}
			var e physic.Env
			must(t, peer.Sense(&e))
			near(t, "Pa", float64(e.Pressure)/float64(physic.Pascal), d.Air.Pascals, 1)
			near(t, "°C", e.Temperature.Celsius(), d.Air.Celsius, 0.011)
			if moist {
				near(t, "humidity", float64(e.Humidity)/float64(physic.PercentRH)/100, d.Air.Humidity, 0.005)
			}
		}
	}
}

func TestPeerADS1115(t *testing.T) {
	d := chip.NewADS1115(adc.ADS1115Address)
	d.Volts = [4]float64{0.5, 1.25, -0.75, 2}
	peer, err := ads1x15.NewADS1115(peerBus(d), &ads1x15.DefaultOpts)
	must(t, err)
	for i, channel := range []ads1x15.Channel{ads1x15.Channel0, ads1x15.Channel1, ads1x15.Channel2, ads1x15.Channel3} {
		pin, err := peer.PinForChannel(channel, 2048*physic.MilliVolt, 860*physic.Hertz, ads1x15.SaveEnergy)
		must(t, err)
		var s analog.Sample
		s, err = pin.Read()
		must(t, err)
		near(t, "V", float64(s.V)/float64(physic.Volt), d.Volts[i], 2.048/32768)
	}
}

func TestPeerINA219(t *testing.T) {
	d := chip.NewINA219(adc.INA219Address, 0.1)
	d.Volts, d.Amps = 12, 1.25
	peer, err := ina219.New(peerBus(d), &ina219.Opts{Address: adc.INA219Address, SenseResistor: 100 * physic.MilliOhm,
		MaxCurrent: 3200 * physic.MilliAmpere})
	must(t, err)
	p, err := peer.Sense()
	must(t, err)
	near(t, "V", float64(p.Voltage)/float64(physic.Volt), 12, 0.004)
	near(t, "A", float64(p.Current)/float64(physic.Ampere), 1.25, 0.002)
}

func TestPeerPCA9685(t *testing.T) {
	d := chip.NewPCA9685(pwm.PCA9685Address, pwm.PCA9685Oscillator)
	peer, err := pca9685.NewI2C(peerBus(d), pwm.PCA9685Address)
	must(t, err)
	must(t, peer.SetPwmFreq(50*physic.Hertz))
	must(t, peer.SetPwm(3, 0, gpio.Duty(307)))
	width, hertz := d.Pulse(3)
	near(t, "Hz", hertz, 25e6/4096/123, 1e-6) // its prescaler is one too high
	near(t, "µs", width.Seconds()*1e6, 307*123/25.0, 0.01)
	if w, _ := d.Pulse(4); w != 0 {
		t.Errorf("another channel: got %v", w)
	}
}
