package chip

import (
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/drivers/adc"
	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/internal/wire/adcreg"
	"github.com/halyard-robotics/halyard/internal/wire/imureg"
)

// words is a chip of 16 bit registers: the first byte written is the pointer, two more are a register.
type words struct {
	file    [8]uint16
	pointer byte
}

// transfer is a transaction: write stores a word as the chip's rules want.
func (f *words) transfer(w, r []byte, write func(register byte, v uint16)) {
	if len(w) > 0 {
		f.pointer = w[0] & 7
	}
	if len(w) >= 3 {
		write(f.pointer, uint16(w[1])<<8|uint16(w[2]))
	}
	for i := range r {
		r[i] = byte(f.file[f.pointer] >> (8 - 8*(i&1)))
	}
}

// ADS1115 is an emulated converter. Volts at its four inputs may be written between cycles.
type ADS1115 struct {
	Volts [4]float64
	address
	gains []adc.ADS1115Gain
	rates []int
	regs  words
	done  time.Duration // when the conversion that runs is over
}

// NewADS1115 returns a chip at addr.
func NewADS1115(addr uint16) *ADS1115 {
	return &ADS1115{address: address(addr), gains: adc.ADS1115Gains(), rates: adcreg.ADS1115Rates()}
}

func (c *ADS1115) Power(_ bool, now time.Duration) {
	c.regs, c.done = words{}, now
	c.regs.file[adcreg.ADS1115Setup] = adcreg.ADS1115Default
}

func (c *ADS1115) Transfer(w, r []byte, now time.Duration) error {
	f := &c.regs.file
	if now >= c.done && f[adcreg.ADS1115Setup]&adcreg.ADS1115Start == 0 {
		f[adcreg.ADS1115Setup] |= adcreg.ADS1115Start
		f[adcreg.ADS1115Conversion] = c.sample()
	}
	c.regs.transfer(w, r, func(register byte, v uint16) {
		if register != adcreg.ADS1115Setup {
			return
		}
		if f[register] = v; v&adcreg.ADS1115Start != 0 {
			f[register] &^= adcreg.ADS1115Start
			c.done = now + time.Second/time.Duration(c.rates[v>>5&7])
		}
	})
	return nil
}

// sample is the conversion of the input that is set: 4..7 against ground, 0..3 pairs.
func (c *ADS1115) sample() uint16 {
	word := c.regs.file[adcreg.ADS1115Setup]
	mux := word >> 12 & 7
	pairs := [...][2]int{{0, 1}, {0, 3}, {1, 3}, {2, 3}}
	volts := 0.0
	if mux >= 4 {
		volts = c.Volts[mux-4]
	} else {
		volts = c.Volts[pairs[mux][0]] - c.Volts[pairs[mux][1]]
	}
	gain := c.gains[min(int(word>>9&7), len(c.gains)-1)]
	return uint16(counts(volts, gain.Volts/32768, 16))
}

// INA219 is an emulated power monitor. Volts and Amps may be written between cycles.
type INA219 struct {
	Volts, Amps float64
	shunt       float64
	address
	regs words
}

// NewINA219 returns a chip at addr with a shunt in Ω.
func NewINA219(addr uint16, shunt float64) *INA219 {
	return &INA219{address: address(addr), shunt: shunt, Volts: 12}
}

func (c *INA219) Power(bool, time.Duration) {
	c.regs = words{}
	c.regs.file[adcreg.INA219Setup] = adcreg.INA219Default
}

func (c *INA219) Transfer(w, r []byte, now time.Duration) error {
	f := &c.regs.file
	shunt := counts(c.Amps*c.shunt, adcreg.INA219ShuntLSB, 16)
	shunt = min(32000, max(-32000, shunt)) // ±320 mV
	volts := counts(c.Volts, adcreg.INA219BusLSB, 14)
	current := shunt * int64(f[adcreg.INA219Calibration]) / 4096
	f[adcreg.INA219Shunt] = uint16(shunt)
	f[adcreg.INA219Bus] = uint16(max(0, volts))<<3 | 2
	if current > 32767 || current < -32768 || shunt == 32000 || shunt == -32000 {
		f[adcreg.INA219Bus] |= adcreg.INA219Overflow
	}
	f[adcreg.INA219Current] = uint16(current)
	f[adcreg.INA219Power] = uint16(max(current, -current) * max(0, volts) / 5000)
	c.regs.transfer(w, r, func(register byte, v uint16) {
		switch {
		case register == adcreg.INA219Setup && v&adcreg.INA219Reset != 0:
			c.Power(true, now)
		case register == adcreg.INA219Setup:
			f[register] = v
		case register == adcreg.INA219Calibration:
			f[register] = v &^ 1
		}
	})
	return nil
}

// LSM6 is an emulated LSM6DSOX or LSM6DSO32. Motion may be written between cycles.
type lsm6 struct {
	Motion Motion
	DSO32  bool // all its ranges of acceleration are twice as wide
	address
	gyro, acc []imu.Range
	regs      registers
	booted    time.Duration
}

// NewLSM6 returns a chip at addr that lies still.
func NewLSM6(addr uint16) *lsm6 {
	return &lsm6{address: address(addr), Motion: AtRest(), gyro: imu.LSM6GyroRanges(), acc: imu.LSM6AccRanges(false)}
}

func (c *lsm6) Power(_ bool, now time.Duration) {
	c.regs, c.booted = registers{}, now+imureg.LSM6Boot
	c.regs.file[imureg.LSM6WhoAmI], c.regs.file[imureg.LSM6Ctrl3] = imureg.LSM6ID, 0x04
}

func (c *lsm6) Transfer(w, r []byte, now time.Duration) error {
	if now < c.booted {
		return ErrNoAcknowledge
	}
	f := &c.regs
	c.measure()
	f.transfer(w, r, func(register, v byte) {
		switch {
		case register == imureg.LSM6Ctrl3 && v&imureg.LSM6Reset != 0:
			c.Power(true, now-imureg.LSM6Boot)
		case register >= imureg.LSM6Ctrl1 && register < imureg.LSM6Status:
			f.file[register] = v
		}
	})
	return nil
}

// measure samples the sensors that are switched on.
func (c *lsm6) measure() {
	f, m := &c.regs, &c.Motion
	find := func(ranges []imu.Range, ctrl byte) float64 {
		i := slices.IndexFunc(ranges, func(r imu.Range) bool { return r.Bits == ctrl&0x0E })
		return ranges[max(0, i)].PerLSB
	}
	f.putLE16(imureg.LSM6Data, counts(m.Celsius-imureg.LSM6Zero, 1.0/imureg.LSM6PerDegree, 16))
	wider := 1.0
	if c.DSO32 {
		wider = 2
	}
	for axis := range 3 {
		at := byte(2 * axis)
		if ctrl := f.file[imureg.LSM6Ctrl2]; ctrl>>4 != 0 {
			f.putLE16(imureg.LSM6Data+2+at, counts(m.Rates[axis], find(c.gyro, ctrl)*degree, 16))
		}
		if ctrl := f.file[imureg.LSM6Ctrl1]; ctrl>>4 != 0 {
			f.putLE16(imureg.LSM6Data+8+at, counts(m.Acceleration[axis], wider*find(c.acc, ctrl&0x0C)*gravity, 16))
		}
	}
}
