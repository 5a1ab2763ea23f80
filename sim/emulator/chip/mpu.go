package chip

import (
	"cmp"
	"time"

	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/internal/wire/imureg"
)

const (
	degree  = 0.017453292519943295
	gravity = 9.80665
)

// MPU is an emulated chip of InvenSense's family. Motion may be written between cycles.
type MPU struct {
	Motion   Motion
	Identity byte // of a clone; 0 = the model's own
	address
	model     imu.MPUModel
	gyro, acc []imu.Range
	regs      registers
	booted    time.Duration
}

// NewMPU returns the chip called model ("mpu-6050", "mpu-9250" ..) at addr, asleep if the model sleeps after power-on.
// It is nil for a model that imu does not support.
func NewMPU(model string, addr uint16) *MPU {
	for _, m := range imu.MPUModels() {
		if m.Name == model {
			return &MPU{address: address(addr), model: m, Motion: AtRest(), gyro: imu.MPUGyroRanges(),
				acc: imu.MPUAccRanges()}
		}
	}
	return nil
}

func (c *MPU) Power(_ bool, now time.Duration) {
	c.regs = registers{}
	c.regs.file[imureg.MPUWhoAmI], c.regs.file[imureg.MPUPower] = cmp.Or(c.Identity, c.model.WhoAmI), c.model.Power
	c.booted = now + 30*time.Millisecond
}

func (c *MPU) Transfer(w, r []byte, now time.Duration) error {
	if now < c.booted {
		return ErrNoAcknowledge
	}
	c.measure()
	c.regs.transfer(w, r, func(register, v byte) {
		switch {
		case register == imureg.MPUPower && v&imureg.MPUReset != 0:
			c.Power(true, now-30*time.Millisecond) // it answers while it resets
		case register == imureg.MPUWhoAmI || register >= imureg.MPUData && register < imureg.MPUData+imureg.MPUDataLen:
		default:
			c.regs.file[register] = v
		}
	})
	return nil
}

// measure takes a sample; a chip that sleeps keeps its last one.
func (c *MPU) measure() {
	f, m := &c.regs, &c.Motion
	if f.file[imureg.MPUPower]&0x40 != 0 {
		return
	}
	gyro := c.gyro[f.file[imureg.MPUGyroConfig]>>3&3].PerLSB * degree
	acc := c.acc[f.file[imureg.MPUAccConfig]>>3&3].PerLSB * gravity
	for axis := range 3 {
		at := byte(2 * axis)
		f.putBE16(imureg.MPUData+at, counts(m.Acceleration[axis], acc, 16))
		f.putBE16(imureg.MPUData+8+at, counts(m.Rates[axis], gyro, 16))
	}
	f.putBE16(imureg.MPUData+6, counts(m.Celsius-c.model.ZeroCelsius, 1/c.model.PerCelsius, 16))
}

// ak8963 is the magnetometer in an MPU-9250. It answers while its MPU lets it onto the bus.
type ak8963 struct {
	mpu    *MPU
	adjust [3]byte
	regs   registers
}

// Compass returns the magnetometer inside c, with the factory adjustment given (128 = none).
func (c *MPU) Compass(adjust [3]byte) *ak8963 { return &ak8963{mpu: c, adjust: adjust} }

// Address implements Device: none that a host can send while the bypass is off.
func (c *ak8963) Address() uint16 {
	if c.mpu.regs.file[imureg.MPUIntPin]&imureg.MPUBypass == 0 {
		return 0xFFF
	}
	return imureg.AK8963Address
}

func (c *ak8963) Power(bool, time.Duration) {
	c.regs = registers{}
	c.regs.file[imureg.AK8963ID] = imureg.AK8963WhoAmI
}

func (c *ak8963) Transfer(w, r []byte, _ time.Duration) error {
	f := &c.regs
	clear(f.file[imureg.AK8963Adjust : imureg.AK8963Adjust+3])
	switch f.file[imureg.AK8963Control] {
	case imureg.AK8963Fuse: // the factory's values are visible only in this mode
		copy(f.file[imureg.AK8963Adjust:], c.adjust[:])
	case imureg.AK8963Run100Hz:
		m := c.mpu.Motion.Field
		f.file[imureg.AK8963Status1], f.file[imureg.AK8963Status2] = 1, 0x10
		for i, v := range [...]float64{m[1], m[0], -m[2]} {
			scale := imureg.AK8963Scale * ((float64(c.adjust[i])-128)/256 + 1)
			n := counts(v, scale, 16)
			if n > 32760 || n < -32760 {
				f.file[imureg.AK8963Status2] |= imureg.AK8963Overflow
			}
			f.putLE16(imureg.AK8963Data+byte(2*i), n)
		}
	}
	f.transfer(w, r, func(register, v byte) {
		if register == imureg.AK8963Control {
			f.file[register] = v
		}
	})
	return nil
}
