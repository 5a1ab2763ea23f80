package adc

import (
	"slices"

	"github.com/halyard-robotics/halyard/internal/wire/adcreg"
)

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
