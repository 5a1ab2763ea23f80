package imageserver

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
)

// Format is how pictures are sent: the type byte on the wire.
type Format uint8

// The formats.
const (
	Raw Format = iota
	Super
	Good
	Normal
	Average
	Bad
	numFormats
)

var formatNames = [...]string{"raw", "super", "good", "normal", "average", "bad"}

func (f Format) String() string {
	if f < numFormats {
		return formatNames[f]
	}
	return fmt.Sprintf("format(%d)", uint8(f))
}

// ParseFormat is the inverse of String.
func ParseFormat(name string) (Format, error) {
	if f := slices.Index(formatNames[:], name); f >= 0 {
		return Format(f), nil
	}
	return 0, fmt.Errorf("imageserver: format: got %q, want one of %v", name, formatNames)
}

// quality is the JPEG quality, 1..100.
func (f Format) quality() int { return [...]int{0, 100, 75, 50, 25, 10}[f] }

const (
	headerSize = 5
	rawHeader  = 4
	// maxSide bounds a picture's width and height.
	maxSide = 4096
	// MaxSize bounds a picture's data: the largest raw one. JPEG is smaller but for noise, of which it is not more
	// either.
	MaxSize = rawHeader + 3*maxSide*maxSide
)

// region is a part of a picture; the zero region is all of it.
type region struct{ x, y, width, height int }

// within clips r to a picture of that size; a region entirely outside becomes the whole picture.
func (r region) within(width, height int) region {
	x, y := min(r.x, width), min(r.y, height)
	r = region{x, y, min(r.width, width-x), min(r.height, height-y)}
	if r.width < 1 || r.height < 1 {
		return region{0, 0, width, height}
	}
	return r
}

// painter encodes pictures; it reuses its buffers.
type painter struct {
	format Format
	canvas image.RGBA
	out    bytes.Buffer
}

// paint returns the message with part of p at the size width x height, which is p's own where 0; nil and depth pictures
// are black. It is valid until the next call.
func (d *painter) paint(p *hal.Picture, width, height int, part region) ([]byte, error) {
	if width == 0 || height == 0 {
		width, height = p.Width, p.Height
	}
	if width < 1 || height < 1 || width > maxSide || height > maxSide {
		return nil, fmt.Errorf("imageserver: picture: got %dx%d, want 1..%d", width, height, maxSide)
	}
	part = part.within(width, height)
	d.out.Reset()
	d.out.Write(make([]byte, headerSize))
	var err error
	if d.format == Raw {
		d.raw(p, width, height, part)
	} else {
		err = d.jpeg(p, width, height, part)
	}
	b := d.out.Bytes()
	b[0] = byte(d.format)
	binary.BigEndian.PutUint32(b[1:], uint32(len(b)-headerSize))
	return b, err
}

// known reports whether p has pixels.
func known(p *hal.Picture) bool {
	return p != nil && len(p.RGB) >= 3*p.Width*p.Height && len(p.RGB) > 0
}

// raw writes the pixels of part, each the one of p that is nearest.
func (d *painter) raw(p *hal.Picture, width, height int, part region) {
	var size [rawHeader]byte
	binary.BigEndian.PutUint16(size[:], uint16(part.width))
	binary.BigEndian.PutUint16(size[2:], uint16(part.height))
	d.out.Write(size[:])
	if !known(p) {
		d.out.Write(make([]byte, 3*part.width*part.height))
		return
	}
	if p.Width == width && p.Height == height {
		for y := range part.height {
			row := p.RGB[3*((part.y+y)*width+part.x):]
			d.out.Write(row[:3*part.width])
		}
		return
	}
	d.out.Grow(3 * part.width * part.height)
	for y := range part.height {
		row := p.RGB[3*p.Width*((part.y+y)*p.Height/height):]
		for x := range part.width {
			at := 3 * ((part.x + x) * p.Width / width)
			d.out.Write(row[at : at+3])
		}
	}
}

// jpeg writes part at the format's quality.
func (d *painter) jpeg(p *hal.Picture, width, height int, part region) error {
	if d.canvas.Rect.Dx() != part.width || d.canvas.Rect.Dy() != part.height {
		d.canvas = *image.NewRGBA(image.Rect(0, 0, part.width, part.height))
	}
	if !known(p) {
		clear(d.canvas.Pix)
	} else {
		for y := range part.height {
			row := p.RGB[3*p.Width*((part.y+y)*p.Height/height):]
			to := d.canvas.Pix[y*d.canvas.Stride:]
			for x := range part.width {
				at := 3 * ((part.x + x) * p.Width / width)
				to[4*x], to[4*x+1], to[4*x+2], to[4*x+3] = row[at], row[at+1], row[at+2], 255
			}
		}
	}
	return jpeg.Encode(&d.out, &d.canvas, &jpeg.Options{Quality: d.format.quality()})
}

// Image is one picture as a client received it: RGB of a raw one, JPEG of the others.
type Image struct {
	Format        Format
	Width, Height int    // of a raw one
	Data          []byte // RGB, 3 bytes a pixel, or the JPEG file
}

var errFormat = errors.New("imageserver: not a picture")

// decode decodes the header and the data of one picture.
func decode(header [headerSize]byte, data []byte) (Image, error) {
	m := Image{Format: Format(header[0]), Data: data}
	if m.Format >= numFormats {
		return m, fmt.Errorf("%w: type: got %d, want below %d", errFormat, header[0], numFormats)
	}
	if m.Format != Raw {
		return m, nil
	}
	if len(data) < rawHeader {
		return m, fmt.Errorf("%w: got %d bytes, want a size", errFormat, len(data))
	}
	m.Width, m.Height = int(binary.BigEndian.Uint16(data)), int(binary.BigEndian.Uint16(data[2:]))
	if m.Data = data[rawHeader:]; len(m.Data) != 3*m.Width*m.Height {
		return m, fmt.Errorf("%w: got %d bytes, want those of %dx%d", errFormat, len(m.Data), m.Width, m.Height)
	}
	return m, nil
}
