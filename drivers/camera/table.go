package camera

import (
	"github.com/halyard-robotics/halyard/internal/wire/v4l2"
)

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
