package imageserver

import (
	"context"
	"errors"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
)

// watch opens a view's camera, or its four cameras if the name has commas: "Front,Rear,,".
func (s *Server) watch(v view) (hal.ImageStream, error) {
	one := func(camera string) (hal.ImageStream, error) {
		w, index, err := s.find(v.robot, camera)
		if err != nil {
			return nil, err
		}
		return w.Watch(index)
	}
	names := strings.Split(v.camera, ",")
	if len(names) == 1 {
		return one(v.camera)
	}
	q := &quad{}
	for i := range min(len(names), len(q.streams)) {
		if names[i] == "" {
			continue
		}
		w, err := one(names[i])
		if err != nil {
			q.Close()
			return nil, err
		}
		q.streams[i] = w
	}
	return q, nil
}

// quad is four cameras in one picture, which has the size of the first camera's: upper left, upper right, lower left,
// lower right. A quarter without a camera is black.
type quad struct {
	streams  [4]hal.ImageStream
	sequence uint64
}

var errDark = errors.New("every viewport is disabled")

// Next is that of hal.ImageStream: it waits for a picture of each camera.
func (q *quad) Next(ctx context.Context, _ uint64) (*hal.Picture, error) {
	var all *hal.Picture
	for i, s := range q.streams {
		if s == nil {
			continue
		}
		p, err := s.Next(ctx, 0)
		if err != nil {
			return nil, err
		}
		if all == nil {
			q.sequence++
			all = &hal.Picture{Sequence: q.sequence, Time: p.Time, Width: p.Width, Height: p.Height,
				RGB: make([]byte, 3*p.Width*p.Height)}
		}
		all.Time = max(all.Time, p.Time)
		shrink(all, p, i&1, i>>1)
		p.Release()
	}
	if all == nil {
		return nil, errDark
	}
	return all, nil
}

// shrink puts p into one quarter of all: column and row are 0 or 1.
func shrink(all, p *hal.Picture, column, row int) {
	if len(p.RGB) == 0 {
		return
	}
	width, height := all.Width/2, all.Height/2
	if column == 1 {
		width = all.Width - width
	}
	if row == 1 {
		height = all.Height - height
	}
	for y := range height {
		from := p.RGB[3*p.Width*(y*p.Height/height):]
		to := all.RGB[3*((row*(all.Height/2)+y)*all.Width+column*(all.Width/2)):]
		for x := range width {
			copy(to[3*x:3*x+3], from[3*(x*p.Width/width):])
		}
	}
}

func (q *quad) Close() {
	for _, s := range q.streams {
		if s != nil {
			s.Close()
		}
	}
}
