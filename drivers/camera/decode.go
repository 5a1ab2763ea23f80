package camera

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
)

// Shape is what was agreed on with a device: how its frames come.
type Shape struct {
	Pixel         Pixel
	Width, Height int
	Stride        int  // bytes from one row to the next; of compressed formats nothing
	Full          bool // of YUYV: its values use all of 0..255
}

// MaxSide bounds both sides of a picture, pixels: what a hostile or broken device may make us allocate.
const MaxSide = 4096

// check refuses what no frame may be.
func (s Shape) check() error {
	switch row := s.Pixel.bytes(s.Width); {
	case s.Width < 1 || s.Height < 1 || s.Width > MaxSide || s.Height > MaxSide:
		return fmt.Errorf("size: got %dx%d, want 1..%d", s.Width, s.Height, MaxSide)
	case s.Pixel == YUYV && s.Width%2 != 0:
		return fmt.Errorf("size: got %dx%d, want an even width of YUYV", s.Width, s.Height)
	case row > 0 && (s.Stride < row || s.Stride > row+MaxSide):
		return fmt.Errorf("row: got %d bytes, want %d or some more", s.Stride, row)
	case row == 0 && s.Pixel != MJPG && s.Pixel != JPEG:
		return fmt.Errorf("pixel format: got %v, want one that is decoded here", s.Pixel)
	}
	return nil
}

// decoder makes pictures of frames. One goroutine uses it.
type decoder struct {
	shape  Shape
	tables []byte // the standard Huffman tables, as a JPEG has them
	whole  []byte // a frame with its tables
	reader bytes.Reader
}

func newDecoder(s Shape) (*decoder, error) {
	d := &decoder{shape: s}
	if err := s.check(); err != nil {
		return nil, err
	}
	if s.Pixel == MJPG || s.Pixel == JPEG {
		d.tables = standardTables()
	}
	return d, nil
}

// decode fills rgb, three bytes a pixel of the shape, from a frame. After an error rgb means nothing. It keeps nothing of
// the frame.
func (d *decoder) decode(rgb, frame []byte) error {
	s := &d.shape
	row := s.Pixel.bytes(s.Width)
	if row == 0 {
		return d.jpeg(rgb, frame)
	}
	// The last row need not be as long as those before it.
	if want := s.Stride*(s.Height-1) + row; len(frame) < want {
		return fmt.Errorf("%v frame: got %d bytes, want %d", s.Pixel, len(frame), want)
	}
	for y := range s.Height {
		from, to := frame[y*s.Stride:][:row], rgb[3*y*s.Width:][:3*s.Width]
		switch s.Pixel {
		case RGB3:
			copy(to, from)
		case GREY:
			for x, v := range from {
				to[3*x], to[3*x+1], to[3*x+2] = v, v, v
			}
		case YUYV:
			s.yuyv(to, from)
		}
	}
	return nil
}

// yuyv converts one row (ITU-R BT.601, as the kernel's document has it for cameras that say nothing else).
func (s *Shape) yuyv(to, from []byte) {
	for x := 0; x+3 < len(from); x += 4 {
		u, v := from[x+1], from[x+3]
		p := to[3*x/2:][:6]
		if s.Full {
			p[0], p[1], p[2] = color.YCbCrToRGB(from[x], u, v)
			p[3], p[4], p[5] = color.YCbCrToRGB(from[x+2], u, v)
			continue
		}
		// Luma 16..235 and chroma 16..240 in shares of 256.
		d, e := int32(u)-128, int32(v)-128
		for i := range 2 {
			c := 298*(int32(from[x+2*i])-16) + 128
			p[3*i], p[3*i+1], p[3*i+2] = clip(c+409*e), clip(c-100*d-208*e), clip(c+516*d)
		}
	}
}

func clip(v int32) byte { return byte(min(255, max(0, v>>8))) }

// jpeg decodes a frame that is a JPEG.
func (d *decoder) jpeg(rgb, frame []byte) error {
	found, err := inspect(frame, d.shape.Width, d.shape.Height)
	if err != nil {
		return fmt.Errorf("%v frame: %w", d.shape.Pixel, err)
	}
	frame = frame[:found.end]
	if !found.tables {
		d.whole = append(append(append(d.whole[:0], frame[:2]...), d.tables...), frame[2:]...)
		frame = d.whole
	}
	d.reader.Reset(frame)
	m, err := jpeg.Decode(&d.reader)
	if err != nil {
		return fmt.Errorf("%v frame: %w", d.shape.Pixel, err)
	}
	box := m.Bounds()
	if box != image.Rect(0, 0, d.shape.Width, d.shape.Height) {
		return fmt.Errorf("%v frame: got %v, want %dx%d", d.shape.Pixel, box.Size(), d.shape.Width, d.shape.Height)
	}
	switch m := m.(type) {
	case *image.YCbCr:
		at := 0
		for y := range d.shape.Height {
			for x := range d.shape.Width {
				i, c := m.YOffset(x, y), m.COffset(x, y)
				rgb[at], rgb[at+1], rgb[at+2] = color.YCbCrToRGB(m.Y[i], m.Cb[c], m.Cr[c])
				at += 3
			}
		}
	case *image.Gray:
		at := 0
		for y := range d.shape.Height {
			for _, v := range m.Pix[y*m.Stride:][:d.shape.Width] {
				rgb[at], rgb[at+1], rgb[at+2] = v, v, v
				at += 3
			}
		}
	default:
		return fmt.Errorf("%v frame: got colours as %T, want YCbCr or grey", d.shape.Pixel, m)
	}
	return nil
}

// standardTables are the Huffman tables of ITU-T T.81, Annex K, which cameras leave out of their frames: Go's encoder
// writes just those.
func standardTables() []byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewRGBA(image.Rect(0, 0, 1, 1)), nil); err != nil {
		return nil
	}
	p, at := b.Bytes(), 2
	for at+4 <= len(p) {
		n := 2 + int(p[at+2])<<8 + int(p[at+3])
		if p[at+1] == jpegTables {
			return bytes.Clone(p[at:][:n])
		}
		at += n
	}
	return nil
}

// AppendRaw appends a picture as a frame of a raw shape: what an emulated camera sends.
func AppendRaw(dst []byte, s Shape, rgb []byte) []byte {
	for y := range s.Height {
		row := rgb[3*y*s.Width:][:3*s.Width]
		from := len(dst)
		switch s.Pixel {
		case RGB3:
			dst = append(dst, row...)
		case GREY:
			for x := 0; x < len(row); x += 3 {
				luma, _, _ := color.RGBToYCbCr(row[x], row[x+1], row[x+2])
				dst = append(dst, luma)
			}
		case YUYV:
			for x := 0; x+5 < len(row); x += 6 {
				y0, u0, v0 := color.RGBToYCbCr(row[x], row[x+1], row[x+2])
				y1, u1, v1 := color.RGBToYCbCr(row[x+3], row[x+4], row[x+5])
				u, v := byte((int(u0)+int(u1)+1)/2), byte((int(v0)+int(v1)+1)/2)
				if !s.Full {
					y0, y1 = narrow(y0, 16, 219, 0), narrow(y1, 16, 219, 0)
					u, v = narrow(u, 128, 224, 128), narrow(v, 128, 224, 128)
				}
				dst = append(dst, y0, u, y1, v)
			}
		}
		for len(dst)-from < s.Stride {
			dst = append(dst, 0)
		}
	}
	return dst
}

// narrow maps 0..255 about zero to span steps about base.
func narrow(v byte, base, span, zero int) byte {
	return byte((2*base*255 + 2*(int(v)-zero)*span + 255) / (2 * 255))
}
