package imageserver

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"image/jpeg"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
)

// chart is a picture whose pixel (x, y) is (x, y, 7).
func chart(width, height int) *hal.Picture {
	p := &hal.Picture{Width: width, Height: height}
	for y := range height {
		for x := range width {
			p.RGB = append(p.RGB, byte(x), byte(y), 7)
		}
	}
	return p
}

// TestRaw: pictures, the requested size and part, and the bytes on the wire.
func TestRaw(t *testing.T) {
	for _, k := range []struct {
		name          string
		picture       *hal.Picture
		width, height int
		part          region
		want          string // hex
	}{
		{"as it is", chart(2, 2), 0, 0, region{}, "00 00000010 0002 0002 000007 010007 000107 010107"},
		{"larger", chart(1, 1), 2, 1, region{}, "00 0000000a 0002 0001 000007 000007"},
		{"smaller", chart(4, 4), 2, 1, region{}, "00 0000000a 0002 0001 000007 020007"},
		{"a part", chart(4, 4), 0, 0, region{2, 1, 1, 2}, "00 0000000a 0001 0002 020107 020207"},
		{"a part of a larger one", chart(2, 1), 4, 1, region{1, 0, 2, 1}, "00 0000000a 0002 0001 000007 010007"},
		{"a part that sticks out", chart(2, 2), 0, 0, region{1, 1, 9, 9}, "00 00000007 0001 0001 010107"},
		{"a part outside", chart(1, 1), 0, 0, region{5, 5, 1, 1}, "00 00000007 0001 0001 000007"},
		{"nothing to look at", &hal.Picture{Width: 2, Height: 1}, 0, 0, region{},
			"00 0000000a 0002 0001 000000 000000"},
		{"a depth camera", &hal.Picture{Width: 1, Height: 1, Depth: []float32{3}}, 0, 0, region{},
			"00 00000007 0001 0001 000000"},
	} {
		t.Run(k.name, func(t *testing.T) {
			var d painter
			got, err := d.paint(k.picture, k.width, k.height, k.part)
			want, bad := hex.DecodeString(string(bytes.ReplaceAll([]byte(k.want), []byte(" "), nil)))
			if err != nil || bad != nil || !bytes.Equal(got, want) {
				t.Fatalf("got %x (%v), want %x (%v)", got, err, want, bad)
			}
			m, err := decode([headerSize]byte(got), got[headerSize:])
			if err != nil || m.Format != Raw || 3*m.Width*m.Height != len(m.Data) {
				t.Errorf("decoded: got %+v, %v", m, err)
			}
		})
	}
	for _, size := range [][2]int{{0, 5}, {-1, 1}, {maxSide + 1, 1}} {
		var d painter
		if _, err := d.paint(&hal.Picture{Width: size[0], Height: size[1]}, 0, 0, region{}); err == nil {
			t.Errorf("%v: got a picture, want an error", size)
		}
	}
}

// TestJPEG: the five qualities have their type bytes, a lower quality is smaller, and each decodes to the picture.
func TestJPEG(t *testing.T) {
	p := chart(64, 48)
	last := 1 << 30
	for f := Super; f < numFormats; f++ {
		d := painter{format: f}
		for _, shown := range []*hal.Picture{{Width: 64, Height: 48}, p} { // the canvas is used again
			b, err := d.paint(shown, 0, 0, region{})
			if err != nil {
				t.Fatal(err)
			}
			if b[0] != byte(f) || int(binary.BigEndian.Uint32(b[1:])) != len(b)-headerSize {
				t.Errorf("%v: header: got %x of %d bytes", f, b[:headerSize], len(b))
			}
			img, err := jpeg.Decode(bytes.NewReader(b[headerSize:]))
			if err != nil || img.Bounds().Dx() != 64 || img.Bounds().Dy() != 48 {
				t.Fatalf("%v: got %v, %v", f, img, err)
			}
			if shown != p {
				continue
			}
			if r, g, _, _ := img.At(60, 5).RGBA(); r>>8 < 45 || r>>8 > 75 || g>>8 > 20 {
				t.Errorf("%v: pixel (60, 5): got red %d, green %d", f, r>>8, g>>8)
			}
			if len(b) > last {
				t.Errorf("%v: got %d bytes, want fewer than %d of the quality before", f, len(b), last)
			}
			last = len(b)
		}
	}
}

