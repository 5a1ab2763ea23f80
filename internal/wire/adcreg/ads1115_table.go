package adcreg

import (
	"time"
)

// Registers, 16 bits each, big-endian (TI SBAS444E, section 8.6).
const (
	ADS1115Conversion = 0x00
	ADS1115Setup      = 0x01 // 0x8583 at power-on
)

// Bits of the configuration.
const (
	ADS1115Start   = 0x8000 // written: convert once; read: it is done
	ADS1115Single  = 0x4000 // MUX 14..12: AIN0..AIN3 against ground are 4..7
	ADS1115Once    = 0x0100 // power down after a conversion
	ADS1115NoAlert = 0x0003
	ADS1115Default = 0x8583
)

// ADS1115Rates are the samples a second of the bits 7..5, in their order.
func ADS1115Rates() []int { return []int{8, 16, 32, 64, 128, 250, 475, 860} }

// ADS1115Time is how long a conversion takes at most: rates are within 10 % (section 7.5), and waking takes 25 µs.
func ADS1115Time(rate int) time.Duration {
	return 1100*time.Millisecond/time.Duration(rate) + 50*time.Microsecond
}
