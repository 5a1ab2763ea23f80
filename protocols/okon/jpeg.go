package okon

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"

	"github.com/halyard-robotics/halyard/hal"
)

// encoder compresses pictures. It keeps its scratch memory; one goroutine uses it.
type encoder struct {
	colour *image.RGBA
	grey   *image.Gray
	out    bytes.Buffer
}

// encode returns p as a JPEG of quality 0..100 in memory of its own. A depth picture is white where something is near,
// black from far metres on, and linear between.
func (e *encoder) encode(p *hal.Picture, quality int, far float64) ([]byte, error) {
	var m image.Image
	pixels := max(0, p.Width) * max(0, p.Height)
	box := image.Rect(0, 0, p.Width, p.Height)
	switch {
	case pixels > 0 && len(p.RGB) == 3*pixels:
		if e.colour == nil || e.colour.Rect != box {
			e.colour = image.NewRGBA(box)
		}
		for i, at := 0, 0; i < len(p.RGB); i, at = i+3, at+4 {
			to := e.colour.Pix[at : at+4 : at+4]
			to[0], to[1], to[2], to[3] = p.RGB[i], p.RGB[i+1], p.RGB[i+2], 255
		}
		m = e.colour
	case pixels > 0 && len(p.Depth) == pixels:
		if e.grey == nil || e.grey.Rect != box {
			e.grey = image.NewGray(box)
		}
		for i, d := range p.Depth {
			near := 1 - float64(d)/far
			if !(near > 0) {
				near = 0 // no surface in range, or the depth is unknown
			}
			e.grey.Pix[i] = uint8(255 * min(1, near))
		}
		m = e.grey
	default:
		return nil, fmt.Errorf("picture of %d x %d: got %d bytes of colour and %d depths", p.Width, p.Height,
			len(p.RGB), len(p.Depth))
	}
	e.out.Reset()
	if err := jpeg.Encode(&e.out, m, &jpeg.Options{Quality: max(1, min(100, quality))}); err != nil {
		return nil, err
	}
	return bytes.Clone(e.out.Bytes()), nil
}
