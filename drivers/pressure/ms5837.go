package pressure

import (
	"cmp"
	"errors"
	"slices"
	"time"

	conn "periph.io/x/conn/v3/i2c"

	"github.com/halyard-robotics/halyard/drivers/i2c"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/pressurereg"
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
	prom   [pressurereg.MS5837Words]uint16
	known  bool // its first reading was that of the config's model
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

// Open resets the sensor, waits 10 ms and reads its PROM. A PROM with a wrong CRC, or of the other model, is refused:
// the other model's readings would be wrong by a factor of ten.
func (s *MS5837) Open() error {
	if err := s.chip.Write(pressurereg.MS5837Reset); err != nil {
		return s.chip.Absent(err)
	}
	i2c.Sleep(s.config.Clock, ms5837Boot)
	for i := range s.prom {
		var err error
		if s.prom[i], err = s.chip.ReadWord(pressurereg.MS5837PROM + byte(2*i)); err != nil {
			return err
		}
	}
	if got, want := pressurereg.MS5837CRC(s.prom), s.prom[0]>>12; got != want {
		return s.chip.Faultf(hal.BusFault, "PROM: got CRC %X, want %X: % 04X", got, want, s.prom)
	}
	if s.prom == ([pressurereg.MS5837Words]uint16{}) { // its CRC is right
		return s.chip.Fault(hal.BusFault, errors.New("PROM: got only zeros; a data line is held low"))
	}
	for _, m := range [...]*MS5837Model{MS5837_30BA(), MS5837_02BA()} {
		// Early chips of both models have version 0.
		if v := s.version(); v != 0 && m.Name != s.config.Model.Name && slices.Contains(m.versions, v) {
			return s.chip.Faultf(hal.Absent, "model: got %s by its PROM, want %s", m.Name, s.config.Model.Name)
		}
	}
	return nil
}

// least is the lowest pressure that is believed, with a margin: a PROM without a model leaves open whether the config's
// is right.
func (s *MS5837) least() float64 {
	m := s.config.Model
	if s.version() == 0 {
		return m.MinPascals - 0.011*m.MaxPascals
	}
	return -0.011 * m.MaxPascals
}

// version is the model's number in the PROM.
func (s *MS5837) version() uint16 { return s.prom[0] >> 5 & 0x7F }

// guess doubts the config's model of a chip whose PROM names none, where only the other one makes an air pressure of
// what it measures: a 30BA taken for a 02BA reads a twentieth, a 02BA taken for a 30BA as if it were 190 m deep. A chip
// that starts deep under water is believed.
func (s *MS5837) guess(own float64, d1, d2 uint32) error {
	const thin, thick = 50e3, 110e3 // Pa: 5500 m up, and a metre under water
	for _, m := range [...]*MS5837Model{MS5837_30BA(), MS5837_02BA()} {
		other, _ := m.Compensate(&s.prom, d1, d2)
		if m.Name == s.config.Model.Name || other < thin || other > thick || own >= s.config.Model.MinPascals &&
			own <= s.config.Model.MaxPascals && (s.prom[1] < ms5837Between) == (m.Name != MS5837_30BA().Name) {
			continue
		}
		return s.chip.Faultf(hal.Absent, "model: got %.0f Pa as an %s, %.0f Pa as an %s, which its PROM does not "+
			"tell apart; want a pressure of air (try device: %s)",
			own, s.config.Model.Name, other, m.Name, m.Name)
	}
	return nil
}

// Note reports a chip whose model only the config tells.
func (s *MS5837) Note() string {
	if s.version() != 0 || s.prom == ([pressurereg.MS5837Words]uint16{}) {
		return ""
	}
	return "its PROM has version 0, as early chips of both models have: it is taken for an " + s.config.Model.Name
}

// Read converts pressure and temperature one after the other; it blocks for both, 18 ms at 4096 samples.
func (s *MS5837) Read(values []float64) error {
	d1, err := s.convert(pressurereg.MS5837ConvertD1)
	if err != nil {
		return err
	}
	d2, err := s.convert(pressurereg.MS5837ConvertD2)
	if err != nil {
		return err
	}
	pascals, celsius := s.config.Model.Compensate(&s.prom, d1, d2)
	// The chip's data has no checksum: an impossible value is a bit error on the bus, or the chip lost its settings.
	if s.version() == 0 && !s.known {
		if err := s.guess(pascals, d1, d2); err != nil {
			return err
		}
		s.known = true
	}
	if m := s.config.Model; pascals < s.least() || pascals > 1.1*m.MaxPascals || celsius < -45 || celsius > 90 {
		return s.chip.Faultf(hal.BusFault, "got %.0f Pa at %.1f °C, want within the range of an %s, %.0f..%.0f Pa",
			pascals, celsius, m.Name, m.MinPascals, m.MaxPascals)
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
	p, err := s.chip.Read(pressurereg.MS5837Read, 3)
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
