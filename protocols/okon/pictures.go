package okon

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

// Views are the cameras of the protocol, as indexes of the layout, or hal.None.
type Views struct {
	Colour, Depth int
	Detector      int // source of the detections of GET_DETE
}

// FindViews selects the first camera of l with depth in its name for Depth, and the first other one for the rest.
func FindViews(l *hal.Layout) Views {
	v := Views{hal.None, hal.None, hal.None}
	for i := range l.Cameras {
		at := &v.Colour
		if strings.Contains(strings.ToLower(l.Cameras[i].Name), "depth") {
			at = &v.Depth
		}
		if *at == hal.None {
			*at = i
		}
	}
	v.Detector = v.Colour
	return v
}

// of returns the camera of a request.
func (v *Views) of(t Type) int {
	switch t {
	case GetDepth, GetDepthBytes:
		return v.Depth
	case GetDetections:
		return v.Detector
	}
	return v.Colour
}

// PictureOptions are how pictures are sent. The zero PictureOptions are the original's.
type PictureOptions struct {
	// Contain is deferred in each camera's goroutine: hal.Rig.Contain; nil = a panic ends the process.
	Contain      func(what string)
	Quality      int     // of the JPEG of colour pictures, 1..100; 0 = 30. Clients set it with SET_SIM
	DepthQuality int     // 0 = 100
	Far          float64 // the distance drawn black in a depth picture, m; 0 = 20. Distance 0 is white
}

const (
	// fresh is how old a picture may be that answers a new request.
	fresh = 100 * time.Millisecond
	// timeout is how long a request waits for a picture; then it gets the last one, or none. A busy small computer
	// needs a second for a picture.
	timeout = 5 * time.Second
	// idle is how long a camera is watched after the last request.
	idle = time.Second
)

var errNoPicture = errors.New("no picture")

// Pictures watches the cameras for all clients of both channels. Each picture is taken and compressed once for all
// requests. A camera is watched only while there are requests. All methods may be called from any goroutine.
type pictures struct {
	watcher hal.CameraSource
	views   Views
	options PictureOptions
	ctx     context.Context
	cancel  context.CancelFunc
	group   sync.WaitGroup

	mu      sync.Mutex
	quality int
	feeds   map[int]*feed // by camera
}

// NewPictures watches through w. Close ends it.
func NewPictures(w hal.CameraSource, v Views, o PictureOptions) *pictures {
	if o.Contain == nil {
		o.Contain = func(string) {}
	}
	protocols.Positive(&o.Quality, 30)
	protocols.Positive(&o.DepthQuality, 100)
	protocols.Positive(&o.Far, 20)
	p := &pictures{watcher: w, views: v, options: o, quality: o.Quality, feeds: map[int]*feed{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// Close releases every camera and refuses the pending requests.
func (p *pictures) Close() {
	p.cancel()
	p.group.Wait()
}

// Quality is that of colour pictures, 0..100. SetQuality sets it from the next one on.
func (p *pictures) Quality() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.quality
}

func (p *pictures) SetQuality(q int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.quality = q
}

// imageRequest is a pending request for a picture.
type imageRequest struct {
	after   uint64 // sequence number of the last picture that the client received
	image   bool   // the client wants a JPEG
	deliver func(*shot, error)
}

// shot is one picture as delivered to clients. It is immutable.
type shot struct {
	sequence uint64
	sights   []hal.Detection
	jpeg     []byte // nil unless a request asked for it
}

// ask requests a picture of a camera. deliver is called once, in this call or from a goroutine of p, and must not
// block.
func (p *pictures) ask(camera int, w imageRequest) {
	if !p.queue(camera, w) {
		w.deliver(nil, errNoPicture)
	}
}

func (p *pictures) queue(camera int, w imageRequest) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if camera == hal.None || p.ctx.Err() != nil {
		return false
	}
	f := p.feeds[camera]
	if f == nil {
		f = &feed{pictures: p, camera: camera, more: make(chan struct{}, 1)}
		p.feeds[camera] = f
	}
	f.requests = append(f.requests, w)
	if !f.running {
		f.running = true
		p.group.Go(f.run)
	}
	select {
	case f.more <- struct{}{}:
	default:
	}
	return true
}

// feed is one camera's worker. It runs while there are requests.
type feed struct {
	pictures *pictures
	camera   int
	more     chan struct{} // there are new requests
	encoder  encoder

	requests []imageRequest // under the pictures' lock, and running
	running  bool

	picture *hal.Picture // held for requests that still need it compressed
	taken   time.Time
	last    shot
	quality int // of last.jpeg
}

// run serves requests until there has been none for idle.
func (f *feed) run() {
	p := f.pictures
	defer p.options.Contain("okon camera")
	watch, err := p.watcher.Watch(f.camera)
	if err == nil {
		defer watch.Close()
	}
	quiet := time.NewTimer(idle)
	defer quiet.Stop()
	for {
		requests := f.popAll(false)
		if len(requests) == 0 {
			quiet.Reset(idle)
			select {
			case <-f.more:
				continue
			case <-quiet.C:
			case <-p.ctx.Done():
			}
			if requests = f.popAll(true); len(requests) == 0 {
				f.picture.Release()
				f.picture = nil
				return
			}
		}
		f.serve(watch, err, requests)
	}
}

// popAll removes and returns all requests. If there are none and last is set, the feed ends.
func (f *feed) popAll(last bool) []imageRequest {
	f.pictures.mu.Lock()
	defer f.pictures.mu.Unlock()
	w := f.requests
	f.requests = nil
	if last && len(w) == 0 {
		f.running = false
	}
	return w
}

// serve answers all requests with the newest picture: the present one if it is new to all of them, else the next.
func (f *feed) serve(watch hal.ImageStream, err error, requests []imageRequest) {
	known, image := uint64(0), false
	for _, w := range requests {
		known, image = max(known, w.after), image || w.image
	}
	if err == nil && (f.picture == nil || f.picture.Sequence <= known || time.Since(f.taken) > fresh) {
		err = f.next(watch)
	}
	if err == nil && image {
		err = f.compress()
	}
	out := f.last // an immutable copy
	for _, w := range requests {
		if err != nil {
			w.deliver(nil, err)
		} else {
			w.deliver(&out, nil)
		}
	}
}

// next waits for a picture newer than the present one, which it keeps if none arrives.
func (f *feed) next(watch hal.ImageStream) error {
	ctx, cancel := context.WithTimeout(f.pictures.ctx, timeout)
	defer cancel()
	after := uint64(0)
	if f.picture != nil {
		after = f.picture.Sequence
	}
	pic, err := watch.Next(ctx, after)
	if err != nil {
		if f.picture != nil && errors.Is(err, context.DeadlineExceeded) {
			return nil // time does not move
		}
		return err // the camera is lost, and its last picture is out of date
	}
	f.picture.Release()
	f.picture, f.taken = pic, time.Now()
	f.last = shot{sequence: pic.Sequence, sights: slices.Clone(pic.Detections)}
	return nil
}

// compress compresses the present picture once.
func (f *feed) compress() (err error) {
	q := f.pictures.Quality()
	if f.picture.RGB == nil {
		q = f.pictures.options.DepthQuality
	}
	if f.last.jpeg != nil && f.quality == q {
		return nil
	}
	f.last.jpeg, err = f.encoder.encode(f.picture, q, f.pictures.options.Far)
	f.quality = q
	return err
}
