package camera

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"

	"github.com/halyard-robotics/halyard/internal/wire/v4l2"
)

// Shape is the frame format agreed on with a device.
type Shape struct {
	Pixel         v4l2.Pixel
	Width, Height int
	Stride        int  // bytes from one row to the next; unused for compressed formats
	Full          bool // of YUYV: its values use all of 0..255
}

// maxSide bounds both sides of a picture, pixels, and so the memory that a hostile or broken device can make us
// allocate.
const maxSide = 4096

// check returns an error for an impossible shape.
func (s Shape) check() error {
	switch row := s.Pixel.Bytes(s.Width); {
	case s.Width < 1 || s.Height < 1 || s.Width > maxSide || s.Height > maxSide:
		return fmt.Errorf("size: got %dx%d, want 1..%d", s.Width, s.Height, maxSide)
	case s.Pixel == v4l2.YUYV && s.Width%2 != 0:
		return fmt.Errorf("size: got %dx%d, want an even width of YUYV", s.Width, s.Height)
	case row > 0 && (s.Stride < row || s.Stride > row+maxSide):
		return fmt.Errorf("row: got %d bytes, want %d or some more", s.Stride, row)
	case row == 0 && s.Pixel != v4l2.MJPG && s.Pixel != v4l2.JPEG:
		return fmt.Errorf("pixel format: got %v, want a format that Halyard decodes", s.Pixel)
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

// NewDecoder returns a decoder of frames of s, or reports why s is no shape of a frame.
func NewDecoder(s Shape) (*decoder, error) {
	d := &decoder{shape: s}
	if err := s.check(); err != nil {
		return nil, err
	}
	if s.Pixel == v4l2.MJPG || s.Pixel == v4l2.JPEG {
		d.tables = standardTables()
	}
	return d, nil
}

// Decode fills rgb, three bytes a pixel of the shape, from a frame. After an error rgb is undefined. It keeps no
// reference to the frame.
func (d *decoder) Decode(rgb, frame []byte) error {
	s := &d.shape
	row := s.Pixel.Bytes(s.Width)
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
		case v4l2.RGB3:
			copy(to, from)
		case v4l2.GREY:
			for x, v := range from {
				to[3*x], to[3*x+1], to[3*x+2] = v, v, v
			}
		case v4l2.YUYV:
			s.yuyv(to, from)
		}
	}
	return nil
}

// yuyv converts one row (ITU-R BT.601, the kernel document's default for cameras).
func (s *Shape) yuyv(to, from []byte) {
	for ; len(from) >= 4 && len(to) >= 6; from, to = from[4:], to[6:] {
		var c chroma
		y0, y1 := int32(from[0]), int32(from[2])
		if s.Full {
			c.full(from[1], from[3])
			y0, y1 = y0*fullLuma, y1*fullLuma
		} else {
			// Luma 16..235 and chroma 16..240 in shares of 256.
			d, e := int32(from[1])-128, int32(from[3])-128
			c = chroma{409 * e << 8, (-100*d - 208*e) << 8, 516 * d << 8}
			y0, y1 = (298*(y0-16)+128)<<8, (298*(y1-16)+128)<<8
		}
		c.pair((*[6]byte)(to), y0, y1)
	}
}

// chroma is the contribution of a pair of colour differences to red, green and blue, in shares of 65536, for all pixels
// that share it.
type chroma struct{ r, g, b int32 }

// fullLuma makes shares of 65536 of a luma that uses all of 0..255, with its rounding (JFIF).
const fullLuma = 0x10101

// full takes differences that use all of 0..255: 1.402, 0.344, 0.714 and 1.772, as color.YCbCrToRGB rounds them.
func (c *chroma) full(cb, cr byte) {
	d, e := int32(cb)-128, int32(cr)-128
	*c = chroma{91881 * e, -22554*d - 46802*e, 116130 * d}
}

// pair is two pixels of one chroma.
func (c *chroma) pair(to *[6]byte, y0, y1 int32) {
	to[0], to[1], to[2] = clip(y0+c.r), clip(y0+c.g), clip(y0+c.b)
	to[3], to[4], to[5] = clip(y1+c.r), clip(y1+c.g), clip(y1+c.b)
}

// clip is a share as a byte.
func clip(v int32) byte {
	if uint32(v) < 1<<24 {
		return byte(v >> 16)
	}
	return byte(^(v >> 31)) // 0 below, 255 above
}

// jpeg decodes a frame that is a JPEG.
func (d *decoder) jpeg(rgb, frame []byte) error {
	// Some cameras put the start marker of a frame there twice.
	for bytes.HasPrefix(frame, []byte{0xFF, jpegStart, 0xFF, jpegStart}) {
		frame = frame[2:]
	}
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
		for y := range d.shape.Height {
			convert(rgb[3*y*d.shape.Width:][:3*d.shape.Width], m, y)
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

// convert fills to with row y of m; the subsampling gives the number of pixels that share a chroma.
func convert(to []byte, m *image.YCbCr, y int) {
	luma, at := m.Y[m.YOffset(0, y):][:len(to)/3], m.COffset(0, y)
	share := 1
	switch m.SubsampleRatio {
	case image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420:
		share = 2
	case image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410:
		share = 4
	}
	cb, cr := m.Cb[at:], m.Cr[at:]
	for x := 0; x < len(luma); x += share {
		var c chroma
		c.full(cb[x/share], cr[x/share])
		row := luma[x:min(x+share, len(luma))]
		for ; len(row) >= 2; row, to = row[2:], to[6:] {
			c.pair((*[6]byte)(to), int32(row[0])*fullLuma, int32(row[1])*fullLuma)
		}
		if len(row) == 1 {
			v := int32(row[0]) * fullLuma
			to[0], to[1], to[2] = clip(v+c.r), clip(v+c.g), clip(v+c.b)
			to = to[3:]
		}
	}
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

// AppendRaw appends a picture as a frame of a raw shape, for an emulated camera.
func AppendRaw(dst []byte, s Shape, rgb []byte) []byte {
	for y := range s.Height {
		row := rgb[3*y*s.Width:][:3*s.Width]
		from := len(dst)
		switch s.Pixel {
		case v4l2.RGB3:
			dst = append(dst, row...)
		case v4l2.GREY:
			for x := 0; x < len(row); x += 3 {
				luma, _, _ := color.RGBToYCbCr(row[x], row[x+1], row[x+2])
				dst = append(dst, luma)
			}
		case v4l2.YUYV:
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

// Encoding is a way that frames come, by the word of a config.
type Encoding struct {
	Word   string
	Pixels []v4l2.Pixel // the first that the device offers is taken
}

// Encodings are the ways that frames may come.
func Encodings() []Encoding {
	return []Encoding{{"mjpeg", []v4l2.Pixel{v4l2.MJPG, v4l2.JPEG}}, {"yuyv", []v4l2.Pixel{v4l2.YUYV}},
		{"rgb24", []v4l2.Pixel{v4l2.RGB3}},
		{"grey", []v4l2.Pixel{v4l2.GREY}}}
}
