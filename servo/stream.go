package servo

import (
	"bytes"
	"errors"
	"fmt"
)

// Causes of a device's error that its line is not to blame for. Errors wrap them.
var (
	// ErrForeign is of bytes that come, but not from the device: another one is there, or another rate.
	ErrForeign = errors.New("something else sends there")
	// ErrReported is of a device that answers, and reports a fault or refuses what it is told.
	ErrReported = errors.New("reported by the device")
)

// Foreign is the error of bytes that came in place of an answer.
func Foreign(p []byte) error {
	like := ""
	if name := recognize(p); name != "" {
		like = ", like " + name
	}
	return fmt.Errorf("got bytes that are no answer, % X ..%s: %w", p[:min(len(p), 12)], like, ErrForeign)
}

// recognize names the device whose stream p looks like, "" if none. p has a few hundred bytes.
func recognize(p []byte) string {
	printable := 0
	for _, b := range p {
		if b >= ' ' && b < 0x7F || b == '\r' || b == '\n' || b == '\t' {
			printable++
		}
	}
	switch {
	case len(p) < 8:
		return ""
	case bytes.Contains(p, []byte("RP LIDAR")):
		return "an RPLIDAR that boots"
	case bytes.Contains(p, []byte("\n99b\n")) || bytes.Contains(p, []byte("\n00P\n")):
		return "a Hokuyo's (SCIP)"
	case bytes.Contains(p, []byte{0xA5, 0x5A}) || spaced(p, 84, 0xA0, 0x50) || spaced(p, 132, 0xA0, 0x50) || nodes(p):
		return "an RPLIDAR's scan"
	case bytes.Contains(p, []byte{0x02, 0x80}) && bytes.Contains(p, []byte{0xB0}):
		return "a SICK LMS's"
	case bytes.Count(p, []byte{0xFA, 0xFB}) >= 2:
		return "a Pioneer's (P2OS)"
	case bytes.Count(p, []byte{0xFF, 0xFF}) >= 2:
		return "a bus of servos"
	case bytes.Contains(p, []byte("$G")):
		return "a GPS receiver's (NMEA)"
	case printable*20 >= len(p)*19:
		return fmt.Sprintf("text (%q)", p[:min(len(p), 24)])
	}
	return ""
}

// spaced reports whether p has two bytes with these upper halves, and again size bytes later.
func spaced(p []byte, size int, one, two byte) bool {
	for i := 0; i+size+1 < len(p); i++ {
		if p[i]&0xF0 == one && p[i+1]&0xF0 == two && p[i+size]&0xF0 == one && p[i+size+1]&0xF0 == two {
			return true
		}
	}
	return false
}

// nodes reports whether twelve samples of five bytes with their check bits stand in a row.
func nodes(p []byte) bool {
	for i := 0; i+60 <= len(p); i++ {
		k := 0
		for k < 12 && (p[i+5*k]^p[i+5*k]>>1)&1 == 1 && p[i+5*k+1]&1 == 1 {
			k++
		}
		if k == 12 {
			return true
		}
	}
	return false
}
