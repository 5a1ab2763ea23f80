package pwmreg

import (
	"math"
	"time"
)

// Registers (NXP PCA9685 rev. 4, section 7.3).
const (
	PCA9685Mode1    = 0x00
	PCA9685Mode2    = 0x01
	PCA9685LED0     = 0x06 // ON_L ON_H OFF_L OFF_H, four a channel
	PCA9685All      = 0xFA // the same for all channels at once; reads as 0
	PCA9685PreScale = 0xFE // only while it sleeps
)

// Bits of the registers.
const (
	PCA9685Restart = 0x80 // mode 1
	// it counts a clock at its EXTCLK pin; once set, until its power goes or the bus is reset (7.3.1)
	PCA9685ExtClk = 0x40
	PCA9685AI     = 0x20 // the register pointer runs on
	PCA9685Sleep  = 0x10
	PCA9685Drive  = 0x04 // mode 2: push and pull; OUTNE 0: low while OE is high
	PCA9685Full   = 0x10 // in ON_H: always on; in OFF_H: always off, which wins
	PCA9685Reset1 = 0x11 // mode 1 at power-on
	PCA9685Reset2 = 0x04
)

// The software reset of NXP's chips: byte 06 to the general call address (7.6). It ends the pulses of all of them on
// the bus.
const (
	PCA9685General  = 0x00
	PCA9685Software = 0x06
)

// PCA9685Wake is how long the oscillator takes to run after a sleep.
const PCA9685Wake = 500 * time.Microsecond

// PCA9685Steps is how many counts a period has.
const PCA9685Steps = 4096

// PCA9685Scale is the prescaler's value for the frequency nearest to hertz: 3..255 (section 7.3.5).
func PCA9685Scale(oscillator, hertz float64) byte {
	return byte(math.Max(3, math.Min(255, math.Round(oscillator/(PCA9685Steps*hertz))-1)))
}

// PCA9685Step is how long one count is.
func PCA9685Step(oscillator float64, scale byte) float64 { return (float64(scale) + 1) / oscillator }
