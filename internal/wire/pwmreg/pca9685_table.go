package pwmreg

import (
	"math"
	"strings"
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

// Maestro's compact commands (Pololu, "Maestro Servo Controller User's Guide", section 5.e). Two bytes of a value go
// low 7 bits first. The Pololu protocol is MaestroStart, the device's number, the command without bit 7, and the rest.
const (
	MaestroStart    = 0xAA
	MaestroTarget   = 0x84 // channel, target in quarter µs, 2 x 7 bits; 0 = no pulses
	MaestroSpeed    = 0x87 // channel, 0.25 µs / 10 ms
	MaestroAccel    = 0x89 // channel, 0.25 µs / 10 ms / 80 ms
	MaestroPosition = 0x90 // channel -> 2 bytes, little-endian: quarter µs
	MaestroMoving   = 0x93 // -> 1 byte
	MaestroTargets  = 0x9F // n, first channel, n targets; not on the Micro of 6 channels
	MaestroErrors   = 0xA1 // -> 2 bytes of MaestroErrorNames, which are cleared
	MaestroHome     = 0xA2
	MaestroMini     = 0xFF // mini SSC: channel, 0..254
)

// MaestroQuarters is how many counts of a target a µs has.
const MaestroQuarters = 4

// maestroErrors names the bits of MaestroErrors (section 4.e).
func MaestroErrorNames(bits uint16) string {
	var names []string
	for i, n := range [...]string{"serial signal", "serial overrun", "serial buffer full", "CRC", "protocol",
		"serial timeout", "script stack", "script call stack", "script program counter"} {
		if bits&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return strings.Join(names, ", ")
}

// MaestroCRC is the CRC-7 at the end of commands, if enabled in the settings (section 5.d): x^7 + x^3 + 1, low bit
// first.
func MaestroCRC(p []byte) byte {
	crc := byte(0)
	for _, b := range p {
		crc ^= b
		for range 8 {
			if crc&1 != 0 {
				crc ^= 0x91
			}
			crc >>= 1
		}
	}
	return crc
}

// AppendMaestro appends one command to p: compact, or to device where that is not negative, with its CRC where crc is.
func AppendMaestro(p []byte, device int, crc bool, command byte, data ...byte) []byte {
	begin := len(p)
	if device >= 0 {
		p = append(p, MaestroStart, byte(device)&0x7F, command&0x7F)
	} else {
		p = append(p, command)
	}
	p = append(p, data...)
	if crc {
		p = append(p, MaestroCRC(p[begin:]))
	}
	return p
}
