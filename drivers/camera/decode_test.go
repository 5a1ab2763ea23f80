package camera

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/internal/wire/v4l2"
)

// scenery is a picture with soft colours, which no format loses much of.
func scenery(w, h int) []byte {
	var rgb []byte
	for y := range h {
		for x := range w {
			rgb = append(rgb, byte(40+150*x/w), byte(60+120*y/h), byte(200-100*x/w))
		}
	}
	return rgb
}

// asJPEG is a picture as a camera sends it.
func asJPEG(t testing.TB, w, h int, grey bool) []byte {
	t.Helper()
	rgb := scenery(w, h)
	var m image.Image
	if g := image.NewGray(image.Rect(0, 0, w, h)); grey {
		for i := range g.Pix {
			g.Pix[i] = rgb[3*i]
		}
		m = g
	} else {
		c := image.NewRGBA(image.Rect(0, 0, w, h))
		for i := range w * h {
			c.SetRGBA(i%w, i/w, color.RGBA{rgb[3*i], rgb[3*i+1], rgb[3*i+2], 255})
		}
		m = c
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 95}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// segment finds a marker's segment of a JPEG.
func segment(p []byte, marker byte) (from, to int) {
	for at := 2; at+4 <= len(p); {
		n := 2 + int(p[at+2])<<8 + int(p[at+3])
		if p[at+1] == marker {
			return at, at + n
		}
		at += n
	}
	return 0, 0
}

// restarting is a grey JPEG of blocks that are all 128, with a restart marker behind each but the last: a block is the
// bits 00 (no difference) and 1010 (no more), filled up with ones.
func restarting(t testing.TB, blocks int) []byte {
	p := asJPEG(t, 8*blocks, 8, true)
	from, to := segment(p, jpegScan)
	out := append(slices.Clone(p[:from]), 0xFF, jpegInterval, 0, 4, 0, 1)
	out = append(out, p[from:to]...)
	for i := range blocks {
		if out = append(out, 0x2B); i < blocks-1 {
			out = append(out, 0xFF, jpegRestart+byte(i%8))
		}
	}
	return append(out, 0xFF, jpegEnd)
}

func without(p []byte, marker byte) []byte {
	from, to := segment(p, marker)
	return slices.Delete(slices.Clone(p), from, to)
}

// frames are frames of a shape and what becomes of them: off is by how much a value may differ from the scenery's.
func frames(t testing.TB) []struct {
	name  string
	shape Shape
	frame []byte
	off   float64
	fault string
} {
	yuyv := Shape{Pixel: v4l2.YUYV, Width: 16, Height: 8, Stride: 32}
	full, wide := yuyv, yuyv
	full.Full, wide.Stride = true, 40
	rgb := Shape{Pixel: v4l2.RGB3, Width: 16, Height: 8, Stride: 48}
	mjpg := Shape{Pixel: v4l2.MJPG, Width: 48, Height: 32}
	dots := Shape{Pixel: v4l2.MJPG, Width: 96, Height: 8}
	raw := func(s Shape) []byte { return AppendRaw(nil, s, scenery(s.Width, s.Height)) }
	whole, blocks := asJPEG(t, 48, 32, false), restarting(t, 12)
	cut := func(p []byte, n int) []byte { return slices.Clone(p[:n]) }
	patch := func(p []byte, at int, b ...byte) []byte {
		p = slices.Clone(p)
		copy(p[at:], b)
		return p
	}
	sof, _ := segment(whole, jpegBaseline)
	_, data := segment(whole, jpegScan)
	second := bytes.Index(blocks, []byte{0xFF, jpegRestart + 1})
	// A head of another size that Go's decoder finds, and who takes a restart marker for a segment with a length does
	// not.
	head := patch(whole, sof+5, 0x0F, 0xFF, 0x0F, 0xFF)[2:data]
	hidden := func(marker byte) []byte {
		return slices.Concat(whole[:2], []byte{0xFF, marker, byte((len(head) + 2) >> 8), byte(len(head) + 2)}, head,
			whole[2:])
	}
	return []struct {
		name  string
		shape Shape
		frame []byte
		off   float64
		fault string
	}{
		{"yuyv", yuyv, raw(yuyv), 12, ""}, // a pair of pixels shares its colour
		{"yuyv of the full range", full, raw(full), 12, ""},
		{"yuyv with long rows", wide, raw(wide), 12, ""},
		{"yuyv, the last row's padding missing", wide, cut(raw(wide), 40*7+32), 12, ""},
		{"yuyv, a byte short", yuyv, cut(raw(yuyv), 255), 0, "got 255 bytes, want 256"},
		{"yuyv, empty", yuyv, nil, 0, "got 0 bytes, want 256"},
		{"rgb24", rgb, raw(rgb), 0, ""},
		{"mjpeg", mjpg, whole, 12, ""},
		{"mjpeg without its tables", mjpg, without(without(whole, jpegTables), jpegTables), 12, ""},
		{"mjpeg with two starts", mjpg, append([]byte{0xFF, jpegStart}, whole...), 12, ""},
		{"mjpeg of starts alone", mjpg, bytes.Repeat([]byte{0xFF, jpegStart}, 9), 0, "want a JPEG"},
		{"mjpeg with padding", mjpg, append(slices.Clone(whole), make([]byte, 100)...), 12, ""},
		{"mjpeg with restarts", dots, blocks, math.NaN(), ""},
		{"mjpeg, a restart missing", dots, slices.Delete(slices.Clone(blocks), second, second+3), 0,
			"a part of it is missing"},
		{"mjpeg, eight restarts missing", dots, slices.Delete(slices.Clone(blocks), second, second+24), 0,
			"restarts: got 3, want 11"},
		{"mjpeg, its end missing", mjpg, cut(whole, len(whole)-2), 0, "cut off"},
		{"mjpeg, half of it", mjpg, cut(whole, len(whole)*3/4), 0, "cut off"},
		{"mjpeg, its head alone", mjpg, cut(whole, 30), 0, "cut off"},
		{"mjpeg, its data missing", mjpg, append(cut(whole, data), 0xFF, jpegEnd), 0, "MJPG frame: "},
		{"mjpeg, a part missing", mjpg, append(cut(whole, data+20), whole[len(whole)-2:]...), 0, "MJPG frame: "},
		{"mjpeg of another size", mjpg, asJPEG(t, 32, 48, false), 0, "got 32x48, want 48x32"},
		{"mjpeg that says it is huge", mjpg, patch(whole, sof+5, 0xFF, 0xFF, 0xFF, 0xFF), 0, "got 65535x65535"},
		{"mjpeg, progressive", mjpg, patch(whole, sof+1, 0xC2), 0, "want baseline"},
		{"mjpeg of twelve bits", mjpg, patch(whole, sof+4, 12), 0, "of 12 bits"},
		{"mjpeg, sampled by nothing", mjpg, patch(whole, sof+11, 0), 0, "sampling"},
		{"mjpeg of nothing", mjpg, []byte{0xFF, jpegStart, 0xFF, jpegEnd}, 0, "no picture"},
		{"noise", mjpg, []byte("no picture at all"), 0, "want a JPEG"},
		{"noise behind a start", mjpg, []byte("\xFF\xD8no picture at all"), 0, "want a marker"},
		{"a segment without a length", mjpg, []byte{0xFF, jpegStart, 0xFF, jpegTables, 0, 1, 0, 0}, 0, "cut off"},
		{"a large one behind a restart", mjpg, hidden(jpegRestart), 0, "out of place"},
		{"a large one behind an invalid marker", mjpg, hidden(0), 0, "out of place"},
		{"two heads", mjpg, slices.Concat(whole[:data], whole[sof:]), 0, "MJPG frame: "},
	}
}

func TestDecode(t *testing.T) {
	for _, c := range frames(t) {
		d, err := NewDecoder(c.shape)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		rgb := bytes.Repeat([]byte{1}, 3*c.shape.Width*c.shape.Height)
		// Twice: what one frame left behind is nothing to the next.
		for range 2 {
			err = d.Decode(rgb, c.frame)
		}
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%s: got %v, want %q", c.name, err, c.fault)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		want := scenery(c.shape.Width, c.shape.Height)
		if math.IsNaN(c.off) {
			want = bytes.Repeat([]byte{128}, len(want))
		}
		for i := range want {
			if math.Abs(float64(rgb[i])-float64(want[i])) > c.off {
				t.Errorf("%s: byte %d: got %d, want %d within %g", c.name, i, rgb[i], want[i], c.off)
				break
			}
		}
	}
}

// The corners of BT.601, as its test bars have them.
func TestYUYV(t *testing.T) {
	for _, c := range []struct{ y, u, v, r, g, b byte }{
		{16, 128, 128, 0, 0, 0}, {235, 128, 128, 255, 255, 255}, {126, 128, 128, 128, 128, 128},
		{81, 90, 240, 255, 0, 0}, {145, 54, 34, 0, 255, 0}, {41, 240, 110, 0, 0, 255},
		{0, 128, 128, 0, 0, 0}, {255, 128, 128, 255, 255, 255},
	} {
		d, err := NewDecoder(Shape{Pixel: v4l2.YUYV, Width: 2, Height: 1, Stride: 4})
		if err != nil {
			t.Fatal(err)
		}
		var rgb [6]byte
		if err := d.Decode(rgb[:], []byte{c.y, c.u, c.y, c.v}); err != nil {
			t.Fatal(err)
		}
		for i, want := range [6]byte{c.r, c.g, c.b, c.r, c.g, c.b} {
			if math.Abs(float64(rgb[i])-float64(want)) > 2 {
				t.Errorf("%d %d %d: got %d, want %d %d %d", c.y, c.u, c.v, rgb, c.r, c.g, c.b)
				break
			}
		}
	}
	grey, err := NewDecoder(Shape{Pixel: v4l2.GREY, Width: 3, Height: 1, Stride: 3})
	if err != nil {
		t.Fatal(err)
	}
	var rgb [9]byte
	if err := grey.Decode(rgb[:], []byte{7, 8, 9}); err != nil || rgb != [9]byte{7, 7, 7, 8, 8, 8, 9, 9, 9} {
		t.Errorf("grey: got %d, %v", rgb, err)
	}
	if got := AppendRaw(nil, grey.shape, bytes.Repeat([]byte{9}, 9)); !bytes.Equal(got, []byte{9, 9, 9}) {
		t.Errorf("to grey: got %d", got)
	}
}

// Every colour is converted as by the standard library, for all subsampling ratios and widths.
func TestConvert(t *testing.T) {
	for _, ratio := range []image.YCbCrSubsampleRatio{
		image.YCbCrSubsampleRatio444, image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420,
		image.YCbCrSubsampleRatio440, image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410,
	} {
		for _, w := range []int{1, 2, 3, 6, 63, 64} {
			m := image.NewYCbCr(image.Rect(0, 0, w, 37), ratio)
			for i := range m.Y {
				m.Y[i] = byte(i * 37)
			}
			for i := range m.Cb {
				m.Cb[i], m.Cr[i] = byte(i*29), byte(i*53+7)
			}
			row := make([]byte, 3*w)
			for y := range 37 {
				convert(row, m, y)
				for x := range w {
					c := m.YCbCrAt(x, y)
					r, g, b := color.YCbCrToRGB(c.Y, c.Cb, c.Cr)
					if got := [3]byte(row[3*x:]); got != [3]byte{r, g, b} {
						t.Fatalf("%v, %d wide, at %d %d: got %d, want %d %d %d", ratio, w, x, y, got, r, g, b)
					}
				}
			}
		}
	}
	for y := range 256 {
		for k := range 256 {
			var c chroma
			c.full(byte(k), byte(255-k))
			var to [6]byte
			c.pair(&to, int32(y)*fullLuma, int32(y)*fullLuma)
			if r, g, b := color.YCbCrToRGB(byte(y), byte(k), byte(255-k)); to != [6]byte{r, g, b, r, g, b} {
				t.Fatalf("%d %d: got %d, want %d %d %d", y, k, to, r, g, b)
			}
		}
	}
}

func TestShapes(t *testing.T) {
	for _, s := range []Shape{
		{}, {Pixel: v4l2.YUYV, Width: 3, Height: 2, Stride: 6}, {Pixel: v4l2.YUYV, Width: 4, Height: 2, Stride: 7},
		{Pixel: v4l2.RGB3, Width: 4, Height: 2, Stride: 1 << 20}, {Pixel: v4l2.MJPG, Width: maxSide + 1, Height: 1},
		{Pixel: 0x10203, Width: 4, Height: 4},
	} {
		if _, err := NewDecoder(s); err == nil {
			t.Errorf("%+v: got no error", s)
		}
	}
	if p := v4l2.Pixel(0x00FF4142); p.String() != "BA??" {
		t.Errorf("got %q", p)
	}
}

// Raw frames are decoded without an allocation; a JPEG costs what Go's decoder does.
func TestDecodeAllocates(t *testing.T) {
	s := Shape{Pixel: v4l2.YUYV, Width: 64, Height: 48, Stride: 128}
	d, _ := NewDecoder(s)
	frame, rgb := AppendRaw(nil, s, scenery(64, 48)), make([]byte, 3*64*48)
	if n := testing.AllocsPerRun(10, func() { _ = d.Decode(rgb, frame) }); n != 0 {
		t.Errorf("got %g allocations, want 0", n)
	}
}

// Any frame: no panic, and no allocation for a size other than the agreed one.
func FuzzDecode(f *testing.F) {
	pixels := []v4l2.Pixel{v4l2.YUYV, v4l2.RGB3, v4l2.GREY, v4l2.MJPG}
	for _, c := range frames(f) {
		f.Add(uint8(slices.Index(pixels, c.shape.Pixel)), uint8(c.shape.Width), uint8(c.shape.Height), c.frame)
	}
	f.Fuzz(func(t *testing.T, pixel, w, h uint8, frame []byte) {
		s := Shape{Pixel: pixels[pixel%4], Width: int(w), Height: int(h)}
		s.Stride = s.Pixel.Bytes(s.Width)
		d, err := NewDecoder(s)
		if err != nil {
			return
		}
		rgb := make([]byte, 3*s.Width*s.Height)
		if err := d.Decode(rgb, frame); err == nil && s.Pixel != v4l2.MJPG {
			again := make([]byte, len(rgb))
			if err := d.Decode(again, AppendRaw(nil, s, rgb)); err != nil {
				t.Errorf("its own frame: %v", err)
			}
		}
		var format jpeg.FormatError
		_ = errors.As(err, &format)
	})
}

// BenchmarkDecode is one frame of 640 x 480; at 30 Hz a thirtieth of a second would be all of a processor.
func BenchmarkDecode(b *testing.B) {
	const w, h = 640, 480
	yuyv := Shape{Pixel: v4l2.YUYV, Width: w, Height: h, Stride: 2 * w}
	for _, c := range []struct {
		name  string
		shape Shape
		frame []byte
	}{
		{"yuyv", yuyv, AppendRaw(nil, yuyv, scenery(w, h))},
		{"mjpeg", Shape{Pixel: v4l2.MJPG, Width: w, Height: h}, asJPEG(b, w, h, false)},
	} {
		b.Run(c.name, func(b *testing.B) {
			d, err := NewDecoder(c.shape)
			if err != nil {
				b.Fatal(err)
			}
			rgb := make([]byte, 3*w*h)
			b.SetBytes(int64(len(rgb)))
			b.ReportAllocs()
			for b.Loop() {
				if err := d.Decode(rgb, c.frame); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*30, "ratio")
		})
	}
}
