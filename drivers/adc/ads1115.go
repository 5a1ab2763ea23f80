package adc

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"time"

	conn "periph.io/x/conn/v3/i2c"

	"github.com/halyard-robotics/halyard/drivers/i2c"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/adcreg"
)

// ADS1115In is the configuration of one input.
type ADS1115In struct {
	Input int     // 0..3, against ground
	Volts float64 // full scale: 6.144, 4.096, 2.048, 1.024, 0.512 or 0.256; 0 = 4.096
	// Scale and Offset make the value of the volts: volts · Scale + Offset. A zero Scale is 1: volts.
	Scale, Offset float64
}

// ADS1115Config describes how an ADS1115 is used.
type ADS1115Config struct {
	Address uint16      // 0 = ADS1115Address
	Rate    int         // samples a second: 8, 16, 32, 64, 128, 250, 475 or 860; 0 = 860
	Inputs  []ADS1115In // in the order of the values; at least one
	// Turn is locked from a conversion's start to its reading, by all readers of one chip; nil = this is the only
	// reader.
	Turn  *sync.Mutex
	Clock hal.Clock // for the wait for a conversion; nil = the wall clock
}

// ADS1115 is one chip. It is a drivers.Sensor of a value for each of its inputs.
type ADS1115 struct {
	chip   *i2c.Chip
	config ADS1115Config
	words  []uint16  // config words that start each conversion
	perLSB []float64 // V
	takes  time.Duration
}

// NewADS1115 returns the chip on bus. It does no I/O. The error is hal.Invalid.
func NewADS1115(bus conn.Bus, c ADS1115Config) (*ADS1115, error) {
	c.Address = cmp.Or(c.Address, ADS1115Address)
	c.Rate = cmp.Or(c.Rate, 860)
	c.Clock = cmp.Or(c.Clock, i2c.Clock())
	if c.Turn == nil {
		c.Turn = new(sync.Mutex)
	}
	c.Inputs = slices.Clone(c.Inputs)
	s := &ADS1115{chip: i2c.NewChip(bus, c.Address, "ads1115"), config: c, takes: adcreg.ADS1115Time(c.Rate)}
	if !slices.Contains(adcreg.ADS1115Rates(), c.Rate) {
		return nil, s.chip.Faultf(hal.Invalid, "rate: got %d, want one of %v", c.Rate, adcreg.ADS1115Rates())
	}
	if len(c.Inputs) == 0 {
		return nil, s.chip.Faultf(hal.Invalid, "inputs: got none, want 1 or more")
	}
	gains := ADS1115Gains()
	for k := range c.Inputs {
		in := &c.Inputs[k]
		in.Volts = cmp.Or(in.Volts, 4.096)
		in.Scale = cmp.Or(in.Scale, 1)
		g := slices.IndexFunc(gains, func(g ADS1115Gain) bool { return g.Volts == in.Volts })
		if g < 0 || in.Input < 0 || in.Input > 3 {
			return nil, s.chip.Faultf(hal.Invalid,
				"input %d: got %d of ±%g V, want 0..3 of 6.144, 4.096, 2.048, 1.024, 0.512 or 0.256",
				k, in.Input, in.Volts)
		}
		s.words = append(s.words, ads1115Word(in.Input, gains[g], c.Rate))
		s.perLSB = append(s.perLSB, gains[g].Volts/32768)
	}
	return s, nil
}

// Open looks whether the chip answers as one does. It has no identity.
func (s *ADS1115) Open() error {
	s.config.Turn.Lock() // not while it converts for another
	defer s.config.Turn.Unlock()
	word, err := s.chip.ReadWord(adcreg.ADS1115Setup)
	if err != nil {
		return s.chip.Absent(err)
	}
	// At rest bit 15 is set, and the bits of the comparator are as at power-on or as this driver leaves them.
	if word&adcreg.ADS1115Start == 0 && word&adcreg.ADS1115Once != 0 {
		return s.chip.Faultf(hal.Absent, "configuration: got 0x%04X, want bit 15 set", word)
	}
	return nil
}

// Read converts the inputs one after the other: 1.3 ms each at 860 samples a second. An input at the end of its scale
// is beyond it by an unknown amount: its value is NaN, and where no other input has a value, an error.
func (s *ADS1115) Read(values []float64) error {
	var beyond error
	valid := 0
	for k, word := range s.words[:min(len(s.words), len(values))] {
		raw, err := s.convert(word)
		if err != nil {
			return err
		}
		in := &s.config.Inputs[k]
		if values[k] = float64(raw)*s.perLSB[k]*in.Scale + in.Offset; raw == math.MaxInt16 || raw == math.MinInt16 {
			beyond = s.chip.Faultf(hal.BusFault,
				"input %d: got the end of its scale, ±%g V, want less: the voltage is beyond it", in.Input, in.Volts)
			values[k] = math.NaN()
			continue
		}
		valid++
	}
	if valid > 0 {
		return nil
	}
	return beyond
}

// convert runs one conversion. It is an error if the chip does not report it as complete, with the requested settings.
func (s *ADS1115) convert(word uint16) (int16, error) {
	s.config.Turn.Lock()
	defer s.config.Turn.Unlock()
	if err := s.chip.WriteWord(adcreg.ADS1115Setup, word); err != nil {
		return 0, err
	}
	i2c.Sleep(s.config.Clock, s.takes)
	got, err := s.chip.ReadWord(adcreg.ADS1115Setup)
	if err != nil {
		return 0, err
	}
	if got != word {
		kind := hal.BusFault
		if got == adcreg.ADS1115Default {
			kind = hal.Absent
		}
		return 0, s.chip.Faultf(kind, "configuration: got 0x%04X after a conversion, want 0x%04X", got, word)
	}
	raw, err := s.chip.ReadWord(adcreg.ADS1115Conversion)
	return int16(raw), err
}

// Close does nothing: between conversions the chip sleeps by itself.
func (s *ADS1115) Close() error { return nil }

// ADS1115Address is the first of its four addresses, by the ADDR pin.
const ADS1115Address = 0x48

// ADS1115Gain is one full scale and the bits 11..9 that choose it.
type ADS1115Gain struct {
	Volts float64
	Bits  uint16
}

// ADS1115Gains are the six.
func ADS1115Gains() []ADS1115Gain {
	return []ADS1115Gain{{6.144, 0 << 9}, {4.096, 1 << 9}, {2.048, 2 << 9}, {1.024, 3 << 9}, {0.512, 4 << 9},
		{0.256, 5 << 9}}
}

// ads1115Word is the configuration that starts one conversion of an input 0..3.
func ads1115Word(input int, gain ADS1115Gain, rate int) uint16 {
	code := uint16(max(0, slices.Index(adcreg.ADS1115Rates(), rate)))
	return adcreg.ADS1115Start | adcreg.ADS1115Single | adcreg.ADS1115Once | adcreg.ADS1115NoAlert | uint16(
		input)<<12 | gain.Bits | code<<5
}
