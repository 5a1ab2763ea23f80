package rosbridge

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/halyard-robotics/halyard/internal/protocols/fields"
)

const (
	minFragment   = 128  // of fragment_size, bytes
	maxFragments  = 1024 // of one message
	maxFragmented = 16   // messages of one client that have begun
)

// fragment is one of the pieces of a message.
type fragment struct {
	Op    string `field:"op"`
	ID    any    `field:"id"`
	Data  string `field:"data"`
	Num   int    `field:"num"`
	Total int    `field:"total"`
}

// split cuts a JSON text into fragments of at most size bytes of it, never within a character.
func split(text []byte, size int, id any) (all [][]byte) {
	var pieces []string
	for len(text) > 0 {
		n := min(size, len(text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n--
		}
		pieces, text = append(pieces, string(text[:n])), text[n:]
	}
	for i, p := range pieces {
		all = append(all, fields.AppendJSON(nil, fragment{"fragment", id, p, i, len(pieces)}, fields.ROS2))
	}
	return all
}

// fragments are a client's messages that have begun.
type fragments struct {
	begun map[string]*begun
	size  int
}

type begun struct {
	pieces []string
	given  []bool
	left   int
}

// add takes a fragment. It returns the whole message with the last one, "" before.
func (f *fragments) add(m map[string]any, most int) (string, error) {
	number := func(key string) (int, bool) {
		v, ok := m[key].(float64)
		return int(v), ok && v == math.Trunc(v) && v >= 0 && v <= maxFragments
	}
	num, okNum := number("num")
	total, okTotal := number("total")
	data, okData := m["data"].(string)
	id, okID := m["id"]
	if !okNum || !okTotal || !okData || !okID || num >= total {
		return "", errorf("received invalid fragment: want id, data, num and total, num below total, total at most %d",
			maxFragments)
	}
	key := fmt.Sprintf("%T %v", id, id)
	b := f.begun[key]
	if b == nil {
		if len(f.begun) >= maxFragmented {
			return "", errorf("got fragments of more than %d messages", maxFragmented)
		}
		b = &begun{make([]string, total), make([]bool, total), total}
		if f.begun == nil {
			f.begun = map[string]*begun{}
		}
		f.begun[key] = b
	}
	if total != len(b.pieces) || b.given[num] {
		return "", errorf("error while trying to append fragment %d", num)
	}
	if f.size+len(data) > most {
		f.drop(key)
		return "", errorf("got fragments of more than %d bytes", most)
	}
	b.pieces[num], b.given[num] = data, true
	f.size += len(data)
	if b.left--; b.left > 0 {
		return "", nil
	}
	f.drop(key)
	return strings.Join(b.pieces, ""), nil
}

func (f *fragments) drop(key string) {
	for _, p := range f.begun[key].pieces {
		f.size -= len(p)
	}
	delete(f.begun, key)
}

// toPNG packs a JSON text into the pixels of an image, padded with line feeds, as base64.
func toPNG(text []byte) []byte {
	width := max(1, int(math.Sqrt(float64(len(text))/3)))
	height := (len(text) + 3*width - 1) / (3 * width)
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range width * height {
		for c := range 3 {
			m.Pix[4*i+c] = '\n'
			if at := 3*i + c; at < len(text) {
				m.Pix[4*i+c] = text[at]
			}
		}
		m.Pix[4*i+3] = 255
	}
	var b bytes.Buffer
	png.Encode(&b, m) // into memory: it cannot fail
	return base64.StdEncoding.AppendEncode(nil, b.Bytes())
}

// fromPNG is the inverse of toPNG, of a text of at most so many bytes.
func fromPNG(data string, most int) ([]byte, error) {
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return nil, errorf("png: %v", err)
	}
	c, err := png.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return nil, errorf("png: %v", err)
	}
	if c.Width > most || c.Height > most || 3*c.Width*c.Height > most+3*c.Width {
		return nil, errorf("png: got %dx%d pixels, want a text of at most %d bytes", c.Width, c.Height, most)
	}
	m, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		return nil, errorf("png: %v", err)
	}
	text := make([]byte, 0, 3*c.Width*c.Height)
	for y := range c.Height {
		for x := range c.Width {
			p := color.NRGBAModel.Convert(m.At(x, y)).(color.NRGBA)
			text = append(text, p.R, p.G, p.B)
		}
	}
	return bytes.TrimRight(text, "\n"), nil
}
