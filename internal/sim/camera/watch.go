package camera

import (
	"context"
	"errors"
	"fmt"

	"github.com/halyard-robotics/halyard/hal"
)

// plate is a picture with a count of its holders.
type plate struct {
	hal.Picture
	shows uint64 // the number of the snapshot
	holds int
}

// keep bounds the free plates; more, released by slow viewers, go to the garbage collector.
const keep = 4

// acquirePlate returns a plate to render into.
func (s *Renderer) acquirePlate(e *eye) *plate {
	if n := len(e.free); n > 0 {
		p := e.free[n-1]
		e.free = e.free[:n-1]
		return p
	}
	p := &plate{Picture: hal.Picture{Width: e.Width, Height: e.Height}}
	if e.Depth {
		p.Picture.Depth = make([]float32, e.Width*e.Height)
	} else {
		p.RGB = make([]byte, 3*e.Width*e.Height)
	}
	p.Free = func(*hal.Picture) {
		s.mu.Lock()
		defer s.mu.Unlock()
		e.drop(p)
	}
	return p
}

// publish makes p, which shows a snapshot, the camera's newest plate.
func (e *eye) publish(p *plate, of *snapshot) {
	e.sequence++
	p.Sequence, p.Time, p.shows, p.holds = e.sequence, of.time, of.number, 1
	// The Renderer's hold moves to the new plate; viewers that hold the old one keep it.
	if e.newest != nil {
		e.drop(e.newest)
	}
	e.newest = p
}

// drop releases one hold on a plate; without holds it can be used again.
func (e *eye) drop(p *plate) {
	if p.holds--; p.holds == 0 && len(e.free) < keep {
		e.free = append(e.free, p)
	}
}

// watch is one viewer.
type watch struct {
	studio *Renderer
	eye    *eye
	closed bool
}

var _ hal.ImageStream = (*watch)(nil)

// Watch opens a stream of pictures of camera i. For the first viewer the first snapshot is that of the next Push. A
// client that must not wait for it, such as a server in lock-step, keeps its Watch open from the start.
func (s *Renderer) Watch(camera int) (hal.ImageStream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case camera < 0 || camera >= len(s.eyes):
		return nil, &hal.Error{Kind: hal.Invalid, Op: "camera: watch",
			Err: fmt.Errorf("got camera %d, want below %d", camera, len(s.eyes))}
	case s.closed:
		return nil, errGone
	}
	s.watched.Add(1)
	return &watch{studio: s, eye: &s.eyes[camera]}, nil
}

var errGone = &hal.Error{Kind: hal.Absent, Op: "camera", Err: errors.New("it is closed")}

// Next is that of hal.ImageStream: the picture shows the newest snapshot at the time of the call, or a newer one.
func (w *watch) Next(ctx context.Context, after uint64) (*hal.Picture, error) {
	s, e := w.studio, w.eye
	stop := context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.done.Broadcast()
	})
	defer stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	// Snapshots pushed before the last watch closed are too old, and so are pictures from before this call.
	least := s.pushed
	if !s.valid {
		least++
	}
	for {
		switch {
		case s.closed || w.closed:
			return nil, errGone
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case e.newest != nil && e.newest.Sequence > after && e.newest.shows >= least:
			p := e.newest
			p.holds++
			return &p.Picture, nil
		}
		e.asked = true
		s.work.Signal()
		s.done.Wait()
	}
}

// Close ends the watch and a Next that waits in it.
func (w *watch) Close() {
	s := w.studio
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.closed {
		return
	}
	w.closed = true
	if s.watched.Add(-1) == 0 {
		s.valid = false // from now on Push need not be called
	}
	s.done.Broadcast()
}
