package imu

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	conn "periph.io/x/conn/v3/i2c"

	"github.com/halyard-robotics/halyard/drivers/i2c"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/imureg"
)

// MPUConfig describes how an MPU is used. The zero MPUConfig is ±500 °/s, ±4 g and 200 Hz, for any chip of the family.
type MPUConfig struct {
	Address   uint16    // 0 = MPUAddress
	Model     string    // "mpu-6050", "mpu-9250" ..; empty = whichever answers
	GyroRange float64   // °/s: 250, 500, 1000 or 2000
	AccRange  float64   // g: 2, 4, 8 or 16
	Rate      int       // of the chip's own samples, Hz: 4..1000
	Clock     hal.Clock // for the waits of Open; nil = the wall's
}

// MPU is an MPU-6050, -6500, -9250 or -9255. It is a drivers.Sensor of ten values: rates x y z, acceleration x y z,
// field x y z, °C. On SPI there is no field: the magnetometer is a chip of its own, on I2C.
type MPU struct {
	bus           conn.Bus
	chip, compass *i2c.Chip
	config        MPUConfig
	gyro, acc     Range
	model         MPUModel
	adjust        [3]float64 // T a count of the magnetometer
	clone         byte       // its identity, where it is not the model's own
	rest          rest
}

// NewMPU returns the chip on bus. It does no I/O. The error is hal.Invalid: no such range, rate or model.
func NewMPU(bus conn.Bus, c MPUConfig) (*MPU, error) {
	c.Address = cmp.Or(c.Address, MPUAddress)
	c.GyroRange = cmp.Or(c.GyroRange, 500)
	c.AccRange = cmp.Or(c.AccRange, 4)
	c.Rate = cmp.Or(c.Rate, 200)
	c.Clock = cmp.Or(c.Clock, i2c.Clock())
	name := cmp.Or(c.Model, "mpu")
	s := &MPU{bus: bus, chip: i2c.NewChip(bus, c.Address, name),
		compass: i2c.NewChip(bus, imureg.AK8963Address, "ak8963"), config: c}
	var gyro, acc bool
	s.gyro, gyro = rangeOf(MPUGyroRanges(), c.GyroRange)
	s.acc, acc = rangeOf(MPUAccRanges(), c.AccRange)
	known := c.Model == "" || slices.ContainsFunc(MPUModels(), func(m MPUModel) bool { return m.Name == c.Model })
	switch {
	case !gyro:
		return nil, s.chip.Faultf(hal.Invalid, "gyro range: got %g, want 250, 500, 1000 or 2000 °/s", c.GyroRange)
	case !acc:
		return nil, s.chip.Faultf(hal.Invalid, "accelerometer range: got %g, want 2, 4, 8 or 16 g", c.AccRange)
	case c.Rate < 4 || c.Rate > 1000:
		return nil, s.chip.Faultf(hal.Invalid, "rate: got %d, want 4..1000 Hz", c.Rate)
	case !known:
		return nil, s.chip.Faultf(hal.Invalid, "model: got %q, want mpu-6050, mpu-6500, mpu-9250 or mpu-9255", c.Model)
	}
	return s, nil
}

// settings are the values of MPURate and the three registers behind it.
func (s *MPU) settings() [4]byte {
	return [4]byte{byte(1000/s.config.Rate - 1), imureg.MPULowPass, s.gyro.Bits, s.acc.Bits}
}

// Open resets the chip, wakes it and sets its ranges: some 200 ms.
func (s *MPU) Open() error {
	if err := s.identify(); err != nil {
		return err
	}
	if err := s.chip.Write(imureg.MPUPower, imureg.MPUReset); err != nil {
		return err
	}
	i2c.Sleep(s.config.Clock, imureg.MPUBoot)
	if err := s.chip.Write(imureg.MPUPower, imureg.MPUWake); err != nil {
		return err
	}
	i2c.Sleep(s.config.Clock, imureg.MPUBoot)
	if i2c.OnSPI(s.bus) {
		if err := s.chip.Write(imureg.MPUUserControl, imureg.MPUNoI2C); err != nil {
			return err
		}
	}
	// MPUFilter, MPUGyroConfig and MPUAccConfig follow the rate.
	set := s.settings()
	if err := s.chip.Write(imureg.MPURate, set[:]...); err != nil {
		return err
	}
	if s.model.PerCelsius != 340 { // the 6050 has no such register
		if err := s.chip.Write(imureg.MPUAccConfig2, imureg.MPULowPass); err != nil {
			return err
		}
	}
	// A first sample, so that no Read sees the zeros of a chip that has just been woken.
	i2c.Sleep(s.config.Clock, time.Second/time.Duration(s.config.Rate))
	if s.model.Compass {
		return s.openCompass()
	}
	return nil
}

