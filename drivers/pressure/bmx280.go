package pressure

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"time"

	conn "periph.io/x/conn/v3/i2c"

	"github.com/halyard-robotics/halyard/drivers/i2c"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/pressurereg"
)

// BMX280Config describes how a BMP280 or BME280 is used.
type BMX280Config struct {
	Address  uint16    // 0 = BMX280Address
	Humidity bool      // it must be a BME280
	Air      float64   // Pa that the reading is above; 0 = absolute
	Clock    hal.Clock // for the waits of Open; nil = the wall's
}

// BMX280 is a BMP280 or BME280, for air: it ends at 110 kPa, 90 cm under water. It is a drivers.Sensor of three values:
// Pa, °C and relative humidity, NaN of a BMP280. It measures all the time; a Read takes the newest.
type BMX280 struct {
	chip   *i2c.Chip
	config BMX280Config
	trim   pressurereg.BMX280Trim
	moist  bool
}

// NewBMX280 returns the chip on bus. It does no I/O.
func NewBMX280(bus conn.Bus, c BMX280Config) *BMX280 {
	c.Address = cmp.Or(c.Address, BMX280Address)
	c.Clock = cmp.Or(c.Clock, i2c.Clock())
	return &BMX280{chip: i2c.NewChip(bus, c.Address, "bmx280"), config: c}
}

// Open resets the chip, reads its trim and lets it measure: 20 ms.
func (s *BMX280) Open() error {
	ids := []byte{pressurereg.BME280WhoAmI}
	if !s.config.Humidity {
		ids = append([]byte{pressurereg.BMP280WhoAmI, pressurereg.BME280WhoAmI}, BMP280Samples()...)
	}
	id, err := s.chip.Expect(pressurereg.BMX280ID, ids...)
	if err != nil {
		return err
	}
	s.moist = id == pressurereg.BME280WhoAmI
	if err := s.chip.Write(pressurereg.BMX280Reset, pressurereg.BMX280ResetWord); err != nil {
		return err
	}
	if err := s.load(); err != nil {
		return err
	}
	// Twice, for it has no checksum: one wrong bit in it would make every reading wrong.
	for range 2 {
		before := s.trim
		if err := s.readTrim(); err != nil {
			return err
		}
		if s.trim != before && before != (pressurereg.BMX280Trim{}) {
			s.trim = pressurereg.BMX280Trim{}
			return s.chip.Faultf(hal.BusFault, "trim: got two that differ, want the same twice")
		}
	}
	if s.trim.T1 == 0 || s.trim.P1 == 0 {
		return s.chip.Faultf(hal.BusFault, "trim: got T1 %d, P1 %d, want above 0", s.trim.T1, s.trim.P1)
	}
	// The humidity's setting takes effect with the write of the others, which must come last.
	for _, w := range [...][2]byte{{pressurereg.BMX280CtrlHum, pressurereg.BMX280HumOnce},
		{pressurereg.BMX280Filter, pressurereg.BMX280Standby},
		{pressurereg.BMX280CtrlMeas, pressurereg.BMX280Normal}} {
		if w[0] == pressurereg.BMX280CtrlHum && !s.moist {
			continue
		}
		if err := s.chip.Write(w[0], w[1]); err != nil {
			return err
		}
	}
	i2c.Sleep(s.config.Clock, pressurereg.BMX280Measure)
	return nil
}

// load waits until the chip has copied its trim from its memory: until then it reads as zeros.
func (s *BMX280) load() error {
	const pause = time.Millisecond
	i2c.Sleep(s.config.Clock, pressurereg.BMX280Boot)
	for until := s.config.Clock.Now() + pressurereg.BMX280Load; ; i2c.Sleep(s.config.Clock, pause) {
		p, err := s.chip.Read(pressurereg.BMX280Status, 1)
		switch late := s.config.Clock.Now() >= until; {
		case err != nil && late: // it may not acknowledge while it boots
			return err
		// the trim itself shows what is wrong
		case err == nil && (p[0]&pressurereg.BMX280Loading == 0 || p[0] == 0xFF || late):
			return nil
		}
	}
}

