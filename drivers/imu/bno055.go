package imu

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	conn "periph.io/x/conn/v3/i2c"

	"github.com/halyard-robotics/halyard/drivers/i2c"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/imureg"
	"github.com/halyard-robotics/halyard/servo"
)

// BNO055Config describes how a BNO055 is used.
type BNO055Config struct {
	Address uint16 // 0 = BNO055Address; I2C only
	Compass bool   // NDOF: the magnetometer keeps the heading; else IMU
	// Offsets is a calibration that Offsets read on an earlier day; nil = the chip finds its own, moving.
	Offsets *[22]byte
	Clock   hal.Clock // for the waits of Open; nil = the wall's
}

// transport reads and writes registers over I2C or UART.
type transport interface {
	open() error
	Read(register byte, n int) ([]byte, error)
	Write(register byte, data ...byte) error
	Fault(kind hal.Kind, err error) error
	close() error
}

// BNO055 is one chip. It is a drivers.Sensor of ten values: attitude w x y z, rates x y z, acceleration x y z.
//
// On I2C it stretches the clock, which the hardware I2C of a Raspberry Pi up to 4 does not support: bytes are
// corrupted. Use its UART there, or i2c-gpio.
type BNO055 struct {
	wire   transport
	config BNO055Config
	last   [4]float64 // the quaternion that was read last
	alive  alive
}

// wired is a chip on I2C as a transport: the bus is another's to open and close.
type wired struct{ *i2c.Chip }

func (wired) open() error  { return nil }
func (wired) close() error { return nil }

// NewBNO055 returns the chip on an I2C bus. It does no I/O.
func NewBNO055(bus conn.Bus, c BNO055Config) *BNO055 {
	c.Address = cmp.Or(c.Address, BNO055Address)
	return newBNO055(wired{i2c.NewChip(bus, c.Address, "bno055")}, c)
}

// NewBNO055Serial returns the chip on a serial line of 115200 baud that open opens, and opens again. name is the
// line's, for errors. It does no I/O.
func NewBNO055Serial(name string, open servo.Opener, c BNO055Config) *BNO055 {
	return newBNO055(&bnoSerial{port: servo.PointToPoint{Bus: name, Device: "bno055", Opener: open}}, c)
}

func newBNO055(w transport, c BNO055Config) *BNO055 {
	c.Clock = cmp.Or(c.Clock, i2c.Clock())
	return &BNO055{wire: w, config: c}
}

// Open waits up to 0.7 s for a chip that boots, then sets it up and starts its fusion: some 30 ms more.
func (s *BNO055) Open() error {
	if err := s.wire.open(); err != nil {
		return err
	}
	if err := s.find(); err != nil {
		return err
	}
	mode := byte(imureg.BNO055ModeIMU)
	if s.config.Compass {
		mode = imureg.BNO055ModeNDOF
	}
	for _, step := range [...]struct {
		register byte
		value    byte
		wait     time.Duration
	}{
		// all other registers can only be written in this mode
		{imureg.BNO055Mode, imureg.BNO055ModeConfig, imureg.BNO055ToConfig},
		{imureg.BNO055Power, 0, 0},
		{imureg.BNO055Units, imureg.BNO055SI, 0},
		{imureg.BNO055AxisMap, 0x24, 0},
		{imureg.BNO055AxisSign, 0, 0},
	} {
		if err := s.wire.Write(step.register, step.value); err != nil {
			return err
		}
		i2c.Sleep(s.config.Clock, step.wait)
	}
	if o := s.config.Offsets; o != nil {
		if err := s.wire.Write(imureg.BNO055Offsets, o[:]...); err != nil {
			return err
		}
	}
	if err := s.wire.Write(imureg.BNO055Mode, mode); err != nil {
		return err
	}
	i2c.Sleep(s.config.Clock, imureg.BNO055ToFusion)
	p, err := s.wire.Read(imureg.BNO055Mode, 1)
	if err != nil {
		return err
	}
	if got := p[0] & 0x0F; got != mode {
		return s.wire.Fault(hal.BusFault, fmt.Errorf("mode: got 0x%02X, want 0x%02X", got, mode))
	}
	return s.firstFusion()
}

// find waits for the chip's identity, which a chip that boots does not give.
func (s *BNO055) find() error {
	timeout := s.config.Clock.Now() + imureg.BNO055Boot + 50*time.Millisecond
	for {
		p, err := s.wire.Read(imureg.BNO055ChipID, 1)
		switch {
		case err == nil && p[0] == imureg.BNO055ID:
			return nil
		case err == nil:
			return s.turnBack(p[0])
		case s.config.Clock.Now() >= timeout:
			return s.wire.Fault(hal.Absent, err)
		}
		i2c.Sleep(s.config.Clock, 50*time.Millisecond)
	}
}

// turnBack checks whether a chip with a wrong identity is a BNO055 that another program left at register page 1, and
// selects page 0. It writes nothing to any other chip.
func (s *BNO055) turnBack(id byte) error {
	p, err := s.wire.Read(imureg.BNO055Page, 1)
	if err == nil && p[0] == 1 {
		if err = s.wire.Write(imureg.BNO055Page, 0); err == nil {
			p, err = s.wire.Read(imureg.BNO055ChipID, 1)
		}
		if err == nil && p[0] == imureg.BNO055ID {
			return nil
		}
	}
	return s.wire.Fault(hal.Absent, errors.Join(fmt.Errorf("identity: got 0x%02X, want 0x%02X", id, imureg.BNO055ID),
		err))
}

