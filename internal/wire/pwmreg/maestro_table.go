package pwmreg

import "strings"

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
