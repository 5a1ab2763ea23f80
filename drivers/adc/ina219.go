package adc

import (
	"cmp"
	"math"
	"time"

	conn "periph.io/x/conn/v3/i2c"

	"github.com/halyard-robotics/halyard/drivers/i2c"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/adcreg"
)

// INA219Config describes how an INA219 is used.
type INA219Config struct {
	Address uint16    // 0 = INA219Address. A PCA9685 has the same one: one of them must be moved
	Shunt   float64   // Ω; 0 = 0.1, as on most boards
	Clock   hal.Clock // for the waits of Open; nil = the wall's
}

// INA219 is one chip. It is a drivers.Sensor of three values: V of the supply behind the shunt, A and W, counted
// positive towards the load; A and W are NaN while the current is beyond ±320 mV at the shunt. It measures all the
// time; a Read takes the newest, a mean of 17 ms.
type INA219 struct {
	chip   *i2c.Chip
	config INA219Config
	cal    uint16
	perLSB float64 // A
}

// ina219First is the wait for the first measurement.
const ina219First = 36 * time.Millisecond

// NewINA219 returns the chip on bus. It does no I/O. The error is hal.Invalid.
func NewINA219(bus conn.Bus, c INA219Config) (*INA219, error) {
	c.Address = cmp.Or(c.Address, INA219Address)
	c.Shunt = cmp.Or(c.Shunt, 0.1)
	c.Clock = cmp.Or(c.Clock, i2c.Clock())
	s := &INA219{chip: i2c.NewChip(bus, c.Address, "ina219"), config: c}
	if !(c.Shunt >= 1e-4 && c.Shunt <= 10) {
		return nil, s.chip.Faultf(hal.Invalid, "shunt: got %g, want 0.0001..10 Ω", c.Shunt)
	}
	// A count is 1/32768 of the current for the full ±320 mV at the shunt; the register accepts only even numbers.
	count := 0.32 / c.Shunt / 32768
	s.cal = uint16(math.Trunc(adcreg.INA219Scale/(count*c.Shunt))) &^ 1
	s.perLSB = adcreg.INA219Scale / (float64(s.cal) * c.Shunt)
	return s, nil
}

// Open resets the chip and starts it: 36 ms.
func (s *INA219) Open() error {
	if err := s.chip.WriteWord(adcreg.INA219Setup, adcreg.INA219Reset); err != nil {
		return s.chip.Absent(err)
	}
	// It has no identity register, but its configuration after a reset is unique.
	word, err := s.chip.ReadWord(adcreg.INA219Setup)
	if err != nil {
		return err
	}
	if word != adcreg.INA219Default {
		return s.chip.Faultf(hal.Absent, "configuration: got 0x%04X after a reset, want 0x%04X", word,
			uint16(adcreg.INA219Default))
	}
	if err := s.chip.WriteWord(adcreg.INA219Setup, adcreg.INA219Continuous); err != nil {
		return err
	}
	if err := s.chip.WriteWord(adcreg.INA219Calibration, s.cal); err != nil {
		return err
	}
	i2c.Sleep(s.config.Clock, ina219First)
	return nil
}

// Read takes the newest measurement: four transactions.
func (s *INA219) Read(values []float64) error {
	var words [3]uint16 // calibration, bus, current
	for i, register := range [...]byte{adcreg.INA219Calibration, adcreg.INA219Bus, adcreg.INA219Current} {
		word, err := s.chip.ReadWord(register)
		if err != nil {
			return err
		}
		words[i] = word
	}
	switch {
	case words[0] != s.cal: // after a reset the chip reports 0 A
		return s.chip.Faultf(hal.Absent, "calibration: got 0x%04X, want 0x%04X: the chip was reset", words[0], s.cal)
	case words[1]>>3 >= adcreg.INA219BusFull:
		return s.chip.Faultf(hal.BusFault, "supply: got the full scale, 32 V, want less: the chip ends at 26 V")
	}
	volts, amps := float64(words[1]>>3)*adcreg.INA219BusLSB, float64(int16(words[2]))*s.perLSB
	if words[1]&adcreg.INA219Overflow != 0 { // a motor stalls: the voltage is right, and is what its alarm needs now
		amps = math.NaN()
	}
	copy(values, []float64{volts, amps, volts * amps})
	return nil
}

// Close leaves the chip measuring.
func (s *INA219) Close() error { return nil }

// INA219Address is the first of its sixteen addresses, by the pins A1 and A0.
const INA219Address = 0x40