var errNoTrim = errors.New("trim: got bytes that are all alike, want the factory's")

// readTrim reads the two blocks of the trim; a BMP280 has only a part of the first.
func (s *BMX280) readTrim() error {
	size := pressurereg.BMX280H1 - pressurereg.BMX280Calibration + 1 // with a byte that is reserved
	if !s.moist {
		size = 24
	}
	p, err := s.chip.Read(pressurereg.BMX280Calibration, size)
	if err != nil {
		return err
	}
	block, h1, hum := [24]byte(p), byte(0), [7]byte{}
	if s.moist {
		h1 = p[size-1]
		if p, err = s.chip.Read(pressurereg.BMX280Humidity2, 7); err != nil {
			return err
		}
		hum = [7]byte(p)
	}
	// An undriven SPI line stays at one level.
	if rests(block[:]) || s.moist && rests(hum[:]) {
		return s.chip.Fault(hal.BusFault, errNoTrim)
	}
	s.trim = pressurereg.DecodeBMX280(block[:], h1, hum[:])
	return nil
}

// rests reports whether p is the reading of an undriven line: all zeros or all ones.
func rests(p []byte) bool {
	return !slices.ContainsFunc(p, func(b byte) bool { return b != p[0] || b != 0 && b != 0xFF })
}

// Read reads the newest measurement, and checks the chip's settings in the same burst.
func (s *BMX280) Read(values []float64) error {
	size := pressurereg.BMX280Data - pressurereg.BMX280CtrlHum + 6
	if s.moist {
		size += 2
	}
	// A setting, the status, two settings, a byte that is reserved, data.
	p, err := s.chip.Read(pressurereg.BMX280CtrlHum, size)
	if err != nil {
		return err
	}
	hum, meas, filter := p[0], p[pressurereg.BMX280CtrlMeas-pressurereg.BMX280CtrlHum],
		p[pressurereg.BMX280Filter-pressurereg.BMX280CtrlHum]
	if meas != pressurereg.BMX280Normal || filter != pressurereg.BMX280Standby ||
		s.moist && hum != pressurereg.BMX280HumOnce {
		return s.chip.Faultf(hal.Absent, "settings: got % X, want % X: the chip was reset", []byte{hum, meas, filter},
			[]byte{pressurereg.BMX280HumOnce, pressurereg.BMX280Normal, pressurereg.BMX280Standby})
	}
	// The temperature comes first: both others are corrected by it.
	d := p[pressurereg.BMX280Data-pressurereg.BMX280CtrlHum:]
	rawP := int32(d[0])<<12 | int32(d[1])<<4 | int32(d[2])>>4
	rawT := int32(d[3])<<12 | int32(d[4])<<4 | int32(d[5])>>4
	if rawP == pressurereg.BMX280Skipped || rawT == pressurereg.BMX280Skipped {
		return s.chip.Faultf(hal.BusFault, "data: got none, want a measurement")
	}
	fine := s.trim.Fine(rawT)
	pascals, celsius, humidity := s.trim.Pascals(rawP, fine), pressurereg.Celsius(fine), math.NaN()
	// A value beyond the chip's range, with a margin, is not a measurement: a bit error on the bus, or a flooded chip.
	if pascals < 20e3 || pascals > 125e3 || celsius < -45 || celsius > 90 {
		return s.chip.Faultf(hal.BusFault, "got %.0f Pa at %.1f °C, want within the sensor's range", pascals, celsius)
	}
	if s.moist {
		humidity = s.trim.Humidity(int32(d[6])<<8|int32(d[7]), fine)
	}
	put(values, pascals-s.config.Air, celsius, humidity)
	return nil
}

// Close puts the chip to sleep.
func (s *BMX280) Close() error { return s.chip.Write(pressurereg.BMX280CtrlMeas, 0) }

// The two addresses, by the SDO pin.
const (
	BMX280Address    = 0x76
	BMX280AddressAlt = 0x77
)

// BMP280Samples are the identities of the first BMP280s (BST-BMP280-DS001 rev. 1.26, "chip_id": samples).
func BMP280Samples() []byte { return []byte{0x56, 0x57} }
