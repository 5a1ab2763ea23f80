package camera

import (
	"bytes"
	"errors"
	"fmt"
)

// Markers of a JPEG (ITU-T T.81, table B.1).
const (
	jpegBaseline = 0xC0
	jpegExtended = 0xC1
	jpegTables   = 0xC4 // Huffman tables
	jpegRestart  = 0xD0 // and the seven after it
	jpegStart    = 0xD8
	jpegEnd      = 0xD9
	jpegScan     = 0xDA
	jpegInterval = 0xDD
)

// maxScans bounds the scans of one frame: three where each component has its own.
const maxScans = 4

// anatomy is the structure of a JPEG from its markers, without decoding.
type anatomy struct {
	end    int  // offset behind the end marker; the rest is padding
	tables bool // it has Huffman tables

	width, height int
	components    int
	across, down  int // of pixels in an MCU
	interval      int // MCUs between restarts; 0 = none
	scans         int
}

var errCut = errors.New("cut off before its end")

// inspect goes along the markers of a JPEG that must be so wide and high. Go's decoder forgives much; this does not: a
// frame that is cut off, has another size or has lost a part between two restart markers is refused before anything is
// allocated for it.
func inspect(p []byte, width, height int) (a anatomy, err error) {
	if len(p) < 4 || p[0] != 0xFF || p[1] != jpegStart {
		return a, fmt.Errorf("got % X, want a JPEG", p[:min(4, len(p))])
	}
	for at := 2; ; {
		for at+1 < len(p) && p[at] == 0xFF && p[at+1] == 0xFF {
			at++ // padding
		}
		switch {
		case at+2 > len(p):
			return a, errCut
		case p[at] != 0xFF:
			return a, fmt.Errorf("byte %d: got 0x%02X, want a marker", at, p[at])
		case p[at+1] == 0 || p[at+1] >= jpegRestart && p[at+1] <= jpegStart:
			// These have no length. A decoder that skips only them would find headers in data that is skipped here.
			return a, fmt.Errorf("byte %d: got marker 0x%02X out of place", at, p[at+1])
		case p[at+1] == jpegEnd && a.scans == 0:
			return a, errors.New("no picture in it")
		case p[at+1] == jpegEnd:
			a.end = at + 2
			return a, nil
		}
		if at+4 > len(p) {
			return a, errCut
		}
		marker, n := p[at+1], int(p[at+2])<<8|int(p[at+3])
		if n < 2 || at+2+n > len(p) {
			return a, errCut
		}
		body := p[at+4 : at+2+n]
		at += 2 + n
		switch marker {
		case jpegBaseline, jpegExtended:
			err = a.frame(body, width, height)
		case jpegTables:
			a.tables = true
		case jpegInterval:
			if len(body) != 2 {
				return a, errCut
			}
			a.interval = int(body[0])<<8 | int(body[1])
		case jpegScan:
			at, err = a.scan(p, at, len(body) > 0 && int(body[0]) == a.components)
		default:
			if marker > jpegExtended && marker < jpegRestart && marker != 0xC8 && marker != 0xCC {
				err = fmt.Errorf("coding 0x%02X: want baseline", marker)
			}
		}
		if err != nil {
			return a, err
		}
	}
}

// frame reads a frame header.
func (a *anatomy) frame(p []byte, width, height int) error {
	switch {
	case a.components > 0:
		return errors.New("got two frame headers")
	case len(p) < 6 || len(p) != 6+3*int(p[5]):
		return errCut
	}
	a.height, a.width, a.components = int(p[1])<<8|int(p[2]), int(p[3])<<8|int(p[4]), int(p[5])
	if a.width != width || a.height != height {
		return fmt.Errorf("got %dx%d, want %dx%d", a.width, a.height, width, height)
	}
	if p[0] != 8 || a.components != 1 && a.components != 3 {
		return fmt.Errorf("got %d components of %d bits, want 1 or 3 of 8", a.components, p[0])
	}
	for i := range a.components {
		h, v := int(p[6+3*i+1]>>4), int(p[6+3*i+1]&15)
		if h < 1 || h > 4 || v < 1 || v > 4 {
			return fmt.Errorf("sampling: got %dx%d, want 1..4", h, v)
		}
		a.across, a.down = max(a.across, 8*h), max(a.down, 8*v)
	}
	if a.components == 1 {
		a.across, a.down = 8, 8
	}
	return nil
}

// scan skips coded data from at on, and returns the offset of the marker behind it. Restart markers must be complete
// and in order: this detects a lost part, if the camera sends them.
func (a *anatomy) scan(p []byte, at int, whole bool) (int, error) {
	if a.scans++; a.components == 0 || a.scans > maxScans {
		return at, fmt.Errorf("scan %d: out of place", a.scans)
	}
	restarts := 0
	for {
		k := bytes.IndexByte(p[at:], 0xFF)
		if k < 0 || at+k+1 >= len(p) {
			return at, errCut
		}
		at += k
		marker := p[at+1]
		switch {
		case marker == 0: // a byte of data
			at += 2
		case marker == 0xFF:
			at++
		case marker >= jpegRestart && marker < jpegStart:
			if int(marker-jpegRestart) != restarts%8 || a.interval == 0 {
				return at, fmt.Errorf("restart %d: got marker 0x%02X: a part of it is missing", restarts, marker)
			}
			restarts++
			at += 2
		default:
			if a.interval > 0 && whole {
				mcus := (a.width + a.across - 1) / a.across * ((a.height + a.down - 1) / a.down)
				if want := (mcus+a.interval-1)/a.interval - 1; restarts != want {
					return at, fmt.Errorf("restarts: got %d, want %d: a part of it is missing", restarts, want)
				}
			}
			return at, nil
		}
	}
}