// identify finds out which chip of the family answers.
func (s *MPU) identify() error {
	// A board sold as a 9250 is often a 6500, which has no magnetometer: with a model in the config it is refused.
	models := MPUModels()
	var ids []byte
	for _, m := range models {
		if s.config.Model == "" || s.config.Model == m.Name {
			ids = append(ids, m.WhoAmI)
		}
	}
	for _, m := range models {
		if s.config.Model == "" || s.config.Model == m.Name {
			ids = append(ids, m.Clones...)
		}
	}
	id, err := s.chip.Expect(imureg.MPUWhoAmI, ids...)
	if err != nil {
		return err
	}
	own := slices.IndexFunc(models, func(m MPUModel) bool {
		return m.WhoAmI == id && (s.config.Model == "" || s.config.Model == m.Name)
	})
	if s.clone = 0; own < 0 {
		s.clone = id
		own = slices.IndexFunc(models, func(m MPUModel) bool {
			return slices.Contains(m.Clones, id) && (s.config.Model == "" || s.config.Model == m.Name)
		})
	}
	s.model = models[own]
	s.model.Compass = s.model.Compass && !i2c.OnSPI(s.bus)
	return nil
}

// Note names a chip that is not the model's own.
func (s *MPU) Note() string {
	if s.clone == 0 {
		return ""
	}
	return fmt.Sprintf("its identity is 0x%02X, not the 0x%02X of an %s: a clone, taken as one; its temperature is "+
		"not known", s.clone, s.model.WhoAmI, s.model.Name)
}

// openCompass lets the magnetometer onto the bus, reads its factory adjustment and starts it at 100 Hz.
func (s *MPU) openCompass() error {
	if err := s.chip.Write(imureg.MPUUserControl, 0); err != nil {
		return err
	}
	if err := s.chip.Write(imureg.MPUIntPin, imureg.MPUBypass); err != nil {
		return err
	}
	if _, err := s.compass.Expect(imureg.AK8963ID, imureg.AK8963WhoAmI); err != nil {
		return err
	}
	// Between two modes it must be off for 100 µs. The adjustment is read twice, for it has no checksum.
	var fuse [2][3]byte
	for i, mode := range [...]byte{0, imureg.AK8963Fuse, 0, imureg.AK8963Fuse, 0, imureg.AK8963Run100Hz} {
		if err := s.compass.Write(imureg.AK8963Control, mode); err != nil {
			return err
		}
		i2c.Sleep(s.config.Clock, time.Millisecond)
		if mode != imureg.AK8963Fuse {
			continue
		}
		p, err := s.compass.Read(imureg.AK8963Adjust, 3)
		if err != nil {
			return err
		}
		fuse[i/2] = [3]byte(p)
	}
	if fuse[0] != fuse[1] {
		return s.compass.Faultf(hal.BusFault, "adjustment: got % X, then % X, want the same twice", fuse[0], fuse[1])
	}
	for i, v := range fuse[0] {
		s.adjust[i] = imureg.AK8963Scale * ((float64(v)-128)/256 + 1)
	}
	return nil
}

