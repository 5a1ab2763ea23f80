package chip

import (
	"cmp"
	"sort"
	"time"

	"github.com/halyard-robotics/halyard/drivers/pressure"
	"github.com/halyard-robotics/halyard/internal/wire/pressurereg"
)

// bmx280 is an emulated BMP280 or BME280 with the trim of the datasheet's example. Air may be written between cycles.
type bmx280 struct {
	Air     Fluid
	Loading time.Duration // for which its trim is copied after a reset
	ID      byte          // 0 = that of its kind
	address
	id     byte
	trim   pressurereg.BMX280Trim
	regs   registers
	booted time.Duration
	first  time.Duration // when the first measurement is over
	seen   Fluid         // values in the registers
}

// NewBMX280 returns a chip at addr, a BME280 where it measures humidity, at sea level at 20 °C.
func NewBMX280(addr uint16, humidity bool) *bmx280 {
	c := &bmx280{address: address(addr), id: pressurereg.BMP280WhoAmI,
		Air: Fluid{Pascals: pressure.SeaLevel, Celsius: 20, Humidity: 0.5},
		trim: pressurereg.BMX280Trim{T1: 27504, T2: 26435, T3: -1000, P1: 36477, P2: -10685, P3: 3024, P4: 2855,
			P5: 140,
			P6: -7,
			P7: 15500, P8: -14600, P9: 6000, H1: 75, H2: 354, H3: 0, H4: 333, H5: 50, H6: 30}}
	if humidity {
		c.id = pressurereg.BME280WhoAmI
	}
	return c
}

func (c *bmx280) Power(_ bool, now time.Duration) {
	c.regs, c.seen, c.booted = registers{}, Fluid{}, now+pressurereg.BMX280Boot
	f, t := &c.regs, &c.trim
	f.file[pressurereg.BMX280ID] = cmp.Or(c.ID, c.id)
	for i, v := range [...]int64{int64(t.T1), int64(t.T2), int64(t.T3), int64(t.P1), int64(t.P2), int64(t.P3),
		int64(t.P4), int64(t.P5), int64(t.P6), int64(t.P7), int64(t.P8), int64(t.P9)} {
		f.putLE16(pressurereg.BMX280Calibration+byte(2*i), v)
	}
	f.file[pressurereg.BMX280Data], f.file[pressurereg.BMX280Data+3], f.file[pressurereg.BMX280Data+6] = 0x80, 0x80,
		0x80
	if c.id != pressurereg.BME280WhoAmI {
		return
	}
	f.file[pressurereg.BMX280H1] = t.H1
	copy(f.file[pressurereg.BMX280Humidity2:],
		[]byte{byte(t.H2), byte(t.H2 >> 8), t.H3, byte(t.H4 >> 4), byte(t.H4&0xF) | byte(t.H5&0xF)<<4,
			byte(t.H5 >> 4), byte(t.H6)})
}

// Transfer implements Device. Writing does not run on: register and value come in pairs.
func (c *bmx280) Transfer(w, r []byte, now time.Duration) error {
	if now < c.booted {
		return ErrNoAcknowledge
	}
	f := &c.regs
	if len(w) > 0 {
		f.pointer = w[0]
		for i := 1; i < len(w); i += 2 {
			c.write(w[i-1], w[i], now)
		}
	}
	c.measure(now)
	from := int(f.pointer)
	f.transfer(nil, r, nil)
	for i := range r {
		switch register := from + i; {
		case now >= c.booted+c.Loading:
		case register == pressurereg.BMX280Status:
			r[i] |= pressurereg.BMX280Loading
		case register >= pressurereg.BMX280Calibration && register <= pressurereg.BMX280H1 ||
			register >= pressurereg.BMX280Humidity2 && register < pressurereg.BMX280CtrlHum:
			r[i] = 0
		}
	}
	return nil
}

func (c *bmx280) write(register, v byte, now time.Duration) {
	switch register {
	case pressurereg.BMX280Reset:
		if v == pressurereg.BMX280ResetWord {
			c.Power(true, now)
		}
	case pressurereg.BMX280CtrlMeas:
		if v&3 != 0 && c.regs.file[register]&3 == 0 {
			c.first = now + pressurereg.BMX280Measure
		}
		c.regs.file[register] = v
		if v&3 == 1 || v&3 == 2 { // forced: once, then asleep again
			c.regs.file[register] = v &^ 3
			c.sample()
		}
	case pressurereg.BMX280CtrlHum, pressurereg.BMX280Filter:
		c.regs.file[register] = v
	}
}

// measure is the continuous measurement of the normal mode.
func (c *bmx280) measure(now time.Duration) {
	if c.regs.file[pressurereg.BMX280CtrlMeas]&3 == 3 && now >= c.first && c.seen != c.Air {
		c.sample()
	}
}

// sample fills the data registers: the datasheet's mathematics backwards, by halving.
func (c *bmx280) sample() {
	c.seen = c.Air
	// Each rises or falls with its raw value all the way, so that halving finds it within a count.
	rawT := sort.Search(1<<20-1, func(v int) bool {
		return pressurereg.Celsius(c.trim.Fine(int32(v))) >= c.Air.Celsius
	})
	fine := c.trim.Fine(int32(rawT))
	rawP := sort.Search(1<<20-1, func(v int) bool { return c.trim.Pascals(int32(v), fine) <= c.Air.Pascals }) // falls
	rawH := sort.Search(1<<16-1, func(v int) bool { return c.trim.Humidity(int32(v), fine) >= c.Air.Humidity })
	d := c.regs.file[pressurereg.BMX280Data:]
	copy(d, []byte{byte(rawP >> 12), byte(rawP >> 4), byte(rawP << 4), byte(rawT >> 12), byte(rawT >> 4),
		byte(rawT << 4)})
	if c.id == pressurereg.BME280WhoAmI && c.regs.file[pressurereg.BMX280CtrlHum] != 0 {
		copy(d[6:], []byte{byte(rawH >> 8), byte(rawH)})
	}
}

// Upper implements upper: its registers end at 0xFE.
func (c *bmx280) Upper() bool { return true }
