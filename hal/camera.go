package hal

import (
	"context"
	"time"
)

// Picture is one immutable image with the rig time that it shows. Its maker owns the memory and uses it again only when
// all receivers have released it: Frame carries handles, never pixels. Row 0 is the top, pixel 0 the left.
type Picture struct {
	Sequence      uint64 // rising by 1 a picture of this camera, from 1
	Time          time.Duration
	Width, Height int
	RGB           []byte      // 3 bytes a pixel; nil of a depth camera
	Depth         []float32   // m along the optical axis, one a pixel, +Inf without an object; nil of a colour camera
	Detections    []Detection // the objects that the camera's detector recognises, nearest first

	// Free, where not nil, takes the picture back; see Release.
	Free func(*Picture)
}

// Release ends the receiver's use of a picture. Every picture that ImageStream.Next returned is released once.
func (p *Picture) Release() {
	if p != nil && p.Free != nil {
		p.Free(p)
	}
}

// Detection is an object in a picture.
type Detection struct {
	Class, Name string
	Box         [4]float64 // left, top, right, bottom as shares of the picture, 0..1
	Distance    float64    // m, from the camera to its middle, seen or not
	Visible     float64    // share of the object that is in the picture and not hidden, 0..1
	Fill        float64    // share of the picture that the box takes, 0..1
	Colour      float64    // share of its colour that reaches the camera through the water or air, 0..1
}

// CameraSource is a body whose cameras can be watched. Its methods may be called from any goroutine outside the cycle,
// which never waits for them. Only watched cameras are rendered.
type CameraSource interface {
	// Watch opens a stream of camera i of the layout.
	Watch(camera int) (ImageStream, error)
}

// ImageStream is one viewer of one camera.
type ImageStream interface {
	// Next blocks until there is a picture with a Sequence above after, the newest one then, and returns it. The caller
	// releases it. The error is the context's, or reports that the camera is gone.
	Next(ctx context.Context, after uint64) (*Picture, error)
	Close()
}