// Read takes the newest sample: two or four transactions, 1 ms on a bus of 400 kHz.
func (s *MPU) Read(values []float64) error {
	// One burst, so that all axes are of the same instant.
	var out [10]float64
	p, err := s.chip.Read(imureg.MPUData, imureg.MPUDataLen)
	if err != nil {
		return err
	}
	for i := range 3 {
		out[i] = be16(p, 8+2*i) * (s.gyro.PerLSB * degree)
		out[3+i] = be16(p, 2*i) * (s.acc.PerLSB * gravity)
		out[6+i] = math.NaN()
	}
	if out[9] = be16(p, 6)/s.model.PerCelsius + s.model.ZeroCelsius; s.clone != 0 {
		out[9] = math.NaN()
	}
	// After a loss of power the chip sleeps or has other ranges: its old samples, or false ones, look like any.
	if p, err = s.chip.Read(imureg.MPURate, 4); err != nil {
		return err
	}
	if [4]byte(p) != s.settings() {
		return s.chip.Faultf(hal.Absent, "settings: got % X, want % X: the chip was reset", p, s.settings())
	}
	if s.model.Compass {
		if err := s.field(out[6:9]); err != nil {
			return err
		}
	}
	if err := s.rest.judge(s.config.Clock.Now(), &out); err != nil {
		return s.chip.Fault(hal.BusFault, err)
	}
	copy(values, out[:])
	return nil
}

// field reads the magnetometer into out, in the axes of the MPU. It keeps its last sample until the next is there.
func (s *MPU) field(out []float64) error {
	p, err := s.compass.Read(imureg.AK8963Data, 7)
	if err != nil {
		return err
	}
	if p[6]&imureg.AK8963Whole == 0 { // it was reset: it sleeps, and keeps its last sample for ever
		return s.compass.Faultf(hal.Absent, "field: got status 0x%02X, want bit 4 set: the chip was reset", p[6])
	}
	if p[6]&imureg.AK8963Overflow != 0 {
		return s.compass.Faultf(hal.BusFault, "field: got an overflow, want less than 4912 µT")
	}
	x, y, z := le16(p, 0)*s.adjust[0], le16(p, 2)*s.adjust[1], le16(p, 4)*s.adjust[2]
	out[0], out[1], out[2] = y, x, -z
	return nil
}

// Close puts the chip to sleep.
func (s *MPU) Close() error { return s.chip.Write(imureg.MPUPower, 0x40) }

// The two addresses, by the AD0 pin.
const (
	MPUAddress    = 0x68
	MPUAddressAlt = 0x69
)

// MPUModel is one chip of the family: same registers, another thermometer, and a magnetometer or none.
type MPUModel struct {
	Name        string
	WhoAmI      byte
	Power       byte    // of MPUPower after a reset
	PerCelsius  float64 // counts
	ZeroCelsius float64 // °C at count 0
	Compass     bool    // an AK8963 inside
	Clones      []byte  // other values of MPUWhoAmI of chips that are sold as this one and have its registers
}

// MPUModels are the supported chips, by their value of MPUWhoAmI. Boards sold with a 6050 also have a 6500, an
// ICM-20689 (0x98) or chips of no known maker (ElectronicCats/mpu6050#21, kriswiner/MPU9250#378 and #486); a 9250
// without its magnetometer is refused.
func MPUModels() []MPUModel {
	return []MPUModel{
		{"mpu-6050", 0x68, 0x40, 340, 36.53, false, []byte{0x70, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x98}},
		{"mpu-6500", 0x70, 0x01, 333.87, 21, false, nil},
		{"mpu-9250", 0x71, 0x01, 333.87, 21, true, nil},
		{"mpu-9255", 0x73, 0x01, 333.87, 21, true, nil},
	}
}

// MPUGyroRanges and MPUAccRanges are in the order of the registers' values.
func MPUGyroRanges() []Range {
	return []Range{{250, 1 / 131.0, 0 << 3}, {500, 1 / 65.5, 1 << 3}, {1000, 1 / 32.8, 2 << 3},
		{2000, 1 / 16.4, 3 << 3}}
}

// MPUAccRanges are those of the accelerometer, in g.
func MPUAccRanges() []Range {
	return []Range{{2, 1 / 16384.0, 0 << 3}, {4, 1 / 8192.0, 1 << 3}, {8, 1 / 4096.0, 2 << 3}, {16, 1 / 2048.0, 3 << 3}}
}
