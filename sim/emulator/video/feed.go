package video

import (
	"bytes"
	"context"
	"image"
	"image/jpeg"
	"time"

	"github.com/halyard-robotics/halyard/drivers/camera"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/v4l2"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// quality of the JPEGs, as cameras have it.
const quality = 90

// feed is the feeder: the goroutine that makes frames while a node streams.
func (n *node) feed(ctx context.Context) {
	v := n.device
	defer func() {
		v.Lock()
		v.feeders--
		v.rest.Broadcast()
		v.Unlock()
		n.feeding.Done()
	}()
	watch, err := v.config.Source.Watch(v.config.Camera)
	if err != nil {
		return // a camera without a lens: no frames come
	}
	defer watch.Close()
	var e encoder
	after := uint64(0)
	for due := v.now(); ; {
		if !n.await(ctx, due) {
			return
		}
		p, err := watch.Next(ctx, after)
		if err != nil {
			return
		}
		after = p.Sequence
		e.setPicture(p)
		p.Release()
		at := v.now()
		if late := v.delay(); late > 0 && !n.await(ctx, at+late) {
			return
		}
		period := n.fill(&e, at)
		// A frame that was missed is not made up for, and no two are of one time.
		period = max(period, 1)
		due += period * max(1, (v.now()-due)/period+1)
	}
}

func (v *Camera) now() time.Duration {
	v.Lock()
	defer v.Unlock()
	return v.Time()
}

// delay is the delay of the present frame.
func (v *Camera) delay() time.Duration {
	v.Lock()
	defer v.Unlock()
	if f := v.Occurs(wire.Delayed, wire.All, v.Time()); f != nil {
		return f.Delay
	}
	return 0
}

// await waits until a frame is due and a buffer is there for it; false: the stream is over.
func (n *node) await(ctx context.Context, due time.Duration) bool {
	v := n.device
	for {
		v.Lock()
		changed := v.wait()
		ready := v.Time() >= due && len(n.queued) > 0 && !v.at(wire.Stuck) && n.there() == nil
		if !ready {
			v.fed++
			v.rest.Broadcast()
		}
		v.Unlock()
		if ready {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			v.Lock()
			if v.changed == changed { // else it counts as awake already
				v.fed--
			}
			v.Unlock()
			return false
		}
	}
}

// fill puts the frame taken at a time into the next buffer, with the effects of faults, and returns the period of
// frames.
func (n *node) fill(e *encoder, at time.Duration) time.Duration {
	v := n.device
	v.Lock()
	period := time.Duration(float64(time.Second) * float64(v.rate.Numerator) / float64(v.rate.Denominator))
	if !n.streaming || len(n.queued) == 0 {
		v.Unlock()
		return period
	}
	v.frames++
	n.sequence++
	f := v.format
	occurs := func(k wire.Kind) *wire.Planted { return v.Occurs(k, wire.All, v.Time()) }
	lost, resized := occurs(wire.Dropped) != nil, occurs(wire.Foreign) != nil
	garbage, truncated, damaged := occurs(wire.Garbage), occurs(wire.Truncated), occurs(wire.CRC) != nil
	v.Unlock()
	if lost {
		return period
	}
	if resized {
		f.Width, f.Height, f.Stride = f.Width/4*2, f.Height/2, f.Stride/4*2
	}
	// Not under the lock: the cycle must not wait for the encoder.
	frame := e.encode(&f, v.config.Bare)
	v.Lock()
	defer v.Unlock()
	if !n.streaming || len(n.queued) == 0 {
		return period
	}
	b := v4l2.Buffer{Index: n.queued[0], Kind: v4l2.Capture, Memory: v4l2.MappedMem, Flags: v4l2.Monotonic,
		Sequence: n.sequence - 1, Field: v4l2.Progressive}
	b.SetTime(at)
	if garbage != nil {
		wire.Scramble(frame, garbage.Dice)
	}
	if truncated != nil {
		frame = frame[:truncated.Dice.IntN(len(frame))]
	}
	if damaged {
		frame = frame[:len(frame)/2]
		b.Flags |= v4l2.FrameDamaged
	}
	m := n.memory[b.Index]
	b.Used, b.Length = uint32(copy(m, frame)), uint32(len(m))
	n.queued = n.queued[:copy(n.queued, n.queued[1:])]
	n.full = append(n.full, b)
	v.wake()
	return period
}

// encoder makes frames of pictures. One goroutine uses it.
type encoder struct {
	picture hal.Picture // a copy: it is released before it is needed
	scaled  []byte
	image   *image.RGBA
	out     bytes.Buffer
	frame   []byte
}

func (e *encoder) setPicture(p *hal.Picture) {
	e.picture.Width, e.picture.Height = p.Width, p.Height
	e.picture.RGB = append(e.picture.RGB[:0], p.RGB...)
}

// encode is the picture as a frame of a format. Where its size is another, each pixel is the nearest.
func (e *encoder) encode(f *v4l2.Format, bare bool) []byte {
	w, h := int(f.Width), int(f.Height)
	rgb := e.picture.RGB
	if w != e.picture.Width || h != e.picture.Height || len(rgb) != 3*w*h {
		e.scaled = e.scaled[:0]
		for y := range h {
			for x := range w {
				at := 3 * (y*e.picture.Height/h*e.picture.Width + x*e.picture.Width/w)
				if at+3 > len(rgb) { // a depth camera has no colours
					e.scaled = append(e.scaled, 0, 0, 0)
					continue
				}
				e.scaled = append(e.scaled, rgb[at:at+3]...)
			}
		}
		rgb = e.scaled
	}
	if f.Pixel != v4l2.MJPG {
		s := camera.Shape{Pixel: f.Pixel, Width: w, Height: h, Stride: int(f.Stride)}
		e.frame = camera.AppendRaw(e.frame[:0], s, rgb)
		return e.frame
	}
	box := image.Rect(0, 0, w, h)
	if e.image == nil || e.image.Rect != box {
		e.image = image.NewRGBA(box)
	}
	for i := range w * h {
		to := e.image.Pix[4*i:][:4]
		to[0], to[1], to[2], to[3] = rgb[3*i], rgb[3*i+1], rgb[3*i+2], 255
	}
	e.out.Reset()
	if err := jpeg.Encode(&e.out, e.image, &jpeg.Options{Quality: quality}); err != nil {
		return nil
	}
	e.frame = append(e.frame[:0], e.out.Bytes()...)
	if bare {
		e.frame = strip(e.frame)
	}
	return e.frame
}

// strip takes the Huffman tables out of a JPEG of Go's encoder.
func strip(p []byte) []byte {
	const tables, scan = 0xC4, 0xDA
	for at := 2; at+4 <= len(p) && p[at+1] != scan; {
		n := 2 + int(p[at+2])<<8 + int(p[at+3])
		if p[at+1] == tables {
			p = append(p[:at], p[at+n:]...)
			continue
		}
		at += n
	}
	return p
}
