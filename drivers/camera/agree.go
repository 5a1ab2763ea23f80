package camera

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/v4l2"
)

const (
	maxFormats = 64  // pixel formats of one device
	maxSizes   = 256 // sizes of one format
)

// agree requests format, size and rate, and returns an error if the device selects another format or size.
func (s *stream) agree() error {
	var have v4l2.Capability
	if err := s.do(v4l2.QueryCap, &have); err != nil {
		if errors.Is(err, syscall.ENOTTY) || errors.Is(err, syscall.EINVAL) {
			return s.fault(hal.Invalid, errors.New("got no video device, want a node such as /dev/video0"))
		}
		return s.fault(hal.BusFault, err)
	}
	switch caps := have.Caps(); {
	case caps&v4l2.CanCapture == 0 && caps&v4l2.CanMeta != 0:
		return s.fault(hal.Invalid, fmt.Errorf(
			"%s: this node has metadata; its pictures are at the one that ends in index0", have.Card))
	case caps&v4l2.CanCapture == 0 && caps&v4l2.CanPlanes != 0:
		return s.fault(hal.Invalid, fmt.Errorf(
			"%s: sends its pictures in planes only, want whole ones, as USB cameras do", have.Card))
	case caps&v4l2.CanCapture == 0 || caps&v4l2.CanStream == 0:
		return s.fault(hal.Invalid, fmt.Errorf("%s: capabilities 0x%08X: want capture and streaming", have.Card, caps))
	}
	pixel, err := s.choose()
	if err != nil {
		return err
	}
	if err := s.offered(pixel); err != nil {
		return err
	}
	return s.set(pixel)
}

// choose finds the config's encoding among the device's pixel formats.
func (s *stream) choose() (v4l2.Pixel, error) {
	var names []string
	var have []v4l2.Pixel
	for i := range uint32(maxFormats) {
		f := v4l2.FormatInfo{Index: i, Kind: v4l2.Capture}
		if err := s.do(v4l2.EnumFmt, &f); errors.Is(err, syscall.EINVAL) {
			break
		} else if err != nil {
			return 0, s.fault(hal.BusFault, err)
		}
		have, names = append(have, f.Pixel), append(names, f.Pixel.String())
	}
	for _, e := range Encodings() {
		if e.Word != s.config.Encoding {
			continue
		}
		for _, p := range e.Pixels {
			if slices.Contains(have, p) {
				return p, nil
			}
		}
	}
	return 0, s.fault(hal.Invalid, fmt.Errorf("format: got %s, want a format of the camera: %s", s.config.Encoding,
		strings.Join(names, ", ")))
}

// offered checks whether the device offers the config's size. A driver that lists no sizes passes; S_FMT then decides.
func (s *stream) offered(pixel v4l2.Pixel) error {
	w, h := uint32(s.config.Width), uint32(s.config.Height)
	var list []string
	for i := range uint32(maxSizes) {
		f := v4l2.FrameSize{Index: i, Pixel: pixel}
		if err := s.do(v4l2.EnumSizes, &f); errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTTY) {
			break
		} else if err != nil {
			return s.fault(hal.BusFault, err)
		}
		z := f.Sizes
		if f.Kind == v4l2.SizeDiscrete {
			if z[0] == w && z[1] == h {
				return nil
			}
			list = append(list, fmt.Sprintf("%dx%d", z[0], z[1]))
			continue
		}
		// One range is all that such a device lists.
		if within(w, z[0], z[1], z[2]) && within(h, z[3], z[4], z[5]) {
			return nil
		}
		list = append(list, fmt.Sprintf("%dx%d to %dx%d in steps of %dx%d", z[0], z[3], z[1], z[4], z[2], z[5]))
		break
	}
	if len(list) == 0 {
		return nil
	}
	return s.fault(hal.Invalid, fmt.Errorf("size: got %dx%d, want a size of the camera in %v: %s", w, h, pixel,
		strings.Join(list, ", ")))
}

func within(v, least, most, step uint32) bool {
	return v >= least && v <= most && (v-least)%max(1, step) == 0
}

// set requests format and rate. V4L2 never refuses a format: it returns the nearest one, which must be checked.
func (s *stream) set(pixel v4l2.Pixel) error {
	c := s.config
	f := v4l2.Format{Kind: v4l2.Capture, Width: uint32(c.Width), Height: uint32(c.Height), Pixel: pixel,
		Field: v4l2.Progressive}
	if err := s.do(v4l2.SetFmt, &f); err != nil {
		return s.fault(hal.BusFault, err)
	}
	if f.Pixel != pixel || int(f.Width) != c.Width || int(f.Height) != c.Height {
		return s.fault(hal.Invalid, fmt.Errorf("format: got %dx%d %v from it, want %dx%d %v", f.Width, f.Height,
			f.Pixel, c.Width, c.Height, pixel))
	}
	if f.Field != v4l2.Progressive && f.Field != v4l2.AnyField {
		return s.fault(hal.Invalid, fmt.Errorf("format: got interlaced frames (field %d), want whole ones", f.Field))
	}
	s.shape = Shape{Pixel: pixel, Width: c.Width, Height: c.Height, Stride: int(min(f.Stride, 1<<20)),
		Full: f.Quantisation == v4l2.FullRange || f.Quantisation != v4l2.LimitedRange &&
			f.Colourspace == v4l2.ColourspaceJPG}
	if row := pixel.Bytes(c.Width); s.shape.Stride == 0 {
		s.shape.Stride = row // some drivers report none
	}
	if err := s.shape.check(); err != nil {
		return s.fault(hal.Invalid, err)
	}
	// A camera that knows no rates runs at its own.
	r := v4l2.Rate{Kind: v4l2.Capture, Numerator: 1000, Denominator: uint32(math.Round(1000 * c.Rate))}
	switch err := s.do(v4l2.SetParm, &r); {
	case err == nil && r.Numerator > 0 && r.Denominator > 0:
		s.period = time.Duration(float64(time.Second) * float64(r.Numerator) / float64(r.Denominator))
	case err != nil && !errors.Is(err, syscall.ENOTTY) && !errors.Is(err, syscall.EINVAL):
		return s.fault(hal.BusFault, err)
	}
	s.period = min(s.period, 10*time.Second)
	return nil
}
