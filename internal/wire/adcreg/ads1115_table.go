package adcreg

import "time"

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

// Registers, 16 bits each, big-endian (TI SBOS448G, section 8.6).
const (
	INA219Setup       = 0x00 // 0x399F at power-on
	INA219Shunt       = 0x01 // signed, 10 µV
	INA219Bus         = 0x02 // 15..3: 4 mV; bit 1 ready, bit 0 overflow
	INA219Power       = 0x03 // 20 current counts
	INA219Current     = 0x04 // signed, in counts of the calibration
	INA219Calibration = 0x05 // trunc(0.04096 / (count · shunt)); bit 0 is always 0
)

// Values and scales.
const (
	INA219Default    = 0x399F
	INA219Reset      = 0x8000
	INA219Continuous = 0x399F&^0x0078 | 0x0068 // 32 V, ±320 mV, the bus in 12 bits, the shunt as the mean of 32: 17 ms
	INA219BusLSB     = 0.004                   // V
	INA219ShuntLSB   = 10e-6                   // V
	INA219Scale      = 0.04096
	INA219Overflow   = 0x0001
	INA219BusFull    = 8000 // counts, 32 V
)
