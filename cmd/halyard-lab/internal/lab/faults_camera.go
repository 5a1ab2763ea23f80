package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/halyard-robotics/halyard/drivers/camera"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/sim/emulator/video"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// VideoBus is what cameras are reached by, in the table.
const VideoBus = "video"

// stableEye is the camera's name on a test rig that outlives a replugging.
const stableEye = "/dev/v4l/by-id/usb-eye-video-index0"

// cameraRows are a camera for each way that its frames may come.
func cameraRows() (rows []*FaultRow) {
	for _, e := range camera.Encodings() {
		r := newRow(plan.CameraDevice+"-"+e.Word, VideoBus)
		r.names, r.neighbours, r.encoding = []string{"eye"}, []string{"one", "two", "pulse", "imu"}, e.Word
		r.Cameras = fmt.Sprintf("      cameras:\n        eye: {device: %s, format: %s, width: %d, height: %d, rate: 50}", plan.CameraDevice, e.Word, blinks*blinkSide, 2*blinkSide)
		rows = append(rows, r)
	}
	return rows
}

// A blinker's picture encodes the time in cycles as bits, white or black, from left to right. A picture with any
// deviation from that code is invalid.
const (
	blinks    = 10
	blinkSide = 8 // pixels, of a JPEG's blocks
)

// blinker is the image source of a test rig's camera. It never blocks.
type blinker struct {
	now    func() time.Duration
	Period time.Duration
	number uint64
}

func (b *blinker) Watch(int) (hal.ImageStream, error) {
	return &blinker{now: b.now, Period: b.Period}, nil
}

func (b *blinker) Next(context.Context, uint64) (*hal.Picture, error) {
	b.number++
	p := &hal.Picture{Sequence: b.number, Time: b.now(), Width: blinks * blinkSide, Height: 2 * blinkSide}
	for i := range p.Width * p.Height {
		shade := b.shade(p.Time, i%p.Width)
		p.RGB = append(p.RGB, shade, shade, shade)
	}
	return p, nil
}

func (b *blinker) Close() {}

func (b *blinker) shade(at time.Duration, x int) byte {
	if at/b.Period>>(x/blinkSide)&1 == 1 {
		return 235
	}
	return 20
}

// Judge describes what is wrong with a picture of the blinker, whose colours may be off by what a JPEG loses.
func (b *blinker) Judge(p *hal.Picture) string {
	if p.Width != blinks*blinkSide || p.Height != 2*blinkSide || len(p.RGB) != 3*p.Width*p.Height {
		return fmt.Sprintf("a picture of %dx%d and %d bytes", p.Width, p.Height, len(p.RGB))
	}
	for i, got := range p.RGB {
		x, y := i/3%p.Width, i/3/p.Width
		if want := b.shade(p.Time, x); max(got, want)-min(got, want) > 40 {
			return fmt.Sprintf("the picture of %v has %d at %d, %d, want %d", p.Time, got, x, y, want)
		}
	}
	return ""
}

// testCamera is the camera of a test rig.
type testCamera struct {
	Blinker *blinker
	device  *video.Camera // nil: the test rig has none
	watch   hal.ImageStream
	seen    uint64
	shown   reading // the newest picture
}

// lens makes a blinker the image source of the rig's camera, in step with the cycle; the camera is found by its stable
// name.
func (s *TestRig) lens(c video.Config) (camera.Opener, *video.Camera, error) {
	s.Eye.Blinker = &blinker{now: func() time.Duration { return s.Sys.Eyes.Clock.Now() }, Period: standPeriod}
	c.Source, c.Steady = s.Eye.Blinker, true
	device, err := video.New(c)
	if err = errors.Join(err, s.plug(stableEye)); err != nil {
		return nil, nil, err
	}
	s.Eye.device = device
	return func() (camera.Node, error) {
		node, err := filepath.EvalSymlinks(filepath.Join(s.root, stableEye))
		if err == nil && filepath.Base(node) != s.nodes[stableEye] {
			err = os.ErrNotExist
		}
		if err != nil {
			return nil, &hal.Error{Kind: hal.Absent, Op: "open", Err: err}
		}
		return device.Open()
	}, device, nil
}

// watch begins to look through the camera, where there is one.
func (s *TestRig) watch() error {
	if s.Eye.device == nil {
		return nil
	}
	sight, err := s.Sys.Sight(s.agent)
	if err != nil {
		return err
	}
	s.Eye.shown.at = -1
	if s.Eye.watch, err = sight.Watch(0); err == nil {
		s.Eye.device.WaitSettled()
	}
	return err
}

// see takes a picture if there is a new one. It does not wait.
func (s *TestRig) see() {
	if s.Eye.watch == nil {
		return
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	if p, err := s.Eye.watch.Next(done, s.Eye.seen); err == nil {
		s.Eye.seen, s.Eye.shown = p.Sequence, reading{at: p.Time, wrong: s.Eye.Blinker.Judge(p)}
		p.Release()
	}
}

// shown is what the rig knows of the camera.
func (s *TestRig) shown() reading {
	r := s.Eye.shown
	_, r.err = s.Sys.Eyes.Watched[0].Camera.State()
	return r
}

// onEye is a fault of the camera's frames: of three in ten, then of all.
func onEye(kind wire.Kind) planter {
	return strikes(func(s *TestRig, f wire.Fault) { s.spoil(f) }, wire.Fault{Kind: kind, Delay: lateBy}, 0.3, 0)
}

// spoil plants a fault of the camera in place of those that it has, and waits until the driver has seen what there is
// to see.
func (s *TestRig) spoil(f ...wire.Fault) {
	s.Eye.device.ClearFaults()
	for _, f := range f {
		s.Eye.device.Fault(f)
	}
	s.Eye.device.WaitSettled()
}

// mangled is a frame that is not whole: noise in place of a JPEG; a raw frame cannot be told from
// noise, so it is one that the kernel reports as damaged.
func mangled(s *TestRig, wholly bool) error {
	if s.Row.encoding == camera.Encodings()[0].Word {
		return onEye(wire.Garbage)(s, wholly)
	}
	return onEye(wire.CRC)(s, wholly)
}

// pullEye takes the camera away, which comes back as another node; without power it is gone for a moment before.
func pullEye(s *TestRig, wholly bool) error {
	if !wholly {
		return nil
	}
	s.spoil(wire.Fault{Kind: wire.Unplugged})
	return s.unplug(stableEye)
}

func darkEye(s *TestRig, wholly bool) error {
	if !wholly {
		s.spoil(wire.Fault{Kind: wire.Unplugged, For: brownOut})
		return nil
	}
	return pullEye(s, true)
}

// healEye ends the camera's faults.
func (s *TestRig) healEye() error {
	if s.Eye.device == nil {
		return nil
	}
	s.spoil()
	if s.nodes[stableEye] != "" {
		return nil
	}
	return s.plug(stableEye)
}
