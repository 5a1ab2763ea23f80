package chip

import (
	"sort"
	"time"

	"github.com/halyard-robotics/halyard/drivers/pressure"
	"github.com/halyard-robotics/halyard/internal/wire/pressurereg"
)

// MS5837 is an emulated pressure sensor. Water may be written between cycles.
type MS5837 struct {
	Water Fluid
	model *pressure.MS5837Model
	prom  [pressurereg.MS5837Words]uint16
	times []pressure.Oversampling

	booted    time.Duration
	converted time.Duration // when the conversion is over
	reading   bool          // the last command was a read of the ADC
	word      int           // PROM word of the last command, -1 = none
	adc       uint32        // the last conversion; 0 = none, or fetched
}

// Early makes c a chip of the first ones, whose PROM has version 0.
func (c *MS5837) Early() *MS5837 {
	c.prom[0] = 0
	c.prom[0] |= pressurereg.MS5837CRC(c.prom) << 12
	return c
}

// NewMS5837 returns a chip of a model with the PROM of the datasheet's example, at the surface at 20 °C.
func NewMS5837(m *pressure.MS5837Model) *MS5837 {
	c := &MS5837{model: m, times: pressure.MS5837Oversampling(), Water: Fluid{Pascals: pressure.SeaLevel, Celsius: 20}}
	c.prom = [...]uint16{0x1A << 5, 34982, 36352, 20328, 22354, 26646, 26146}
	if m.Name == pressure.MS5837_02BA().Name {
		c.prom = [...]uint16{0x15 << 5, 46372, 43981, 29059, 27842, 31553, 28165}
	}
	c.prom[0] |= pressurereg.MS5837CRC(c.prom) << 12
	return c
}

func (c *MS5837) Address() uint16 { return pressure.MS5837Address }

// Power implements Device. The PROM is kept; a conversion is lost.
func (c *MS5837) Power(on bool, now time.Duration) {
	c.adc, c.word, c.reading, c.booted, c.converted = 0, -1, false, now+10*time.Millisecond, now
}

// Transfer implements Device. A chip that is loading its PROM does not acknowledge.
func (c *MS5837) Transfer(w, r []byte, now time.Duration) error {
	if now < c.booted {
		return ErrNoAcknowledge
	}
	for _, command := range w {
		c.execute(command, now)
	}
	clear(r)
	switch {
	case c.word >= 0 && len(r) >= 2:
		r[0], r[1] = byte(c.prom[c.word]>>8), byte(c.prom[c.word])
	case c.reading && len(r) >= 3 && now >= c.converted:
		r[0], r[1], r[2] = byte(c.adc>>16), byte(c.adc>>8), byte(c.adc)
		c.adc = 0 // "If the ADC read command is sent a second time the output is 0"
	}
	return nil
}

// execute takes one command byte.
func (c *MS5837) execute(command byte, now time.Duration) {
	c.word, c.reading = -1, command == pressurereg.MS5837Read
	k := int(command&0x0F) / 2
	switch {
	case command == pressurereg.MS5837Reset:
		c.Power(true, now)
	case command >= pressurereg.MS5837PROM && command < pressurereg.MS5837PROM+2*pressurereg.MS5837Words:
		c.word = k
	case command&0xF0 == pressurereg.MS5837ConvertD1 && k < len(c.times):
		c.adc, c.converted = c.d1(), now+c.times[k].Time
	case command&0xF0 == pressurereg.MS5837ConvertD2 && k < len(c.times):
		c.adc, c.converted = c.d2(), now+c.times[k].Time
	}
}

// d2 is the conversion that the datasheet's mathematics makes the water's temperature of: it rises with it, so that it
// is found by halving. d1 likewise, at that temperature.
func (c *MS5837) d2() uint32 {
	return uint32(sort.Search(1<<24-1, func(d int) bool {
		_, celsius := c.model.Compensate(&c.prom, 0, uint32(d))
		return celsius >= c.Water.Celsius-0.005
	}))
}

func (c *MS5837) d1() uint32 {
	d2 := c.d2()
	return uint32(sort.Search(1<<24-1, func(d int) bool {
		pascals, _ := c.model.Compensate(&c.prom, uint32(d), d2)
		return pascals >= c.Water.Pascals-c.model.PascalsPerCount/2
	}))
}
