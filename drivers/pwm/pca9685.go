package pwm

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"time"

	"periph.io/x/conn/v3/gpio"
	conn "periph.io/x/conn/v3/i2c"

	"github.com/halyard-robotics/halyard/drivers/i2c"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/pwmreg"
)

// PCA9685Config describes how a PCA9685 is used.
type PCA9685Config struct {
	Address    uint16    // 0 = PCA9685Address
	Channels   int       // 0..Channels-1 are used; 0 = all 16
	Hertz      float64   // of the pulses, 24..400; 0 = 50. 24 Hz is where the prescaler ends
	Oscillator float64   // Hz, measured on this very chip; 0 = 25 MHz
	Clock      hal.Clock // for the wait of Open; nil = the wall's
	// Alone allows a software reset of the bus, where the chip waits for an external clock: no other chip's pulses end
	// by it.
	Alone bool
}

// PCA9685 is one chip. It is a drivers.Output.
type PCA9685 struct {
	bus    conn.Bus
	chip   *i2c.Chip
	reset  bool // of the software reset that the last Open needed
	config PCA9685Config
	scale  byte
	step   float64 // s a count
	data   []byte
}

// NewPCA9685 returns the chip on bus. It does no I/O. The error is hal.Invalid.
func NewPCA9685(bus conn.Bus, c PCA9685Config) (*PCA9685, error) {
	c.Address = cmp.Or(c.Address, PCA9685Address)
	c.Channels = cmp.Or(c.Channels, PCA9685Channels)
	c.Hertz = cmp.Or(c.Hertz, 50)
	c.Oscillator = cmp.Or(c.Oscillator, PCA9685Oscillator)
	c.Clock = cmp.Or(c.Clock, i2c.Clock())
	d := &PCA9685{bus: bus, chip: i2c.NewChip(bus, c.Address, "pca9685"), config: c}
	switch {
	case c.Channels < 1 || c.Channels > PCA9685Channels:
		return nil, d.chip.Faultf(hal.Invalid, "channels: got %d, want 1..16", c.Channels)
	case !(c.Hertz >= 24 && c.Hertz <= 400): // an ESC takes 400 Hz at most
		return nil, d.chip.Faultf(hal.Invalid, "frequency: got %g, want 24..400 Hz", c.Hertz)
	case !(c.Oscillator >= 20e6 && c.Oscillator <= 50e6):
		return nil, d.chip.Faultf(hal.Invalid, "oscillator: got %g, want 20e6..50e6 Hz", c.Oscillator)
	}
	d.scale = pwmreg.PCA9685Scale(c.Oscillator, c.Hertz)
	d.step = pwmreg.PCA9685Step(c.Oscillator, d.scale)
	d.data = make([]byte, 4*c.Channels)
	return d, nil
}

// Hertz is the frequency that the prescaler really makes, if the oscillator is the value in the config.
func (d *PCA9685) Hertz() float64 { return 1 / (d.step * pwmreg.PCA9685Steps) }

// Open sets the chip up, every channel off: 500 µs and seven transactions.
func (d *PCA9685) Open() error {
	// By itself: the pointer does not run on yet, and a second byte would be mode 1 once more.
	p, err := d.chip.Read(pwmreg.PCA9685Mode2, 1)
	if err != nil {
		return d.chip.Absent(err)
	}
	// It has no identity register; a chip with reserved bits set in mode 2 is another one.
	if p[0]&0xE0 != 0 {
		return d.chip.Faultf(hal.Absent, "mode 2: got 0x%02X, want no bit of 0xE0", p[0])
	}
	if err := d.ownClock(); err != nil {
		return err
	}
	for _, w := range [...]struct{ register, value byte }{
		{pwmreg.PCA9685All + 3, pwmreg.PCA9685Full}, // all off before anything runs
		{pwmreg.PCA9685Mode1, pwmreg.PCA9685Sleep},
		{pwmreg.PCA9685PreScale, d.scale},
		{pwmreg.PCA9685Mode2, pwmreg.PCA9685Drive},
		{pwmreg.PCA9685Mode1, pwmreg.PCA9685AI},
	} {
		if err := d.chip.Write(w.register, w.value); err != nil {
			return err
		}
	}
	i2c.Sleep(d.config.Clock, pwmreg.PCA9685Wake)
	if err := d.chip.Write(pwmreg.PCA9685Mode1, pwmreg.PCA9685AI|pwmreg.PCA9685Restart); err != nil {
		return err
	}
	if p, err = d.chip.Read(pwmreg.PCA9685PreScale, 1); err != nil {
		return err
	}
	if p[0] != d.scale {
		return d.chip.Faultf(hal.Absent, "prescaler: got %d, want %d: not a PCA9685", p[0], d.scale)
	}
	return nil
}