// firstFusion waits for the first attitude: until then the registers hold zeros.
func (s *BNO055) firstFusion() error {
	const maxTries = 20
	for range maxTries {
		i2c.Sleep(s.config.Clock, imureg.BNO055Period)
		p, err := s.wire.Read(imureg.BNO055Quaternion, 8)
		if err != nil {
			return err
		}
		if quaternion(p) != ([4]float64{}) {
			return nil
		}
	}
	p, err := s.wire.Read(imureg.BNO055Status, 2)
	if err != nil {
		return err
	}
	return s.wire.Fault(hal.BusFault, fmt.Errorf("fusion: got status %d, error %d, want status %d", p[0], p[1],
		imureg.BNO055Running))
}

// quaternion is w x y z of the eight bytes of the register.
func quaternion(p []byte) [4]float64 {
	return [4]float64{le16(p, 0) * imureg.BNO055QuatScale, le16(p, 2) * imureg.BNO055QuatScale,
		le16(p, 4) * imureg.BNO055QuatScale, le16(p, 6) * imureg.BNO055QuatScale}
}

// Read takes the newest attitude, rates and accelerations, all of one burst: 1 ms on a bus of 400 kHz, 4 ms on the
// UART.
func (s *BNO055) Read(values []float64) error {
	const first, size = imureg.BNO055Acc, imureg.BNO055Quaternion + 8 - imureg.BNO055Acc
	p, err := s.wire.Read(first, size)
	if err != nil {
		return err
	}
	q := quaternion(p[imureg.BNO055Quaternion-first:])
	if err := s.alive.judge(s.config.Clock.Now(), p); err != nil {
		return s.wire.Fault(hal.BusFault, err)
	}
	// Neither wire has a check of its data, but a quaternion has a length.
	norm := math.Sqrt(q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3])
	switch {
	case norm == 0:
		return s.wire.Fault(hal.Absent,
			fmt.Errorf("attitude: got zeros: the fusion has stopped, as after a loss of power"))
	case math.Abs(norm-1) > 0.02:
		return s.wire.Fault(hal.BusFault, fmt.Errorf("attitude: got a quaternion of length %.3f, want 1", norm))
	}
	// q and -q are the same attitude; a change of sign would count as a jump
	if q[0]*s.last[0]+q[1]*s.last[1]+q[2]*s.last[2]+q[3]*s.last[3] < 0 {
		norm = -norm
	}
	for i := range q {
		q[i] /= norm
	}
	s.last = q
	out := [10]float64{q[0], q[1], q[2], q[3]}
	for axis := range 3 {
		out[4+axis] = le16(p, imureg.BNO055Gyro-first+2*axis) * imureg.BNO055GyroScale
		out[7+axis] = le16(p, 2*axis) * imureg.BNO055AccScale
	}
	copy(values, out[:])
	return nil
}

// Calibrated reports how far the chip has calibrated itself, 0 (not) to 3 (fully) each. In IMU mode system and field
// stay 0.
func (s *BNO055) Calibrated() (system, gyro, accelerometer, field int, err error) {
	p, err := s.wire.Read(imureg.BNO055Calibration, 1)
	if err != nil {
		return 0, 0, 0, 0, err
	}
	c := int(p[0])
	return c >> 6 & 3, c >> 4 & 3, c >> 2 & 3, c & 3, nil
}

// Offsets reads the chip's calibration, for a later BNO055Config. It stops the fusion for about 30 ms.
func (s *BNO055) Offsets() (offsets [22]byte, err error) {
	p, err := s.wire.Read(imureg.BNO055Mode, 1)
	if err != nil {
		return offsets, err
	}
	mode := p[0]
	if err := s.wire.Write(imureg.BNO055Mode, imureg.BNO055ModeConfig); err != nil {
		return offsets, err
	}
	i2c.Sleep(s.config.Clock, imureg.BNO055ToConfig)
	if p, err = s.wire.Read(imureg.BNO055Offsets, imureg.BNO055OffsetSize); err != nil {
		return offsets, err
	}
	copy(offsets[:], p)
	err = s.wire.Write(imureg.BNO055Mode, mode)
	i2c.Sleep(s.config.Clock, imureg.BNO055ToFusion)
	return offsets, err
}

// Close closes the line, if the chip has its own; the chip keeps running.
func (s *BNO055) Close() error { return s.wire.close() }

// The two addresses, by the COM3 pin.
const (
	BNO055Address    = 0x28
	BNO055AddressAlt = 0x29
)

// BNO055Baud is the rate of its serial line.
const BNO055Baud = 115200

// bno055Statuses are the statuses after EE, by number.
func bno055Statuses() []string {
	return []string{"", "write success", "read fail", "write fail", "register map: invalid address",
		"register map: write disabled",
		"wrong start byte", "bus overrun", "max length", "min length", "receive character timeout"}
}
