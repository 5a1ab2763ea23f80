package chip

import (
	"math"
	"time"

	"github.com/halyard-robotics/halyard/internal/wire/imureg"
)

// bno055 is an emulated chip; on I2C it is a Device, on a serial line an Endpoint. Motion may be written between
// cycles.
type bno055 struct {
	Motion Motion
	Hangs  bool // it repeats its last reading for ever
	address
	page     byte
	regs     registers
	booted   time.Duration // when it answers
	fused    time.Duration // when the fusion has its first attitude
	half     []byte        // incomplete request on the serial line
	received time.Duration
}

// NewBNO055 returns a chip at addr that lies still.
func NewBNO055(addr uint16) *bno055 { return &bno055{address: address(addr), Motion: AtRest()} }

// bnoModeBits is the value of the reserved upper half of the mode register on a real chip.
const bnoModeBits = 0x10

// Power implements Device: the registers of power-on (section 4.2, and a real chip's), and the wait before any answer.
func (c *bno055) Power(_ bool, now time.Duration) {
	c.regs, c.half = registers{}, c.half[:0]
	for r, v := range map[byte]byte{0: imureg.BNO055ID, 1: 0xFB, 2: 0x32, 3: 0x0F, 4: 0x11, 5: 0x03, 6: 0x15,
		0x36: 0x0F, imureg.BNO055Units: 0x80, 0x3C: 0xFF, imureg.BNO055Mode: bnoModeBits, imureg.BNO055AxisMap: 0x24,
		// self-test passed; no soft-iron correction, radius 480
		0x44: 0x40, 0x4C: 0x40, 0x54: 0x40, 0x69: 0xE0, 0x6A: 0x01} {
		c.regs.file[r] = v
	}
	c.booted, c.fused, c.page = now+imureg.BNO055Boot, now, 0
}

func (c *bno055) Transfer(w, r []byte, now time.Duration) error {
	if now < c.booted {
		return ErrNoAcknowledge
	}
	c.measure(now)
	c.regs.transfer(w, r, func(register, v byte) { c.write(register, v, now) })
	if c.page == 1 && len(w) > 0 {
		c.other(w[0], r)
	}
	return nil
}

// other replaces the bytes read from register on by those of page 1, whose settings are not emulated: zeros.
func (c *bno055) other(register byte, p []byte) {
	for i := range p {
		if p[i] = 0; register+byte(i) == imureg.BNO055Page {
			p[i] = 1
		}
	}
}

// mode is the operating mode in force.
func (c *bno055) mode() byte { return c.regs.file[imureg.BNO055Mode] & 0x0F }

// write stores one byte by the rules: most registers can only be changed in the configuration mode.
func (c *bno055) write(register, v byte, now time.Duration) {
	switch {
	case c.page == 0 && register == imureg.BNO055Trigger && v&0x20 != 0:
		c.Power(true, now)
	case c.page == 0 && register == imureg.BNO055Mode:
		if c.mode() != v&0x0F {
			c.fused = now + imureg.BNO055ToFusion + imureg.BNO055Period
		}
		c.regs.file[register] = bnoModeBits | v&0x0F
	case register == imureg.BNO055Page:
		c.page = v & 1
	case c.page == 1:
	case register >= imureg.BNO055Units && register <= imureg.BNO055Offsets+imureg.BNO055OffsetSize &&
		c.mode() == imureg.BNO055ModeConfig:
		c.regs.file[register] = v
	}
}

// measure fills the data registers from the present motion.
func (c *bno055) measure(now time.Duration) {
	f, m := &c.regs, &c.Motion
	if c.Hangs {
		return
	}
	clear(f.file[imureg.BNO055Acc : imureg.BNO055Temperature+1])
	f.file[imureg.BNO055Status] = 0
	f.file[imureg.BNO055Temperature] = byte(counts(m.Celsius, 1, 8))
	// In the configuration mode all sensors are stopped and their registers read 0.
	if c.mode() == imureg.BNO055ModeConfig {
		return
	}
	dice := uint64(0)
	const still = 0.05                                                                 // rad/s
	if max(math.Abs(m.Rates[0]), math.Abs(m.Rates[1]), math.Abs(m.Rates[2])) < still { // what turns has noise enough
		at := m.Since
		if at < 0 {
			at = now
		}
		dice = flicker(at / imureg.BNO055Period)
	}
	for axis := range 3 {
		at := byte(2 * axis)
		f.putLE16(imureg.BNO055Acc+at, counts(m.Acceleration[axis], imureg.BNO055AccScale, 16))
		f.putLE16(imureg.BNO055Gyro+at, counts(m.Rates[axis], imureg.BNO055GyroScale, 16)+int64(dice>>axis&1))
		if c.mode() == imureg.BNO055ModeNDOF {
			f.putLE16(imureg.BNO055Mag+at, counts(m.Field[axis], imureg.BNO055MagScale, 16))
		}
	}
	if now < c.fused {
		return
	}
	// Gyro and accelerometer count as calibrated, system and field only where there is a magnetometer.
	f.file[imureg.BNO055Status], f.file[imureg.BNO055Calibration] = imureg.BNO055Running, 0x3C
	if c.mode() == imureg.BNO055ModeNDOF {
		f.file[imureg.BNO055Calibration] = 0xFF
	}
	q := m.Attitude
	if q == ([4]float64{}) {
		q[0] = 1
	}
	for i, v := range q {
		n := counts(math.Max(-1, math.Min(1, v)), imureg.BNO055QuatScale, 16)
		if math.Abs(v) < 0.7 { // no digit of noise makes it longer than 1
			n += int64(dice >> (8 + i) & 1)
		}
		f.putLE16(imureg.BNO055Quaternion+byte(2*i), n)
	}
}

// flicker is the noise in the last digits of a period's sample: bits that look random.
func flicker(period time.Duration) uint64 {
	x := uint64(period) * 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	return x ^ x>>27
}

// Receive implements Endpoint: the serial protocol of section 4.7.
func (c *bno055) Receive(p []byte, now time.Duration, answer []byte) []byte {
	// "Receive character timeout": a request that stops is forgotten after 30 ms.
	if len(c.half) > 0 && now-c.received > 30*time.Millisecond {
		c.half = c.half[:0]
	}
	c.received = now
	for _, b := range p {
		if now < c.booted { // since power-on, or since a byte before this one reset it
			c.half = c.half[:0]
			return answer
		}
		if len(c.half) == 0 && b != imureg.BNO055Start {
			answer = append(answer, imureg.BNO055Answer, 6) // wrong start byte
			continue
		}
		if c.half = append(c.half, b); len(c.half) < 4 {
			continue
		}
		read, register, n := c.half[1] == 1, c.half[2], int(c.half[3])
		switch {
		case n == 0:
			answer = append(answer, imureg.BNO055Answer, 9)
		case n > imureg.BNO055MaxTransfer:
			answer = append(answer, imureg.BNO055Answer, 8)
		case int(register)+n > 0x80 || c.half[1] > 1:
			answer = append(answer, imureg.BNO055Answer, 4)
		case read:
			c.measure(now)
			answer = append(answer, imureg.BNO055Reply, byte(n))
			answer = append(answer, c.regs.file[register:int(register)+n]...)
			if c.page == 1 {
				c.other(register, answer[len(answer)-n:])
			}
		case len(c.half) < 4+n:
			continue // the data is still coming
		default:
			for i, v := range c.half[4:] {
				c.write(register+byte(i), v, now)
			}
			answer = append(answer, imureg.BNO055Answer, imureg.BNO055Wrote)
		}
		c.half = c.half[:0]
	}
	return answer
}