// ownClock looks whether another program has set the chip to an external clock, without which it makes no pulses, and
// which no write ends.
func (d *PCA9685) ownClock() error {
	d.reset = false
	p, err := d.chip.Read(pwmreg.PCA9685Mode1, 1)
	if err != nil || p[0]&pwmreg.PCA9685ExtClk == 0 {
		return err
	}
	if d.config.Alone {
		if err := d.bus.Tx(pwmreg.PCA9685General, []byte{pwmreg.PCA9685Software}, nil); err == nil {
			i2c.Sleep(d.config.Clock, pwmreg.PCA9685Wake)
			if p, err := d.chip.Read(pwmreg.PCA9685Mode1, 1); err == nil && p[0]&pwmreg.PCA9685ExtClk == 0 {
				d.reset = true
				return nil
			}
		}
	}
	return d.chip.Fault(hal.BusFault, ErrExternalClock)
}

// ErrExternalClock is of a PCA9685 that another program has set to an external clock.
var ErrExternalClock = errors.New(
	"mode 1: it is set to an external clock (EXTCLK) until its power goes or a software reset of the bus: " +
		"power cycle the board")

// Note reports a software reset of Open.
func (d *PCA9685) Note() string {
	if !d.reset {
		return ""
	}
	return "another program had set it to an external clock (EXTCLK): the bus was reset by software"
}

// Write sets all channels in one transaction; they take effect together at its end. It also checks the chip's settings.
// A pulse is rounded to counts: 4.9 µs at 50 Hz, 0.8 µs at 333 Hz.
func (d *PCA9685) Write(pulses []time.Duration) error {
	for i := range d.config.Channels {
		pulse := time.Duration(0)
		if i < len(pulses) {
			pulse = pulses[i]
		}
		n := int(math.Round(pulse.Seconds() / d.step))
		if n >= pwmreg.PCA9685Steps {
			return d.chip.Faultf(hal.Invalid, "channel %d: pulse: got %v, want less than %.2f ms", i, pulse,
				d.step*pwmreg.PCA9685Steps*1e3)
		}
		b := d.data[4*i : 4*i+4]
		if b[0], b[1], b[2], b[3] = 0, 0, byte(n), byte(n>>8); n <= 0 {
			b[2], b[3] = 0, pwmreg.PCA9685Full
		}
	}
	// Asked first: a chip that has been reset would take the bytes one over the other into one register.
	p, err := d.chip.Read(pwmreg.PCA9685Mode1, 1)
	if err != nil {
		return err
	}
	if got := p[0] &^ pwmreg.PCA9685Restart; got != pwmreg.PCA9685AI {
		return d.chip.Faultf(hal.Absent, "mode 1: got 0x%02X, want 0x%02X: the chip was reset", got, pwmreg.PCA9685AI)
	}
	return d.chip.Write(pwmreg.PCA9685LED0, d.data...)
}

// Off ends all pulses at once, by the register of all channels, and asks each channel whether it did.
func (d *PCA9685) Off() []error {
	if err := d.chip.Write(pwmreg.PCA9685All+3, pwmreg.PCA9685Full); err != nil {
		return slices.Repeat([]error{err}, d.config.Channels)
	}
	errs := make([]error, d.config.Channels)
	for i := range errs {
		p, err := d.chip.Read(pwmreg.PCA9685LED0+byte(4*i)+3, 1)
		switch {
		case err != nil:
			errs[i] = err
		case p[0]&pwmreg.PCA9685Full == 0:
			errs[i] = d.chip.Faultf(hal.BusFault, "channel %d: off: got 0x%02X, want bit 0x%02X", i, p[0],
				pwmreg.PCA9685Full)
		}
	}
	return errs
}

// Close leaves the chip as it is.
func (d *PCA9685) Close() error { return nil }

// Gate returns a function that switches all channels by a chip's OE pin, even if its bus fails: for
// OutputWriterConfig.Gate. The pin is low to enable the outputs.
func Gate(oe gpio.PinOut) func(open bool) error {
	return func(open bool) error {
		if err := oe.Out(gpio.Level(!open)); err != nil {
			return &hal.Error{Kind: hal.BusFault, Bus: oe.Name(), Op: "output enable", Err: err}
		}
		return nil
	}
}

// PCA9685Address is the first of its addresses, by the pins A5..A0.
const PCA9685Address = 0x40

// PCA9685Channels is how many outputs it has.
const PCA9685Channels = 16

// PCA9685Oscillator is the internal oscillator's frequency by the datasheet, Hz. Real ones run at 23 to 27 MHz: pulses
// are wrong by as much until it is measured.
const PCA9685Oscillator = 25e6