func TestFormats(t *testing.T) {
	for f := range numFormats {
		if got, err := ParseFormat(f.String()); got != f || err != nil {
			t.Errorf("%v: got %v, %v", f, got, err)
		}
	}
	if _, err := ParseFormat("jpeg"); err == nil {
		t.Error("jpeg: got no error")
	}
	for _, k := range []struct {
		header [headerSize]byte
		data   []byte
	}{{[headerSize]byte{6}, nil}, {[headerSize]byte{0}, []byte{1, 2}}, {[headerSize]byte{0}, []byte{0, 1, 0, 1, 9}}} {
		if m, err := decode(k.header, k.data); err == nil {
			t.Errorf("%x %x: got %+v, want an error", k.header, k.data, m)
		}
	}
}

// FuzzDecode: for any input, a decoded image has as many pixels as its header specifies.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 7, 0, 1, 0, 1, 1, 2, 3})
	f.Add([]byte{1, 0, 0, 0, 0})
	f.Add([]byte{0, 0, 0, 0, 4, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < headerSize {
			return
		}
		m, err := decode([headerSize]byte(b), b[headerSize:])
		if err == nil && m.Format == Raw && len(m.Data) != 3*m.Width*m.Height {
			t.Errorf("got %d bytes of %dx%d", len(m.Data), m.Width, m.Height)
		}
	})
}

// FuzzPaint: any requested part of a picture stays within the picture.
func FuzzPaint(f *testing.F) {
	f.Add([]byte("0123456789abcdef"), uint8(3), uint8(2), uint8(0), uint8(0))
	f.Add(bytes.Repeat([]byte{255}, 16), uint8(3), uint8(2), uint8(5), uint8(7))
	f.Fuzz(func(t *testing.T, box []byte, width, height, w, h uint8) {
		if len(box) != 16 || width == 0 || height == 0 {
			return
		}
		var d painter
		b, err := d.paint(chart(int(width), int(height)), int(w), int(h), unbox([16]byte(box)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decode([headerSize]byte(b), b[headerSize:]); err != nil {
			t.Error(err)
		}
	})
}

func TestViews(t *testing.T) {
	rig, err := hal.New(hal.Config{Period: 1})
	if err != nil {
		t.Fatal(err)
	}
	var v views
	v.declare(rig.Values())
	id := rig.Values().Declare("/probe", hal.StringValue, nil, nil) - 1
	set := func(text string) error {
		return rig.Values().Set(id, hal.Value{Kind: hal.StringValue, Text: text})
	}
	for _, text := range []string{"10.0.0.2 R1/Camera", "10.0.0.3 R2", "10.0.0.2 R3/Rear", "::ffff:10.0.0.4 R4/C",
		"10.0.0.3", "10.0.0.9"} {
		if err := set(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	got, err := rig.Values().Get(id)
	if want := "10.0.0.2 R3/Rear\n10.0.0.4 R4/C\n"; got.Text != want || err != nil {
		t.Errorf("got %q, %v, want %q", got.Text, err, want)
	}
	for _, text := range []string{"", "R1/Camera", "10.0.0.2 R1/C by client", "host R1/C"} {
		if set(text) == nil {
			t.Errorf("%q: got no error", text)
		}
	}
	for i := range 2 * maxViews {
		v.set("10.1.0." + string(rune('0'+i%10)) + string(rune('0'+i/10%10)) + " R")
		v.set("10.2." + string(rune('0'+i%10)) + "." + string(rune('0'+i/10%10)) + " R")
	}
	if len(v.list) != maxViews {
		t.Errorf("got %d viewpoints, want at most %d", len(v.list), maxViews)
	}
}
