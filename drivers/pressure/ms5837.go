package pressure

import (
	"cmp"
	"errors"
	"slices"
	"time"

	conn "periph.io/x/conn/v3/i2c"

	"github.com/halyard-robotics/halyard/drivers/i2c"
	"github.com/halyard-robotics/halyard/hal"
)

// MS5837Config holds the model and settings of an MS5837.
type MS5837Config struct {
	Model *MS5837Model // nil = MS5837_30BA
	// Samples is the oversampling: 256..8192, 0 = 4096. A read takes two conversions, 18 ms at 4096.
	Samples int
	Air     float64   // Pa that the reading is above; 0 = absolute, SeaLevel for depth
	Clock   hal.Clock // that the conversions are waited for by; nil = the wall's
}

// MS5837 is one sensor. It is a drivers.Sensor of two values: Pa and °C.
type MS5837 struct {
	chip   *i2c.Chip
	config MS5837Config
	choice int // index of the oversampling
	takes  time.Duration
	prom   [MS5837Words]uint16
}

// NewMS5837 returns the sensor on bus. It does no I/O. The error is hal.Invalid: no such oversampling.
func NewMS5837(bus conn.Bus, c MS5837Config) (*MS5837, error) {
	c.Model = cmp.Or(c.Model, MS5837_30BA())
	c.Clock = cmp.Or(c.Clock, i2c.Clock())
	c.Samples = cmp.Or(c.Samples, 4096)
	s := &MS5837{chip: i2c.NewChip(bus, MS5837Address, c.Model.Name), config: c}
	choices := MS5837Oversampling()
	s.choice = slices.IndexFunc(choices, func(o Oversampling) bool { return o.Samples == c.Samples })
	if s.choice < 0 {
		return nil, s.chip.Faultf(hal.Invalid, "samples: got %d, want one of 256, 512, .. 8192", c.Samples)
	}
	s.takes = choices[s.choice].Time
	return s, nil
}

// Open resets the sensor, waits 10 ms and reads its PROM. A PROM with a wrong CRC, or of the other model, is refused: the
// other model's readings would be wrong by a factor of ten.
func (s *MS5837) Open() error {
	if err := s.chip.Write(MS5837Reset); err != nil {
		return s.chip.Absent(err)
	}
	i2c.Sleep(s.config.Clock, ms5837Boot)
	for i := range s.prom {
		var err error
		if s.prom[i], err = s.chip.ReadWord(MS5837PROM + byte(2*i)); err != nil {
			return err
		}
	}
	if got, want := MS5837CRC(s.prom), s.prom[0]>>12; got != want {
		return s.chip.Faultf(hal.BusFault, "PROM: got CRC %X, want %X: % 04X", got, want, s.prom)
	}
	if s.prom == ([MS5837Words]uint16{}) { // its CRC is right
		return s.chip.Fault(hal.BusFault, errors.New("PROM: got only zeros; a data line is held low"))
	}
	for _, m := range [...]*MS5837Model{MS5837_30BA(), MS5837_02BA()} {
		// Early chips of both models have version 0.
		if v := s.prom[0] >> 5 & 0x7F; v != 0 && m.Name != s.config.Model.Name && slices.Contains(m.versions, v) {
			return s.chip.Faultf(hal.Absent, "model: got %s by its PROM, want %s", m.Name, s.config.Model.Name)
		}
	}
	return nil
}

// Read converts pressure and temperature one after the other; it blocks for both, 18 ms at 4096 samples.
func (s *MS5837) Read(values []float64) error {
	d1, err := s.convert(MS5837ConvertD1)
	if err != nil {
		return err
	}
	d2, err := s.convert(MS5837ConvertD2)
	if err != nil {
		return err
	}
	pascals, celsius := s.config.Model.Compensate(&s.prom, d1, d2)
	// The chip's data has no checksum: an impossible value is a bit error on the bus, or the chip lost its settings.
	if limit := 1.1 * s.config.Model.MaxPascals; pascals < -0.01*limit || pascals > limit || celsius < -45 || celsius > 90 {
		return s.chip.Faultf(hal.BusFault, "got %.0f Pa at %.1f °C, want within the sensor's range", pascals, celsius)
	}
	put(values, pascals-s.config.Air, celsius)
	return nil
}

// convert runs one conversion and reads its 24 bits. The chip returns 0 without a result: it was read too early, or was
// reset in between.
func (s *MS5837) convert(command byte) (uint32, error) {
	if err := s.chip.Write(command + byte(2*s.choice)); err != nil {
		return 0, err
	}
	i2c.Sleep(s.config.Clock, s.takes)
	p, err := s.chip.Read(MS5837Read, 3)
	if err != nil {
		return 0, err
	}
	v := uint32(p[0])<<16 | uint32(p[1])<<8 | uint32(p[2])
	if v == 0 || v == 0xFFFFFF {
		return 0, s.chip.Faultf(hal.Absent, "conversion 0x%02X: got %06X, want a value", command, v)
	}
	return v, nil
}

// Close does nothing: between conversions the sensor sleeps by itself.
func (s *MS5837) Close() error { return nil }
