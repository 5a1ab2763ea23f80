package imu

import (
	"cmp"
	"math"

	conn "periph.io/x/conn/v3/i2c"

	"github.com/halyard-robotics/halyard/drivers/i2c"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/imureg"
)

// LSM6Config describes how an LSM6DSOX is used. The zero LSM6Config is ±500 °/s and ±4 g.
type LSM6Config struct {
	Address   uint16  // 0 = LSM6Address
	GyroRange float64 // °/s: 125, 250, 500, 1000 or 2000
	AccRange  float64 // g: 2, 4, 8 or 16; of an LSM6DSO32 4, 8, 16 or 32
	// it is an LSM6DSO32, which has the identity of an LSM6DSOX and twice its ranges of acceleration
	DSO32 bool
	Clock hal.Clock // for the waits of Open; nil = the wall's
}

// LSM6 is an LSM6DSOX or LSM6DSO32, which samples at 208 Hz. It is a drivers.Sensor of ten values: rates x y z,
// acceleration x y z, a field that is NaN, °C.
type LSM6 struct {
	chip      *i2c.Chip
	config    LSM6Config
	gyro, acc Range
	rest      rest
}

// NewLSM6 returns the chip on bus. It does no I/O. The error is hal.Invalid: no such range.
func NewLSM6(bus conn.Bus, c LSM6Config) (*LSM6, error) {
	c.Address = cmp.Or(c.Address, LSM6Address)
	c.GyroRange = cmp.Or(c.GyroRange, 500)
	c.AccRange = cmp.Or(c.AccRange, 4)
	c.Clock = cmp.Or(c.Clock, i2c.Clock())
	name := "lsm6dsox"
	if c.DSO32 {
		name = "lsm6dso32"
	}
	s := &LSM6{chip: i2c.NewChip(bus, c.Address, name), config: c}
	var known bool
	if s.gyro, known = rangeOf(LSM6GyroRanges(), c.GyroRange); !known {
		return nil, s.chip.Faultf(hal.Invalid, "gyro range: got %g, want 125, 250, 500, 1000 or 2000 °/s", c.GyroRange)
	}
	if s.acc, known = rangeOf(LSM6AccRanges(c.DSO32), c.AccRange); !known {
		return nil, s.chip.Faultf(hal.Invalid,
			"accelerometer range: got %g, want 2, 4, 8 or 16 g, twice that of an LSM6DSO32", c.AccRange)
	}
	return s, nil
}

// settings are the values of Ctrl1 to Ctrl3.
func (s *LSM6) settings() [3]byte {
	return [3]byte{imureg.LSM6Rate208 | s.acc.Bits, imureg.LSM6Rate208 | s.gyro.Bits, imureg.LSM6Whole}
}

// Open resets the chip and starts it: 35 ms.
func (s *LSM6) Open() error {
	if _, err := s.chip.Expect(imureg.LSM6WhoAmI, imureg.LSM6ID); err != nil {
		return err
	}
	if err := s.chip.Write(imureg.LSM6Ctrl3, imureg.LSM6Reset); err != nil {
		return err
	}
	i2c.Sleep(s.config.Clock, imureg.LSM6Boot)
	for i, v := range s.settings() {
		if err := s.chip.Write(imureg.LSM6Ctrl1+byte(i), v); err != nil {
			return err
		}
	}
	i2c.Sleep(s.config.Clock, imureg.LSM6First)
	return nil
}

// Read takes the newest sample, and looks whether the chip still has its settings.
func (s *LSM6) Read(values []float64) error {
	p, err := s.chip.Read(imureg.LSM6Ctrl1, 3)
	if err != nil {
		return err
	}
	if [3]byte(p) != s.settings() {
		want := s.settings() // separate variable: one held by an error is allocated
		return s.chip.Faultf(hal.Absent, "settings: got % X, want % X: the chip was reset", p, want[:])
	}
	if p, err = s.chip.Read(imureg.LSM6Data, imureg.LSM6DataLen); err != nil {
		return err
	}
	var out [10]float64
	for i := range 3 {
		out[i] = le16(p, 2+2*i) * s.gyro.PerLSB * degree
		out[3+i] = le16(p, 8+2*i) * s.acc.PerLSB * gravity
		out[6+i] = math.NaN()
	}
	out[9] = le16(p, 0)/imureg.LSM6PerDegree + imureg.LSM6Zero
	if err := s.rest.judge(s.config.Clock.Now(), &out); err != nil {
		return s.chip.Fault(hal.BusFault, err)
	}
	copy(values, out[:])
	return nil
}

// Close stops the chip.
func (s *LSM6) Close() error { return s.chip.Write(imureg.LSM6Ctrl1, 0, 0) }

// The two addresses, by the SDO pin.
const (
	LSM6Address    = 0x6A
	LSM6AddressAlt = 0x6B
)

// LSM6GyroRanges are those of table 2: 4.375 to 70 mdps a count.
func LSM6GyroRanges() []Range {
	return []Range{{125, 0.004375, 0x02}, {250, 0.00875, 0x00}, {500, 0.0175, 0x04}, {1000, 0.035, 0x08},
		{2000, 0.070, 0x0C}}
}

// LSM6AccRanges are those of the accelerometer: 0.061 to 0.488 mg a count, of an LSM6DSO32 twice that (DocID DS12814).
func LSM6AccRanges(dso32 bool) []Range {
	if dso32 {
		return []Range{{4, 0.000122, 0x00}, {32, 0.000976, 0x04}, {8, 0.000244, 0x08}, {16, 0.000488, 0x0C}}
	}
	return []Range{{2, 0.000061, 0x00}, {16, 0.000488, 0x04}, {4, 0.000122, 0x08}, {8, 0.000244, 0x0C}}
}
